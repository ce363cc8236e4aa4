//! Operations on trees out of whatever file has some: op logs as they are, streams as their stores, the calls of recorded programs
//! as what they store into the trees of their address spaces.
//!
//! Tree 0 is there from the first and stays empty where a file has trees of its own, so that others appear as copies of it.

use crate::engine::maple::StoredRanges;
use crate::kind::{Kind, Suite};
use crate::workload::vma::from_file;
use freehold_rivals::maple::Naive;
use freehold_trace::maple::{
    ContentEntry, Driver, End, Engine, Op, Record, Stream, StreamRecord, TreeFlags, Value, Vectors,
};
use freehold_trace::vma::{Call, Kinds, Op as CallOn, Spaces};
use freehold_trace::{Drive, TraceError};
use std::path::Path;

/// What logs have as values: 1 to this.
const VALUES: u64 = 9999;
/// The tree that others are copied from to appear, in files with trees of their own.
const EMPTY: u32 = 0;
/// Operations of a block that become single ones at most.
const MOST_OF_BLOCK: u64 = 1 << 16;

/// The kind of trees of a file, and its operations; of a stream so many at most.
///
/// # Errors
/// It cannot be read, or has none.
pub fn operations(file: &Path, most: usize) -> anyhow::Result<(TreeFlags, Vec<Op>)> {
    let tracked = TreeFlags { alloc: true, rcu: false };
    Ok(match Kind::of(file)? {
        Kind::TreeLog => log(file)?,
        Kind::TreeStream => (tracked, stream(file, most)?),
        Kind::Trace(Suite::Maple) | Kind::TreeEvents => {
            let workload = from_file(file)?;
            (tracked, calls(workload.scene, &workload.ops))
        }
        _ => anyhow::bail!(
            "{}: no trace of address spaces, stream of stores or vectors of trees",
            file.display()
        ),
    })
}

/// Those of one tree alone, as operations on tree 0. What it is a copy of becomes stores.
pub fn of_tree(flags: TreeFlags, ops: &[Op], tree: u32) -> Vec<Op> {
    let copied = |op: &Op| matches!(op, Op::Duplicate { from, into } if *into == tree && *from != EMPTY);
    let mut model = ops.iter().any(copied).then(|| Driver::<Naive>::new(flags));
    let run = |model: &mut Option<Driver<Naive>>, op: &Op| {
        if let Some(model) = model {
            model.run(op);
        }
    };
    let (mut current, mut of) = (0, Vec::new());
    for op in ops {
        match *op {
            Op::UseTree { tree } => current = tree,
            Op::Duplicate { from, into } if into == tree => {
                run(&mut model, &Op::UseTree { tree: from });
                if let Some(source) = model.as_ref().and_then(Driver::tree) {
                    source.entries(&mut |ContentEntry { span, value }| {
                        of.push(Op::Store { first: span.first(), last: span.last(), value });
                    });
                }
                run(&mut model, &Op::UseTree { tree: current });
            }
            Op::Duplicate { .. } | Op::DestroyTree { .. } => {}
            other => of.extend((current == tree).then_some(other)),
        }
        run(&mut model, op);
    }
    of
}

fn number(word: u64) -> Value {
    Value::Number((word.wrapping_sub(1) % VALUES + 1) as u32)
}

fn log(file: &Path) -> Result<(TreeFlags, Vec<Op>), TraceError> {
    let mut log = Vectors::open(file)?;
    let flags = TreeFlags { alloc: log.header().alloc_tree, rcu: log.header().rcu };
    let mut ops = Vec::new();
    while let Some(record) = log.next().transpose()? {
        if let Record::Op(op, _) = record {
            singly(op, &mut ops);
        }
    }
    Ok((flags, ops))
}

