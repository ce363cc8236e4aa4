//! The kernel's cursor: what each call does in each state.
//!
//! Where a cursor stands is its range alone; it knows nothing of the tree between two calls.

use super::Naive;
use freehold_trace::maple::{CursorState, CursorView, Step, Value};
use freehold_units::Span;

/// A cursor of the model.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    index: u64,
    last: u64,
    state: CursorState,
}

impl Cursor {
    pub(super) fn new(index: u64, last: u64) -> Self {
        Self { index, last, state: CursorState::Start }
    }

    pub(super) fn view(self) -> CursorView {
        CursorView { index: self.index, last: self.last, state: self.state }
    }

    pub(super) fn pause(&mut self) {
        self.state = CursorState::Pause;
    }

    pub(super) fn reset(&mut self) {
        self.state = CursorState::Start;
    }

    pub(super) fn put_on(&mut self, span: Span) {
        (self.index, self.last, self.state) = (span.first(), span.last(), CursorState::Active);
    }

    /// To the range that holds the cursor's index.
    pub(super) fn walk(&mut self, tree: &Naive) -> Value {
        self.go(tree, self.index)
    }

    pub(super) fn step(&mut self, tree: &Naive, step: Step, limit: u64) -> Value {
        let gaps = step.stops_at_gaps();
        match step {
            Step::Find | Step::FindRange => self.find(tree, limit, gaps),
            Step::FindRev | Step::FindRangeRev => self.find_rev(tree, limit, gaps),
            Step::Next | Step::NextRange => self.next(tree, limit, gaps),
            Step::Prev | Step::PrevRange => self.prev(tree, limit, gaps),
        }
    }

    fn go(&mut self, tree: &Naive, index: u64) -> Value {
        let (first, last, value) = tree.range_at(index);
        (self.index, self.last, self.state) = (first, last, CursorState::Active);
        value
    }

    /// Nothing is found, and the cursor is in that state where it stood.
    fn stop(&mut self, state: CursorState) -> Value {
        self.state = state;
        Value::Null
    }

    /// To the next range, or the next entry. It stays on a gap that reaches the limit.
    fn step_next(&mut self, tree: &Naive, max: u64, gaps: bool) -> Value {
        let Some(above) = self.last.checked_add(1).filter(|&above| above <= max) else {
            return self.stop(CursorState::Overflow);
        };
        let value = self.go(tree, above);
        if value != Value::Null || gaps {
            return value;
        }
        match self.last.checked_add(1).filter(|&above| above <= max) {
            Some(above) => self.go(tree, above),
            None => self.stop(CursorState::Overflow),
        }
    }

    /// To the previous range, or the previous entry.
    fn step_prev(&mut self, tree: &Naive, min: u64, gaps: bool) -> Value {
        let Some(below) = self.index.checked_sub(1).filter(|&below| below >= min) else {
            return self.stop(CursorState::Underflow);
        };
        let value = self.go(tree, below);
        if value != Value::Null || gaps {
            return value;
        }
        match self.index.checked_sub(1).filter(|&below| below >= min) {
            Some(below) => self.go(tree, below),
            None => self.stop(CursorState::Underflow),
        }
    }

    /// A cursor that went below its minimum gives the entry on which it stayed once more.
    fn next(&mut self, tree: &Naive, max: u64, gaps: bool) -> Value {
        if self.last >= max {
            return self.stop(CursorState::Overflow);
        }
        match self.state {
            CursorState::Start | CursorState::Pause => {
                self.walk(tree);
            }
            CursorState::Underflow => match self.walk(tree) {
                Value::Null => {}
                again => return again,
            },
            _ => {}
        }
        self.step_next(tree, max, gaps)
    }

    /// A cursor that went past its maximum gives the entry on which it stayed once more.
    fn prev(&mut self, tree: &Naive, min: u64, gaps: bool) -> Value {
        if self.index <= min {
            return self.stop(CursorState::Underflow);
        }
        match self.state {
            CursorState::Start | CursorState::Pause => {
                self.walk(tree);
            }
            CursorState::Overflow => match self.walk(tree) {
                Value::Null => {}
                again => return again,
            },
            _ => {}
        }
        self.step_prev(tree, min, gaps)
    }

    fn find(&mut self, tree: &Naive, max: u64, gaps: bool) -> Value {
        match self.state {
            CursorState::Underflow if self.index >= max => return self.stop(CursorState::Overflow),
            CursorState::Start | CursorState::Underflow => {}
            // Active, overflown or paused; the other states are those of trees with nodes or without.
            _ if self.last >= max => return Value::Null,
            CursorState::Pause => {
                self.last = self.last.saturating_add(1);
                self.index = self.last;
            }
            _ => {}
        }
        match self.state {
            CursorState::Start | CursorState::Pause => {
                if self.index > max {
                    return Value::Null;
                }
                let found = self.walk(tree);
                if found != Value::Null || self.index == max {
                    return found;
                }
            }
            CursorState::Underflow | CursorState::Overflow => match self.walk(tree) {
                Value::Null => {}
                again => return again,
            },
            _ => {}
        }
        let found = self.step_next(tree, max, gaps);
        if !gaps {
            self.state = CursorState::Active;
        }
        found
    }

    fn find_rev(&mut self, tree: &Naive, min: u64, gaps: bool) -> Value {
        match self.state {
            CursorState::Pause | CursorState::Overflow if self.index <= min => {
                return self.stop(CursorState::Underflow);
            }
            CursorState::Underflow if self.index <= min => return Value::Null,
            CursorState::Pause => {
                self.index = self.index.saturating_sub(1);
                self.last = self.index;
            }
            CursorState::Overflow | CursorState::Underflow => self.state = CursorState::Active,
            _ => {}
        }
        if let CursorState::Start | CursorState::Pause = self.state {
            if self.index < min {
                return Value::Null;
            }
            let found = self.walk(tree);
            if found != Value::Null {
                return found;
            }
        }
        if self.index < min { Value::Null } else { self.step_prev(tree, min, gaps) }
    }
}
