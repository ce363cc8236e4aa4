use freehold_lab::concurrent::Who;
use freehold_lab::concurrent::counters::add::Run;
use freehold_lab::concurrent::counters::engines::Loops;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Loses an add of each thread.
struct Forgetful(AtomicU64);

impl Loops for Forgetful {
    fn many(&self, _round: usize, _thread: u32, count: u64) -> u64 {
        self.0.fetch_add(count - 1, Relaxed);
        count
    }

    fn seen(&self) -> (u64, u64) {
        (self.0.load(Relaxed), self.0.load(Relaxed))
    }
}

#[test]
fn a_lost_add_is_found() {
    let mut run = Run::new(Who::other("forgetful"), Box::new(Forgetful(AtomicU64::new(0))));
    let wrong = run.round(0, 2, 100).unwrap_err().to_string();
    assert!(wrong.starts_with("forgetful: count and sum are (") && wrong.contains("), it has ("), "{wrong}");
}
