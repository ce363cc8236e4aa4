//! The allocator that the bitmap replaced: Linux from 3.15 to 4.13 kept each chunk's areas in an array of integers.
//!
//! Chunks are on lists by the power of two of their free bytes. A request looks at every chunk from its size's list
//! on whose `contig_hint` may hold it, and scans the map of each from its first free entry. So objects of another
//! alignment than the fragments' scan all maps in vain, and small objects freed from the front of a unit move all
//! entries behind them.
//!
//! What is counted are the integers moved and the entries scanned, as they were; only whole chunks have memory.
//!
//! Source: the posting of the bitmap allocator, 2017, which it is measured against there, and the recorded work.

use super::PAGE_BYTES;
use super::area_chunk::{AreaChunk, NONE};
use freehold_trace::percpu::{ChunkKey, Engine, Footprint, Location};
use freehold_units::{Align, Probe, Work};

/// Sizes and alignments are rounded up to this, so that the lowest bit of an offset is free for a mark.
const GRAIN: u32 = 2;
/// Bytes of a chunk beside its map, estimated: the original's structure with a bit for each page.
const HEADER_BYTES: u64 = 96;

/// Entries of all maps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapSize {
    /// Chunks.
    pub chunks: u64,
    /// Entries, the closing ones included.
    pub entries: u64,
    /// Entries that there is room for.
    pub capacity: u64,
}

/// First and last chunk of a list.
#[derive(Clone, Copy, Debug)]
struct Ends {
    first: u32,
    last: u32,
}

/// The area map allocator of Linux 3.15 to 4.13.
#[derive(Clone, Debug)]
pub struct AreaMap {
    unit_bytes: u32,
    chunks: Vec<AreaChunk>,
    /// Positions of chunks that are gone.
    vacant: Vec<u32>,
    /// By free bytes; the last list is for chunks that are free as a whole.
    slots: Vec<Ends>,
    wants_balance: bool,
}

/// The list for so many bytes.
fn slot_of(bytes: u32) -> usize {
    (u32::BITS - bytes.leading_zeros()).saturating_sub(3).max(1) as usize
}

impl AreaMap {
    /// An allocator without chunks.
    ///
    /// # Errors
    /// The unit is no number of whole pages, or takes the bit that marks used areas.
    pub fn new(unit_bytes: u32) -> Result<Self, String> {
        if unit_bytes == 0 || !unit_bytes.is_multiple_of(PAGE_BYTES as u32) || unit_bytes > 1 << 30 {
            return Err(format!("a unit of {unit_bytes} bytes is not made of pages"));
        }
        let slots = vec![Ends { first: NONE, last: NONE }; slot_of(unit_bytes) + 2];
        Ok(Self { unit_bytes, chunks: Vec::new(), vacant: Vec::new(), slots, wants_balance: false })
    }

    /// The size of the maps.
    #[must_use]
    pub fn map_size(&self) -> MapSize {
        let mut size = MapSize::default();
        for chunk in self.chunks.iter().filter(|chunk| chunk.is_live()) {
            size.chunks += 1;
            size.entries += chunk.entries() as u64;
            size.capacity += chunk.capacity() as u64;
        }
        size
    }

    fn at(&mut self, index: u32) -> &mut AreaChunk {
        &mut self.chunks[index as usize]
    }

    fn chunk_slot(&self, index: u32) -> usize {
        let chunk = &self.chunks[index as usize];
        if !chunk.has_room() {
            0
        } else if chunk.free_bytes() == self.unit_bytes {
            self.slots.len() - 1
        } else {
            slot_of(chunk.free_bytes())
        }
    }

    fn link(&mut self, index: u32, slot: usize, at_head: bool) {
        let Ends { first, last } = self.slots[slot];
        let (previous, next) = if at_head { (NONE, first) } else { (last, NONE) };
        let chunk = self.at(index);
        (chunk.slot, chunk.previous, chunk.next) = (slot, previous, next);
        if previous != NONE {
            self.at(previous).next = index;
        }
        if next != NONE {
            self.at(next).previous = index;
        }
        self.slots[slot] = Ends {
            first: if previous == NONE { index } else { first },
            last: if next == NONE { index } else { last },
        };
    }

    fn unlink(&mut self, index: u32) {
        let &mut AreaChunk { slot, previous, next, .. } = self.at(index);
        if previous == NONE {
            self.slots[slot].first = next;
        } else {
            self.at(previous).next = next;
        }
        if next == NONE {
            self.slots[slot].last = previous;
        } else {
            self.at(next).previous = previous;
        }
    }

    /// Moves a chunk whose free bytes changed: to the head of a list of more, to the tail of one of less.
    fn relocate(&mut self, index: u32, was: usize) {
        let slot = self.chunk_slot(index);
        if slot != was {
            self.unlink(index);
            self.link(index, slot, slot > was);
        }
    }

