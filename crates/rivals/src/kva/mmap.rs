//! The kernel itself: address space by `mmap`, given back by `munmap`.
//!
//! It is asked as a program asks that reserves address space: anonymous private memory that nothing may touch
//! (`PROT_NONE`), anywhere. So the figures are those of two system calls, of the kernel's search for a gap and of its
//! record of the mapping. No page is ever there: none is zeroed, entered into page tables or flushed from a TLB, all
//! of which memory in use costs besides. The crate `region` makes the calls safe; what it returns lives in a table of
//! the adapter, whose time is small beside theirs.
//!
//! Addresses are the kernel's choice among what the process has free; the layout has no say. So no window, no place
//! and no alignment beyond a page can be asked for, no free blocks are shown, and of the kernel's own memory nothing
//! is known: it counts as 0 bytes.
//!
//! The kernel limits the maps of a process (`vm.max_map_count`, 65530 unless set otherwise). It joins mappings that
//! touch into one map, but a hole parts them again, and at the limit `munmap` itself is refused, which would go
//! unnoticed here. So a request is refused before there are so many mappings that each could need a map of its own.

use super::regions::Regions;
use freehold_trace::kva::Engine;
use freehold_units::{Align, Probe, Span};
use region::{Allocation, Protection};

/// Maps left to the rest of the process: its program, libraries, stacks and heap.
const SPARE_MAPS: usize = 1024;
/// Where Linux tells how many there may be.
const MAX_MAP_COUNT: &str = "/proc/sys/vm/max_map_count";

/// Address space of this process, by system calls.
pub struct Mmap {
    regions: Regions<Allocation>,
    /// Mappings that there may be.
    most: usize,
}

impl Mmap {
    /// The address space of this process; the layout has no say in it.
    ///
    /// # Errors
    /// The kernel does not say how many maps it allows: it is not Linux.
    pub fn new(_: &[Span], _: Align) -> Result<Self, String> {
        let text = std::fs::read_to_string(MAX_MAP_COUNT);
        let most = text.ok().and_then(|text| text.trim().parse::<usize>().ok());
        let most = most.ok_or_else(|| format!("{MAX_MAP_COUNT} cannot be read"))?;
        Ok(Self::with_most(most.saturating_sub(SPARE_MAPS)))
    }

    fn with_most(most: usize) -> Self {
        Self { regions: Regions::new(Span::ALL), most }
    }
}

impl Engine for Mmap {
    fn supports(&self, _: u64, align: Align, window: Span) -> bool {
        window == Span::ALL && align.bytes() <= region::page::size() as u64
    }

    fn alloc(&mut self, size_bytes: u64, _: Align, _: Span, _: &mut impl Probe) -> Option<u64> {
        if self.regions.len() >= self.most {
            return None;
        }
        let allocation = region::alloc(usize::try_from(size_bytes).ok()?, Protection::NONE).ok()?;
        let first = allocation.as_range().start as u64;
        self.regions.insert(Span::from_size(first, size_bytes)?, allocation);
        Some(first)
    }

    /// The mapping goes as it leaves the table.
    fn free(&mut self, first: u64, _: &mut impl Probe) -> bool {
        self.regions.remove(first).is_some()
    }

    fn free_blocks(&self, _: &mut dyn FnMut(Span)) {}

    fn metadata_bytes(&self) -> usize {
        0
    }

    fn validate(&self) -> Result<(), String> {
        self.regions.validate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = Align::PAGE.bytes();

    fn alloc(engine: &mut Mmap, pages: u64) -> Option<u64> {
        engine.alloc(pages * PAGE, Align::PAGE, Span::ALL, &mut ())
    }

    /// Whether the kernel has a map without any rights over the whole span.
    fn is_reserved(span: Span) -> bool {
        let first = std::ptr::without_provenance::<()>(span.first() as usize);
        let map = region::query(first);
        map.is_ok_and(|map| map.protection() == Protection::NONE && map.as_range().end as u64 > span.last())
    }

    #[test]
    fn mappings_are_the_kernels_own_and_apart() {
        let mut engine = Mmap::new(&[], Align::PAGE).unwrap();
        let starts = [1, 5, 64, 1].map(|pages| (alloc(&mut engine, pages).unwrap(), pages));
        for (first, pages) in starts {
            assert!(is_reserved(Span::from_size(first, pages * PAGE).unwrap()), "{first:#x}");
        }
        engine.validate().unwrap();
        for (first, _) in starts {
            assert!(!engine.free(first + PAGE / 2, &mut ()));
            assert!(engine.free(first, &mut ()));
            assert!(!engine.free(first, &mut ()));
        }
    }

    #[test]
    fn what_the_kernel_cannot_map_is_no_room() {
        let mut engine = Mmap::with_most(3);
        assert_eq!(alloc(&mut engine, u64::MAX / PAGE), None);
        assert_eq!(engine.alloc(1 << 60, Align::PAGE, Span::ALL, &mut ()), None);
        assert_eq!(engine.regions.len(), 0);
    }

    #[test]
    fn at_the_limit_of_maps_a_request_is_refused_until_one_goes() {
        let mut engine = Mmap::with_most(3);
        let starts = [1, 1, 1].map(|pages| alloc(&mut engine, pages).unwrap());
        assert_eq!(alloc(&mut engine, 1), None);
        assert!(engine.free(starts[1], &mut ()));
        assert!(alloc(&mut engine, 1).is_some());
        assert_eq!(alloc(&mut engine, 1), None);
    }

    #[test]
    fn only_a_request_without_constraint_is_had() {
        let engine = Mmap::with_most(1);
        let below = Span::new(0, u64::MAX - 1).unwrap();
        let page = Align::new(region::page::size() as u64).unwrap();
        assert!(engine.supports(PAGE, page, Span::ALL));
        assert!(!engine.supports(PAGE, page, below));
        assert!(!engine.supports(PAGE, Align::new(2 * page.bytes()).unwrap(), Span::ALL));
    }
}