/// Blocks of operations one by one, so that each can be left out.
fn singly(op: Op, ops: &mut Vec<Op>) {
    let many = |index: u64, stride, count| {
        (0..count).map(move |at: u64| index.wrapping_add(at.wrapping_mul(stride)))
    };
    match op {
        Op::LoadMany { index, stride, count } if count <= MOST_OF_BLOCK => {
            ops.extend(many(index, stride, count).map(|index| Op::Load { index }));
        }
        Op::EraseMany { index, stride, count } if count <= MOST_OF_BLOCK => {
            ops.extend(many(index, stride, count).map(|index| Op::Erase { index }));
        }
        Op::StoreMany { first, stride, len, count, mut value } if count <= MOST_OF_BLOCK => {
            for first in many(first, stride, count) {
                ops.push(Op::Store { first, last: first.wrapping_add(len.wrapping_sub(1)), value });
                value = value.successor();
            }
        }
        other => ops.push(other),
    }
}

/// The number that stands for a tree, or a space, of a file with trees of its own.
pub const fn tree_of(number: u32) -> u32 {
    number.saturating_add(1)
}

/// Values are not recorded: they count the stores.
fn stream(file: &Path, most: usize) -> Result<Vec<Op>, TraceError> {
    let (mut ops, mut current, mut stored) = (Vec::new(), 0, 0);
    for record in Stream::open(file)? {
        if ops.len() >= most {
            break;
        }
        match record? {
            StreamRecord::Appear { tree, .. } => {
                current = tree_of(tree);
                ops.extend([Op::Duplicate { from: EMPTY, into: current }, Op::UseTree { tree: current }]);
            }
            StreamRecord::Destroy { tree, .. } | StreamRecord::Forget { tree } => {
                ops.push(Op::DestroyTree { tree: tree_of(tree) });
            }
            StreamRecord::Duplicate { tree, source } => {
                ops.push(Op::Duplicate { from: tree_of(source), into: tree_of(tree) });
            }
            StreamRecord::Write { tree, write } if write.used.is_some() => {
                if current != tree_of(tree) {
                    current = tree_of(tree);
                    ops.push(Op::UseTree { tree: current });
                }
                stored += 1;
                let value = if write.null { Value::Null } else { number(stored) };
                ops.push(Op::Store { first: write.span.first(), last: write.span.last(), value });
            }
            StreamRecord::Group(_) | StreamRecord::Write { .. } => {}
        }
    }
    Ok(ops)
}

/// What calls store into the trees of their spaces.
fn calls(kinds: Kinds, calls: &[CallOn]) -> Vec<Op> {
    let (mut spaces, mut ops, mut current) = (Spaces::<StoredRanges>::new(kinds), Vec::new(), 0);
    for op in calls {
        spaces.run(op, &mut ());
        let tree = tree_of(op.space);
        let mut go_to = |tree: u32, ops: &mut Vec<Op>| {
            ops.extend((current != tree).then_some(Op::UseTree { tree }));
            current = tree;
        };
        let (mut space, mut child) = (op.space, tree);
        match op.call {
            Call::Exec => {
                ops.push(Op::Duplicate { from: EMPTY, into: tree });
                go_to(tree, &mut ops);
            }
            Call::Destroy => ops.push(Op::DestroyTree { tree }),
            Call::Fork { into } => {
                (space, child) = (into, tree_of(into));
                ops.push(Op::Duplicate { from: tree, into: child });
            }
            Call::Search { size, window, highest, .. } => {
                go_to(tree, &mut ops);
                let end = if highest { End::Highest } else { End::Lowest };
                ops.push(Op::EmptyArea { end, min: window.first(), max: window.last(), size });
            }
            Call::Load { index } => {
                go_to(tree, &mut ops);
                ops.push(Op::Load { index });
            }
            Call::Find { index } => {
                go_to(tree, &mut ops);
                ops.push(Op::Find { index, max: u64::MAX, after: false });
            }
            _ => {}
        }
        let told = spaces.space_mut(space).map(|space| space.areas_mut().take_stored());
        for (span, value) in told.into_iter().flatten() {
            go_to(child, &mut ops);
            let value = value.map_or(Value::Null, number);
            ops.push(Op::Store { first: span.first(), last: span.last(), value });
        }
    }
    ops
}
