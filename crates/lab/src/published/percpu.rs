//! What the figures about the allocator of per-CPU memory are of, and the tables of them.

use super::{
    Published, aligned_2017_v1, aligned_2017_v2, depopulation_2021, linux_6_12, scan_hint_2019,
    second_half_2017, seed_2017_v1, seed_2017_v2,
};

/// What a figure is of. Sizes are bytes of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A million objects placed.
    SeedAlloc(u32),
    /// They are freed, in the worst of three orders: in order, alternating, in reverse.
    SeedFree(u32),
    /// They are freed at random.
    RandomFree(u32),
    /// A million objects placed in units whose second halves are full.
    SecondHalfAlloc(u32),
    /// They are freed in order.
    SecondHalfFree(u32),
    /// A million objects of 4 bytes placed at multiples of 8, and freed.
    Aligned,
    /// They are placed.
    AlignedAlloc,
    /// A free and an allocation of random sizes, from 4 bytes to so many.
    Churn(u32),
    /// Holes in all blocks of a chunk but the first, before and after as much is placed as fits in them.
    StaleHint,
    /// Traffic filters inserted, per-CPU counters and all.
    FilterInsertion,
    /// Most of the objects deleted, before and after; no chunk is emptied for it.
    Deletion,
    /// The same, and chunks that are not quite empty are emptied.
    DeletionBalanced,
}

/// All tables, the posting's own first.
pub const TABLES: [Published<Subject>; 8] = [
    seed_2017_v1::TABLE,
    aligned_2017_v1::TABLE,
    seed_2017_v2::TABLE,
    aligned_2017_v2::TABLE,
    second_half_2017::TABLE,
    scan_hint_2019::TABLE,
    depopulation_2021::TABLE,
    linux_6_12::TABLE,
];
