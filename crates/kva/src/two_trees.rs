//! A space in two trees, as the kernel has it: free blocks in the augmented red-black tree, regions by address in
//! another.

use crate::bplus::Found;
use crate::busy::{BusyIndex, Record};
use crate::index::{Entry, Map, Want};
use crate::rbtree::{Block, Placement};
use crate::{Broken, OutOfMemory, RbTree, Shortcuts};
use freehold_units::{Align, Probe, Span};

/// Free blocks and regions apart.
#[derive(Clone, Debug)]
pub struct TwoTrees<V> {
    pub(crate) free: RbTree,
    busy: BusyIndex<V>,
    granule: Align,
}

/// A region in its place, valid until the index changes.
#[derive(Clone, Copy, Debug)]
pub struct Place(Found);

impl<V> TwoTrees<V> {
    fn entry<'a>(&self, first: u64, record: &'a Record<V>) -> Option<Entry<'a, V>> {
        let guard_bytes = u64::from(record.guard_granules).saturating_mul(self.granule.bytes());
        Some(Entry {
            span: Span::new(first, record.last)?,
            taken: Span::new(first, record.last.saturating_add(guard_bytes))?,
            guard_granules: record.guard_granules,
            value: &record.value,
        })
    }

    /// Returns a span that K4 keeps apart from all free blocks.
    fn give_back(&mut self, span: Span, probe: &mut impl Probe) {
        let given = self.free.release(span, probe);
        debug_assert!(given.is_ok(), "K4: regions and free blocks are apart");
    }
}

impl<V> Map<V> for TwoTrees<V> {
    type Choice = Placement;
    type Block = Block;
    type Place = Place;

    fn new(granule: Align) -> Result<Self, OutOfMemory> {
        Ok(Self { free: RbTree::new(granule)?, busy: BusyIndex::new()?, granule })
    }

    fn set_shortcuts(&mut self, shortcuts: Shortcuts, probe: &mut impl Probe) {
        self.free.set_shortcuts(shortcuts, probe);
    }

    fn duplicate(&self) -> Self
    where
        V: Clone,
    {
        self.clone()
    }

    #[inline]
    fn reserve(&mut self, regions: usize, freed: usize) -> Result<(), OutOfMemory> {
        self.free.reserve(regions.saturating_add(freed))?;
        self.busy.reserve(regions)
    }

    #[inline]
    fn prepare(&mut self, _: &Want, _: &mut impl Probe) -> Result<(), OutOfMemory> {
        self.reserve(1, 0)
    }

    #[inline]
    fn find(&self, placement: Placement, want: &Want, probe: &mut impl Probe) -> Option<(Block, Span)> {
        self.free.search(placement, want, probe)
    }

    #[inline]
    fn occupy(&mut self, block: Block, taken: Span, guard_granules: u32, value: V, probe: &mut impl Probe) {
        // The way comes first, so that the wait for memory at its end passes meanwhile.
        let way = self.busy.way_to(taken.first());
        self.free.carve(block, taken, probe);
        let guard_bytes = u64::from(guard_granules).saturating_mul(self.granule.bytes());
        let last = taken.last().saturating_sub(guard_bytes);
        self.busy.insert(way, taken.first(), Record { last, guard_granules, value });
    }

    #[inline]
    fn vacate(&mut self, place: Place, taken: Span, probe: &mut impl Probe) -> Option<V> {
        self.give_back(taken, probe);
        Some(self.busy.remove(place.0))
    }

    fn extend(&mut self, place: Place, block: Block, more: Span, probe: &mut impl Probe) {
        self.free.carve(block, more, probe);
        if let Some(record) = self.busy.record_mut(place.0) {
            record.last = record.last.saturating_add(more.size_saturating());
        }
    }

    fn shorten(&mut self, place: Place, less: Span, probe: &mut impl Probe) {
        self.give_back(less, probe);
        if let Some(record) = self.busy.record_mut(place.0) {
            record.last = record.last.saturating_sub(less.size_saturating());
        }
    }

    fn add(&mut self, span: Span, probe: &mut impl Probe) -> Result<(), Span> {
        self.free.add(span, probe).map(|_| ())
    }

    fn block_at_or_below(&self, address: u64) -> Option<(Block, Span)> {
        self.free.floor(address)
    }

    fn block_before(&self, block: Block) -> Option<(Block, Span)> {
        self.free.before(block)
    }

    fn blocks(&self) -> impl Iterator<Item = Span> {
        self.free.iter()
    }

    fn block_count(&self) -> usize {
        self.free.len()
    }

    fn largest_bytes(&self) -> u64 {
        self.free.largest_bytes()
    }

    #[inline]
    fn region(&self, first: u64) -> Option<(Place, Entry<'_, V>)> {
        let (found, record) = self.busy.find(first)?;
        Some((Place(found), self.entry(first, record)?))
    }

    fn region_at(&self, address: u64) -> Option<Entry<'_, V>> {
        let (first, record) = self.busy.at_or_below(address)?;
        self.entry(first, record).filter(|entry| entry.taken.contains(address))
    }

    fn value_at(&mut self, address: u64) -> Option<(u64, &mut V)> {
        self.busy.value_mut(address)
    }

    fn region_over(&self, span: Span) -> Option<Entry<'_, V>> {
        let (first, record) = self.busy.at_or_below(span.last())?;
        self.entry(first, record).filter(|entry| entry.taken.overlaps(span))
    }

    fn regions<'a>(&'a self) -> impl Iterator<Item = Entry<'a, V>>
    where
        V: 'a,
    {
        self.busy.iter().filter_map(|(first, record)| self.entry(first, record))
    }

    fn region_count(&self) -> usize {
        self.busy.len()
    }

    fn bytes(&self) -> (usize, usize) {
        (self.free.metadata_bytes(), self.busy.bytes())
    }

    fn validate(&self) -> Result<(), Broken> {
        self.free.validate()?;
        self.busy.validate()
    }
}
