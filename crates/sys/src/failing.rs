//! Makes the n-th memory call fail, for tests of the error paths.
//!
//! The count is per thread, so tests that run side by side do not disturb each other.

use crate::SysError;
use std::cell::Cell;
use std::marker::PhantomData;

thread_local! {
    static UNTIL: Cell<Option<u32>> = const { Cell::new(None) };
}

/// While it lives, memory calls of this thread fail from the n-th on. It stays on its thread.
#[derive(Debug)]
#[must_use = "calls fail only while it lives"]
pub struct Failing(PhantomData<*const ()>);

/// Lets `calls` memory calls of this thread succeed, and refuses all later ones with `ENOMEM`.
pub fn after(calls: u32) -> Failing {
    UNTIL.set(Some(calls));
    Failing(PhantomData)
}

impl Drop for Failing {
    fn drop(&mut self) {
        UNTIL.set(None);
    }
}

/// Counts a call of this thread, and refuses it once the limit is reached.
pub(crate) fn check(call: &'static str) -> Result<(), SysError> {
    match UNTIL.get() {
        Some(0) => Err(SysError { call, errno: libc::ENOMEM }),
        Some(left) => {
            UNTIL.set(Some(left - 1));
            Ok(())
        }
        None => Ok(()),
    }
}
