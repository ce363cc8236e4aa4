//! Calls of libraries that may panic on files that are damaged on purpose.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// Whether this thread is in such a call.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Makes a call whose panic is an answer: `None`. Nothing is printed of it; other panics, of other threads at the same time, too, are told
/// as before. Cost: two thread-local writes; the first call sets the process's panic hook.
pub fn guarded<T>(call: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_GUARDED.get() {
                before(info);
            }
        }));
    });
    IS_GUARDED.set(true);
    let called = catch_unwind(AssertUnwindSafe(call));
    IS_GUARDED.set(false);
    called.ok()
}
