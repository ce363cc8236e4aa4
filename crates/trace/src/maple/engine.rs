//! The trait through which an engine with the kernel's calls is driven: one tree, and cursors that live apart from
//! it.
//!
//! The rules are those of the recorded logs. Where a tree has no nodes, only values and codes of the recorded
//! answers bind ([`super::Expected`]), so that an engine is free in what its cursor says there.

use super::{ContentEntry, CursorState, Cycled, End, Refusal, Step, StoreCall, TreeFlags, Value};
use freehold_units::Span;

/// What a cursor shows of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CursorView {
    /// Its first index.
    pub index: u64,
    /// Its last index.
    pub last: u64,
    /// What it is doing.
    pub state: CursorState,
}

/// A tree with the kernel's calls, ours or another's. Indexes are `u64`, ranges include both ends. A call that is
/// refused has changed nothing.
pub trait Engine: Sized {
    /// A cursor between two calls; it borrows nothing. Only the tree that made it is ever given it back, and that not
    /// after a write of another cursor or of none.
    type Cursor;

    /// An empty tree. Without [`TreeFlags::alloc`] it refuses allocations.
    fn new(flags: TreeFlags) -> Self;

    /// `mtree_store_range`: over whatever is there. Refuses `first > last`.
    ///
    /// # Errors
    /// [`Refusal::Invalid`]
    fn store(&mut self, first: u64, last: u64, value: Value) -> Result<(), Refusal>;

    /// `mtree_insert_range`: into a range that is free.
    ///
    /// # Errors
    /// [`Refusal::Invalid`], [`Refusal::Exists`]
    fn insert(&mut self, first: u64, last: u64, value: Value) -> Result<(), Refusal>;

    /// `mtree_erase`: the whole entry that holds the index.
    fn erase(&mut self, index: u64) -> Value;

    /// `mtree_load`; a reserved entry reads as nothing.
    fn load(&self, index: u64) -> Value;

    /// `mt_find`, and `mt_find_after` if `after`: an entry and where to go on.
    fn find(&self, index: u64, max: u64, after: bool) -> (Value, u64);

    /// `mt_next`
    fn next(&self, index: u64, max: u64) -> Value;

    /// `mt_prev`
    fn prev(&self, index: u64, min: u64) -> Value;

    /// `mtree_alloc_range`, `mtree_alloc_rrange`: the first index of the place taken.
    ///
    /// # Errors
    /// [`Refusal::Invalid`], [`Refusal::Busy`]
    fn alloc_range(&mut self, end: End, size: u64, min: u64, max: u64, value: Value) -> Result<u64, Refusal>;

    /// `mtree_alloc_cyclic`
    ///
    /// # Errors
    /// [`Refusal::Invalid`], [`Refusal::Busy`]
    fn alloc_cyclic(&mut self, low: u64, high: u64, next: u64, value: Value) -> Result<Cycled, Refusal>;

    /// `MA_STATE`: a cursor that was not walked yet.
    fn cursor(&self, first: u64, last: u64) -> Self::Cursor;

    /// What the cursor shows of itself.
    fn view(cursor: &Self::Cursor) -> CursorView;

    /// `mas_pause`
    fn pause(cursor: &mut Self::Cursor);

    /// `mas_reset`
    fn reset(cursor: &mut Self::Cursor);

    /// `mas_walk`
    fn walk(&self, cursor: &mut Self::Cursor) -> Value;

    /// `mas_find`, `mas_next`, `mas_prev` and their relatives; the limit binds at both ends alike.
    fn step(&self, cursor: &mut Self::Cursor, step: Step, limit: u64) -> Value;

    /// `mas_empty_area`, `mas_empty_area_rev`: puts a cursor on the place found.
    ///
    /// # Errors
    /// [`Refusal::Invalid`], [`Refusal::Busy`]
    fn empty_area(
        &self,
        cursor: &mut Self::Cursor,
        end: End,
        min: u64,
        max: u64,
        size: u64,
    ) -> Result<(), Refusal>;

    /// `mas_store`, `mas_store_gfp`, or `mas_preallocate` and `mas_store_prealloc`, over the cursor's range; what was
    /// at its first index.
    ///
    /// # Errors
    /// [`Refusal::Invalid`]
    fn cursor_store(
        &mut self,
        cursor: &mut Self::Cursor,
        call: StoreCall,
        value: Value,
    ) -> Result<Value, Refusal>;

    /// `mas_erase`: the entry that holds the cursor's index.
    fn cursor_erase(&mut self, cursor: &mut Self::Cursor) -> Value;

    /// Stores over all of these ranges, and makes that final if `commit`; otherwise undoes it. The kernel has no such
    /// call.
    ///
    /// # Errors
    /// [`Refusal::Invalid`], and nothing is stored.
    fn store_together(&mut self, stores: &[(Span, Value)], commit: bool) -> Result<(), Refusal>;

    /// `mtree_dup`: an independent tree with the same content.
    fn duplicate(&self) -> Self;

    /// `mtree_empty`
    fn is_empty(&self) -> bool;

    /// Shows every entry in ascending order, the reserved ones included.
    fn entries(&self, visit: &mut dyn FnMut(ContentEntry));

    /// Nodes that its stores have taken so far; 0 if it has none.
    fn nodes_taken(&self) -> u64;

    /// Bytes of memory that it holds.
    fn bytes(&self) -> usize;

    /// Checks its invariants from scratch.
    ///
    /// # Errors
    /// What is broken.
    fn validate(&self) -> Result<(), String>;
}

impl CursorView {
    /// The range, unless its ends are the wrong way round.
    #[must_use]
    pub fn span(&self) -> Option<Span> {
        Span::new(self.index, self.last)
    }
}
