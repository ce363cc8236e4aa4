//! The judge of trees.

use freehold_lab::engine::maple::{ENGINES, TreeFacts};
use freehold_lab::family::{Judge, TreeJudge};
use freehold_trace::maple::{Answer, Op, TreeFlags, Value};

/// Ranges of one value side by side, one of which is erased.
fn judged(engine: &str) -> Result<(), String> {
    let entry = ENGINES.iter().find(|entry| entry.engine == engine).unwrap();
    let flags = TreeFlags { alloc: true, rcu: false };
    let (mut session, mut judge) = (entry.start(&flags)?, TreeJudge::new(entry, &flags));
    let store = |first, last| Op::Store { first, last, value: Value::Number(7) };
    for op in [store(0, 9), store(10, 19), store(30, 39), Op::Erase { index: 12 }] {
        let mut answer = [Answer::default()];
        session.run(&[op], &mut answer);
        judge.check(&op, answer[0])?;
        judge.check_state(&*session)?;
    }
    Ok(())
}

#[test]
fn what_a_peer_means_by_neighbours_is_no_failure() {
    for entry in ENGINES {
        assert_eq!(judged(entry.engine), Ok(()), "{}", entry.engine);
    }
    let rangemap = ENGINES.iter().find(|entry| entry.merges).unwrap();
    let plain = rangemap.with(TreeFacts { merges: false, ..rangemap.facts });
    let flags = TreeFlags { alloc: true, rcu: false };
    let (mut session, judge) = (plain.start(&flags).unwrap(), TreeJudge::new(&plain, &flags));
    let mut answers = [Answer::default(); 2];
    let store = |first, last| Op::Store { first, last, value: Value::Number(7) };
    session.run(&[store(0, 9), store(10, 19)], &mut answers);
    assert!(judge.check_state(&*session).is_err(), "by the kernel's rule it would be one");
}
