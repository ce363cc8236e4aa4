//! The talk's worked example: one page, and four pages, out of a tree of five free blocks.

use crate::data_folder;
use crate::record::{Field, Key, Metric, Results, Stat};
use crate::verify::{Played, play_talk, verify_file};
use freehold_trace::kva::TalkNode;

const NAME: &str = "the talk's worked example";

/// Plays it, and holds every step against what is recorded.
///
/// # Errors
/// The bundled data cannot be read.
pub fn add(results: &mut Results) -> anyhow::Result<()> {
    let file = data_folder()?.join("vectors/kva/talk.txt");
    let checks = verify_file(&file, &[], &mut || ())?;
    let comparisons: u64 = checks.checks.iter().map(|check| check.comparisons).sum();
    let mismatches = checks.checks.iter().map(|check| check.mismatches).sum();
    let key = Key::new("kva", NAME).engine("rbtree").param(Field::Placement, "linux");
    results
        .of(key.param(Field::File, file.display().to_string()))
        .total(Metric::Checked, checks.operations())
        .total(Metric::Mismatches, mismatches);
    results.fact("comparisons", comparisons.to_string());
    results.fact("verdict", if checks.passed() { "all alike" } else { "not all alike" });
    results.failed |= !checks.passed();
    // The talk works these steps out; of the others it says what would happen.
    for step in
        play_talk(&file)?.iter().filter(|step| step.case.starts_with("A:") || step.case.starts_with("B:"))
    {
        figures(step, results);
    }
    Ok(())
}

/// The example's blocks keep their names: a block shrinks or grows, but does not pass another.
fn name(blocks: &[TalkNode], node: &TalkNode) -> String {
    let rank = blocks.iter().filter(|other| other.start < node.start).count();
    format!("N{}", rank + 1)
}

fn figures(step: &Played, results: &mut Results) {
    for (when, nodes) in [("before", &step.before), ("after", &step.after)] {
        for node in nodes {
            let key = Key::new("kva", NAME)
                .param(Field::Case, step.case.as_str())
                .param(Field::Node, name(nodes, node));
            let values = [("start", node.start), ("size", node.size), ("subtree_max_size", node.subtree_max)];
            for (op, value) in values {
                let key = key.clone().op(op).param(Field::When, when);
                results.of(key).put(Metric::Count, Stat::Total, value as f64, 1);
            }
        }
    }
}
