//! Operations on range trees. Indexes are `u64`, and ranges include both ends. An operation with `first > last` is
//! valid input: the engine refuses it.

use freehold_units::{Align, Span};

/// The content of a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    #[default]
    Null,
    /// Occupied: plain operations read nothing, but cursors see the entry.
    Reserved,
    /// A value, from 1 to 9999 in logs.
    Number(u32),
}

impl Value {
    /// Its word in a digest.
    #[must_use]
    pub fn word(self) -> u64 {
        match self {
            Self::Null => 0,
            Self::Reserved => u64::MAX,
            Self::Number(number) => u64::from(number),
        }
    }

    /// The next value in block operations: after 9999 comes 1. `Null` and `Reserved` stay as they are.
    #[must_use]
    pub fn successor(self) -> Self {
        match self {
            Self::Number(number) => Self::Number(number % 9999 + 1),
            other => other,
        }
    }
}

/// The end from which a gap is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The lowest gap that fits, at its low end.
    Lowest,
    /// The highest gap that fits, at its high end.
    Highest,
}

/// A move of a cursor. The limit is a maximum for moves up and a minimum for moves down. Those named `Range` stop at gaps,
/// too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To the entry at or after the cursor (`mas_find`).
    Find,
    /// To the range at or after the cursor (`mas_find_range`).
    FindRange,
    /// To the entry at or before the cursor (`mas_find_rev`).
    FindRev,
    /// To the range at or before the cursor (`mas_find_range_rev`).
    FindRangeRev,
    /// To the next entry (`mas_next`).
    Next,
    /// To the next range (`mas_next_range`).
    NextRange,
    /// To the previous entry (`mas_prev`).
    Prev,
    /// To the previous range (`mas_prev_range`).
    PrevRange,
}

impl Step {
    /// Whether it moves to lower indexes.
    #[must_use]
    pub fn is_down(self) -> bool {
        matches!(self, Self::FindRev | Self::FindRangeRev | Self::Prev | Self::PrevRange)
    }

    /// Whether it stops at gaps, too.
    #[must_use]
    pub fn stops_at_gaps(self) -> bool {
        matches!(self, Self::FindRange | Self::FindRangeRev | Self::NextRange | Self::PrevRange)
    }
}

/// The call by which a cursor stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreCall {
    /// `mas_store`: returns the previous content.
    Store,
    /// `mas_store_gfp`: allocates nodes during the store.
    StoreGfp,
    /// `mas_preallocate`, then `mas_store_prealloc`, which cannot fail.
    Preallocated,
}

