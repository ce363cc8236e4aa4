//! Waiting with backoff: yield first, then sleep.

use std::time::Duration;

/// Waits while `is_busy` returns true: a hundred calls with a yield in between, then sleeps of 50 us to 200 us between
/// calls.
pub fn wait_while(mut is_busy: impl FnMut() -> bool) {
    let mut looks = 0_u32;
    while is_busy() {
        match looks.checked_sub(100) {
            None => std::thread::yield_now(),
            Some(sleeps) => std::thread::sleep(Duration::from_micros(50 << (sleeps / 16).min(2))),
        }
        looks = looks.saturating_add(1);
    }
}
