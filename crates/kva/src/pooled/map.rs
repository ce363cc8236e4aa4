//! The page map: finds the slab or extent of any address with two loads.
//!
//! ```text
//!   address  | top: which 4096 cells | cell: 16 granules | within the cell |
//!                      |                    |
//!   tops      [ cover, cells ] ----> [ name, name, ... 4096 ]
//! ```
//!
//! A slab or extent that covers all cells of a top is stored once, in the top itself. So an extent of a terabyte takes
//! one store for each top, and no cells.
//!
//! # Invariants
//! S1: a cell, itself or through its top, names at most one live slab or extent: the one whose region in the core
//! contains it. Cells are written only under the core's lock.

use super::word::SlabRef;
use crate::OutOfMemory;
use crate::atomic::{AtomicU64, Ordering};
use freehold_units::Span;
use std::boxed::Box;
use std::sync::OnceLock;
use std::vec::Vec;

/// Cells of a top. Few under shuttle, where every step is slow and a check of the map visits all cells.
pub(super) const CELLS: u64 = if cfg!(shuttle) {
    4
} else if cfg!(miri) {
    64
} else {
    4096
};
/// The most tops that a map may have: 2^48 bytes at a granule of 4 KiB.
pub(super) const MAX_TOPS: u64 = 1 << 20;

type Cells = [AtomicU64; CELLS as usize];

#[derive(Debug)]
struct Top {
    /// The name of the slab or extent that covers all cells of this top, or 0.
    cover: AtomicU64,
    /// Allocated before the first name is written to a cell.
    cells: OnceLock<Box<Cells>>,
}

/// See the [module](self).
#[derive(Debug)]
pub(super) struct PageMap {
    /// The first address of the first cell.
    first: u64,
    cell_shift: u32,
    tops: Box<[Top]>,
}

/// The cells of a span that lie in one top.
struct Part<'a> {
    top: &'a Top,
    first: usize,
    last: usize,
}

impl Part<'_> {
    fn is_whole(&self) -> bool {
        self.first == 0 && self.last + 1 == CELLS as usize
    }
}

impl PageMap {
    /// A map of `span`, which consists of whole cells of `1 << cell_shift` bytes and needs at most [`MAX_TOPS`] tops.
    pub(super) fn new(span: Span, cell_shift: u32) -> Result<Self, OutOfMemory> {
        let cells = ((span.last() - span.first()) >> cell_shift) + 1;
        let count = cells.div_ceil(CELLS);
        debug_assert!(count <= MAX_TOPS);
        let mut tops = Vec::new();
        tops.try_reserve_exact(count as usize)?;
        tops.resize_with(count as usize, || Top { cover: AtomicU64::new(0), cells: OnceLock::new() });
        Ok(Self { first: span.first(), cell_shift, tops: tops.into_boxed_slice() })
    }

    /// The slab or extent that has the cell of `address`. `None` if there is none, or the address is outside the map.
    #[inline]
    pub(super) fn name_at(&self, address: u64) -> Option<SlabRef> {
        // An address below the first wraps to a cell beyond all tops.
        let cell = address.wrapping_sub(self.first) >> self.cell_shift;
        let top = self.tops.get((cell / CELLS) as usize)?;
        // Acquire: pairs with the Release of `set`.
        let name = match top.cells.get() {
            Some(cells) => cells[(cell % CELLS) as usize].load(Ordering::Acquire),
            None => 0,
        };
        SlabRef::from_bits(if name == 0 { top.cover.load(Ordering::Acquire) } else { name })
    }

    /// Whether every cell of a span has that name. A top without cells is looked at once.
    pub(super) fn all_have(&self, span: Span, name: SlabRef) -> bool {
        let bits = SlabRef::to_bits(Some(name));
        self.parts(span).all(|part| {
            // Acquire: as in `name_at`.
            let cover = part.top.cover.load(Ordering::Acquire);
            let cells = part.top.cells.get().map_or(&[][..], |cells| &cells[part.first..=part.last]);
            let own = |cell: &AtomicU64| cell.load(Ordering::Acquire);
            let mut names = cells.iter().map(|cell| if own(cell) == 0 { cover } else { own(cell) });
            if cells.is_empty() { cover == bits } else { names.all(|name| name == bits) }
        })
    }