/// One operation on the current tree or its cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Store over a range, free or not. Answer: `Done`.
    Store {
        /// First index.
        first: u64,
        /// Last index.
        last: u64,
        /// The value; `Null` erases.
        value: Value,
    },
    /// Store into a range that is free. Answer: `Done`.
    Insert {
        /// First index.
        first: u64,
        /// Last index.
        last: u64,
        /// The value.
        value: Value,
    },
    /// Erase the whole entry at the index. Answer: `Value`, its value.
    Erase {
        /// The index.
        index: u64,
    },
    /// Look up. Answer: `Value`.
    Load {
        /// The index.
        index: u64,
    },
    /// The first entry that ends at or after the index and starts at or before the maximum. Answer: `Found`.
    Find {
        /// The index.
        index: u64,
        /// The maximum.
        max: u64,
        /// Whether this continues an earlier search, in which index 0 means that the end was reached.
        after: bool,
    },
    /// The entry after the range at the index. Answer: `Value`.
    Next {
        /// The index.
        index: u64,
        /// The highest index at which the entry may start.
        max: u64,
    },
    /// The entry before the range at the index. Answer: `Value`.
    Prev {
        /// The index.
        index: u64,
        /// The lowest index at which the entry may end.
        min: u64,
    },
    /// Find a gap and store there. Answer: `Placed`.
    AllocRange {
        /// The end from which to search.
        end: End,
        /// The number of indexes.
        size: u64,
        /// The lowest index allowed.
        min: u64,
        /// The highest index allowed.
        max: u64,
        /// The value.
        value: Value,
    },
    /// Find a free index at `next` or above, otherwise from `low` on, and store there. Answer: `Cycled`.
    AllocCyclic {
        /// The lowest index allowed.
        low: u64,
        /// The highest index allowed.
        high: u64,
        /// Where to start.
        next: u64,
        /// The value.
        value: Value,
    },
    /// Put a fresh cursor on a gap. Answer: `Gap`.
    EmptyArea {
        /// The end from which to search.
        end: End,
        /// The lowest index allowed.
        min: u64,
        /// The highest index allowed.
        max: u64,
        /// The number of indexes.
        size: u64,
    },
    /// Find a gap with an aligned start. Logs have no such operation. Answer: `Gap`.
    AlignedGap {
        /// The end from which to search.
        end: End,
        /// The number of indexes.
        size: u64,
        /// The alignment of the first index.
        align: Align,
        /// The range that must contain it.
        window: Span,
    },
    /// Store over the gap at which the previous operation left the cursor. Answer: `Stored`.
    StoreGap {
        /// The value.
        value: Value,
    },
    /// A new cursor at an index. Answer: `Nothing`.
    CursorSet {
        /// The index.
        index: u64,
    },
    /// Release the tree, so that others may change it; the cursor keeps its range. Answer: `Nothing`.
    CursorPause,
    /// Forget the place in the tree; the cursor keeps its range. Answer: `Nothing`.
    CursorReset,
    /// Go to the range at the cursor's index. Answer: `Cursor`.
    CursorWalk,
    /// Move the cursor. Answer: `Cursor`.
    CursorStep {
        /// The move.
        step: Step,
        /// The index that it must not pass.
        limit: u64,
    },
    /// Store through a fresh cursor. Answer: `Replaced` for [`StoreCall::Store`], otherwise `Stored`.
    CursorStore {
        /// The call.
        call: StoreCall,
        /// First index.
        first: u64,
        /// Last index.
        last: u64,
        /// The value.
        value: Value,
    },
    /// Erase the entry at the index through a fresh cursor. Answer: `Replaced`.
    CursorErase {
        /// The index.
        index: u64,
    },
    /// Look up `count` indexes, `stride` apart and wrapping around. Answer: `Digest` of the values.
    LoadMany {
        /// The first index.
        index: u64,
        /// The distance from one index to the next.
        stride: u64,
        /// The number of indexes.
        count: u64,
    },
    /// Erase at `count` indexes, `stride` apart and wrapping around. Answer: `Digest` of the values.
    EraseMany {
        /// The first index.
        index: u64,
        /// The distance from one index to the next.
        stride: u64,
        /// The number of indexes.
        count: u64,
    },
    /// Store `count` ranges of `len` indexes, their starts `stride` apart, with values that count up
    /// ([`Value::successor`]). Answer: `Nothing`; every store succeeds.
    StoreMany {
        /// The first range's first index.
        first: u64,
        /// The distance from one range's first index to the next.
        stride: u64,
        /// The number of indexes in each range.
        len: u64,
        /// The number of ranges.
        count: u64,
        /// The first range's value.
        value: Value,
    },
    /// Store `count` ranges as [`Op::StoreMany`] does, but in one transaction. `Null` empties them. Logs have no such
    /// operation. Answer: `Done`.
    StoreTogether {
        /// The first range's first index.
        first: u64,
        /// The distance from one range's first index to the next.
        stride: u64,
        /// The number of indexes in each range.
        len: u64,
        /// The number of ranges.
        count: u64,
        /// The first range's value.
        value: Value,
        /// Whether the transaction is committed.
        commit: bool,
    },
    /// Step a fresh cursor up to `most` times, until it finds nothing or reaches the limit. The move is one of the four
    /// named `Find`. Answer: `Walked`.
    StepMany {
        /// The move.
        step: Step,
        /// The cursor's index.
        index: u64,
        /// The index that it must not pass.
        limit: u64,
        /// The maximum number of steps; `None` for no maximum.
        most: Option<u64>,
    },
    /// Make another tree the current one; created if it does not exist. Answer: `Nothing`.
    UseTree {
        /// Its number.
        tree: u32,
    },
    /// Copy a tree into an empty or a new one. Answer: `Done`.
    Duplicate {
        /// The tree to copy.
        from: u32,
        /// The copy; created if it does not exist.
        into: u32,
    },
    /// Destroy a tree. Answer: `Nothing`.
    DestroyTree {
        /// Its number.
        tree: u32,
    },
}
