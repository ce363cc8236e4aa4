//! The debug mode's memory of what was freed last: it is guarded, and not handed out again for a while.

use crate::memory::lock;
use crate::zone::Zone;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Freed blocks in the order of their frees. They are held, guarded and cold.
#[derive(Debug)]
pub(crate) struct Quarantine {
    most_bytes: u64,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    blocks: VecDeque<(Arc<Zone>, u64, u64)>,
    bytes: u64,
}

impl Quarantine {
    pub(crate) fn new(most_bytes: u64) -> Self {
        Self { most_bytes, waiting: Mutex::new(Waiting::default()) }
    }

    /// Adds a block of that many bytes, and frees those that have waited longest, past the most.
    pub(crate) fn add(&self, zone: &Arc<Zone>, position: u64, bytes: u64) {
        let mut waiting = lock(&self.waiting);
        if waiting.blocks.try_reserve(1).is_err() {
            // It does not wait. It faults until it is handed out again, as all do.
            drop(waiting);
            return zone.give_cold(position);
        }
        waiting.blocks.push_back((Arc::clone(zone), position, bytes));
        waiting.bytes += bytes;
        self.free_down_to(&mut waiting, self.most_bytes);
    }

    fn free_down_to(&self, waiting: &mut Waiting, most_bytes: u64) {
        while waiting.bytes > most_bytes
            && let Some((zone, position, bytes)) = waiting.blocks.pop_front()
        {
            waiting.bytes -= bytes;
            zone.give_cold(position);
        }
    }

    /// Frees all.
    pub(crate) fn end(&self) {
        self.free_down_to(&mut lock(&self.waiting), 0);
    }

    pub(crate) fn bytes(&self) -> u64 {
        lock(&self.waiting).bytes
    }
}
