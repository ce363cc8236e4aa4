//! What a range tree answers, and what of a recorded answer binds.

use super::Value;
use crate::named::named;
use freehold_units::Span;

/// Why an operation was refused. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No gap is large enough (-16).
    Busy,
    /// Something is there (-17).
    Exists,
    /// The request makes no sense (-22).
    Invalid,
}

named! {
    /// What a cursor is doing.
    CursorState {
        Active "a" "On a range of the tree."
        Start "s" "Not walked yet."
        Pause "p" "Paused."
        Overflow "o" "Went past its maximum."
        Underflow "u" "Went below its minimum."
        None "n" "On nothing, in a tree without nodes."
        Root "r" "On the one entry of a tree without nodes."
    }
}

/// Where a cyclic allocation went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycled {
    /// The index.
    pub index: u64,
    /// Where the next search starts.
    pub next: u64,
    /// Whether the search began again from its lowest index.
    pub wrapped: bool,
}

/// What an engine says to one operation; [`super::Op`] names the form for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// It was done; there is nothing to say.
    Nothing,
    /// Whether it was done.
    Done(Result<(), Refusal>),
    /// What is, or was, there.
    Value(Value),
    /// An entry of a search.
    Found {
        /// What it holds.
        value: Value,
        /// Where the search continues: after the entry, or unchanged if there is none.
        next: u64,
    },
    /// The first index of an allocation.
    Placed(Result<u64, Refusal>),
    /// A cyclic allocation.
    Cycled(Result<Cycled, Refusal>),
    /// The gap that the cursor is on, cut to size.
    Gap(Result<Span, Refusal>),
    /// A store through a cursor.
    Stored {
        /// Whether it was done.
        done: Result<(), Refusal>,
        /// The cursor's first index afterwards.
        index: u64,
        /// The cursor's last index afterwards.
        last: u64,
    },
    /// A store through a cursor that says what was there.
    Replaced {
        /// What was at the first index; `None` where the kernel's answer is known to be wrong.
        old: Option<Value>,
        /// The cursor's first index afterwards.
        index: u64,
        /// The cursor's last index afterwards.
        last: u64,
    },
    /// Where a cursor went.
    Cursor {
        /// What is there.
        value: Value,
        /// The cursor's first index.
        index: u64,
        /// The cursor's last index.
        last: u64,
        /// Its state.
        state: CursorState,
    },
    /// The values of a block operation ([`super::Digest`]).
    Digest(u64),
    /// The results of a block of steps.
    Walked {
        /// How many.
        count: u64,
        /// Of index, last and value of each.
        digest: u64,
    },
    /// The engine has no such operation.
    #[default]
    Unsupported,
}

/// A recorded answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// What the kernel said.
    pub answer: Answer,
    /// Whether the tree had no nodes, so that only the value or the code binds: where its cursor then stands is
    /// a matter of representation.
    pub loose: bool,
}

impl Expected {
    /// Whether an engine's answer agrees in everything that binds.
    #[must_use]
    pub fn accepts(&self, given: &Answer) -> bool {
        use Answer::{Cursor, Replaced, Stored};
        let loose = self.loose;
        match (&self.answer, given) {
            (Cursor { value: a, .. }, Cursor { value: b, .. }) if loose => a == b,
            (Stored { done: a, .. }, Stored { done: b, .. }) if loose => a == b,
            (Replaced { old: a, .. }, Replaced { old: b, .. }) if loose => a.is_none() || a == b,
            (Replaced { old: None, index: i, last: l }, Replaced { index, last, .. }) => {
                (i, l) == (index, last)
            }
            (expected, given) => expected == given,
        }
    }
}
