//! Runs: many equal objects placed by one search, each of them an object of its own from then on.

use super::{Backing, ChunkSet};
use crate::geometry::{BIT_BYTES, MIN_UNIT_BYTES, align_up};
use crate::placement::{Location, Placement};
use crate::{AllocError, Offset, Request};

impl<P: Placement, B: Backing> ChunkSet<P, B> {
    /// Places `count` objects side by side, if a chunk that exists has room for all of them; `None` if none has. Each is
    /// freed alone, like any other. The first is at the offset returned, and each of the others
    /// [`spacing_bytes`](Request::spacing_bytes) behind the one before. Cost: one search, and a step for every 64 bits.
    ///
    /// # Errors
    /// See [`AllocError`]; all of them together must be no larger than the largest object. Nothing is placed then.
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
        // It was just compared with a number of 32 bits.
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
    /// From one object of a run to the next, in bytes: the size, rounded up to the alignment and to a multiple of 4.
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
