//! Best fit: free blocks ordered by size beside any index that orders them by address.
//!
//! ```text
//!   by address   [3 pages at 2] [9 at 7] [3 at 20]          the index inside
//!   by size      (3, 2) (3, 20) (9, 7)                      one key per block: size, then address
//! ```
//!
//! The smallest block that can serve is taken, of equals the lowest, and the lowest place in it. Less is left
//! over and fewer blocks come about than with the lowest address first, at the price of a second tree.
//!
//! Invariant: K11 every block has its key, and every key its block.
//! Cost: O(log n) for requests without alignment or window, and for windows inside one block; else each block that
//! is large enough but badly placed is looked at. Memory: what the index inside takes, and 16 bytes a slot.

use crate::bplus::{Nothing, Tree};
use crate::error::check;
use crate::index::{Entry, Map, Want};
use crate::{Broken, FreeIndex, OutOfMemory, Shortcuts};
use core::marker::PhantomData;
use freehold_units::{Align, Probe, Span, Work};

/// How addresses are chosen when blocks are known by size too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement<P> {
    /// The lowest place in the smallest block that has one, in the lowest of equals.
    #[default]
    BestFit,
    /// As the index inside chooses.
    ByAddress(P),
}

/// An index with its blocks ordered by size as well. See the [module](self).
#[derive(Clone, Copy, Debug)]
pub struct BySize<I>(PhantomData<I>);

impl<I: FreeIndex> FreeIndex for BySize<I> {
    type Placement = Placement<I::Placement>;
    type Map<V> = SizedMap<I::Map<V>>;
}

/// Free blocks and regions as inside, and the blocks by size.
#[derive(Clone, Debug)]
pub struct SizedMap<M> {
    inside: M,
    sizes: Tree<Nothing<u128>, Nothing<u128>>,
}

/// Size less one, so that 2^64 fits, above the address.
fn key(block: Span) -> u128 {
    u128::from(block.last() - block.first()) << 64 | u128::from(block.first())
}

impl<M> SizedMap<M> {
    fn note(&mut self, block: Option<Span>) {
        if let Some(block) = block {
            self.sizes.insert(self.sizes.way_to(key(block)), key(block), ());
        }
    }

    fn forget(&mut self, block: Option<Span>) {
        if let Some(found) = block.and_then(|block| self.sizes.find(key(block))) {
            self.sizes.remove(found);
        }
    }

    /// `span` is about to be taken from the block that covers it.
    fn note_taken<V>(&mut self, span: Span)
    where
        M: Map<V>,
    {
        let whole = self.inside.block_at_or_below(span.first()).map(|(_, whole)| whole);
        self.forget(whole);
        self.note(whole.and_then(|whole| whole.below(span)));
        self.note(whole.and_then(|whole| whole.above(span)));
    }

    /// `span` has become a block or part of one.
    fn note_freed<V>(&mut self, span: Span)
    where
        M: Map<V>,
    {
        let whole = self.inside.block_at_or_below(span.first()).map(|(_, whole)| whole);
        self.forget(whole.and_then(|whole| whole.below(span)));
        self.forget(whole.and_then(|whole| whole.above(span)));
        self.note(whole);
    }

    fn best_fit<V>(&self, want: &Want, probe: &mut impl Probe) -> Option<(M::Block, Span)>
    where
        M: Map<V>,
    {
        // A window inside one block, a fixed place above all, leaves no choice of blocks.
        if let Some((block, whole)) = self.inside.block_at_or_below(want.window.first())
            && whole.covers(want.window)
        {
            probe.count(Work::NodeVisited, 1);
            return Some((block, want.window.lowest_fit(want.size_bytes, want.align, 0)?));
        }
        if want.window.size_bytes() == u128::from(want.size_bytes) {
            return None;
        }
        let smallest = u128::from(want.size_bytes - 1) << 64;
        let mut at = self.sizes.at_or_after(self.sizes.place_of(smallest));
        while let Some(position) = at {
            probe.count(Work::NodeVisited, 1);
            let key = self.sizes.key(position)?;
            let (first, reach) = (key as u64, (key >> 64) as u64);
            let block = Span::new(first, first.checked_add(reach)?)?;
            let fit = block.lowest_fit(want.size_bytes, want.align, want.window.first());
            if let Some(fit) = fit.filter(|fit| fit.last() <= want.window.last()) {
                let (block, _) = self.inside.block_at_or_below(first)?;
                return Some((block, fit));
            }
            at = self.sizes.next(position);
        }
        None
    }
}

