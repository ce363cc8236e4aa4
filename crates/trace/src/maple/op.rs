//! What a range tree is asked. Indexes are `u64`, ranges include both ends; a range with `first > last` can be
//! asked for and is refused.

use freehold_units::{Align, Span};

/// What is stored in a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    #[default]
    Null,
    /// Occupied, but read as nothing by the plain operations; cursors see it.
    Reserved,
    /// A value; logs have 1 to 9999.
    Number(u32),
}

impl Value {
    /// The word that stands for it in a digest.
    #[must_use]
    pub fn word(self) -> u64 {
        match self {
            Self::Null => 0,
            Self::Reserved => u64::MAX,
            Self::Number(number) => u64::from(number),
        }
    }

    /// The value after this one in block operations: after 9999 comes 1. Nothing comes after what is no number.
    #[must_use]
    pub fn successor(self) -> Self {
        match self {
            Self::Number(number) => Self::Number(number % 9999 + 1),
            other => other,
        }
    }
}

/// From which end a gap is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The lowest gap that fits, at its low end.
    Lowest,
    /// The highest gap that fits, at its high end.
    Highest,
}

/// How a cursor moves to an entry. The limit is a maximum on the way up, a minimum on the way down; the forms
/// named `Range` stop at gaps too.
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
    /// Whether it goes to lower indexes.
    #[must_use]
    pub fn is_down(self) -> bool {
        matches!(self, Self::FindRev | Self::FindRangeRev | Self::Prev | Self::PrevRange)
    }

    /// Whether it stops at gaps too.
    #[must_use]
    pub fn stops_at_gaps(self) -> bool {
        matches!(self, Self::FindRange | Self::FindRangeRev | Self::NextRange | Self::PrevRange)
    }
}

/// Through which call a cursor stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreCall {
    /// `mas_store`: answers with what was there.
    Store,
    /// `mas_store_gfp`: allocates as it needs to.
    StoreGfp,
    /// `mas_preallocate`, then `mas_store_prealloc`, which cannot fail.
    Preallocated,
}

/// One operation on the current tree or its cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Store over a range, whatever is there. Answer: `Done`.
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
    /// Erase the whole entry that holds the index. Answer: `Value`, what it was.
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
        /// Whether it continues such a search: index 0 then means that the space has been gone through.
        after: bool,
    },
    /// The entry after the range that holds the index. Answer: `Value`.
    Next {
        /// The index.
        index: u64,
        /// Where it must start at the latest.
        max: u64,
    },
    /// The entry before the range that holds the index. Answer: `Value`.
    Prev {
        /// The index.
        index: u64,
        /// Where it must end at the earliest.
        min: u64,
    },
    /// Find a gap and store there. Answer: `Placed`.
    AllocRange {
        /// From which end.
        end: End,
        /// Indexes wanted.
        size: u64,
        /// The lowest index allowed.
        min: u64,
        /// The highest index allowed.
        max: u64,
        /// The value.
        value: Value,
    },
    /// Find a free index at or after `next`, else from `low` on, and store there. Answer: `Cycled`.
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
        /// From which end.
        end: End,
        /// The lowest index allowed.
        min: u64,
        /// The highest index allowed.
        max: u64,
        /// Indexes wanted.
        size: u64,
    },
    /// Find a gap that starts at a multiple of an alignment; logs have none of these. Answer: `Gap`.
    AlignedGap {
        /// From which end.
        end: End,
        /// Indexes wanted.
        size: u64,
        /// What the first index is a multiple of.
        align: Align,
        /// Where it must lie.
        window: Span,
    },
    /// Store over the gap that the operation before put the cursor on. Answer: `Stored`.
    StoreGap {
        /// The value.
        value: Value,
    },
    /// A new cursor at an index. Answer: `Nothing`.
    CursorSet {
        /// The index.
        index: u64,
    },
    /// Let go of the tree; the cursor keeps its range. Answer: `Nothing`.
    CursorPause,
    /// Forget the place in the tree; the cursor keeps its range. Answer: `Nothing`.
    CursorReset,
    /// Go to the range that holds the cursor's index. Answer: `Cursor`.
    CursorWalk,
    /// Move the cursor. Answer: `Cursor`.
    CursorStep {
        /// How.
        step: Step,
        /// Not beyond this.
        limit: u64,
    },
    /// Store through a fresh cursor. Answer: `Replaced` for [`StoreCall::Store`], otherwise `Stored`.
    CursorStore {
        /// Through which call.
        call: StoreCall,
        /// First index.
        first: u64,
        /// Last index.
        last: u64,
        /// The value.
        value: Value,
    },
    /// Erase through a fresh cursor the entry that holds the index. Answer: `Replaced`.
    CursorErase {
        /// The index.
        index: u64,
    },
    /// Look up `count` indexes, `stride` apart and wrapping around. Answer: `Digest` of the values.
    LoadMany {
        /// The first index.
        index: u64,
        /// From one to the next.
        stride: u64,
        /// How many.
        count: u64,
    },
    /// Erase at `count` indexes, `stride` apart and wrapping around. Answer: `Digest` of the values.
    EraseMany {
        /// The first index.
        index: u64,
        /// From one to the next.
        stride: u64,
        /// How many.
        count: u64,
    },
    /// Store `count` ranges of `len` indexes, their starts `stride` apart, with values that count up
    /// ([`Value::successor`]). Answer: `Nothing`; every store succeeds.
    StoreMany {
        /// The first range's first index.
        first: u64,
        /// From one range's first index to the next.
        stride: u64,
        /// Indexes of each range.
        len: u64,
        /// How many ranges.
        count: u64,
        /// The first range's value.
        value: Value,
    },
    /// Store `count` ranges as [`Op::StoreMany`] does, but all as one: done together, or undone together. `Null`
    /// empties them; logs have none of these. Answer: `Done`.
    StoreTogether {
        /// The first range's first index.
        first: u64,
        /// From one range's first index to the next.
        stride: u64,
        /// Indexes of each range.
        len: u64,
        /// How many ranges.
        count: u64,
        /// The first range's value.
        value: Value,
        /// Whether they are done in the end.
        commit: bool,
    },
    /// Step a fresh cursor up to `most` times ([`Step::Find`] and its three relatives alone), as long as it
    /// finds something and has not reached the limit. Answer: `Walked`.
    StepMany {
        /// How.
        step: Step,
        /// The cursor's index.
        index: u64,
        /// Not beyond this.
        limit: u64,
        /// The most results; `None` for all.
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
