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

#[cfg(test)]
mod tests {
    use crate::*;
    use std::vec::Vec;

    fn a_run_is_objects<P: Placement>() {
        let mut set: ChunkSet<P> = ChunkSet::new(Config::new(MIN_UNIT_BYTES, 2)).unwrap();
        let request = Request::new(8).align(8);
        assert_eq!(set.alloc_run(&request, 64), Ok(None), "no chunk exists");
        let first = set.alloc(&request).unwrap();
        let run = set.alloc_run(&request, 64).unwrap().unwrap();
        set.validate().unwrap();
        assert_eq!((set.len(), set.stats().chunks), (65, 1));
        let at = |nth: u32| Offset { offset_bytes: run.offset_bytes + 8 * nth, ..run };
        assert!((0..64).all(|nth| set.taken_bytes(at(nth)) == Ok(8)));
        for nth in (0..64).step_by(2).chain((1..64).step_by(2)) {
            assert_eq!(set.free(at(nth)), Ok(8));
            set.validate().unwrap();
        }
        set.free(first).unwrap();
        assert!(set.is_empty());
        assert_eq!(set.alloc_run(&request, 0), Err(AllocError::ZeroSize));
        assert_eq!(set.alloc_run(&request, 4097), Err(AllocError::TooLarge { size_bytes: 32_776 }));
        assert!(set.alloc_run(&request, 4096).unwrap().is_some());
        assert_eq!(set.alloc_run(&request, 1), Ok(None), "the chunk is full");
        assert_eq!(Request::new(10).align(8).spacing_bytes(), Ok(16));
    }

    #[test]
    fn a_run_is_objects_in_every_placement() {
        a_run_is_objects::<FirstFit>();
        a_run_is_objects::<Linux>();
        a_run_is_objects::<LinuxFixed>();
        a_run_is_objects::<Linux2017>();
    }

    fn trimmed<P: Placement>() {
        let mut set: ChunkSet<P> = ChunkSet::new(Config::new(MIN_UNIT_BYTES, 2)).unwrap();
        let places: Vec<Offset> = (0..40).map(|_| set.alloc(&Request::new(4096)).unwrap()).collect();
        for &offset in &places[..39] {
            set.free(offset).unwrap();
        }
        set.trim();
        set.validate().unwrap();
        assert_eq!((set.stats().chunks, set.populated_pages()), (1, 1));
        assert!(matches!(
            set.alloc(&Request::new(4096).atomic()),
            Err(AllocError::NoPopulatedRoom { size_bytes: 4096 })
        ));
        set.alloc(&Request::new(4096)).unwrap();
        set.free(places[39]).unwrap();
        set.validate().unwrap();
    }

    #[test]
    fn trimming_leaves_what_objects_need() {
        trimmed::<FirstFit>();
        trimmed::<Linux>();
        trimmed::<LinuxFixed>();
        trimmed::<Linux2017>();
    }
}
