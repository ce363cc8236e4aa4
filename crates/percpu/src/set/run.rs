//! Runs: many equal objects placed by one search. Each is an independent object afterwards.

use super::{Backing, ChunkSet};
use crate::geometry::{BIT_BYTES, MIN_UNIT_BYTES, align_up};
use crate::placement::{Location, Placement};
use crate::{AllocError, Offset, Request};

impl<P: Placement, B: Backing> ChunkSet<P, B> {
    /// Places `count` adjacent objects, if an existing chunk has space for all of them; `None` if none has. Each is
    /// freed separately, like any other. The first is at the returned offset, and each further one
    /// [`spacing_bytes`](Request::spacing_bytes) after the previous one. An object takes all bytes up to the next one, and
    /// [`free_sized`](ChunkSet::free_sized) expects that size. Cost: one search, and a step for every 64 bits.
    ///
    /// # Errors
    /// See [`AllocError`]; nothing is placed then. All objects together must be no larger than the largest object.
    pub fn alloc_run(&mut self, request: &Request, count: u32) -> Result<Option<Offset>, AllocError> {
        let mut checked = request.check()?;
        let (bits, spacing) = (checked.bits, align_up(checked.bits, checked.align));
        let all = match count {
            0 => return Err(AllocError::ZeroSize),
            _ => u64::from(spacing) * u64::from(count - 1) + u64::from(bits),
        };
        if all > u64::from(MIN_UNIT_BYTES / BIT_BYTES) {
            return Err(AllocError::TooLarge { size_bytes: all.saturating_mul(u64::from(BIT_BYTES)) });
        }
        // It fits: it was just compared with a 32-bit number.
        checked.bits = all as u32;
        let Some(Location { chunk: index, bit }) = P::find(&mut self.chunks, &checked, &mut ()) else {
            return Ok(None);
        };
        let chunk = self.take(index, bit..bit + checked.bits, &mut ())?;
        let place = self.chunks.at_mut(index);
        place.used.start_each(bit + spacing, bit + checked.bits, spacing);
        place.objects += count - 1;
        self.objects += u64::from(count - 1);
        Ok(Some(Offset { chunk, offset_bytes: bit * BIT_BYTES }))
    }
}

impl Request {
    /// The distance between objects of a run in bytes: the size rounded up to the alignment and to a multiple of 4.
    ///
    /// Cost: constant.
    ///
    /// # Errors
    /// The request is invalid.
    pub fn spacing_bytes(&self) -> Result<u32, AllocError> {
        let checked = self.check()?;
        Ok(align_up(checked.bits, checked.align) * BIT_BYTES)
    }
}
