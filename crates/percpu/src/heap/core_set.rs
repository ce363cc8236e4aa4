//! The state under the heap's lock: the set of chunks, addressed by places instead of chunks and offsets.

use super::units::{UNIT_BYTES, UnitMemory};
use crate::{
    AllocError, ChunkId, ChunkSet, Config, ConfigError, FirstFit, FreeError, Offset, PAGE_BYTES, Request,
    Stats,
};
use freehold_sys::Reservation;

/// The set, and a count of its uses.
#[derive(Debug)]
pub(super) struct CoreSet {
    set: ChunkSet<FirstFit, UnitMemory>,
    /// Number of times that a magazine or a caller took the lock for objects.
    pub(super) visits: u64,
}

impl CoreSet {
    pub(super) fn new(memory: UnitMemory, units: u32) -> Result<Self, ConfigError> {
        let set = ChunkSet::with_backing(Config::new(UNIT_BYTES, units), memory)?;
        Ok(Self { set, visits: 0 })
    }

    /// The addresses of all units.
    pub(super) fn reservation(&self) -> &Reservation {
        self.set.backing().reservation()
    }

    pub(super) fn stats(&self) -> Stats {
        self.set.stats()
    }

    pub(super) fn validate(&self) -> Result<(), freehold_units::Broken> {
        self.set.validate()
    }

    /// Whether an object starts at a place.
    pub(super) fn is_live(&self, place: u32) -> bool {
        self.taken_bytes(place as usize).is_ok()
    }

    /// The bytes per unit of the object that starts at an offset. Any offset may be passed.
    pub(super) fn taken_bytes(&self, offset_bytes: usize) -> Result<u32, FreeError> {
        let index = u32::try_from(offset_bytes / UNIT_BYTES as usize).unwrap_or(u32::MAX);
        // A position that never had a chunk is refused whatever the generation.
        let chunk = self.set.backing().find_chunk(index).unwrap_or(ChunkId::from_parts(index, 0));
        self.set.taken_bytes(Offset { chunk, offset_bytes: (offset_bytes % UNIT_BYTES as usize) as u32 })
    }

    /// Takes a place in populated pages.
    pub(super) fn try_alloc(&mut self, request: &Request) -> Result<u32, AllocError> {
        self.visits += 1;
        self.set.alloc(&request.atomic()).map(place_of)
    }

    pub(super) fn alloc(&mut self, request: &Request) -> Result<u32, AllocError> {
        self.visits += 1;
        self.alloc_one(request)
    }

    /// Takes places for as many equal objects as `into` is long: all or none.
    pub(super) fn alloc_bulk(&mut self, request: &Request, into: &mut [u32]) -> Result<(), AllocError> {
        self.visits += 1;
        let spacing = request.spacing_bytes()?;
        // One page's worth at a time: larger runs are rarely found, and smaller ones leave smaller holes unused.
        let most = (PAGE_BYTES / spacing).max(1) as usize;
        let mut done = 0;
        while done < into.len() {
            let part = done..into.len().min(done + most);
            if let Err(error) = self.alloc_part(request, spacing, &mut into[part.clone()]) {
                self.free_all(&into[..done]);
                return Err(error);
            }
            done = part.end;
        }
        Ok(())
    }

    /// Takes places for at most a page of objects: adjacent if there is such a run, else in holes.
    fn alloc_part(&mut self, request: &Request, spacing: u32, into: &mut [u32]) -> Result<(), AllocError> {
        // If there is no memory for a run's pages, populated pages may still have holes.
        if let Ok(Some(first)) = self.set.alloc_run(request, into.len() as u32) {
            let first = place_of(first);
            into.iter_mut().zip(0..).for_each(|(place, nth)| *place = first + nth * spacing);
            self.balance();
            return Ok(());
        }
        for at in 0..into.len() {
            match self.alloc_one(request) {
                Ok(place) => into[at] = place,
                Err(error) => {
                    self.free_all(&into[..at]);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    fn alloc_one(&mut self, request: &Request) -> Result<u32, AllocError> {
        let place = self.set.alloc(request).map(place_of)?;
        self.balance();
        Ok(place)
    }

    /// Frees places whose objects are zero in every unit.
    pub(super) fn free(&mut self, places: &[u32]) {
        self.visits += 1;
        self.free_all(places);
    }

    #[allow(clippy::expect_used, reason = "only a broken invariant stops it, and is named")]
    fn free_all(&mut self, places: &[u32]) {
        for &place in places {
            let chunk = self.set.backing().chunk_at(place / UNIT_BYTES);
            let offset = Offset { chunk, offset_bytes: place % UNIT_BYTES };
            self.set.free(offset).expect("P12: a place that comes back is live");
        }
        self.balance();
    }

    /// Returns memory that chunks do not need. An error is ignored: it only means that no spare pages could be
    /// populated.
    fn balance(&mut self) {
        if self.set.wants_balance() {
            let _ = self.set.balance();
        }
    }

    pub(super) fn trim(&mut self) {
        self.set.trim();
    }
}

/// Chunks are adjacent in each unit.
fn place_of(offset: Offset) -> u32 {
    offset.chunk.index() * UNIT_BYTES + offset.offset_bytes
}
