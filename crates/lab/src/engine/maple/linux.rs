//! Our range map behind the kernel's calls.

use freehold::maple::{Nodes, Rejected};
use freehold::units::Span;
use freehold_linux::Error;
use freehold_linux::maple::{Cycled, Flags, Item, MaState, Ranges, State, Tree};
use freehold_trace::maple::{
    self as trace, ContentEntry, CursorState, CursorView, End, Engine, Refusal, Step, StoreCall, TreeFlags,
    Value,
};
use std::num::NonZeroU64;

/// A tree whose entries are numbers, one higher than their values: an entry is never 0.
pub struct LinuxTree<const SMALL: bool = false>(Tree<NonZeroU64>);

type Entry = Item<NonZeroU64>;

fn item(value: Value) -> Entry {
    match value {
        Value::Null => Item::Null,
        Value::Reserved => Item::Zero,
        Value::Number(number) => Item::Entry(NonZeroU64::MIN.saturating_add(number.into())),
    }
}

fn value(item: Entry) -> Value {
    match item {
        Item::Null => Value::Null,
        Item::Zero => Value::Reserved,
        // No other entries are stored.
        Item::Entry(entry) => u32::try_from(entry.get() - 1).map_or(Value::Null, Value::Number),
    }
}

/// The same of what cannot be the zero entry.
fn plain(entry: Option<NonZeroU64>) -> Value {
    value(entry.map_or(Item::Null, Item::Entry))
}

/// What an erase returns. A tree with one owner needs no memory for it; if it did, it would show as an answer that
/// differs.
fn erased(erased: Result<Entry, Error>) -> Entry {
    erased.unwrap_or(Item::Null)
}

fn refusal<T>(rejected: Rejected<T, Error>) -> Refusal {
    code(rejected.cause)
}

fn code(error: Error) -> Refusal {
    match error {
        Error::Exists => Refusal::Exists,
        Error::Invalid => Refusal::Invalid,
        // Logs know no lack of memory: it shows as an answer that differs.
        Error::Busy | Error::NoMemory => Refusal::Busy,
    }
}

impl<const SMALL: bool> LinuxTree<SMALL> {
    const NODES: Nodes = if SMALL { Nodes::Small } else { Nodes::Full };
}

impl<const SMALL: bool> Engine for LinuxTree<SMALL> {
    type Cursor = MaState;

    fn new(flags: TreeFlags) -> Self {
        Self(Tree::with_nodes(Flags { alloc_range: flags.alloc, use_rcu: flags.rcu }, Self::NODES))
    }

    fn store(&mut self, first: u64, last: u64, value: Value) -> Result<(), Refusal> {
        self.0.store_range(first, last, item(value)).map_err(refusal)
    }

    fn insert(&mut self, first: u64, last: u64, value: Value) -> Result<(), Refusal> {
        self.0.insert_range(first, last, item(value)).map_err(refusal)
    }

    fn erase(&mut self, index: u64) -> Value {
        value(erased(self.0.erase(index)))
    }

    fn load(&self, index: u64) -> Value {
        plain(self.0.load(index))
    }

    fn find(&self, index: u64, max: u64, after: bool) -> (Value, u64) {
        let mut next = index;
        let found = match after {
            true => self.0.find_after(&mut next, max),
            false => self.0.find(&mut next, max),
        };
        (plain(found), next)
    }

    fn next(&self, index: u64, max: u64) -> Value {
        value(self.0.next(index, max))
    }

    fn prev(&self, index: u64, min: u64) -> Value {
        value(self.0.prev(index, min))
    }

    fn alloc_range(&mut self, end: End, size: u64, min: u64, max: u64, value: Value) -> Result<u64, Refusal> {
        let placed = match end {
            End::Lowest => self.0.alloc_range(size, min, max, item(value)),
            End::Highest => self.0.alloc_rrange(size, min, max, item(value)),
        };
        placed.map_err(refusal)
    }

