//! What is printed of panics, in a process of its own: the hook is the process's.
#![allow(missing_docs, clippy::panic, reason = "what is tested")]

use freehold_trace::guarded;
use std::panic::{catch_unwind, set_hook};
use std::sync::atomic::{AtomicU32, Ordering};

static TOLD: AtomicU32 = AtomicU32::new(0);

#[test]
fn a_panic_of_a_guarded_call_alone_is_not_told() {
    set_hook(Box::new(|_| {
        TOLD.fetch_add(1, Ordering::Relaxed);
    }));
    assert_eq!(guarded(|| 7), Some(7));
    assert_eq!(guarded(|| -> u32 { panic!("damaged") }), None);
    assert_eq!(TOLD.load(Ordering::Relaxed), 0);
    assert!(catch_unwind(|| panic!("a defect")).is_err());
    assert_eq!(TOLD.load(Ordering::Relaxed), 1);
}
