//! Runs operations on trees: knows the trees by number and the one cursor, and takes block operations apart.

use super::{
    Answer, ContentEntry, CursorState, CursorView, Digest, Engine, Op, Refusal, Step, StoreCall, TreeFlags,
    Value,
};
use crate::Drive;
use freehold_units::{Probe, Span, Work};
use std::collections::HashMap;

/// Trees of one kind, one of which is current, and the cursor in that one.
pub struct Driver<E: Engine> {
    flags: TreeFlags,
    trees: HashMap<u32, E>,
    current: u32,
    /// Gone after every write but its own: it would point into what is no longer there.
    cursor: Option<E::Cursor>,
}

impl<E: Engine> Driver<E> {
    /// One empty tree, number 0.
    #[must_use]
    pub fn new(flags: TreeFlags) -> Self {
        Self { flags, trees: HashMap::from([(0, E::new(flags))]), current: 0, cursor: None }
    }

    /// The current tree, unless it was destroyed.
    #[must_use]
    pub fn tree(&self) -> Option<&E> {
        self.trees.get(&self.current)
    }

    /// Number and digest of a tree's entries, of their values too if `values`: as logs and streams have them.
    #[must_use]
    pub fn content(&self, tree: u32, values: bool) -> (u64, u64) {
        let (mut count, mut digest) = (0, Digest::default());
        if let Some(tree) = self.trees.get(&tree) {
            tree.entries(&mut |ContentEntry { span, value }| {
                count += 1;
                digest.push(span.first());
                digest.push(span.last());
                if values {
                    digest.push(value.word());
                }
            });
        }
        (count, digest.value())
    }

    /// The current tree's number.
    #[must_use]
    pub fn current(&self) -> u32 {
        self.current
    }

    /// Runs one operation. What needs a tree or a cursor that is not there is [`Answer::Unsupported`].
    pub fn run(&mut self, op: &Op) -> Answer {
        match *op {
            Op::UseTree { tree } => {
                self.cursor = None;
                self.current = tree;
                let flags = self.flags;
                self.trees.entry(tree).or_insert_with(|| E::new(flags));
                Answer::Nothing
            }
            Op::Duplicate { from, into } => {
                self.cursor = None;
                self.duplicate(from, into)
            }
            Op::DestroyTree { tree } => {
                self.cursor = None;
                self.trees.remove(&tree);
                Answer::Nothing
            }
            _ => self.run_in_current(op),
        }
    }

    fn run_in_current(&mut self, op: &Op) -> Answer {
        let Some(tree) = self.trees.get_mut(&self.current) else { return Answer::Unsupported };
        match plain(tree, op) {
            Some(answer) => {
                self.cursor = None;
                answer
            }
            None => cursor(tree, &mut self.cursor, op),
        }
    }

    fn duplicate(&mut self, from: u32, into: u32) -> Answer {
        let Some(copy) = self.trees.get(&from).map(Engine::duplicate) else { return Answer::Unsupported };
        if self.trees.get(&into).is_some_and(|tree| !tree.is_empty()) {
            return Answer::Done(Err(Refusal::Invalid));
        }
        self.trees.insert(into, copy);
        Answer::Done(Ok(()))
    }
}

/// The work that is counted is nodes taken.
impl<E: Engine> Drive for Driver<E> {
    type Op = Op;
    type Answer = Answer;

    fn run(&mut self, op: &Op, probe: &mut impl Probe) -> Answer {
        if !probe.counts() {
            return Self::run(self, op);
        }
        let taken = |driver: &Self| driver.tree().map_or(0, Engine::nodes_taken);
        let before = taken(self);
        let answer = Self::run(self, op);
        probe.count(Work::NodeTaken, taken(self).saturating_sub(before));
        answer
    }

    /// Nothing has a name here.
    fn expect_objects(&mut self, _: u32) {}

    fn metadata_bytes(&self) -> usize {
        self.trees.values().map(Engine::bytes).sum()
    }

    fn validate(&self) -> Result<(), String> {
        self.tree().map_or(Ok(()), Engine::validate)
    }
}

