//! The `struct ma_state` of C, as a cursor and back.

use super::entry::{Entry, pointer};
use super::tree::fhk_tree;
use freehold::units::Span;
use freehold_linux::Error;
use freehold_linux::maple::{Item, MaState, State};
use std::ffi::{c_int, c_void};
use std::ptr;

/// `enum maple_status`, in the header's order.
const ACTIVE: c_int = 0;
const START: c_int = 1;
const PAUSE: c_int = 4;
const OVERFLOW: c_int = 5;
const UNDERFLOW: c_int = 6;
const ERROR: c_int = 7;

/// `struct ma_state`.
#[repr(C)]
pub struct fhk_state {
    pub(super) tree: *mut fhk_tree,
    pub(super) index: u64,
    pub(super) last: u64,
    /// An error as `xa_err` reads it, else NULL.
    node: *mut c_void,
    /// The number of the store that is planned; 0 if there is none.
    pub(super) plan: u64,
    status: c_int,
}

impl fhk_state {
    /// The cursor's tree.
    pub(super) fn tree<'t>(&self) -> &'t fhk_tree {
        // SAFETY: the header's `MA_STATE` puts a tree there, which outlives its cursors.
        unsafe { &*self.tree }
    }

    /// Whether an error keeps the cursor from going on.
    pub(super) fn is_stopped(&self) -> bool {
        self.status == ERROR
    }

    /// The cursor. A state that this library does not set, of a tree without nodes, is one that is not walked.
    pub(super) fn cursor(&self) -> MaState {
        let state = match self.status {
            ACTIVE => State::Active,
            PAUSE => State::Pause,
            OVERFLOW => State::Overflow,
            UNDERFLOW => State::Underflow,
            _ => State::Start,
        };
        MaState::with_state(self.index, self.last, state)
    }

    /// Where the cursor is after a call.
    pub(super) fn set(&mut self, cursor: &MaState) {
        self.index = cursor.index();
        self.last = cursor.last();
        self.node = ptr::null_mut();
        self.status = match cursor.state() {
            State::Active => ACTIVE,
            State::Start => START,
            State::Pause => PAUSE,
            State::Overflow => OVERFLOW,
            State::Underflow => UNDERFLOW,
        };
    }

    /// The range, if its ends are in order.
    pub(super) fn span(&self) -> Result<Span, Error> {
        Span::new(self.index, self.last).ok_or(Error::Invalid)
    }

    /// Notes an error: `MA_ERROR(code)`.
    pub(super) fn fail(&mut self, error: Error) -> c_int {
        let code = error.code();
        self.node = ptr::without_provenance_mut((code as isize as usize) << 2 | 2);
        self.status = ERROR;
        code
    }

    /// The pointer that a call returns, or NULL and the error in the state.
    pub(super) fn result(&mut self, result: Result<Item<Entry>, Error>) -> *mut c_void {
        match result {
            Ok(item) => pointer(item),
            Err(error) => {
                self.fail(error);
                ptr::null_mut()
            }
        }
    }
}
