//! What the cases ask for: single requests, and requests that belong together.

use crate::workload::SplitMix;
use freehold::units::{Align, Span};
use freehold_trace::{kva::Op, percpu};
use std::fmt::Debug;

pub(super) const PAGE: u64 = Align::PAGE.bytes();
/// Address space at the end of the kernel's areas that nobody uses.
const GUARD_PAGES: u64 = 1;
/// Largest size of a churned object in pages.
const CHURNED_PAGES: u64 = 64;
/// Alignments of churned objects that are equally likely: 1..=1024 pages.
const COMMON_ALIGNMENTS: u64 = 11;

/// An operation on objects that have names.
pub trait ObjectOp: Clone + Debug {
    /// Frees the object.
    fn free(object: u32) -> Self;
}

impl ObjectOp for Op {
    fn free(object: u32) -> Self {
        Self::Free { object }
    }
}

impl ObjectOp for percpu::Op {
    fn free(object: u32) -> Self {
        Self::Free { object }
    }
}

/// Draws the request for an object.
pub(in crate::workload) type Draw<O = Op> = fn(u32, &mut SplitMix) -> O;

/// Pages anywhere.
pub(super) fn pages(object: u32, size_pages: u64) -> Op {
    Op::alloc(object, size_pages * PAGE)
}

/// Pages anywhere, aligned to pages.
pub(super) fn aligned(object: u32, size_pages: u64, align_pages: u64) -> Op {
    let align = Align::new(align_pages * PAGE).unwrap_or(Align::PAGE);
    Op::Alloc { object, size_bytes: size_pages * PAGE, align, window: Span::ALL }
}

/// Pages and a guard, as the kernel's test asks for them.
pub(super) fn guarded(object: u32, size_pages: u64) -> Op {
    pages(object, size_pages + GUARD_PAGES)
}

/// The same, aligned to pages.
pub(super) fn guarded_aligned(object: u32, size_pages: u64, align_pages: u64) -> Op {
    aligned(object, size_pages + GUARD_PAGES, align_pages)
}

/// 1..=64 pages anywhere.
pub(in crate::workload) fn random_alloc(object: u32, random: &mut SplitMix) -> Op {
    pages(object, 1 + random.uniform(CHURNED_PAGES))
}

/// 1..=10 pages aligned to one of the `ALIGNMENTS` lowest powers of two, in pages. Those up to 1024 pages are equally
/// likely; each beyond is half as likely as the one before, so that a million objects fit in the space.
pub(super) fn aligned_alloc<const ALIGNMENTS: u64>(object: u32, random: &mut SplitMix) -> Op {
    let size = 1 + random.uniform(10);
    let mut shift = random.uniform(ALIGNMENTS);
    let halvings = shift.saturating_sub(COMMON_ALIGNMENTS - 1);
    if halvings > 0 && random.uniform(1 << halvings) > 0 {
        shift = random.uniform(COMMON_ALIGNMENTS);
    }
    aligned(object, size, 1 << shift)
}

/// The kernel's draw: one byte decides size and alignment, 1..=10 pages and up to 4 MiB.
pub(super) fn random_size_align(object: u32, random: &mut SplitMix) -> Op {
    let drawn = random.uniform(256);
    guarded_aligned(object, drawn % 10 + 1, ((1 << (drawn % 23)) / PAGE).max(1))
}

/// One page and its guard, aligned to `1 << shift` bytes.
pub(super) fn align_shift(object: u32, shift: u32) -> Op {
    let align = 1u64.checked_shl(shift).and_then(Align::new).unwrap_or(Align::ONE);
    Op::Alloc { object, size_bytes: (1 + GUARD_PAGES) * PAGE, align, window: Span::ALL }
}

/// `count` allocations, named from `first` on, then freed in that order.
pub(super) fn together<O: ObjectOp>(ops: &mut Vec<O>, first: u32, count: u32, alloc: impl FnMut(u32) -> O) {
    let names = first..first.saturating_add(count);
    ops.extend(names.clone().map(alloc));
    ops.extend(names.map(O::free));
}

/// Frees `row` random objects of the `count` that are named from `first` on, and allocates as many in their place.
pub(super) fn replace<O: ObjectOp>(
    ops: &mut Vec<O>,
    (first, count): (u32, u32),
    row: u32,
    random: &mut SplitMix,
    mut draw: impl FnMut(u32, &mut SplitMix) -> O,
) {
    let mut names: Vec<u32> = Vec::with_capacity(row as usize);
    while names.len() < row as usize {
        let object = first + random.uniform(u64::from(count)) as u32;
        if !names.contains(&object) {
            names.push(object);
        }
    }
    ops.extend(names.iter().map(|&object| O::free(object)));
    ops.extend(names.into_iter().map(|object| draw(object, random)));
}

/// Frees of random objects, each followed by an allocation in its place, one operation at a time.
#[derive(Clone, Debug)]
pub(in crate::workload) struct Pairs<O = Op> {
    first: u32,
    count: u32,
    draw: Draw<O>,
    /// The object that was freed last, if nothing has taken its place yet.
    freed: Option<u32>,
}

impl<O: ObjectOp> Pairs<O> {
    /// Pairs of the objects `first..first + count`.
    pub(in crate::workload) fn new(first: u32, count: u32, draw: Draw<O>) -> Self {
        Self { first, count, draw, freed: None }
    }

    /// The next operation.
    pub(in crate::workload) fn next_op(&mut self, random: &mut SplitMix) -> O {
        match self.freed.take() {
            Some(object) => (self.draw)(object, random),
            None => {
                let object = self.first + random.uniform(u64::from(self.count)) as u32;
                self.freed = Some(object);
                O::free(object)
            }
        }
    }
}
