//! Looking at a space: the region at an address, all regions, the figures.

use super::AddressSpace;
use crate::FreeIndex;
use crate::regions::RegionEntry;
use freehold_units::Span;

/// An allocated region and the caller's value.
#[derive(Debug)]
pub struct Region<'a, V> {
    span: Span,
    guard: Option<Span>,
    value: &'a V,
    is_carved: bool,
}

impl<'a, V> Region<'a, V> {
    /// The usable addresses.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// The addresses after them that are kept unused, if there are any.
    #[must_use]
    pub fn guard(&self) -> Option<Span> {
        self.guard
    }

    /// What the caller stored.
    #[must_use]
    pub fn value(&self) -> &'a V {
        self.value
    }

    /// Whether a sub-space hands out its addresses.
    #[must_use]
    pub fn is_carved(&self) -> bool {
        self.is_carved
    }
}

/// The figures of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Allocated regions.
    pub regions: usize,
    /// Bytes in regions and guards.
    pub busy_bytes: u128,
    /// Free blocks.
    pub free_blocks: usize,
    /// Bytes in free blocks.
    pub free_bytes: u128,
    /// Bytes of the largest free block; `u64::MAX` for 2^64.
    pub largest_free_bytes: u64,
    /// Bytes of memory that the free-space index holds, spare nodes included. 0 on a [`BTree`](crate::BTree), which
    /// finds free space between the regions.
    pub free_index_bytes: usize,
    /// Bytes of memory that the tree of regions holds, values, marks of carved regions and spare nodes included.
    pub busy_index_bytes: usize,
}

impl<V, I: FreeIndex> AddressSpace<V, I> {
    /// The region that `address` belongs to, at its start or anywhere inside; guards belong to nobody.
    ///
    /// # Cost
    /// O(log n), no write.
    #[must_use]
    #[doc(alias = "find_vmap_area")]
    pub fn region_at(&self, address: u64) -> Option<Region<'_, V>> {
        let (_, entry) = self.regions.region_at(address)?;
        if entry.span.contains(address) { Some(self.region(entry)) } else { None }
    }

    /// The region whose guard `address` lies in: whose end was overrun.
    #[must_use]
    pub fn guard_at(&self, address: u64) -> Option<Region<'_, V>> {
        let region = self.region(self.regions.region_at(address)?.1);
        if region.guard.is_some_and(|guard| guard.contains(address)) { Some(region) } else { None }
    }

    /// The value of the region that `address` belongs to, to change.
    pub fn value_at_mut(&mut self, address: u64) -> Option<&mut V> {
        self.regions.value_at(address)
    }

    /// All regions in address order.
    pub fn regions(&self) -> impl Iterator<Item = Region<'_, V>> {
        self.regions.regions().map(|entry| self.region(entry))
    }

    /// All free blocks in address order.
    pub fn free_blocks(&self) -> impl Iterator<Item = Span> {
        self.regions.blocks()
    }

    /// The figures of the space. Cost: constant, but for the largest free block: a [`BTree`](crate::BTree) looks at every leaf
    /// whose largest gap was cut since a search last passed it.
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats {
            regions: self.regions.len(),
            busy_bytes: self.total_bytes - self.free_bytes,
            free_blocks: self.regions.block_count(),
            free_bytes: self.free_bytes,
            largest_free_bytes: self.index.largest_bytes(&self.regions),
            free_index_bytes: self.index.bytes(),
            busy_index_bytes: self.regions.bytes().saturating_add(self.carved.bytes()),
        }
    }

    fn region<'a>(&self, entry: RegionEntry<'a, V>) -> Region<'a, V> {
        let guard = entry.taken.above(entry.span);
        let is_carved = self.carved.holds(entry.span.first());
        Region { span: entry.span, guard, value: entry.value, is_carved }
    }
}
