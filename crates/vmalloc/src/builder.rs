//! Builder for `VirtualMemory`.

use crate::retain::RetainPolicy;

/// What the first byte is a multiple of.
pub(crate) const BASE_ALIGN: usize = 4 << 20;

/// What is asked of the memory of a range; none of it is a promise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Advice {
    pub(crate) huge_pages: bool,
    pub(crate) node: Option<u32>,
}

/// The least that can be reserved.
pub(crate) const MIN_RESERVE: usize = 4 * BASE_ALIGN;
/// The most.
pub(crate) const MAX_RESERVE: usize = 1 << 46;

/// When addresses become usable, and what the system is asked to promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// All of them at once. The system promises nothing: where it has no page left for one that is touched, it ends a
    /// process.
    Lazy,
    /// As they are handed out, in whole granules of 64 KiB or a 2^20th of the reservation, and a pool's or vector's some MiB ahead.
    /// So a system that charges for memory (`vm.overcommit_memory` 2) refuses with an error. What was charged once stays
    /// charged, and is handed out first once the system refuses more.
    Strict,
}

/// Describes a [`VirtualMemory`](crate::VirtualMemory). Cost: constant unless a method says otherwise.
#[derive(Clone, Debug)]
#[must_use = "nothing is reserved before `build`"]
pub struct Builder {
    pub(crate) reserve_bytes: usize,
    /// Whether nobody asked for so many bytes, so that there may be fewer.
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
    /// Bytes of addresses, rounded up to 16 MiB. If this is not called, 64 GiB, halved until it is a quarter of what limits leave
    /// (`RLIMIT_AS`, `RLIMIT_DATA`, `vm.overcommit_memory` 2) and the system grants it; [`Stats::addresses`](crate::Stats::addresses) says
    /// how many. Blocks are placed from the low end, pools and vectors from the high end, wherever there is room. Addresses cost
    /// nothing.
    pub fn reserve(self, reserve_bytes: usize) -> Self {
        Self { reserve_bytes, may_shrink: false, ..self }
    }

    /// How much free memory stays, and for how long. [`RetainPolicy::default`] if this is not called.
    pub fn retain(self, retain: RetainPolicy) -> Self {
        Self { retain, ..self }
    }

    /// When addresses become usable. If this is not called: strictly where the system charges for memory, lazily elsewhere.
    pub fn commit(self, commit: Commit) -> Self {
        Self { commit: Some(commit), ..self }
    }

    /// Locks memory in use, so that the system never swaps it: each page from when it is first touched until it is given back. If this
    /// is not called nothing is locked, also under `mlockall(MCL_FUTURE)`.
    ///
    /// The whole reservation counts against a limit of locked memory (`RLIMIT_MEMLOCK`).
    #[doc(alias = "MLOCK_ONFAULT")]
    pub fn mlock(self) -> Self {
        Self { is_locked: true, ..self }
    }

    /// Lets all memory have huge pages, as far as the system's setting allows; without it, only pools and vectors that ask for them have
    /// any. A page of a huge page that is given back ends it. [`ZoneStats::huge_pages`](crate::ZoneStats::huge_pages) says whether the
    /// system takes it up, [`VirtualMemory::huge_page_bytes`](crate::VirtualMemory::huge_page_bytes) what came of it.
    #[doc(alias = "MADV_HUGEPAGE")]
    pub fn huge_pages(self) -> Self {
        Self { advice: Advice { huge_pages: true, ..self.advice }, ..self }
    }

    /// The node that memory comes from as long as it has some, of blocks, vectors, and pools that do not say another. Where it cannot be,
    /// memory comes from anywhere: [`ZoneStats::node`](crate::ZoneStats::node) says.
    #[doc(alias = "mbind")]
    pub fn node(self, node: u32) -> Self {
        Self { advice: Advice { node: Some(node), ..self.advice }, ..self }
    }

    /// The debug mode: what is freed faults when it is touched, at once and until it is handed out again, and that is not
    /// before `quarantine_bytes` were freed after it. Nothing stays resident. A free is a system call.
    #[doc(alias = "MADV_GUARD_INSTALL")]
    pub fn catch_use_after_free(self, quarantine_bytes: u64) -> Self {
        Self { quarantine_bytes: Some(quarantine_bytes), ..self }
    }
}
