//! Builder for `VirtualMemory`.

use crate::retain::RetainPolicy;

/// Alignment of the reservation's first byte.
pub(crate) const BASE_ALIGN: usize = 4 << 20;

/// Hints for the memory of a range. None of them is guaranteed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Advice {
    pub(crate) huge_pages: bool,
    pub(crate) node: Option<u32>,
}

/// The smallest reservation.
pub(crate) const MIN_RESERVE: usize = 4 * BASE_ALIGN;
/// The largest reservation.
pub(crate) const MAX_RESERVE: usize = 1 << 46;

/// When addresses become usable, and whether the system must guarantee memory for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Commit {
    /// All at once, at the start. The system guarantees nothing: if it has no page left for a touched address, it kills
    /// a process.
    Lazy,
    /// As they are handed out, in whole granules of 64 KiB or a 2^20th of the reservation, if that is more. Pools and
    /// vectors commit some MiB ahead. So a system that charges for memory (`vm.overcommit_memory` 2) refuses with an
    /// error. Memory that was charged stays charged. Once the system refuses more, blocks are placed in what is free of
    /// it, and pools hand out the slots that have some.
    Strict,
}

/// Describes a [`VirtualMemory`](crate::VirtualMemory). Cost: constant unless a method says otherwise.
#[derive(Clone, Debug)]
#[must_use = "nothing is reserved before `build`"]
pub struct Builder {
    pub(crate) reserve_bytes: usize,
    /// Whether the size is the default, which may be reduced.
    pub(crate) may_shrink: bool,
    pub(crate) retain: RetainPolicy,
    pub(crate) commit: Option<Commit>,
    pub(crate) quarantine_bytes: Option<u64>,
    pub(crate) is_locked: bool,
    pub(crate) advice: Advice,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            reserve_bytes: 64 << 30,
            may_shrink: true,
            retain: RetainPolicy::default(),
            commit: None,
            quarantine_bytes: None,
            is_locked: false,
            advice: Advice::default(),
        }
    }
}

impl Builder {
    /// Bytes of addresses, rounded up to 16 MiB. Addresses cost nothing.
    ///
    /// The default is 64 GiB, halved until it is at most a quarter of what the limits leave (`RLIMIT_AS`,
    /// `RLIMIT_DATA`, `vm.overcommit_memory` 2) and the system grants it. [`Stats::addresses`](crate::Stats::addresses)
    /// tells how many. Blocks are placed from the low end, pools and vectors from the high end.
    pub fn reserve(self, reserve_bytes: usize) -> Self {
        Self { reserve_bytes, may_shrink: false, ..self }
    }

    /// How much free memory stays resident, and for how long. The default is [`RetainPolicy::default`].
    pub fn retain(self, retain: RetainPolicy) -> Self {
        Self { retain, ..self }
    }

    /// When addresses become usable. The default is [`Commit::Strict`] where the system charges for memory, and
    /// [`Commit::Lazy`] elsewhere.
    pub fn commit(self, commit: Commit) -> Self {
        Self { commit: Some(commit), ..self }
    }

    /// Locks memory in use, so that the system never swaps it: each page from its first touch until it is decommitted.
    /// Without it nothing is locked, not even under `mlockall(MCL_FUTURE)`.
    ///
    /// The whole reservation counts against a limit of locked memory (`RLIMIT_MEMLOCK`).
    #[doc(alias = "MLOCK_ONFAULT")]
    pub fn mlock(self) -> Self {
        Self { is_locked: true, ..self }
    }

    /// Allows huge pages for all memory, as far as the system's setting permits. Without it, only pools and vectors
    /// that ask for huge pages have them. Decommitting a page of a huge page splits it.
    /// [`ZoneStats::huge_pages`](crate::ZoneStats::huge_pages) tells whether the system accepts the request,
    /// [`VirtualMemory::huge_page_bytes`](crate::VirtualMemory::huge_page_bytes) how much it granted.
    ///
    /// A huge page that a block or slot touches also covers what is free beside it. That memory is zero and counts as
    /// nothing, and no purge finds it: it stays until its addresses were handed out and freed once.
    #[doc(alias = "MADV_HUGEPAGE")]
    pub fn huge_pages(self) -> Self {
        Self { advice: Advice { huge_pages: true, ..self.advice }, ..self }
    }

    /// The preferred NUMA node for the memory of blocks, vectors, and pools that name no other. If the node has no
    /// memory left, or the preference is refused, memory comes from anywhere: see
    /// [`ZoneStats::node`](crate::ZoneStats::node).
    #[doc(alias = "mbind")]
    pub fn node(self, node: u32) -> Self {
        Self { advice: Advice { node: Some(node), ..self.advice }, ..self }
    }

    /// The debug mode: freed blocks, slots and stacks fault when they are touched, until they are handed out again. That
    /// does not happen before another `quarantine_bytes` were freed, unless addresses run out. Nothing stays resident.
    /// Each free is a system call. Dropped pools and vectors lose their content, but do not fault.
    #[doc(alias = "MADV_GUARD_INSTALL")]
    pub fn catch_use_after_free(self, quarantine_bytes: u64) -> Self {
        Self { quarantine_bytes: Some(quarantine_bytes), ..self }
    }
}
