//! Readers beside a writer whose barriers begin to be refused: values come back all the time, and none that a reader has. The orders of
//! memory that a machine allows and seldom shows are checked by loom and spin, in `rcu`. A process of its own, whose domain nobody has
//! made fence before.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test stops at once")]

use freehold_harness::supervisor::is_possible;
use freehold_harness::systems::{Refusable, prepare_refusals, refuse};
use freehold_maple::MapleTree;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed, Ordering::SeqCst};

/// Tells in a place that outlives it that it was dropped.
struct Value(&'static AtomicBool);

impl Drop for Value {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

const STORES: usize = 200_000;
const READERS: u32 = 3;
const INDEXES: u64 = 16;

#[test]
fn no_reader_sees_a_dropped_value_while_barriers_begin_to_be_refused() {
    if !is_possible() {
        return eprintln!("not run: no seccomp filter with a listener can be installed");
    }
    let membarrier = Refusable::ALL.into_iter().find(|refusable| refusable.name == "membarrier").unwrap();
    prepare_refusals(membarrier, libc::EPERM).unwrap();
    let is_dropped: &'static [AtomicBool] =
        (0..STORES).map(|_| AtomicBool::new(false)).collect::<Vec<_>>().leak();
    let map: MapleTree<Arc<Value>> = MapleTree::new();
    let (done, ready, looks) = (AtomicBool::new(false), AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for reader in 0..READERS {
            let (map, done, ready, looks) = (&map, &done, &ready, &looks);
            scope.spawn(move || {
                let mut at = u64::from(reader);
                // Each has its slot, with no flag, before the first refusal.
                drop(map.read());
                ready.fetch_add(1, SeqCst);
                while !done.load(Relaxed) {
                    at = (at + 7) % INDEXES;
                    let reading = map.read();
                    if let Some(value) = reading.get(at) {
                        for _ in 0..4 {
                            assert!(!value.0.load(SeqCst), "it was dropped under a guard");
                        }
                    }
                    looks.fetch_add(1, Relaxed);
                }
            });
        }
        while ready.load(SeqCst) < READERS {
            std::thread::yield_now();
        }
        // Ends the readers, whatever happens here.
        let end = End(&done);
        for (number, place) in is_dropped.iter().enumerate() {
            if number == STORES / 4 {
                refuse(u32::MAX);
            }
            let at = number as u64 % INDEXES;
            let mut value = Arc::new(Value(place));
            while let Err(rejected) = map.store(at..=at, value) {
                // A reader that has not run since holds it up. A value that came back is no dropped one.
                value = rejected.value;
                std::thread::yield_now();
            }
        }
        drop(end);
    });
    map.validate().unwrap();
    let dropped = is_dropped.iter().filter(|place| place.load(SeqCst)).count();
    assert!(dropped > STORES / 2 && looks.load(Relaxed) > 0, "{dropped} of {STORES} came back");
}

struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}
