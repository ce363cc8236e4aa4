//! Waiting with backoff: yield first, then sleep.

use std::time::Duration;

/// Waits while `is_busy`: asks a hundred times with the CPU yielded in between, then after sleeps of 50 us up to 200 us.
pub fn wait_while(mut is_busy: impl FnMut() -> bool) {
    let mut looks = 0_u32;
    while is_busy() {
        match looks.checked_sub(100) {
            None => std::thread::yield_now(),
            Some(sleeps) => std::thread::sleep(Duration::from_micros(50 << (sleeps / 16).min(2))),
        }
        looks += 1;
    }
}
