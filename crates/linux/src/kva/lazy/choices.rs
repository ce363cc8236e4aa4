//! The parameters of lazy frees, of a kernel or of a proposed change to one: pools, decay, refill, nodes and the limit.

use freehold_units::Align;

/// The pools of purged areas. A pool has 256 lists, one for each size from 1 to 256 pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pools {
    /// One for each node; the latest area is handed out first. A single node has no pool.
    #[default]
    PerNode,
    /// None: purged areas go to the tree.
    Off,
    /// One for all CPUs.
    Shared,
    /// One for each node; the oldest area is handed out first. A single node has no pool.
    Fifo,
}

/// The areas that a purge moves from each list of a pool to the tree, before it refills the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decay {
    /// A quarter, rounded down, from the head: Linux 6.16 and later.
    #[default]
    Quarter,
    /// A quarter of a list of four or more, and all of a shorter one: Linux 6.9 to 6.15.
    ShortAll,
    /// None.
    Off,
    /// A quarter, rounded down, from the tail.
    Tail,
}

/// The order in which a purge puts areas at the head of their lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refill {
    /// The lowest address first, so that the highest is handed out first.
    #[default]
    LowestFirst,
    /// The highest address first.
    HighestFirst,
    /// The area that was freed first.
    ByTime,
}

/// The rules of a [`LazySpace`](super::LazySpace).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choices {
    /// Whether freed areas wait for a purge.
    pub lazy: bool,
    /// The pools.
    pub pools: Pools,
    /// The areas that they lose in a purge.
    pub decay: Decay,
    /// The order in which a purge fills them.
    pub refill: Refill,
    /// Nodes, from 1 to [`MOST_NODES`]: the possible CPUs of a machine.
    pub nodes: u32,
    /// The number of freed pages above which a purge starts.
    pub limit_pages: u64,
}

/// The most nodes, which a machine with that many CPUs or more has.
pub const MOST_NODES: u32 = 128;
/// Bytes that may wait for a purge, for each bit of the number of online CPUs.
const LAZY_BYTES: u64 = 32 << 20;

impl Choices {
    /// The parameters of a Linux version on a machine with that many possible and online CPUs. Before 6.9 there is one set
    /// of freed areas and no pool. Cost: constant.
    #[must_use]
    pub fn linux(version: (u32, u32), possible: u32, online: u32, page: Align) -> Self {
        let has_pools = version >= (6, 9);
        Self {
            lazy: true,
            pools: if has_pools { Pools::PerNode } else { Pools::Off },
            decay: if version >= (6, 16) { Decay::Quarter } else { Decay::ShortAll },
            refill: Refill::LowestFirst,
            nodes: if has_pools { possible.clamp(1, MOST_NODES) } else { 1 },
            limit_pages: u64::from(u32::BITS - online.leading_zeros()) * (LAZY_BYTES / page.bytes()),
        }
    }

    /// The number of pools.
    pub(super) fn pooled_nodes(&self) -> u32 {
        match self.pools {
            Pools::Off => 0,
            Pools::Shared => 1,
            Pools::PerNode | Pools::Fifo if self.nodes == 1 => 0,
            Pools::PerNode | Pools::Fifo => self.nodes,
        }
    }

    /// The number of sets of freed areas.
    pub(super) fn sets(&self) -> u32 {
        if self.pools == Pools::Shared { 1 } else { self.nodes }
    }

    /// The number of areas that a purge takes from a list of `len`.
    pub(super) fn decayed(&self, len: usize) -> usize {
        match self.decay {
            Decay::Off => 0,
            Decay::ShortAll if len < 4 => len,
            Decay::Quarter | Decay::ShortAll | Decay::Tail => len / 4,
        }
    }
}
