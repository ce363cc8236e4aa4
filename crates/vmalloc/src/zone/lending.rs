//! The addresses of pools and vectors: the zone of blocks lends them, from its high end.

use super::Zone;
use crate::lock::lock;
use crate::mapping::Mapping;
use freehold_kva::{self as kva, Request};
use std::ops::Range;
use std::sync::Mutex;

/// Who has a range.
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
    /// Ranges that are lent. `pending` has room for as many.
    lent: usize,
    vector_bytes: u64,
    /// Dropped ranges whose memory the system refused to take back.
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
        let granule = mapping.granule() as u64;
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

    /// Returns a range whose pages are gone, or keeps it until the system takes them back.
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

    /// Gives back all memory of a range whose user has ended. False if that was refused.
    pub(super) fn reset(mapping: &Mapping, range: &Range<usize>) -> bool {
        // SAFETY: the range was its dropped user's, and is nobody's until it is given back.
        unsafe { mapping.reset(range) }.is_ok()
    }

    /// Tries once more to give back what is pending. Returns how many bytes of addresses came free.
    pub(super) fn retry(&self, zone: &Zone, mapping: &Mapping) -> u64 {
        let mut state = lock(&self.state);
        let before: usize = state.pending.iter().map(|range| range.len()).sum();
        state.pending.retain(|range| {
            let is_reset = Self::reset(mapping, range);
            if is_reset {
                give_back(zone, range);
            }
            !is_reset
        });
        let after: usize = state.pending.iter().map(|range| range.len()).sum();
        (before - after) as u64
    }

    /// Bytes that vectors have, and bytes that are pending.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        let state = lock(&self.state);
        (state.vector_bytes, state.pending.iter().map(|range| range.len() as u64).sum())
    }
}

fn give_back(zone: &Zone, range: &Range<usize>) {
    let is_returned = zone.place.position(range.start).is_some_and(|first| zone.space.return_aside(first));
    debug_assert!(is_returned, "V1: a range is given back once");
}