    fn alloc_cyclic(
        &mut self,
        low: u64,
        high: u64,
        next: u64,
        value: Value,
    ) -> Result<trace::Cycled, Refusal> {
        let mut next = next;
        let Cycled { index, wrapped } =
            self.0.alloc_cyclic(low, high, &mut next, item(value)).map_err(refusal)?;
        Ok(trace::Cycled { index, next, wrapped })
    }

    fn cursor(&self, first: u64, last: u64) -> MaState {
        MaState::new(first, last)
    }

    fn view(cursor: &MaState) -> CursorView {
        let state = match cursor.state() {
            State::Active => CursorState::Active,
            State::Start => CursorState::Start,
            State::Pause => CursorState::Pause,
            State::Overflow => CursorState::Overflow,
            State::Underflow => CursorState::Underflow,
        };
        CursorView { index: cursor.index(), last: cursor.last(), state }
    }

    fn pause(cursor: &mut MaState) {
        cursor.pause();
    }

    fn reset(cursor: &mut MaState) {
        cursor.reset();
    }

    fn walk(&self, cursor: &mut MaState) -> Value {
        value(cursor.walk(&self.0))
    }

    fn step(&self, cursor: &mut MaState, step: Step, limit: u64) -> Value {
        let tree = &self.0;
        value(match step {
            Step::Find => cursor.find(tree, limit),
            Step::FindRange => cursor.find_range(tree, limit),
            Step::FindRev => cursor.find_rev(tree, limit),
            Step::FindRangeRev => cursor.find_range_rev(tree, limit),
            Step::Next => cursor.next(tree, limit),
            Step::NextRange => cursor.next_range(tree, limit),
            Step::Prev => cursor.prev(tree, limit),
            Step::PrevRange => cursor.prev_range(tree, limit),
        })
    }

    fn empty_area(
        &self,
        cursor: &mut MaState,
        end: End,
        min: u64,
        max: u64,
        size: u64,
    ) -> Result<(), Refusal> {
        let found = match end {
            End::Lowest => cursor.empty_area(&self.0, min, max, size),
            End::Highest => cursor.empty_area_rev(&self.0, min, max, size),
        };
        found.map_err(code)
    }

    fn cursor_store(
        &mut self,
        cursor: &mut MaState,
        call: StoreCall,
        value: Value,
    ) -> Result<Value, Refusal> {
        let (tree, item) = (&mut self.0, item(value));
        match call {
            StoreCall::Store => return cursor.store(tree, item).map(self::value).map_err(refusal),
            StoreCall::StoreGfp => cursor.store_gfp(tree, item).map_err(refusal)?,
            StoreCall::Preallocated => cursor.preallocate(tree, item).map_err(refusal)?.store_prealloc(),
        }
        Ok(Value::Null)
    }

    fn cursor_erase(&mut self, cursor: &mut MaState) -> Value {
        value(erased(cursor.erase(&mut self.0)))
    }

    fn store_together(&mut self, stores: &[(Span, Value)], commit: bool) -> Result<(), Refusal> {
        let mut all = self.0.map_mut().transaction();
        for &(span, value) in stores {
            let stored = match item(value) {
                Item::Null => all.remove_range(span).is_ok(),
                Item::Zero => all.store(span, None).is_ok(),
                Item::Entry(entry) => all.store(span, Some(entry)).is_ok(),
            };
            if !stored {
                return Err(Refusal::Busy);
            }
        }
        if commit {
            all.commit();
        }
        Ok(())
    }

    fn nodes_taken(&self) -> u64 {
        self.0.map().nodes_taken()
    }

    fn bytes(&self) -> usize {
        self.0.map().bytes()
    }

    fn duplicate(&self) -> Self {
        let mut copy = Tree::with_nodes(self.0.flags(), Self::NODES);
        // Into an empty tree of the same kind only memory can be lacking; the copy's content differs then.
        let _ = self.0.dup(&mut copy);
        Self(copy)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn entries(&self, visit: &mut dyn FnMut(ContentEntry)) {
        for (span, entry) in self.0.map() {
            visit(ContentEntry { span, value: value(entry.into()) });
        }
    }

    fn validate(&self) -> Result<(), String> {
        self.0.map().validate().map_err(|broken| broken.to_string())
    }
}
