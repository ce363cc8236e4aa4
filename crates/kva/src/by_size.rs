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
use crate::index::{Blocks, Want};
use crate::{Broken, Fit, FreeIndex, Merge, OutOfMemory};
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
#[derive(Clone, Debug)]
pub struct BySize<I> {
    by_address: I,
    sizes: Tree<Nothing<u128>, Nothing<u128>>,
}

/// Size less one, so that 2^64 fits, above the address.
fn key(block: Span) -> u128 {
    u128::from(block.last() - block.first()) << 64 | u128::from(block.first())
}

impl<I: FreeIndex> BySize<I> {
    fn add(&mut self, block: Option<Span>) {
        if let Some(block) = block {
            self.sizes.insert(self.sizes.way_to(key(block)), key(block), ());
        }
    }

    fn remove(&mut self, block: Option<Span>) {
        if let Some(found) = block.and_then(|block| self.sizes.find(key(block))) {
            self.sizes.remove(&found);
        }
    }

    fn best_fit(&self, want: &Want, probe: &mut impl Probe) -> Option<(I::Block, Span)> {
        // A window inside one block, a fixed place above all, leaves no choice of blocks.
        if let Some((block, whole)) = self.by_address.at_or_below(want.window.first())
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
                let (block, _) = self.by_address.at_or_below(first)?;
                return Some((block, fit));
            }
            at = self.sizes.next(position);
        }
        None
    }
}

impl<I: FreeIndex> FreeIndex for BySize<I> {
    type Placement = Placement<I::Placement>;

    fn iter(&self) -> impl Iterator<Item = Span> {
        self.by_address.iter()
    }

    fn len(&self) -> usize {
        self.by_address.len()
    }

    fn largest_bytes(&self) -> u64 {
        self.by_address.largest_bytes()
    }

    fn metadata_bytes(&self) -> usize {
        self.by_address.metadata_bytes().saturating_add(self.sizes.bytes())
    }

    fn validate(&self) -> Result<(), Broken> {
        self.by_address.validate()?;
        self.sizes.validate()?;
        check(self.sizes.len() == self.len(), "K11", "there are as many keys as blocks", 0)?;
        for block in self.iter() {
            let known = self.sizes.find(key(block)).is_some();
            check(known, "K11", "every block has its key", block.first())?;
        }
        Ok(())
    }
}

impl<I: FreeIndex> Blocks for BySize<I> {
    type Choice = Placement<I::Placement>;
    type Block = I::Block;
    type Way = I::Way;

    fn new(granule: Align) -> Result<Self, OutOfMemory> {
        Ok(Self { by_address: I::new(granule)?, sizes: Tree::new(())? })
    }

    fn reserve(&mut self, blocks: usize) -> Result<(), OutOfMemory> {
        self.by_address.reserve(blocks)?;
        // Cutting the middle out of a block takes one key out and puts two in.
        self.sizes.reserve(blocks.saturating_mul(2))
    }

    fn prepare(&mut self, want: &Want, probe: &mut impl Probe) -> Result<(), OutOfMemory> {
        self.by_address.prepare(want, probe)?;
        self.sizes.reserve(2)
    }

    fn find(&self, choice: Self::Choice, want: &Want, probe: &mut impl Probe) -> Option<(Self::Block, Span)> {
        match choice {
            Placement::BestFit => self.best_fit(want, probe),
            Placement::ByAddress(placement) => self.by_address.find(placement, want, probe),
        }
    }

    fn carve(&mut self, block: Self::Block, span: Span, probe: &mut impl Probe) -> Fit {
        let whole = self.by_address.at_or_below(span.first()).map(|(_, whole)| whole);
        self.remove(whole);
        self.add(whole.and_then(|whole| whole.below(span)));
        self.add(whole.and_then(|whole| whole.above(span)));
        self.by_address.carve(block, span, probe)
    }

    fn way_to(&self, address: u64) -> Self::Way {
        self.by_address.way_to(address)
    }

    fn release(&mut self, way: Self::Way, span: Span, probe: &mut impl Probe) -> Result<Merge, Span> {
        let merge = self.by_address.release(way, span, probe)?;
        let whole = self.by_address.at_or_below(span.first()).map(|(_, whole)| whole);
        self.remove(whole.and_then(|whole| whole.below(span)));
        self.remove(whole.and_then(|whole| whole.above(span)));
        self.add(whole);
        Ok(merge)
    }

    fn at_or_below(&self, address: u64) -> Option<(Self::Block, Span)> {
        self.by_address.at_or_below(address)
    }

    fn before(&self, block: Self::Block) -> Option<(Self::Block, Span)> {
        self.by_address.before(block)
    }
}
