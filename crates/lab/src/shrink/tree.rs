//! Histories of trees: whole trees, then all that is about one place, and `# maple-vectors 1` of them.

use super::{Groups, History, Referee, Scened, Smaller};
use crate::engine::maple::EngineEntry;
use crate::family::Tree;
use crate::workload::trees::operations;
use freehold_rivals::maple::Naive;
use freehold_trace::maple::{
    Answer, CursorState, Driver, Engine, Expected, Op, TreeFlags, Trees, log_content, log_header, log_line,
};
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

/// Operations of a stream at most: its beginning. It may have millions more.
const MOST: usize = 1 << 18;
/// Entries of a content that is listed; of more there is the digest alone.
const LISTED: usize = 64;

/// The model, which keeps lists.
struct Model {
    driver: Driver<Naive>,
    /// The last operation found no gap.
    refused: bool,
    /// A gap was to be filled where none was found: logs have no such history.
    void: bool,
}

impl Model {
    fn new(flags: TreeFlags) -> Self {
        Self { driver: Driver::new(flags), refused: false, void: false }
    }

    /// What is right. Where a cursor stands in a tree that has no nodes in the kernel is no one's business.
    fn expected(&mut self, op: &Op) -> Expected {
        let few = |driver: &Driver<Naive>| driver.content(driver.current(), false).0 <= 1;
        let before = few(&self.driver);
        let answer = self.driver.run(op);
        self.void |= self.refused && matches!(op, Op::StoreGap { .. });
        self.refused = matches!(answer, Answer::Gap(Err(_)));
        let nodeless = matches!(answer, Answer::Cursor { state: CursorState::None | CursorState::Root, .. });
        Expected { answer, loose: nodeless || before || few(&self.driver) }
    }
}

