//! `VirtualMemory`: one reservation, and what users ask it for.
//!
//! ```text
//!   user layers     block   slots   stack   vec          stats: counts at the borders of layers
//!   scrub           what was asked to be zero is zero
//!   residency       which free memory keeps its pages, how much, for how long
//!   zone            which addresses are whose
//!   mapping         the reservation, and every call on its pages
//! ```
//!
//! Each layer owns the one below. A request goes down until a layer can serve it; what is freed goes down likewise.

use crate::block::Block;
use crate::builder::{Builder, MAX_RESERVE, MIN_RESERVE};
use crate::decay::Decay;
use crate::error::{AllocError, BuildError};
use crate::scrub::{Scrub, Zero};
use freehold_kva::{self as kva, Request};
use freehold_sys::{SysError, machine};
use freehold_units::Span;
use std::fmt;
use std::sync::Arc;

/// Memory over reserved addresses, for many threads. See the [crate](crate). If it is forgotten (`mem::forget`), it leaks the
/// reservation, and the thread of [`RetainPolicy::decay`](crate::RetainPolicy::decay).
pub struct VirtualMemory {
    pub(crate) shared: Arc<Scrub>,
    /// The thread that gives idle memory back.
    decay: Option<Decay>,
}

impl Builder {
    /// Reserves the addresses.
    ///
    /// # Errors
    /// [`BuildError::Reserve`] for less than 16 MiB or more than 2^46 bytes; [`BuildError::NoAddresses`] under a limit, as
    /// `RLIMIT_AS`; [`BuildError::System`] where the system refuses for another reason; [`BuildError::Thread`],
    /// [`BuildError::OutOfMemory`].
    ///
    /// # Cost
    /// A few system calls, a thread if idle memory decays, and 24 bytes for each 256 MiB of addresses.
    pub fn build(mut self) -> Result<VirtualMemory, BuildError> {
        /// Of what limits leave, one part in so many is reserved by default.
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
    /// Describes one: how much to reserve, what to keep. Cost: constant.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn new(asked: &Builder) -> Result<Self, BuildError> {
        let reserve_bytes = asked.reserve_bytes;
        if !(MIN_RESERVE..=MAX_RESERVE).contains(&reserve_bytes) {
            return Err(BuildError::Reserve { reserve_bytes });
        }
        let shared = Arc::new(Scrub::new(asked)?);
        let decay = asked.retain.decay_window().map(|decay| Decay::start(&shared, decay)).transpose()?;
        Ok(Self { shared, decay })
    }

    /// Hands out `len_bytes`, rounded up to whole pages. Dropped, the block is free again.
    ///
    /// # Errors
    /// [`AllocError::Addresses`] for 0 bytes, or where no addresses are left; [`AllocError::System`] if memory cannot be
    /// committed, as under [`Commit::Strict`](crate::Commit::Strict), or if none could be given back to win addresses.
    ///
    /// # What is refused
    /// A length is refused for want of addresses only if no free run of them is as long, after all that is free was given back and
    /// its addresses joined. A held block of up to 256 pages keeps its slab, at most 512 pages, from longer ones; every other
    /// block, pool and vector keeps what it has, in whole 16 pages. So beside `k` of these a block of a `k + 1`th of what is free is never
    /// refused. Blocks lie as low as they can, pools and vectors as high.
    ///
    /// # Cost
    /// Resident, two atomic exchanges and two additions with its drop, and what it takes to clear it. Decommitted, page faults
    /// where it is touched. Up to 256 pages are one of 28 sizes, four for each doubling. Longer blocks take a lock and O(log n), and
    /// keep their pages for blocks of like lengths. A refusal looks at every slab, and gives all free memory back first.
    #[inline]
    pub fn alloc(&self, len_bytes: usize, zero: Zero) -> Result<Block<'_>, AllocError> {
        let shared = &*self.shared;
        let len = shared.zones().sizes.pages(len_bytes).ok_or(kva::AllocError::SizeOverflow)?;
        if zero == Zero::No
            && let Some((pages, slab)) = shared.residency.alloc_fast(len)
        {
            return Ok(Block::new(shared, pages, Some(slab)));
        }
        // Unpacked here: returning `alloc`'s result directly would make the fast path return through memory, too.
        let held = shared.alloc(len, zero)?;
        Ok(Block::new(shared, held.pages, held.slab))
    }

    /// As [`VirtualMemory::alloc`], at a multiple of `align` or within a window of addresses. A guard that the request asks
    /// for is addresses that nobody is given; they do not fault.
    ///
    /// # Errors
    /// As there, and for what the request says: see [`kva::AllocError`]. A window that has no addresses of the reservation is
    /// [`WindowOutside`](kva::AllocError::WindowOutside).
    ///
    /// # Cost
    /// A lock and O(log n); a request that any slot of its size fulfils costs what it does in [`VirtualMemory::alloc`].
    pub fn alloc_request(&self, request: &Request, zero: Zero) -> Result<Block<'_>, AllocError> {
        let held = self.shared.alloc_request(request, zero)?;
        Ok(Block::new(&self.shared, held.pages, held.slab))
    }

    /// The addresses of the held block that has `address`, at its start or anywhere inside: all of its slot. No lock, no write.
    ///
    /// Blocks alone; pools find their slots, [`Slots::locate`](crate::Slots::locate).
    ///
    /// Cost: constant.
    #[must_use]
    pub fn locate(&self, address: u64) -> Option<Span> {
        self.shared.zones().locate(address)
    }

    /// Gives all free memory back to the system, at once, but for what another thread, that of [`RetainPolicy::decay`](crate::RetainPolicy::decay) too, is giving back
    /// at this moment: that counts as resident until it is. What dropped pools and vectors
    /// left is tried again. Returns how many bytes no longer count as resident.
    ///
    /// # Errors
    /// The system refused a call. What it was asked to take is resident as before.
    ///
    /// # Cost
    /// A look at every slab, and a system call for each run of free resident blocks.
    pub fn release_idle(&self) -> Result<u64, SysError> {
        self.shared.residency.release(u64::MAX)
    }
}

impl Drop for VirtualMemory {
    fn drop(&mut self) {
        // The thread ends before the mapping does.
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
