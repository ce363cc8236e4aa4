//! An op log, through every engine that has the kernel's calls: every answer, every content, and the invariants
//! wherever the log shows a content.

use crate::engine::maple::trees;
use crate::verify::Checked;
use freehold_trace::TraceError;
use freehold_trace::maple::{Answer, Expected, Op, Record, Shape, TreeFlags, Trees, Vectors};
use std::path::Path;

/// Slots of the kernel's leaves.
const SLOTS: u64 = 16;

pub(in crate::verify) fn verify(file: &Path, tick: &mut dyn FnMut()) -> Result<Vec<Checked>, TraceError> {
    let mut log = Vectors::open(file)?;
    let flags = TreeFlags { alloc: log.header().alloc_tree, rcu: log.header().rcu };
    let fresh = |(engine, trees)| Replay { trees, checked: Checked::new("operations", engine) };
    let mut replays: Vec<Replay> = trees(flags).into_iter().map(fresh).collect();
    while let Some(record) = log.next().transpose()? {
        let line = log.line();
        replays.iter_mut().for_each(|replay| replay.record(line, &record));
        tick();
    }
    Ok(replays.into_iter().map(|replay| replay.checked).collect())
}

struct Replay {
    trees: Box<dyn Trees>,
    checked: Checked,
}

impl Replay {
    fn record(&mut self, line: u64, record: &Record) {
        match record {
            Record::Op(op, expected) => self.op(line, op, expected),
            Record::Content { count, digest, .. } => {
                let got = self.trees.content(self.trees.current(), true);
                self.checked.compare(line, content_text((*count, *digest)), content_text(got));
                self.checked.valid(line, self.trees.validate());
            }
            Record::Shape(shape) => {
                let (entries, _) = self.trees.content(self.trees.current(), false);
                let text = format!("{shape:?}");
                let got = if can_hold(shape, entries) { text.clone() } else { format!("{entries} entries") };
                self.checked.compare(line, text, got);
            }
        }
    }

    fn op(&mut self, line: u64, op: &Op, expected: &Expected) {
        let answer = self.trees.run_one(op);
        self.checked.operations += within(op, &answer);
        let texts = || [format!("{:?} to {op:?}", expected.answer), format!("{answer:?}")];
        self.checked.right(line, expected.accepts(&answer), texts);
    }
}

/// Whether a tree of the kernel that is represented so can hold so many entries. How it comes to be of that height is the
/// kernel's own: no other tree needs to have it.
pub fn can_hold(shape: &Shape, entries: u64) -> bool {
    match *shape {
        Shape::Empty => entries == 0,
        Shape::Pointer => entries == 1,
        Shape::Nodes { leaves, .. } => entries <= leaves * SLOTS,
    }
}

/// A content as it is compared.
pub(in crate::verify) fn content_text((count, digest): (u64, u64)) -> String {
    format!("{count} entries, digest {digest:016x}")
}

/// Operations in one: several in a block.
fn within(op: &Op, answer: &Answer) -> u64 {
    match (op, answer) {
        (Op::LoadMany { count, .. } | Op::EraseMany { count, .. } | Op::StoreMany { count, .. }, _)
        | (_, Answer::Walked { count, .. }) => *count,
        _ => 1,
    }
}