impl Referee<Tree> for Model {
    /// What an engine lacks, it has not done.
    fn hear(&mut self, op: &Op, answer: Answer, _: &(dyn Trees + 'static)) -> Result<(), String> {
        if answer == Answer::Unsupported {
            return Ok(());
        }
        let expected = self.expected(op);
        let right = expected.accepts(&answer);
        if right { Ok(()) } else { Err(format!("{answer:?}, where the model says {:?}", expected.answer)) }
    }

    fn is_void(&self) -> bool {
        self.void
    }

    fn look(&mut self, session: &(dyn Trees + 'static)) -> Result<(), String> {
        let tree = self.driver.current();
        let (expected, got) = (self.driver.content(tree, true), session.content(tree, true));
        if got == expected {
            return Ok(());
        }
        Err(format!("{} entries or others at the end, where the model has {}", got.0, expected.0))
    }
}

impl History for Tree {
    const GROUPS: &'static [Groups<Op>] = &[by_tree, by_place];
    const SMALLER: &'static [Smaller<Self>] = &[ranked, divided];
    const SMALLER_EACH: &'static [Smaller<Self>] = &[];

    fn read(file: &Path) -> anyhow::Result<Scened<Self>> {
        operations(file, MOST)
    }

    /// Trees are used, copied and destroyed while they are there; a cursor that is kept ends with any call but its own, and a gap is
    /// filled behind a search for one.
    fn tidy(ops: Vec<Op>) -> Vec<Op> {
        let (mut trees, mut current, mut searched, mut cursor) = (HashSet::from([0]), 0, false, false);
        let stays = |op: &Op| {
            let known = match op {
                Op::UseTree { tree } | Op::DestroyTree { tree } => trees.contains(tree),
                Op::Duplicate { from, .. } => trees.contains(from),
                Op::StoreGap { .. } => searched,
                Op::CursorPause | Op::CursorReset | Op::CursorWalk | Op::CursorStep { .. } => cursor,
                _ => trees.contains(&current),
            };
            match op {
                _ if !known => return false,
                Op::UseTree { tree } => current = *tree,
                Op::Duplicate { into, .. } => drop(trees.insert(*into)),
                Op::DestroyTree { tree } => drop(trees.remove(tree)),
                _ => {}
            }
            searched = matches!(op, Op::EmptyArea { .. });
            cursor = match op {
                Op::CursorSet { .. } | Op::EmptyArea { .. } | Op::StoreGap { .. } => true,
                Op::CursorPause | Op::CursorReset | Op::CursorWalk | Op::CursorStep { .. } => cursor,
                _ => false,
            };
            true
        };
        ops.into_iter().filter(stays).collect()
    }

    fn referee(_: &EngineEntry, flags: &TreeFlags) -> Result<Box<dyn Referee<Self>>, String> {
        Ok(Box::new(Model::new(*flags)))
    }

    fn text(_: &EngineEntry, flags: &TreeFlags, ops: &[Op]) -> anyhow::Result<String> {
        let mut model = Model::new(*flags);
        let mut text = log_header("shrunk", "as recorded", *flags);
        for op in ops {
            let line = log_line(op, &model.expected(op));
            text += &line.ok_or_else(|| anyhow::anyhow!("logs have no line for {op:?}"))?;
        }
        let mut entries = Vec::new();
        if let Some(tree) = model.driver.tree() {
            tree.entries(&mut |entry| entries.push(entry));
            let content = log_content(&entries);
            let summed = content.lines().next_back().unwrap_or_default();
            text += &if entries.len() <= LISTED { content.clone() } else { format!("{summed}\n") };
        }
        Ok(text + &format!("# ops {}\n", ops.len()))
    }
}

fn by_tree(ops: &[Op]) -> Vec<u64> {
    let mut current = 0;
    let tree = ops.iter().map(|op| {
        if let Op::UseTree { tree } = op {
            current = *tree;
        }
        u64::from(match op {
            Op::Duplicate { into, .. } => *into,
            Op::DestroyTree { tree } => *tree,
            _ => current,
        })
    });
    tree.collect()
}

/// What is about the same first index; all that names no index is of the operation before.
fn by_place(ops: &[Op]) -> Vec<u64> {
    let mut place = 0;
    let at = ops.iter().map(|op| {
        let first = spans(op).next().map(|span| *span.0);
        place = first.unwrap_or(place);
        place
    });
    at.collect()
}

/// The ranges that an operation names: first and last index, or one twice.
fn spans(op: &Op) -> impl Iterator<Item = (&u64, &u64)> {
    let span = match op {
        Op::Store { first, last, .. }
        | Op::Insert { first, last, .. }
        | Op::CursorStore { first, last, .. } => Some((first, last)),
        Op::Erase { index } | Op::Load { index } | Op::CursorSet { index } | Op::CursorErase { index } => {
            Some((index, index))
        }
        Op::Find { index, max, .. } | Op::Next { index, max } => Some((index, max)),
        Op::Prev { index, min } => Some((min, index)),
        Op::AllocRange { min, max, .. } | Op::EmptyArea { min, max, .. } => Some((min, max)),
        Op::CursorStep { limit, .. } => Some((limit, limit)),
        Op::StepMany { index, limit, .. } => Some((index, limit)),
        Op::AllocCyclic { low, high, .. } => Some((low, high)),
        _ => None,
    };
    span.into_iter()
}

/// The same operation with other indexes and sizes.
fn moved(op: &Op, to: &impl Fn(u64) -> u64, size_to: &impl Fn(u64) -> u64) -> Op {
    let last_to = |last: u64| last.checked_add(1).map_or(u64::MAX, |end| to(end).wrapping_sub(1));
    let mut op = *op;
    match &mut op {
        Op::Store { first, last, .. }
        | Op::Insert { first, last, .. }
        | Op::CursorStore { first, last, .. } => {
            (*first, *last) = (to(*first), last_to(*last));
        }
        Op::Erase { index } | Op::Load { index } | Op::CursorSet { index } | Op::CursorErase { index } => {
            *index = to(*index);
        }
        Op::Find { index, max, .. } | Op::Next { index, max } => (*index, *max) = (to(*index), last_to(*max)),
        Op::Prev { index, min } => (*index, *min) = (to(*index), to(*min)),
        Op::AllocRange { size, min, max, .. } | Op::EmptyArea { size, min, max, .. } => {
            (*size, *min, *max) = (size_to(*size), to(*min), last_to(*max));
        }
        Op::CursorStep { limit, step } => *limit = if step.is_down() { to(*limit) } else { last_to(*limit) },
        Op::StepMany { index, limit, step, .. } => {
            (*index, *limit) = (to(*index), if step.is_down() { to(*limit) } else { last_to(*limit) });
        }
        Op::AllocCyclic { low, high, next, .. } => {
            (*low, *high, *next) = (to(*low), last_to(*high), to(*next));
        }
        _ => {}
    }
    op
}

/// The lowest index becomes 0, the next one that is named 1: which is before which, and beside which, stays.
fn ranked(flags: &TreeFlags, ops: &[Op], _: usize) -> Option<Scened<Tree>> {
    let ends = |(first, last): (&u64, &u64)| [Some(*first), last.checked_add(1)];
    let known: BTreeSet<u64> = ops.iter().flat_map(spans).flat_map(ends).flatten().collect();
    let known: Vec<u64> = known.into_iter().collect();
    let rank = |index: u64| {
        if index == u64::MAX { index } else { known.partition_point(|known| *known < index) as u64 }
    };
    renumbered(flags, ops, &rank, &|_| 1)
}

/// Divided by what all are multiples of.
fn divided(flags: &TreeFlags, ops: &[Op], _: usize) -> Option<Scened<Tree>> {
    let ends = |(first, last): (&u64, &u64)| [*first, last.wrapping_add(1)];
    let bits =
        ops.iter().flat_map(spans).flat_map(ends).filter(|end| *end != 0).map(u64::trailing_zeros).min()?;
    let low = ops.iter().flat_map(spans).map(|(first, _)| *first).min()?;
    let to = |index: u64| if index == u64::MAX { index } else { index.saturating_sub(low) >> bits };
    renumbered(flags, ops, &to, &|size| (size >> bits).max(1))
}

fn renumbered(
    flags: &TreeFlags,
    ops: &[Op],
    to: &impl Fn(u64) -> u64,
    size_to: &impl Fn(u64) -> u64,
) -> Option<Scened<Tree>> {
    let new: Vec<Op> = ops.iter().map(|op| moved(op, to, size_to)).collect();
    (new != ops).then_some((*flags, new))
}
