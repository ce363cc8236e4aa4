//! `VirtualMemory`: one reservation, and the requests of its users.
//!
//! ```text
//!   user layers     block   slots   stack   vec          stats: counts at the borders of layers
//!   scrub           what was asked to be zero is zero
//!   residency       which free memory keeps its pages, how much, for how long
//!   zone            which addresses are whose
//!   mapping         the reservation, and every call on its pages
//! ```
//!
//! Each layer owns the one below. A request goes down until a layer can serve it; a free goes down likewise.

use crate::block::Block;
use crate::builder::{Builder, MAX_RESERVE, MIN_RESERVE};
use crate::decay::Decay;
use crate::error::{AllocError, BuildError};
use crate::scrub::{SCAN_FROM_BYTES, Scrub, Zero};
use freehold_kva::{self as kva, Request};
use freehold_sys::{SysError, machine};
use freehold_units::Span;
use std::fmt;
use std::sync::Arc;

/// Memory over reserved addresses, for many threads. See the [crate](crate). Forgetting it (`mem::forget`) leaks the
/// reservation, and the thread of [`RetainPolicy::decay`](crate::RetainPolicy::decay).
pub struct VirtualMemory {
    pub(crate) shared: Arc<Scrub>,
    /// The thread that decommits idle memory.
    decay: Option<Decay>,
}

impl Builder {
    /// Reserves the addresses.
    ///
    /// # Errors
    /// - [`BuildError::Reserve`]: less than 16 MiB or more than 2^46 bytes.
    /// - [`BuildError::NoAddresses`]: a limit is too low, such as `RLIMIT_AS`.
    /// - [`BuildError::System`]: the system refuses for another reason.
    /// - [`BuildError::Thread`], [`BuildError::OutOfMemory`].
    ///
    /// # Cost
    /// A few system calls, a thread if idle memory decays, and 24 bytes for each 256 MiB of addresses.
    pub fn build(mut self) -> Result<VirtualMemory, BuildError> {
        /// By default, one part in `SHARE` of what limits leave is reserved.
        const SHARE: u64 = 4;
        let left = if self.may_shrink { machine::reservable_bytes() } else { None };
        while left.is_some_and(|left| self.reserve_bytes as u64 > left / SHARE)
            && self.reserve_bytes > MIN_RESERVE
        {
            self.reserve_bytes /= 2;
        }
        loop {
            match VirtualMemory::new(&self) {
                Err(BuildError::System(error)) if error.is_out_of_memory() => {
                    let reserve_bytes = self.reserve_bytes;
                    if !self.may_shrink || reserve_bytes <= MIN_RESERVE {
                        return Err(BuildError::NoAddresses { reserve_bytes, error });
                    }
                    self.reserve_bytes /= 2;
                }
                built => return built,
            }
        }
    }
}

