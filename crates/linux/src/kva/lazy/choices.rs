//! What a kernel, or a change to one, chooses: pools, decay, refill, nodes and the limit.

use freehold_units::Align;

/// Which pools of areas there are, each with 256 lists: one for each size of 1 to 256 pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pools {
    /// One for each node; what came last is handed out first. With one node there is none.
    #[default]
    PerNode,
    /// None: what is purged goes to the tree.
    Off,
    /// One for all CPUs.
    Shared,
    /// One for each node; what came first is handed out first.
    Fifo,
}

/// What a purge takes from each list of a pool before it refills it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decay {
    /// A quarter, rounded down, from the head: Linux 6.16 and later.
    #[default]
    Quarter,
    /// The same of four and more, and all of less: Linux 6.9 to 6.15.
    ShortAll,
    /// Nothing.
    Off,
    /// A quarter, rounded down, from the tail.
    Tail,
}

/// In which order a purge puts areas at the head of their lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refill {
    /// The lowest address first, so that the highest is handed out first.
    #[default]
    LowestFirst,
    /// The highest address first.
    HighestFirst,
    /// What was freed first.
    ByTime,
}

/// The rules of a [`LazySpace`](super::LazySpace).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choices {
    /// Whether freed areas wait for a purge.
    pub lazy: bool,
    /// Which pools there are.
    pub pools: Pools,
    /// What they lose in a purge.
    pub decay: Decay,
    /// How a purge fills them.
    pub refill: Refill,
    /// Nodes, from 1 to [`MOST_NODES`]: the possible CPUs of a machine.
    pub nodes: u32,
    /// Freed pages above which a purge is due.
    pub limit_pages: u64,
}

/// Nodes of a machine with that many CPUs or more.
pub const MOST_NODES: u32 = 128;
/// Pages that may wait for a purge, by the bits of the number of CPUs.
const LAZY_BYTES: u64 = 32 << 20;

impl Choices {
    /// What Linux of this version chooses on a machine with so many possible and online CPUs. Before 6.9 there is one set
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

    /// Nodes that have a pool.
    pub(super) fn pooled_nodes(&self) -> u32 {
        match self.pools {
            Pools::Off => 0,
            Pools::Shared => 1,
            Pools::PerNode | Pools::Fifo if self.nodes == 1 => 0,
            Pools::PerNode | Pools::Fifo => self.nodes,
        }
    }

    /// Sets of freed areas.
    pub(super) fn sets(&self) -> u32 {
        if self.pools == Pools::Shared { 1 } else { self.nodes }
    }

    /// How many of `len` areas of a list a purge takes.
    pub(super) fn decayed(&self, len: usize) -> usize {
        match self.decay {
            Decay::Off => 0,
            Decay::ShortAll if len < 4 => len,
            Decay::Quarter | Decay::ShortAll | Decay::Tail => len / 4,
        }
    }
}