/// What the operation answers, if it has nothing to do with the cursor that is kept.
fn plain<E: Engine>(tree: &mut E, op: &Op) -> Option<Answer> {
    Some(match *op {
        Op::Store { first, last, value } => Answer::Done(tree.store(first, last, value)),
        Op::Insert { first, last, value } => Answer::Done(tree.insert(first, last, value)),
        Op::Erase { index } => Answer::Value(tree.erase(index)),
        Op::Load { index } => Answer::Value(tree.load(index)),
        Op::Find { index, max, after } => {
            let (value, next) = tree.find(index, max, after);
            Answer::Found { value, next }
        }
        Op::Next { index, max } => Answer::Value(tree.next(index, max)),
        Op::Prev { index, min } => Answer::Value(tree.prev(index, min)),
        Op::AllocRange { end, size, min, max, value } => {
            Answer::Placed(tree.alloc_range(end, size, min, max, value))
        }
        Op::AllocCyclic { low, high, next, value } => {
            Answer::Cycled(tree.alloc_cyclic(low, high, next, value))
        }
        Op::CursorStore { call, first, last, value } => {
            let mut cursor = tree.cursor(first, last);
            stored(tree, &mut cursor, call, value)
        }
        Op::CursorErase { index } => {
            let mut cursor = tree.cursor(index, index);
            let old = Some(tree.cursor_erase(&mut cursor));
            let CursorView { index, last, .. } = E::view(&cursor);
            Answer::Replaced { old, index, last }
        }
        Op::LoadMany { index, stride, count } => many(index, stride, count, |index| tree.load(index)),
        Op::EraseMany { index, stride, count } => many(index, stride, count, |index| tree.erase(index)),
        Op::StoreMany { first, stride, len, count, value } => {
            store_many(first, stride, len, count, value, |first, last, value| tree.store(first, last, value))
        }
        Op::StoreTogether { first, stride, len, count, value, commit } => {
            let mut stores = Vec::new();
            let listed = store_many(first, stride, len, count, value, |first, last, value| {
                stores.push((Span::new(first, last).ok_or(Refusal::Invalid)?, value));
                Ok(())
            });
            match listed {
                Answer::Nothing => Answer::Done(tree.store_together(&stores, commit)),
                refused => refused,
            }
        }
        Op::StepMany { step, index, limit, most } => step_many(tree, step, index, limit, most),
        _ => return None,
    })
}

/// What the operation answers, if it is one of the cursor that is kept.
fn cursor<E: Engine>(tree: &mut E, kept: &mut Option<E::Cursor>, op: &Op) -> Answer {
    match *op {
        Op::CursorSet { index } => {
            *kept = Some(tree.cursor(index, index));
            return Answer::Nothing;
        }
        Op::EmptyArea { end, min, max, size } => {
            let cursor = kept.insert(tree.cursor(0, 0));
            let found = tree.empty_area(cursor, end, min, max, size);
            return Answer::Gap(found.and_then(|()| E::view(cursor).span().ok_or(Refusal::Invalid)));
        }
        _ => {}
    }
    let Some(cursor) = kept else { return Answer::Unsupported };
    match *op {
        Op::StoreGap { value } => stored(tree, cursor, StoreCall::StoreGfp, value),
        Op::CursorPause => {
            E::pause(cursor);
            Answer::Nothing
        }
        Op::CursorReset => {
            E::reset(cursor);
            Answer::Nothing
        }
        Op::CursorWalk => moved::<E>(tree.walk(cursor), cursor),
        Op::CursorStep { step, limit } => moved::<E>(tree.step(cursor, step, limit), cursor),
        _ => Answer::Unsupported,
    }
}

fn moved<E: Engine>(value: Value, cursor: &E::Cursor) -> Answer {
    let CursorView { index, last, state } = E::view(cursor);
    Answer::Cursor { value, index, last, state }
}

fn stored<E: Engine>(tree: &mut E, cursor: &mut E::Cursor, call: StoreCall, value: Value) -> Answer {
    let stored = tree.cursor_store(cursor, call, value);
    let CursorView { index, last, .. } = E::view(cursor);
    match (call, stored) {
        (StoreCall::Store, Ok(old)) => Answer::Replaced { old: Some(old), index, last },
        (_, stored) => Answer::Stored { done: stored.map(drop), index, last },
    }
}

/// The digest of what is said of `count` indexes.
pub(super) fn many(index: u64, stride: u64, count: u64, mut value: impl FnMut(u64) -> Value) -> Answer {
    let (mut digest, mut index) = (Digest::default(), index);
    for _ in 0..count {
        digest.push(value(index).word());
        index = index.wrapping_add(stride);
    }
    Answer::Digest(digest.value())
}

/// Stores range after range; a store that is refused is the answer, and the last.
pub(super) fn store_many(
    first: u64,
    stride: u64,
    len: u64,
    count: u64,
    value: Value,
    mut store: impl FnMut(u64, u64, Value) -> Result<(), Refusal>,
) -> Answer {
    let (mut first, mut value) = (first, value);
    for _ in 0..count {
        if let Err(refusal) = store(first, first.wrapping_add(len.wrapping_sub(1)), value) {
            return Answer::Done(Err(refusal));
        }
        first = first.wrapping_add(stride);
        value = value.successor();
    }
    Answer::Nothing
}

fn step_many<E: Engine>(tree: &E, step: Step, index: u64, limit: u64, most: Option<u64>) -> Answer {
    let mut cursor = tree.cursor(index, index);
    let (mut count, mut digest) = (0, Digest::default());
    while most.is_none_or(|most| count < most) {
        let value = tree.step(&mut cursor, step, limit);
        let view = E::view(&cursor);
        let found =
            if step.stops_at_gaps() { view.state == CursorState::Active } else { value != Value::Null };
        if !found {
            break;
        }
        count += 1;
        digest.push(view.index);
        digest.push(view.last);
        digest.push(value.word());
        if if step.is_down() { view.index <= limit } else { view.last >= limit } {
            break;
        }
    }
    Answer::Walked { count, digest: digest.value() }
}
