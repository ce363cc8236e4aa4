//! Purging: hands out free resident slots, so that the caller can decommit their pages.
//!
//! ```text
//!   take_resident ----------> the caller gives pages back ----------> give_back
//!   claims the slots,     any system call, no lock held           free and decommitted; a decommitted extent goes to the core
//!   as an alloc would                                             (a batch that is dropped: free and resident as before)
//! ```

use super::PooledSpace;
use super::word::SlabRef;
use crate::atomic::Ordering;
use freehold_sys::fork::{self, Section};
use freehold_units::{Bytes, OutOfMemory, Span};
use std::fmt;
use std::iter::FusedIterator;
use std::vec::Vec;

/// Free blocks that a purge holds. No allocation gets them until the batch ends.
///
/// [`PooledSpace::give_back`] reports that the pages are gone. If the batch is dropped instead, for example after a
/// failed system call, its slots are free and resident as before. A forgotten batch (`mem::forget`) leaks its slots:
/// their addresses are not handed out again.
#[must_use = "a batch that is dropped was not purged"]
pub struct Batch<'a> {
    space: &'a PooledSpace,
    claims: Vec<Claim>,
    bytes: u64,
}

/// Slots of one slab.
#[derive(Clone, Copy)]
struct Claim {
    id: u32,
    slots: u32,
}

impl Batch<'_> {
    /// The bytes to purge. Cost: constant.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.bytes.into()
    }

    /// Whether there is nothing to purge. Cost: constant.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.claims.is_empty()
    }

    /// The addresses to purge: for each slab its runs of slots, in address order. Cost: constant for each span.
    pub fn spans(&self) -> impl FusedIterator<Item = Span> {
        self.claims.iter().flat_map(|claim| {
            let layout = self.space.records.at(claim.id).layout();
            runs(claim.slots).map(move |(first, last)| layout.slot(first).hull(layout.slot(last)))
        })
    }

    fn end(&mut self, purged: bool) {
        let _section = Section::enter();
        let list_at = self.space.list_at.load(Ordering::Relaxed);
        while let Some(Claim { id, .. }) = self.claims.pop() {
            let slab = self.space.records.at(id);
            // The batch holds slots, so the slab is of this generation.
            let (is_extent, generation) = (slab.layout().class.is_none(), slab.word().generation());
            if slab.end_purge(purged, list_at) {
                if is_extent {
                    self.space.retire_extent(SlabRef::new(generation, id));
                } else {
                    self.space.put_aside(id);
                }
            }
        }
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.end(false);
    }
}

impl fmt::Debug for Batch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// The first and last of each run of set bits, lowest first.
fn runs(mut bits: u32) -> impl Iterator<Item = (u32, u32)> {
    std::iter::from_fn(move || {
        let first = bits.trailing_zeros();
        let length = bits.checked_shr(first)?.trailing_ones();
        // Keeps the bits above the run.
        bits &= u32::MAX.checked_shl(first + length).unwrap_or(0);
        Some((first, first + length - 1))
    })
}

impl PooledSpace {
    /// Phase 1 of a purge: claims free resident blocks until they total at least `budget` bytes. The next call resumes
    /// after the last one. Empty if nothing is resident, or the space is not [for memory](PooledSpace::for_memory).
    ///
    /// # Errors
    /// [`OutOfMemory`] if there is no memory for the first claim. If memory runs out later, the batch ends there.
    ///
    /// # Cost
    /// Up to one look at every record.
    pub fn take_resident(&self, budget: impl Into<Bytes>) -> Result<Batch<'_>, OutOfMemory> {
        let budget = u64::try_from(budget.into().0).unwrap_or(u64::MAX);
        let mut batch = Batch { space: self, claims: Vec::new(), bytes: 0 };
        if !self.tracks_residency {
            return Ok(batch);
        }
        // Only one purge claims at a time. The next one begins where this one ends.
        let mut cursor = fork::lock(|| self.purge.lock());
        let start = *cursor;
        let before = self.records.all().take_while(|(id, _)| *id < start);
        for (id, slab) in self.records.from(start).chain(before) {
            if batch.bytes >= budget {
                break;
            }
            match batch.claims.try_reserve(1) {
                Err(error) if batch.claims.is_empty() => return Err(error.into()),
                Err(_) => break,
                Ok(()) => {}
            }
            *cursor = id;
            if let Some(slots) = slab.claim_resident(budget - batch.bytes) {
                batch.claims.push(Claim { id, slots });
                let bytes = slab.layout().slot_bytes.saturating_mul(slots.count_ones().into());
                batch.bytes = batch.bytes.saturating_add(bytes);
            }
        }
        Ok(batch)
    }

    /// Phase 2: reports that the pages of a batch are gone. Its slots become free and decommitted in the space that the
    /// batch came from.
    ///
    /// Cost: one exchange for each slab of the batch; an extent takes the core's lock, and O(log n) there.
    pub fn give_back(&self, mut batch: Batch<'_>) {
        batch.end(true);
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    #[test]
    fn runs_are_those_of_the_bits() {
        for bits in [0, 1, u32::MAX, 1 << 31, 0b1011_0111, 0xf000_000f, u32::MAX - 1] {
            let found: Vec<(u32, u32)> = runs(bits).collect();
            let of = |&(first, last): &(u32, u32)| (first..=last).map(|bit| 1u32 << bit).sum::<u32>();
            assert_eq!(found.iter().map(of).sum::<u32>(), bits);
            assert!(found.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0), "{found:?}");
        }
    }
}
