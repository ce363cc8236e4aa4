//! How a thread waits for another that is about to be done.

use std::time::Duration;

/// Waits while `is_busy`: asks a hundred times with the CPU yielded in between, then after sleeps of 50 us up to 1 ms.
pub fn wait_while(mut is_busy: impl FnMut() -> bool) {
    let mut looks = 0_u32;
    while is_busy() {
        match looks.checked_sub(100) {
            None => std::thread::yield_now(),
            Some(sleeps) => std::thread::sleep(Duration::from_micros(50 << (sleeps / 16).min(4))),
        }
        looks += 1;
    }
}
