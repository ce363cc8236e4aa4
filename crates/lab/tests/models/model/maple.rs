//! Operations on an engine with the kernel's calls beside the model of the kernel's tree, which keeps a list: every answer
//! must be the same, a cursor's range and state too, and every content; and the engine's own invariants must hold.

use super::{Looks, replayed};
use freehold_lab::engine::maple::{ENGINES, EngineEntry, LinuxTree, TreeFacts};
use freehold_rivals::maple::Naive;
use freehold_trace::maple::{Driver, End, Op, Step, StoreCall, TreeFlags, Value};

/// Bytes of fuzz input for an operation.
const BYTES_PER_OP: usize = 4;
/// Indexes at the low end of the space that operations are about; there are some at the high end too.
const INDEXES: u64 = 48;
/// Trees that operations are about.
const TREES: u8 = 3;

const STEPS: [Step; 8] = [
    Step::Find,
    Step::FindRange,
    Step::FindRev,
    Step::FindRangeRev,
    Step::Next,
    Step::NextRange,
    Step::Prev,
    Step::PrevRange,
];

/// Every engine with the kernel's calls but the model, and ours on nodes so small that few entries fill many.
pub fn maple_subjects() -> impl Iterator<Item = EngineEntry> {
    let listed = ENGINES.iter().filter(|entry| entry.engine != "naive" && entry.trees.is_some()).copied();
    let tiny = listed.clone().take(1).map(|entry| EngineEntry {
        engine: "range-map of tiny nodes",
        ..entry.with(TreeFacts {
            trees: Some(|flags| Box::new(Driver::<LinuxTree<true>>::new(flags))),
            ..entry.facts
        })
    });
    listed.chain(tiny)
}

/// Runs operations on fresh trees beside the model.
///
/// # Errors
/// The first operation that is answered otherwise or breaks an invariant, with the operations up to it.
pub fn run_maple_ops(entry: &EngineEntry, flags: TreeFlags, ops: &[Op], looks: Looks) -> Result<(), String> {
    let (mut trees, mut model) = (entry.start(&flags)?, Driver::<Naive>::new(flags));
    let listing = |ops: &[Op]| ops.iter().map(|op| format!("    {op:?}\n")).collect();
    replayed(&format!("{}, {flags:?}", entry.engine), ops, looks, listing, |op, look| {
        let ((got, _), expected) = (trees.run_counted(op), model.run(op));
        if got != expected {
            return Err(format!("{got:?}, not {expected:?}"));
        }
        if !look {
            return Ok(());
        }
        trees.validate()?;
        let tree = model.current();
        let (got, expected) = (trees.content(tree, true), model.content(tree, true));
        if got != expected {
            return Err(format!("{} entries or other ones, not {}", got.0, expected.0));
        }
        Ok(())
    })
}

/// Turns any bytes into operations of every kind on indexes that are few or at the end of the space. A cursor is gone
/// after every other operation, so those on one come in runs.
pub fn maple_ops_from_bytes(bytes: &[u8]) -> Vec<Op> {
    let (mut ops, mut on_cursor) = (Vec::new(), 0);
    for chunk in bytes.chunks_exact(BYTES_PER_OP) {
        let &[kind, a, _, c] = chunk else { continue };
        if on_cursor > 0 {
            on_cursor -= 1;
            ops.push(cursor_op(kind, index(a), c));
            continue;
        }
        ops.extend(op_from_bytes(chunk));
        if let Some(Op::CursorSet { .. } | Op::EmptyArea { .. }) = ops.last() {
            on_cursor = c % 12;
        }
    }
    ops
}

fn cursor_op(kind: u8, limit: u64, c: u8) -> Op {
    match kind % 12 {
        0 => Op::CursorPause,
        1 => Op::CursorReset,
        2 => Op::CursorWalk,
        _ => Op::CursorStep { step: step(c), limit },
    }
}

fn op_from_bytes(chunk: &[u8]) -> Option<Op> {
    let &[kind, a, b, c] = chunk else { return None };
    let (first, other) = (index(a), index(b));
    // A few indexes, or up to another one, which may be below.
    let last = if c & 1 == 0 { first.saturating_add(u64::from(b % 6)) } else { other };
    let value = match c >> 4 {
        0..4 => Value::Null,
        4 => Value::Reserved,
        _ => Value::Number(1 + u32::from(c)),
    };
    let end = if c & 2 == 0 { End::Lowest } else { End::Highest };
    let size = u64::from(c >> 2) % 9;
    Some(match kind % 36 {
        0..6 => Op::Store { first, last, value },
        6..9 => Op::Insert { first, last, value },
        9..11 => Op::Erase { index: first },
        11 => Op::Load { index: first },
        12 => Op::Find { index: first, max: other, after: c & 1 == 0 },
        13 => Op::Next { index: first, max: other },
        14 => Op::Prev { index: first, min: other },
        15 => Op::AllocRange { end, size, min: first, max: other, value },
        16 => Op::AllocCyclic { low: index(c), high: first, next: other, value },
        17 => Op::EmptyArea { end, min: first, max: other, size },
        18 => Op::StoreGap { value },
        19..26 => Op::CursorSet { index: first },
        26..30 => cursor_op(b, first, c),
        30 => Op::CursorStore { call: store_call(c), first, last, value },
        31 => Op::CursorErase { index: first },
        32 => Op::StepMany { step: step(c & 3), index: first, limit: other, most: None },
        33 => Op::UseTree { tree: u32::from(a % TREES) },
        34 => Op::Duplicate { from: u32::from(a % TREES), into: u32::from(b % TREES) },
        _ => match c % 4 {
            0 => Op::DestroyTree { tree: u32::from(a % TREES) },
            1 => Op::Store { first: 0, last: u64::MAX, value },
            2 => Op::EraseMany { index: first, stride: 1 + u64::from(b % 5), count: 20 },
            _ => Op::StoreMany { first, stride: 3, len: 2, count: 12, value: Value::Number(1) },
        },
    })
}

fn index(byte: u8) -> u64 {
    match byte {
        0..216 => u64::from(byte) % INDEXES,
        216..248 => u64::MAX - u64::from(byte - 216) % (INDEXES / 4),
        _ => 1 << (byte - 248 + 40),
    }
}

fn step(byte: u8) -> Step {
    STEPS.into_iter().cycle().nth(usize::from(byte)).unwrap_or(Step::Find)
}

fn store_call(byte: u8) -> StoreCall {
    match byte % 3 {
        0 => StoreCall::Store,
        1 => StoreCall::StoreGfp,
        _ => StoreCall::Preallocated,
    }
}
