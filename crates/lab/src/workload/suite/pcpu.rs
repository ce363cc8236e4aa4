//! The address space of per-CPU objects: chunks, each with one area per NUMA node, all at one base.
//!
//! ```text
//!   base                                base + distance
//!    | unit of CPU 0 | unit of CPU 1 |   ...   | unit of CPU 2 | unit of CPU 3 |
//!      area of node 0, one atom                  area of node 1, one atom
//! ```
//!
//! Objects are packed into a unit one behind the other, each at its alignment; one that does not fit opens the next
//! chunk. An allocator that fills the gaps as well needs a little less.
//!
//! Source: the talk on the per-CPU allocator, and the kernel test's case `pcpu_alloc`.

use super::requests::together;
use crate::workload::SplitMix;
use freehold::units::{Align, Span};
use freehold_trace::kva::Op;
use std::sync::Arc;

/// Objects of the case.
const OBJECTS: u64 = 35_000;
/// Largest object in bytes.
const LARGEST_BYTES: u64 = 1024;
/// Alignments are powers of two, from 2 bytes on; so many of them.
const ALIGNMENTS: u64 = 11;
/// What a chunk's base is a multiple of, and the size of each of its areas: a large page.
const ATOM_BYTES: u64 = 2 << 20;
/// Units in an area: the CPUs of a node.
const UNITS_PER_AREA: u64 = 2;
const UNIT_BYTES: u64 = ATOM_BYTES / UNITS_PER_AREA;
/// How far apart the nodes' areas are: as far as the memory that the first chunk got of each.
const DISTANCE_BYTES: u64 = 8 << 30;
/// More chunks than that are not needed: each object takes less than its size and its alignment together.
pub(super) const MOST_CHUNKS: u32 = (OBJECTS * (LARGEST_BYTES + (1 << ALIGNMENTS)) / UNIT_BYTES + 1) as u32;

/// All objects allocated, then freed: their chunks, named from `first` on.
pub(super) fn alloc_and_free(ops: &mut Vec<Op>, first: u32, random: &mut SplitMix) {
    let areas: Arc<[Span]> =
        [0, DISTANCE_BYTES].into_iter().filter_map(|offset| Span::from_size(offset, ATOM_BYTES)).collect();
    let align = Align::new(ATOM_BYTES).unwrap_or(Align::PAGE);
    together(ops, first, chunks(random), |object| {
        let areas = Arc::clone(&areas);
        Op::Congruent { object, areas, align, window: Span::ALL }
    });
}

/// Chunks that the objects fill.
fn chunks(random: &mut SplitMix) -> u32 {
    let (mut chunks, mut used) = (1, 0u64);
    for _ in 0..OBJECTS {
        let size = 1 + random.uniform(LARGEST_BYTES);
        let start = used.next_multiple_of(2 << random.uniform(ALIGNMENTS));
        used = start + size;
        if used > UNIT_BYTES {
            chunks += 1;
            used = size;
        }
    }
    chunks
}
