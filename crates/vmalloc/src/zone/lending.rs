//! The addresses of pools and vectors, lent from the high end of the zone of blocks.

use super::Zone;
use crate::lock::lock;
use crate::mapping::Mapping;
use freehold_kva::{self as kva, Request};
use std::ops::Range;
use std::sync::Mutex;

/// The user of a lent range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Pool,
    Vector,
}

/// See the [module](self).
#[derive(Debug, Default)]
pub(crate) struct Lending {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The number of lent ranges. `pending` has capacity for as many.
    lent: usize,
    vector_bytes: u64,
    /// Dropped ranges whose decommit the system refused.
    pending: Vec<Range<usize>>,
}

impl Lending {
    /// Takes addresses for a pool or a vector.
    pub(super) fn take(
        &self,
        zone: &Zone,
        mapping: &Mapping,
        request: &Request,
        by: Use,
    ) -> Result<Range<usize>, kva::AllocError> {
        let mut state = lock(&self.state);
        let more = state.lent + 1;
        state.pending.try_reserve(more).map_err(|_| kva::AllocError::OutOfMemory)?;
        let granule = mapping.committed.granule() as u64;
        let mut request = *request;
        request.size_bytes =
            request.size_bytes.checked_next_multiple_of(granule).ok_or(kva::AllocError::SizeOverflow)?;
        request.align_bytes = request.align_bytes.max(granule);
        let span = zone.space.set_aside(&request)?;
        state.lent += 1;
        state.vector_bytes += if by == Use::Vector { span.size_saturating() } else { 0 };
        let start = zone.place.offset(span.first());
        Ok(start..start + span.size_saturating() as usize)
    }

    /// Returns a range whose pages are gone. Keeps it as pending if they are not, until a retry succeeds.
    pub(super) fn end(&self, zone: &Zone, range: Range<usize>, by: Use, is_reset: bool) {
        let mut state = lock(&self.state);
        state.lent -= 1;
        state.vector_bytes -= if by == Use::Vector { range.len() as u64 } else { 0 };
        if is_reset {
            give_back(zone, &range);
        } else {
            state.pending.push(range);
        }
    }

    /// Decommits a range whose user has ended. `false` if that was refused.
    pub(super) fn reset(mapping: &Mapping, range: &Range<usize>) -> bool {
        // SAFETY: the range belonged to its dropped user, and belongs to nobody until it is returned.
        unsafe { mapping.reset(range) }.is_ok()
    }

    /// Retries the decommit of pending ranges.
    pub(super) fn retry(&self, zone: &Zone, mapping: &Mapping) {
        lock(&self.state).pending.retain(|range| {
            let is_reset = Self::reset(mapping, range);
            if is_reset {
                give_back(zone, range);
            }
            !is_reset
        });
    }

    /// Bytes of vectors, and bytes that are pending.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        let state = lock(&self.state);
        (state.vector_bytes, state.pending.iter().map(|range| range.len() as u64).sum())
    }
}

fn give_back(zone: &Zone, range: &Range<usize>) {
    let is_returned = zone.place.position(range.start).is_some_and(|first| zone.space.return_aside(first));
    debug_assert!(is_returned, "V1: a range is given back once");
}
