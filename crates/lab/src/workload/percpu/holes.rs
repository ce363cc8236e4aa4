//! Workloads that leave holes, and what is made of them.

/// Small objects fill the units; every eighth is kept, and in each chunk all of the first block. Then as many are
/// placed as fit in some of the holes.
///
/// Linux does not find such holes: a free in any block but the first does not raise the chunk's hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleHint {
    /// Objects of 4 bytes at first.
    pub objects: u32,
    /// Objects placed in the holes.
    pub refilled: u32,
}

impl StaleHint {
    /// What was measured on a kernel: a million objects, half a million placed again.
    pub const MEASURED: Self = Self { objects: 1_000_000, refilled: 500_000 };

    /// Whether the object that is at this offset is kept, the `nth` of all.
    #[must_use]
    pub fn keeps(nth: usize, offset_bytes: u64) -> bool {
        nth.is_multiple_of(8) || offset_bytes < 4096
    }
}

/// Groups of objects, of which most are deleted: the memory controllers of the patches of 2021, that empty chunks
/// which are not quite empty. One group's objects lie together, as they were made together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// Groups made.
    pub groups: u32,
    /// One group of so many is kept.
    pub one_in: u32,
}

impl Deletion {
    /// What was measured on a kernel: 11000 groups, 10 of 11 deleted.
    pub const MEASURED: Self = Self { groups: 11_000, one_in: 11 };

    /// Sizes of a group's objects in bytes, about those of a memory controller: its statistics, those per node, and
    /// reference counts.
    pub const GROUP_BYTES: [u32; 6] = [2240, 1024, 512, 64, 8, 8];

    /// Whether the group is kept.
    #[must_use]
    pub fn keeps(&self, group: u32) -> bool {
        group.is_multiple_of(self.one_in)
    }
}