impl<V, M: Map<V>> Map<V> for SizedMap<M> {
    type Choice = Placement<M::Choice>;
    type Block = M::Block;
    type Place = M::Place;

    fn new(granule: Align) -> Result<Self, OutOfMemory> {
        Ok(Self { inside: M::new(granule)?, sizes: Tree::new(Nothing::NEW)? })
    }

    fn set_shortcuts(&mut self, shortcuts: Shortcuts, probe: &mut impl Probe) {
        self.inside.set_shortcuts(shortcuts, probe);
    }

    fn duplicate(&self) -> Self
    where
        V: Clone,
    {
        Self { inside: self.inside.duplicate(), sizes: self.sizes.clone() }
    }

    fn reserve(&mut self, regions: usize, freed: usize) -> Result<(), OutOfMemory> {
        self.inside.reserve(regions, freed)?;
        // Cutting the middle out of a block takes one key out and puts two in.
        self.sizes.reserve(regions.saturating_add(freed).saturating_mul(2))
    }

    fn prepare(&mut self, want: &Want, probe: &mut impl Probe) -> Result<(), OutOfMemory> {
        self.inside.prepare(want, probe)?;
        self.sizes.reserve(2)
    }

    fn find(&self, choice: Self::Choice, want: &Want, probe: &mut impl Probe) -> Option<(Self::Block, Span)> {
        match choice {
            Placement::BestFit => self.best_fit(want, probe),
            Placement::ByAddress(placement) => self.inside.find(placement, want, probe),
        }
    }

    fn occupy(
        &mut self,
        block: Self::Block,
        taken: Span,
        guard_granules: u32,
        value: V,
        probe: &mut impl Probe,
    ) {
        self.note_taken(taken);
        self.inside.occupy(block, taken, guard_granules, value, probe);
    }

    fn vacate(&mut self, place: Self::Place, taken: Span, probe: &mut impl Probe) -> Option<V> {
        let value = self.inside.vacate(place, taken, probe)?;
        self.note_freed(taken);
        Some(value)
    }

    fn extend(&mut self, place: Self::Place, block: Self::Block, more: Span, probe: &mut impl Probe) {
        self.note_taken(more);
        self.inside.extend(place, block, more, probe);
    }

    fn shorten(&mut self, place: Self::Place, less: Span, probe: &mut impl Probe) {
        self.inside.shorten(place, less, probe);
        self.note_freed(less);
    }

    fn add(&mut self, span: Span, probe: &mut impl Probe) -> Result<(), Span> {
        self.inside.add(span, probe)?;
        self.note_freed(span);
        Ok(())
    }

    fn block_at_or_below(&self, address: u64) -> Option<(Self::Block, Span)> {
        self.inside.block_at_or_below(address)
    }

    fn block_before(&self, block: Self::Block) -> Option<(Self::Block, Span)> {
        self.inside.block_before(block)
    }

    fn blocks(&self) -> impl Iterator<Item = Span> {
        self.inside.blocks()
    }

    fn block_count(&self) -> usize {
        self.inside.block_count()
    }

    fn largest_bytes(&self) -> u64 {
        self.inside.largest_bytes()
    }

    fn region(&self, first: u64) -> Option<(Self::Place, Entry<'_, V>)> {
        self.inside.region(first)
    }

    fn region_at(&self, address: u64) -> Option<Entry<'_, V>> {
        self.inside.region_at(address)
    }

    fn value_at(&mut self, address: u64) -> Option<(u64, &mut V)> {
        self.inside.value_at(address)
    }

    fn region_over(&self, span: Span) -> Option<Entry<'_, V>> {
        self.inside.region_over(span)
    }

    fn regions<'a>(&'a self) -> impl Iterator<Item = Entry<'a, V>>
    where
        V: 'a,
    {
        self.inside.regions()
    }

    fn region_count(&self) -> usize {
        self.inside.region_count()
    }

    fn bytes(&self) -> (usize, usize) {
        let (blocks, regions) = self.inside.bytes();
        (blocks.saturating_add(self.sizes.bytes()), regions)
    }

    fn validate(&self) -> Result<(), Broken> {
        self.inside.validate()?;
        self.sizes.validate()?;
        check(self.sizes.len() == self.block_count(), "K11", "there are as many keys as blocks", 0)?;
        for block in self.blocks() {
            let known = self.sizes.find(key(block)).is_some();
            check(known, "K11", "every block has its key", block.first())?;
        }
        Ok(())
    }
}
