//! The order between a reader's stamp and its loads: its two sides.
//!
//! A reader stores its stamp, then loads links. A writer unlinks, then scans the stamps. R4: either the writer sees the
//! stamp, or the reader sees the unlinking. That takes a full barrier on both sides, between the store and the load:
//!
//! | Mode | reader: [`light`] | writer: [`Barrier::heavy`] |
//! |---|---|---|
//! | membarrier | a compiler fence, no instruction | a system call after which every running thread has passed a full barrier |
//! | fences | a SeqCst fence | a SeqCst fence |
//!
//! With membarrier the reader's own full barrier falls somewhere between the call's begin and end. Two cases:
//! - barrier after the stamp's store: the writer sees the stamp;
//! - barrier before it: the reader's loads come later and see the unlinking.
//!
//! A filter may refuse barriers later: see `fallback.rs`.
//!
//! `model/membarrier.pml` is a model of this for spin. A mutant leaves the barrier out.

use crate::atomic::{Ordering, fence};
use freehold_sys::SysError;
#[cfg(not(all(test, loom)))]
use freehold_sys::membarrier::Membarrier;

/// How a domain orders its readers' stamps before their loads. Chosen by the first reader or writer. If barriers are
/// refused later, [`Membarrier`](Self::Membarrier) becomes [`Fences`](Self::Fences), never the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// Writers issue barriers on all threads (Linux 4.14); guards cost two plain stores.
    Membarrier,
    /// The kernel lacks or refuses these barriers, or they were not wanted: a fence in each guard.
    Fences,
}

/// The reader's side, between its stamp and its loads. Pairs with [`Barrier::heavy`].
#[inline]
pub(crate) fn light(fenced: bool) {
    if fenced {
        fence(Ordering::SeqCst);
    } else {
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
    }
}

/// The writer's side.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Barrier {
    #[cfg(not(all(test, loom)))]
    Membarrier(Membarrier),
    Fences,
    /// Membarrier, which a filter refuses from now on.
    #[cfg(test)]
    Refused,
}

impl Barrier {
    /// The strongest barrier that the kernel grants.
    pub(crate) fn new() -> Self {
        // Under shuttle, all threads are one thread of the kernel.
        #[cfg(not(any(all(test, loom), shuttle)))]
        if let Ok(barrier) = Membarrier::memory() {
            return Self::Membarrier(barrier);
        }
        Self::Fences
    }

    pub(crate) fn mode(self) -> Mode {
        match self {
            Self::Fences => Mode::Fences,
            _ => Mode::Membarrier,
        }
    }

    /// Between the unlinking and the scan of the stamps. Pairs with [`light`].
    pub(crate) fn heavy(self) -> Result<(), SysError> {
        match self {
            #[cfg(not(all(test, loom)))]
            Self::Membarrier(barrier) => barrier.issue()?,
            Self::Fences => {}
            #[cfg(test)]
            Self::Refused => return Err(SysError { call: "membarrier", errno: 1 }),
        }
        // The caller's own side: the call is a barrier on this thread as well, but the memory model does not know it.
        fence(Ordering::SeqCst);
        Ok(())
    }
}
