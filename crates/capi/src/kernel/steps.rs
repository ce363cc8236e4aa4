//! The cursor's walks and steps. They read: under a guard, or under the tree's lock.

use super::entry::pointer;
use super::state::fhk_state;
use super::tree::EMPTY;
use freehold::rcu;
use std::ffi::c_void;
use std::ptr;

/// `name, method, what it does;` for each call that takes a limit.
macro_rules! steps {
    ($($name:ident, $method:ident;)*) => {$(
        /// One step of the cursor, to the limit.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(state: &mut fhk_state, limit: u64) -> *mut c_void {
            if state.is_stopped() {
                return ptr::null_mut();
            }
            let mut cursor = state.cursor();
            let _guard = rcu::read();
            let found = match state.tree().kernel() {
                Some(kernel) => pointer(cursor.$method(&kernel.map.read(), limit)),
                None => pointer(cursor.$method(&EMPTY, limit)),
            };
            state.set(&cursor);
            found
        }
    )*};
}

steps! {
    fhk_mas_find, find;
    fhk_mas_find_range, find_range;
    fhk_mas_find_rev, find_rev;
    fhk_mas_find_range_rev, find_range_rev;
    fhk_mas_next, next;
    fhk_mas_next_range, next_range;
    fhk_mas_prev, prev;
    fhk_mas_prev_range, prev_range;
}

/// To the range that contains the index.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mas_walk(state: &mut fhk_state) -> *mut c_void {
    let mut cursor = state.cursor();
    let _guard = rcu::read();
    let found = match state.tree().kernel() {
        Some(kernel) => pointer(cursor.walk(&kernel.map.read())),
        None => pointer(cursor.walk(&EMPTY)),
    };
    state.set(&cursor);
    found
}
