//! Random operations on few indexes, on every engine with the kernel's calls beside the model; and the recorded logs on
//! nodes so small that their trees are high.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::model::{Looks, maple_ops_from_bytes, maple_subjects, run_maple_ops};
use freehold_lab::data_folder;
use freehold_lab::engine::maple::LinuxTree;
use freehold_trace::maple::{Driver, Engine, Record, TreeFlags, Vectors};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn every_engine_agrees_with_the_model(
        alloc in prop::bool::weighted(0.9),
        bytes in prop::collection::vec(any::<u8>(), 0..1200),
    ) {
        let ops = maple_ops_from_bytes(&bytes);
        for entry in maple_subjects() {
            let result = run_maple_ops(&entry, TreeFlags { alloc, rcu: false }, &ops, Looks::AtEach);
            prop_assert!(result.is_ok(), "{}", result.unwrap_err());
        }
    }
}

#[test]
fn the_recorded_answers_are_those_of_small_nodes_too() {
    let folder = data_folder().unwrap().join("vectors/maple");
    let mut operations = 0;
    for name in ["pub01-tiny-plain-mix", "pub03-tiny-alloc-adv", "pub10-full64-alloc-adv"] {
        let mut log = Vectors::open(&folder.join(format!("{name}.txt.zst"))).unwrap();
        let flags = TreeFlags { alloc: log.header().alloc_tree, rcu: log.header().rcu };
        let mut trees = Driver::<LinuxTree<true>>::new(flags);
        while let Some(record) = log.next().transpose().unwrap() {
            match record {
                Record::Op(op, expected) => {
                    let answer = trees.run(&op);
                    assert!(expected.accepts(&answer), "{name}:{}: {answer:?}", log.line());
                    operations += 1;
                }
                Record::Content { count, digest, .. } => {
                    assert_eq!(
                        trees.content(trees.current(), true),
                        (count, digest),
                        "{name}:{}",
                        log.line()
                    );
                    assert_eq!(trees.tree().map(Engine::validate), Some(Ok(())));
                }
                Record::Shape(_) => {}
            }
        }
    }
    assert!(operations > 100_000, "only {operations} operations");
}
