//! How a thread waits for another that is about to be done.

use std::time::Duration;

/// Waits for the `looks`th time: the first hundred times by yielding the CPU, then by sleeping, from 50 us up to 1 ms.
pub fn wait(looks: u32) {
    match looks.checked_sub(100) {
        None => std::thread::yield_now(),
        Some(sleeps) => std::thread::sleep(Duration::from_micros(50 << (sleeps / 16).min(4))),
    }
}