    fn create(&mut self) -> Option<()> {
        let (index, generation) = match self.vacant.pop() {
            Some(index) => (index, self.at(index).generation),
            None => (u32::try_from(self.chunks.len()).ok()?, 0),
        };
        let chunk = AreaChunk::new(self.unit_bytes, generation);
        if index as usize == self.chunks.len() {
            self.chunks.push(chunk);
        } else {
            *self.at(index) = chunk;
        }
        self.link(index, self.chunk_slot(index), true);
        Some(())
    }

    /// One search through the lists. `Err` if a map grew, and the search must start anew.
    #[inline]
    fn search(&mut self, size: u32, align: u32, probe: &mut impl Probe) -> Result<Option<(u32, u32)>, ()> {
        for slot in slot_of(size)..self.slots.len() {
            let mut index = self.slots[slot].first;
            while index != NONE {
                probe.count(Work::ChunkVisited, 1);
                let was = self.chunk_slot(index);
                let chunk = self.at(index);
                let next = chunk.next;
                if size <= chunk.contig_hint {
                    if chunk.grow(probe) {
                        return Err(());
                    }
                    let placed = chunk.alloc(size, align, probe);
                    self.relocate(index, was);
                    if let Some(offset) = placed {
                        return Ok(Some((index, offset)));
                    }
                }
                index = next;
            }
        }
        Ok(None)
    }

    fn chunk_of(&self, key: ChunkKey) -> Option<u32> {
        let chunk = self.chunks.get(key.index as usize)?;
        (chunk.is_live() && chunk.generation == key.generation).then_some(key.index)
    }
}

impl Engine for AreaMap {
    #[inline]
    fn alloc(&mut self, size_bytes: u64, align: Align, _: bool, probe: &mut impl Probe) -> Option<Location> {
        let size = u32::try_from(size_bytes).ok()?.checked_next_multiple_of(GRAIN)?;
        let align = u32::try_from(align.bytes()).ok()?.max(GRAIN);
        if size == 0 || size > self.unit_bytes || u64::from(align) > PAGE_BYTES {
            return None;
        }
        loop {
            match self.search(size, align, probe) {
                Ok(Some((index, offset_bytes))) => {
                    let generation = self.at(index).generation;
                    return Some(Location { chunk: ChunkKey { index, generation }, offset_bytes });
                }
                Ok(None) => self.create()?,
                Err(()) => {}
            }
        }
    }

    #[inline]
    fn free(&mut self, at: Location, probe: &mut impl Probe) -> bool {
        let Some(index) = self.chunk_of(at.chunk) else { return false };
        let was = self.chunk_slot(index);
        if at.offset_bytes >= self.unit_bytes || !self.at(index).free(at.offset_bytes, probe) {
            return false;
        }
        self.relocate(index, was);
        let free = self.slots[self.slots.len() - 1];
        self.wants_balance |= free.first != free.last;
        true
    }

    fn wants_balance(&self) -> bool {
        self.wants_balance
    }

    /// Destroys all free chunks but the first.
    fn balance(&mut self) {
        self.wants_balance = false;
        let first = self.slots[self.slots.len() - 1].first;
        if first == NONE {
            return;
        }
        while self.at(first).next != NONE {
            let index = self.at(first).next;
            self.unlink(index);
            self.at(index).vacate();
            self.vacant.push(index);
        }
    }

    fn populated_pages(&self) -> u64 {
        let chunks = self.chunks.len() - self.vacant.len();
        chunks as u64 * (u64::from(self.unit_bytes) / PAGE_BYTES)
    }

    fn footprint(&self) -> Footprint {
        let live = || self.chunks.iter().filter(|chunk| chunk.is_live());
        let size = self.map_size();
        let page_words = (u64::from(self.unit_bytes) / PAGE_BYTES).div_ceil(64);
        Footprint {
            chunks: size.chunks,
            objects: live().map(|chunk| u64::from(chunk.objects)).sum(),
            free_bytes: live().map(|chunk| u64::from(chunk.free_bytes())).sum(),
            populated_pages: self.populated_pages(),
            empty_pages: 0,
            metadata_bytes: size.capacity * 4 + size.chunks * (HEADER_BYTES + 8 * page_words),
        }
    }

    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn validate(&self) -> Result<(), String> {
        let mut linked = 0;
        for (slot, ends) in self.slots.iter().enumerate() {
            let (mut index, mut previous) = (ends.first, NONE);
            while index != NONE {
                let chunk =
                    self.chunks.get(index as usize).ok_or("a list names a chunk that is not there")?;
                if chunk.slot != slot || chunk.previous != previous || self.chunk_slot(index) != slot {
                    return Err(format!("chunk {index} is not where its list has it"));
                }
                linked += 1;
                (previous, index) = (index, chunk.next);
            }
            if ends.last != previous {
                return Err(format!("list {slot} does not end with its last chunk"));
            }
        }
        if linked + self.vacant.len() != self.chunks.len() {
            return Err("a chunk is on no list".to_owned());
        }
        let mut live = self.chunks.iter().filter(|chunk| chunk.is_live());
        live.try_for_each(|chunk| chunk.validate(self.unit_bytes))
    }
}
