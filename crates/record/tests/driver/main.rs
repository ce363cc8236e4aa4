//! The driver on folders of plain files, on commands of this user, and on this machine as root.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "a test stops at once")]

mod folder;
mod machine;
mod model;
mod ptrace;
mod storms;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A process catches signals once at a time, so one of these tests runs at a time. None of them is ignored.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // Not before: the test that runs may have caught them.
    freehold_harness::signals::set_default();
    alone
}
