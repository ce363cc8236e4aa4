//! A space that threads share, as its users know it, and where it lies.

use super::lock::Used;
use crate::workload::{END_PAGE, LOW_PAGE};
use freehold::kva::{AddressSpace, Placement, Request};
use freehold::units::{Align, Span};

/// The granule of all spaces.
pub const PAGE: u64 = 4096;
/// The first page of a space: what the cases of the kernel's test are run in, but for the pages that a pool cannot begin with.
pub(super) const FIRST_PAGE: u64 = LOW_PAGE.next_multiple_of(16);

/// An address space that threads share.
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

    /// What each of its locks did: name, use.
    fn used(&self) -> Vec<(&'static str, Used)> {
        Vec::new()
    }

    /// Gives everything back that is kept for later; how many free blocks there are then. One that holds nothing has one.
    fn settle(&self) -> usize;
}

/// The whole space.
pub fn whole() -> Span {
    Span::from_size(FIRST_PAGE * PAGE, (END_PAGE - FIRST_PAGE) * PAGE).unwrap_or(Span::ALL)
}

/// An address space of one owner.
pub fn address_space() -> anyhow::Result<AddressSpace<()>> {
    Ok(AddressSpace::new(whole(), Align::PAGE, Placement::Lowest)?)
}
