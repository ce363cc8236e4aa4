//! Clears dropped slots in batches, if they are close to each other: one call finds which of their pages have memory.
//!
//! ```text
//!   dropped   slot 3   slot 4   slot 5         slot 9        sorted; neighbours are looked up by one call
//!             ..#....  #......  .......        ...##..       present and swapped pages are written, if they may stay
//!                                                            resident; others are given back
//! ```
//!
//! If the system cannot tell, all pages are decommitted. If it refuses that as well, all are written.

use super::Scrub;
use crate::lock::lock;
use crate::residency::count;
use crate::zone::{Held, Shape, Zone};
use freehold_sys::{PageScan, SysError};
use std::ops::Range;
use std::sync::Arc;

/// Dropped slots that are cleared together.
pub(crate) const BATCH: usize = 64;
/// Neighbours are scanned by one call if at most this much lies between their used parts. Walking over a guard page or
/// an untouched page costs a few nanoseconds; a call, a microsecond.
const MOST_BETWEEN: usize = 256 << 10;

impl Scrub {
    /// Takes back a slot that has to be cleared. If one call can scan neighbours, the slot waits for a batch. Slots too
    /// far apart for that are cleared at once, while they are in the cache.
    pub(crate) fn take_back_dropped(&self, zone: &Arc<Zone>, held: Held) {
        let is_near = zone.shape.as_ref().is_none_or(|shape| is_near_next(shape, &held));
        let most = if is_near { BATCH } else { 1 };
        if self.residency.take_back_dropped(zone, held, most) {
            self.clear_dropped(zone);
        }
    }

    /// Clears the waiting slots, and frees them. A thread that finds no free slot waits meanwhile.
    #[cold]
    fn clear_dropped(&self, zone: &Arc<Zone>) {
        self.clear_waiting(zone);
        // The pages that they keep may still exceed the threshold.
        self.residency.make_room(zone, 0);
    }

    fn clear_waiting(&self, zone: &Zone) {
        let _open = zone.hold_open();
        let mut batch = std::mem::take(&mut *lock(&zone.dropped));
        if batch.is_empty() {
            // Another thread has taken the batch.
            return;
        }
        let shape = zone.shape.as_ref().expect("V3: only slots are dropped");
        batch.sort_unstable_by_key(|held| held.position);
        let mut scan = self.borrow_scan();
        let mut cleared = 0;
        while cleared < batch.len() {
            let neighbours = &mut batch[cleared..];
            let is_adjacent =
                |two: &&[Held]| two[0].position + 1 == two[1].position && is_near_next(shape, &two[0]);
            let count = 1 + neighbours.windows(2).take_while(is_adjacent).count();
            let neighbours = &mut neighbours[..count];
            let known = scan
                .as_mut()
                .map_err(|error| *error)
                .and_then(|scan| self.clear_resident_of(scan, shape, neighbours));
            if known.is_err() {
                self.mapping().count_refused();
                neighbours.iter_mut().for_each(|held| self.clear_all_of(held, shape));
            }
            cleared += count;
        }
        if let Ok(scan) = scan {
            self.return_scan(scan);
        }
        for held in batch.drain(..) {
            self.residency.free_cleared(zone, &held);
        }
        // Reuse the list, so the next batch needs no memory.
        let mut waiting = lock(&zone.dropped);
        if waiting.capacity() == 0 {
            *waiting = batch;
        }
    }

    /// Clears the resident pages of sorted neighbours.
    fn clear_resident_of(
        &self,
        scan: &mut PageScan,
        shape: &Shape,
        slots: &mut [Held],
    ) -> Result<(), SysError> {
        let first = self.mapping().offset_of(&slots[0].pages);
        let last = &slots[slots.len() - 1];
        let end = self.mapping().offset_of(&last.pages) + last.used_bytes;
        let (mut bytes, mut surplus) = (0, Surplus::default());
        let found = |run: Range<usize>| {
            clip(run, first, shape, |number, part| {
                let held = &mut slots[number];
                let part = part.start..part.end.min(held.used_bytes);
                if part.is_empty() {
                    return;
                }
                let stays = shape.stays(&part);
                if shape.zeroed {
                    bytes += part.len() as u64;
                    held.pages.zero(stays.clone());
                }
                for more in [part.start..stays.start, stays.end..part.end] {
                    if !more.is_empty() && !surplus.has_added(number, &more) {
                        let before = std::mem::replace(&mut surplus, Surplus { number, part: more });
                        self.clear_and_give_back(&mut slots[before.number], before.part, shape.zeroed);
                    }
                }
            });
        };
        let done = self.resident(scan, first..end, found);
        self.clear_and_give_back(&mut slots[surplus.number], surplus.part, shape.zeroed);
        count(&self.cleared_bytes, bytes);
        done
    }

    /// Clears a slot whose resident pages are unknown.
    fn clear_all_of(&self, held: &mut Held, shape: &Shape) {
        let used = 0..held.used_bytes;
        let stays = if shape.zeroed { used.end..used.end } else { shape.stays(&used) };
        self.clear_and_give_back(held, used.start..stays.start, shape.zeroed);
        self.clear_and_give_back(held, stays.end..used.end, shape.zeroed);
    }

    /// Decommits pages. If that is refused, writes zeros if they have to be zero.
    fn clear_and_give_back(&self, held: &mut Held, part: Range<usize>, zeroed: bool) {
        if !part.is_empty() && self.mapping().decommit(&mut held.pages, part.clone()).is_err() {
            self.mapping().count_refused();
            if zeroed {
                held.pages.zero(part);
            }
        }
    }
}

/// Runs of a slot whose pages are decommitted by one call.
#[derive(Default)]
struct Surplus {
    /// Index of the slot among those that are cleared together.
    number: usize,
    part: Range<usize>,
}

impl Surplus {
    /// Adds another run if it follows within [`MOST_BETWEEN`].
    fn has_added(&mut self, number: usize, run: &Range<usize>) -> bool {
        let follows =
            self.number == number && !self.part.is_empty() && run.start - self.part.end <= MOST_BETWEEN;
        if follows {
            self.part.end = run.end;
        }
        follows
    }
}

/// Whether one call can scan a slot and the next.
fn is_near_next(shape: &Shape, held: &Held) -> bool {
    shape.stride as usize - held.used_bytes <= MOST_BETWEEN
}

/// The parts of a run that lie in slots: slot number, and bytes from the slot's start. The first slot starts at
/// `first`.
fn clip(run: Range<usize>, first: usize, shape: &Shape, mut found: impl FnMut(usize, Range<usize>)) {
    let stride = shape.stride as usize;
    let mut at = run.start;
    while at < run.end {
        let slot = (at - first) / stride;
        let start = first + slot * stride;
        let end = run.end.min(start + shape.data.len());
        if at < end {
            found(slot, at - start..end - start);
        }
        at = start + stride;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_cut_into_slots() {
        let shape = Shape {
            stride: 100,
            data: 20..80,
            guard: 80..90,
            both_sides: false,
            kept: 0,
            keeps_last: false,
            zeroed: true,
            waits: true,
        };
        let mut parts = Vec::new();
        // Slots at 1000..1060, 1100..1160, 1200..1260.
        for run in [1000..1010, 1030..1105, 1060..1100, 1159..1300] {
            clip(run, 1000, &shape, |slot, part| parts.push((slot, part)));
        }
        assert_eq!(parts, [(0, 0..10), (0, 30..60), (1, 0..5), (1, 59..60), (2, 0..60)]);
    }
}
