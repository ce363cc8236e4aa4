//! A space that threads share, as its users know it, and where it lies.

use super::lock::Used;
use crate::workload::{END_PAGE, LOW_PAGE, SplitMix};
use freehold::kva::{AddressSpace, Placement, Request};
use freehold::units::{Align, Span};

/// The granule of all spaces.
pub const PAGE: u64 = 4096;
/// The largest random block.
const MOST_PAGES: u64 = 64;
/// The first page of a space: what the cases of the kernel's test are run in, but for the pages that a pool cannot begin with.
pub(super) const FIRST_PAGE: u64 = LOW_PAGE.next_multiple_of(16);

/// An address space that threads share. Operations that are timed come in loops, so that each is not called through a table.
pub trait Pool: Sync {
    /// Takes so many pages; the first address. `None` if it has no room or no such request.
    fn alloc(&self, pages: u64) -> Option<u64> {
        self.alloc_request(&Request::new(pages * PAGE)).map(Span::first)
    }

    /// Takes them as asked for; the span, with what was given beyond them.
    fn alloc_request(&self, request: &Request) -> Option<Span>;

    /// Gives a block back; whether one started there.
    fn free(&self, first: u64) -> bool;

    /// The block that an address is in.
    fn locate(&self, address: u64) -> Option<Span>;

    /// What all of its locks did.
    fn used(&self) -> Used {
        Used::default()
    }

    /// Gives everything back that is kept for later; how many free blocks there are then. One that holds nothing has one.
    fn settle(&self) -> usize;

    /// Takes and gives back so many blocks, one at a time; whether all went well.
    fn pairs(&self, count: usize, pages: u64) -> bool {
        (0..count).all(|_| self.alloc(pages).is_some_and(|first| self.free(first)))
    }

    /// Gives back a random one of the blocks, and takes another of random size, so often; whether all went well.
    fn replace(&self, held: &mut Held, count: usize) -> bool {
        (0..count).all(|_| {
            let at = held.random.uniform(held.blocks.len() as u64) as usize;
            let pages = held.pages();
            self.free(held.blocks[at].0)
                && self.alloc(pages).map(|first| held.blocks[at] = (first, pages)).is_some()
        })
    }

    /// Finds the blocks of these addresses; how many have none.
    fn locates(&self, addresses: &[u64]) -> u64 {
        let has = |address: u64| self.locate(address).is_some_and(|span| span.contains(address));
        addresses.iter().map(|&address| u64::from(!has(address))).sum()
    }
}

/// What a thread holds.
pub struct Held {
    /// First address and pages.
    pub blocks: Vec<(u64, u64)>,
    random: SplitMix,
}

impl Held {
    /// Takes so many blocks.
    pub fn new(pool: &dyn Pool, count: usize, seed: u64) -> anyhow::Result<Self> {
        let mut held = Self { blocks: Vec::with_capacity(count), random: SplitMix::new(seed) };
        for _ in 0..count {
            let pages = held.pages();
            let first = pool.alloc(pages).ok_or_else(|| anyhow::anyhow!("no room for {pages} pages"))?;
            held.blocks.push((first, pages));
        }
        Ok(held)
    }

    fn pages(&mut self) -> u64 {
        1 + self.random.uniform(MOST_PAGES)
    }
}

/// The whole space.
pub fn whole() -> Span {
    Span::from_size(FIRST_PAGE * PAGE, (END_PAGE - FIRST_PAGE) * PAGE).unwrap_or(Span::ALL)
}

/// An address space of one owner.
pub fn address_space() -> anyhow::Result<AddressSpace<()>> {
    Ok(AddressSpace::new(whole(), Align::PAGE, Placement::Lowest)?)
}
