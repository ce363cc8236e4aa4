//! Our [`ChunkSet`] as an engine of the lab.

use freehold::percpu::{
    Backing, ChunkId, ChunkSet, ChunkView, Config, FirstFit, Offset, OutOfMemory, Placement, Request,
};
use freehold::units::{Align, Probe};
use freehold_trace::percpu::{ChunkKey, ChunkLine, Engine, Footprint, Location, PageMap};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;

/// A set of chunks with no memory behind them but a count of it.
#[derive(Clone, Debug)]
pub struct ChunkSetEngine<P: Placement = FirstFit> {
    /// The set.
    pub set: ChunkSet<P, Limited>,
}

impl<P: Placement> ChunkSetEngine<P> {
    /// An empty set.
    ///
    /// # Errors
    /// The configuration is none that can be had.
    pub fn new(config: &Config) -> Result<Self, String> {
        let set = ChunkSet::with_backing(*config, Limited::default());
        Ok(Self { set: set.map_err(|error| error.to_string())? })
    }
}

fn key(chunk: ChunkId) -> ChunkKey {
    ChunkKey { index: chunk.index(), generation: chunk.generation() }
}

impl<P: Placement + Clone> Engine for ChunkSetEngine<P> {
    #[inline]
    fn alloc(
        &mut self,
        size_bytes: u64,
        align: Align,
        atomic: bool,
        probe: &mut impl Probe,
    ) -> Option<Location> {
        let request = Request { size_bytes, align_bytes: align.bytes(), atomic };
        let offset = self.set.alloc_probed(&request, probe).ok()?;
        Some(Location { chunk: key(offset.chunk), offset_bytes: offset.offset_bytes })
    }

    #[inline]
    fn free(&mut self, at: Location, probe: &mut impl Probe) -> bool {
        let chunk = ChunkId::from_parts(at.chunk.index, at.chunk.generation);
        self.set.free_probed(Offset { chunk, offset_bytes: at.offset_bytes }, probe).is_ok()
    }

    fn wants_balance(&self) -> bool {
        self.set.wants_balance()
    }

    fn balance(&mut self) {
        // Where memory ends, what could not be done is left for the next time.
        let _ = self.set.balance();
    }

    fn limit_pages(&mut self, most: Option<u64>) -> bool {
        self.set.backing().most.set(most);
        true
    }

    fn pages_left(&self) -> Option<u64> {
        self.set.backing().left()
    }

    fn populated_pages(&self) -> u64 {
        self.set.populated_pages()
    }

    fn footprint(&self) -> Footprint {
        let stats = self.set.stats();
        Footprint {
            chunks: u64::from(stats.chunks),
            objects: stats.objects,
            free_bytes: stats.free_bytes,
            populated_pages: stats.populated_pages,
            empty_pages: u64::from(stats.empty_pages),
            metadata_bytes: stats.metadata_bytes as u64,
        }
    }

    fn chunk_lines(&self, number: &dyn Fn(ChunkKey) -> Option<u32>) -> Option<Vec<ChunkLine>> {
        Some(self.set.chunks().map(|chunk| line(&chunk, number(key(chunk.id)))).collect())
    }

    fn page_map(&self, number: &dyn Fn(ChunkKey) -> Option<u32>) -> Option<PageMap> {
        let chunks = self.set.backing().chunks.iter();
        Some(chunks.map(|(&chunk, pages)| (number(key(chunk)), pages.clone())).collect())
    }

    fn page_changes(&self) -> u64 {
        self.set.backing().changes
    }

    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn validate(&self) -> Result<(), String> {
        self.set.validate().map_err(|broken| broken.to_string())
    }
}

fn line(view: &ChunkView, number: Option<u32>) -> ChunkLine {
    ChunkLine {
        slot: view.slot,
        chunk: number,
        free_bytes: u64::from(view.free_bytes),
        contig_bytes: u64::from(view.contig_bytes),
        contig_start_bytes: view.contig_start_bytes.map(u64::from),
        first_free_bytes: u64::from(view.first_free_bytes),
        populated_pages: u64::from(view.populated_pages),
        empty_pages: u64::from(view.empty_pages),
        objects: u64::from(view.objects),
        isolated: view.isolated,
    }
}

/// The memory behind the lab's chunks: none at all, but counted, so that it can be made to end. Refuses what passes a limit
/// that can be moved at any time. Pages are those of one unit.
#[derive(Clone, Debug, Default)]
pub struct Limited {
    pages: u64,
    /// Which pages of each chunk have memory, up to the last that ever had.
    chunks: BTreeMap<ChunkId, Vec<bool>>,
    /// How often that changed.
    changes: u64,
    /// No page more than these; what is there already stays. Set from outside, while the set has the backing.
    most: Cell<Option<u64>>,
}

impl Limited {
    fn set(&mut self, chunk: ChunkId, pages: Range<u32>, populated: bool) {
        self.changes += 1;
        let known = self.chunks.entry(chunk).or_default();
        let (first, end) = (pages.start as usize, pages.end as usize);
        known.resize(known.len().max(end), false);
        known.get_mut(first..end).into_iter().flatten().for_each(|page| *page = populated);
    }

    /// How many more there are; `None` if there is no end.
    fn left(&self) -> Option<u64> {
        self.most.get().map(|most| most.saturating_sub(self.pages))
    }
}

fn length(pages: &Range<u32>) -> u64 {
    u64::from(pages.end.saturating_sub(pages.start))
}

impl Backing for Limited {
    fn create(&mut self, chunk: ChunkId) -> Result<(), OutOfMemory> {
        self.set(chunk, 0..0, false);
        Ok(())
    }

    fn destroy(&mut self, chunk: ChunkId) {
        self.changes += 1;
        self.chunks.remove(&chunk);
    }

    fn populate(&mut self, chunk: ChunkId, pages: Range<u32>) -> Result<(), OutOfMemory> {
        if self.left().is_some_and(|left| left < length(&pages)) {
            return Err(OutOfMemory);
        }
        self.pages += length(&pages);
        self.set(chunk, pages, true);
        Ok(())
    }

    fn depopulate(&mut self, chunk: ChunkId, pages: Range<u32>) {
        self.pages = self.pages.saturating_sub(length(&pages));
        self.set(chunk, pages, false);
    }
}