impl VirtualMemory {
    /// A builder for a virtual memory: how much to reserve, how much to keep. Cost: constant.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn new(asked: &Builder) -> Result<Self, BuildError> {
        let reserve_bytes = asked.reserve_bytes;
        if !(MIN_RESERVE..=MAX_RESERVE).contains(&reserve_bytes) {
            return Err(BuildError::Reserve { reserve_bytes });
        }
        let shared = Arc::new(Scrub::new(asked)?);
        let decay = asked.retain.decay.map(|decay| Decay::start(&shared, decay)).transpose()?;
        Ok(Self { shared, decay })
    }

    /// Allocates `len_bytes`, rounded up to whole pages. Dropping the block frees it.
    ///
    /// # Errors
    /// - [`AllocError::Addresses`]: 0 bytes, or no addresses are left.
    /// - [`AllocError::System`]: memory cannot be committed, as under [`Commit::Strict`](crate::Commit::Strict), or
    ///   none could be decommitted to free addresses.
    ///
    /// # Fragmentation
    /// A length is refused for lack of addresses only if no free run is as long, after all free memory was decommitted
    /// and its addresses merged. A held block of up to 256 pages keeps its slab, at most 512 pages, from longer blocks.
    /// Every other block, pool and vector keeps its own addresses, in multiples of 16 pages.
    ///
    /// So beside `k` of these, a block of up to a `k + 1`th of the free addresses is never refused. Blocks lie as low
    /// as they can, pools and vectors as high.
    ///
    /// # Cost
    /// If resident: two atomic exchanges and two additions including the drop, and clearing it if asked. From 256 KiB
    /// on, clearing asks the system which pages have memory, until a block has memory everywhere. If decommitted: page
    /// faults where it is touched. Up to 256 pages are rounded up to one of 28 sizes, four for each doubling. Longer
    /// blocks take a lock and O(log n), and keep their pages for blocks of similar lengths. A refusal scans every slab,
    /// and decommits all free memory first.
    #[inline]
    pub fn alloc(&self, len_bytes: usize, zero: Zero) -> Result<Block<'_>, AllocError> {
        let shared = &*self.shared;
        let len = shared.zones().sizes.pages(len_bytes).ok_or(kva::AllocError::SizeOverflow)?;
        if (zero == Zero::No || len < SCAN_FROM_BYTES)
            && let Some((mut pages, slab)) = shared.residency.alloc_fast(len)
        {
            if zero == Zero::Yes {
                pages.zero(0..len);
            }
            return Ok(Block::new(shared, pages, Some(slab)));
        }
        // Unpacked here: returning `alloc`'s result directly would make the fast path return through memory, too.
        let held = shared.alloc(len, zero)?;
        Ok(Block::new(shared, held.pages, held.slab))
    }

    /// As [`VirtualMemory::alloc`], at a multiple of `align` or within a window of addresses. A guard that the request
    /// asks for is a range of addresses that nobody else gets; it does not fault.
    ///
    /// # Errors
    /// As for [`VirtualMemory::alloc`], and those of the request: see [`kva::AllocError`]. A window without addresses
    /// of the reservation is [`WindowOutside`](kva::AllocError::WindowOutside).
    ///
    /// # Cost
    /// A lock and O(log n). A request that any slot of its size satisfies costs the same as [`VirtualMemory::alloc`].
    pub fn alloc_request(&self, request: &Request, zero: Zero) -> Result<Block<'_>, AllocError> {
        let held = self.shared.alloc_request(request, zero)?;
        Ok(Block::new(&self.shared, held.pages, held.slab))
    }

    /// The whole slot of the held block that contains `address`, at its start or inside. Takes no lock and writes
    /// nothing.
    ///
    /// In the [debug mode](Builder::catch_use_after_free), a freed block counts as held while it is in the quarantine: a
    /// handler of the fault finds it.
    ///
    /// Only for blocks; pools find their slots with [`Slots::locate`](crate::Slots::locate).
    ///
    /// Cost: constant.
    #[must_use]
    #[doc(alias = "region_at")]
    pub fn locate(&self, address: u64) -> Option<Span> {
        self.shared.zones().locate(address)
    }

    /// Decommits all free memory at once, and retries what dropped pools and vectors left. Returns how many bytes no
    /// longer count as resident. Memory that another thread is decommitting now, such as that of
    /// [`RetainPolicy::decay`](crate::RetainPolicy::decay), counts as resident until that is done. What a huge page
    /// covers beside a block stays: see [`Builder::huge_pages`].
    ///
    /// # Errors
    /// The system refused a call. The memory of that call is resident as before.
    ///
    /// # Cost
    /// A scan of every slab, and a system call for each run of free resident blocks.
    pub fn release_idle(&self) -> Result<u64, SysError> {
        self.shared.residency.release(u64::MAX)
    }
}

impl Drop for VirtualMemory {
    fn drop(&mut self) {
        // The thread must end before the mapping does.
        self.decay.take();
    }
}

impl fmt::Debug for VirtualMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VirtualMemory")
            .field("addresses", &self.shared.zones().addresses())
            .finish_non_exhaustive()
    }
}