    /// The parts of a span of whole cells inside the map.
    fn parts(&self, span: Span) -> impl Iterator<Item = Part<'_>> {
        let cell_of = |address: u64| (address - self.first) >> self.cell_shift;
        let (first, last) = (cell_of(span.first()), cell_of(span.last()));
        (first / CELLS..=last / CELLS).map(move |top| Part {
            top: &self.tops[top as usize],
            first: (first.max(top * CELLS) % CELLS) as usize,
            last: (last.min(top * CELLS + (CELLS - 1)) % CELLS) as usize,
        })
    }

    /// Allocates the cells that [`PageMap::set`] writes to.
    pub(super) fn reserve(&self, span: Span) -> Result<(), OutOfMemory> {
        for part in self.parts(span).filter(|part| !part.is_whole()) {
            if part.top.cells.get().is_none() {
                let mut cells = Vec::new();
                cells.try_reserve_exact(CELLS as usize)?;
                cells.resize_with(CELLS as usize, || AtomicU64::new(0));
                let cells: Box<Cells> = cells.try_into().expect("S1: there are as many cells");
                part.top.cells.set(cells).expect("S1: cells are made under the core's lock");
            }
        }
        Ok(())
    }

    /// Writes a name, or none, to all cells of a reserved span.
    pub(super) fn set(&self, span: Span, name: Option<SlabRef>) {
        let bits = SlabRef::to_bits(name);
        for part in self.parts(span) {
            if part.is_whole() {
                part.top.cover.store(bits, Ordering::Release);
                continue;
            }
            let cells = part.top.cells.get().expect("S1: cells are reserved before they are written");
            for cell in &cells[part.first..=part.last] {
                cell.store(bits, Ordering::Release);
            }
        }
    }

    /// The first address of each cell that has a name, with the name.
    pub(super) fn named(&self) -> impl Iterator<Item = (u64, SlabRef)> {
        let address = |cell: u64| self.first + (cell << self.cell_shift);
        (0..).zip(&self.tops).flat_map(move |(at, top)| {
            let name = |cell: &AtomicU64| SlabRef::from_bits(cell.load(Ordering::Acquire));
            let cells = top.cells.get().into_iter().flat_map(|cells| cells.iter());
            let own = (at * CELLS..).zip(cells.map(name));
            let cover = std::iter::once((at * CELLS, name(&top.cover)));
            own.chain(cover).filter_map(move |(cell, name)| name.map(|name| (address(cell), name)))
        })
    }

    pub(super) fn bytes(&self) -> usize {
        let cells = self.tops.iter().filter(|top| top.cells.get().is_some()).count();
        self.tops.len() * size_of::<Top>() + cells * size_of::<Cells>()
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    const CELL: u64 = 0x1_0000;
    const TOP: u64 = CELL * CELLS;

    #[test]
    fn names_are_where_they_were_written() {
        let first = u64::MAX - 5 * TOP + 1;
        let map = PageMap::new(Span::new(first, u64::MAX).unwrap(), 16).unwrap();
        let name = SlabRef::new(1, 7);
        assert_eq!(map.bytes(), 5 * size_of::<Top>(), "no cells yet");
        // Ends within tops on both sides, and covers one; one that is all of a top; one cell, the last there is.
        for (offset, size) in [(TOP - CELL, TOP + 2 * CELL), (2 * TOP, TOP), (5 * TOP - CELL, CELL)] {
            let span = Span::from_size(first + offset, size).unwrap();
            map.reserve(span).unwrap();
            map.set(span, Some(name));
            for cell in (0..5 * CELLS).map(|cell| first + cell * CELL) {
                let within = span.contains(cell);
                assert_eq!(map.name_at(cell), within.then_some(name), "{cell:#x} {span}");
                assert_eq!(map.name_at(cell + (CELL - 1)), map.name_at(cell));
            }
            assert!(map.all_have(span, name) && !map.all_have(span, SlabRef::new(2, 7)), "{span}");
            let longer = Span::new(span.first() - CELL, span.last()).unwrap();
            assert!(!map.all_have(longer, name), "{longer}");
            let tops = size / TOP;
            assert_eq!(
                map.named().count() as u64,
                if tops == 1 { 1 + (size - TOP) / CELL } else { size / CELL }
            );
            map.set(span, None);
            assert_eq!(map.named().count(), 0);
        }
        assert_eq!(map.name_at(first - 1), None);
        assert_eq!(map.name_at(0), None);
        // A top that was covered whole took none.
        assert_eq!(map.bytes(), 5 * size_of::<Top>() + 3 * 8 * CELLS as usize);
    }
}
