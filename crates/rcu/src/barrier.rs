//! The two sides of the order between a reader's stamp and its loads.
//!
//! A reader stores its stamp, then loads links. A writer unlinks, then looks at stamps. R4: either the writer sees the stamp, or
//! the reader sees the unlinking. That takes a full barrier on both sides, between the store and the load:
//!
//! | Mode | reader: [`light`] | writer: [`Barrier::heavy`] |
//! |---|---|---|
//! | membarrier | an order of the compiler, no instruction | a system call after which every running thread has passed a full barrier |
//! | fences | a SeqCst fence | a SeqCst fence |
//!
//! With membarrier the reader's own full barrier falls somewhere between the call's begin and end. Two cases:
//! - barrier after the stamp's store: the writer sees the stamp;
//! - barrier before it: the reader's loads come later and see the unlinking.
//!
//! A filter may refuse barriers later: `fallback.rs` says what happens then.
//!
//! `model/membarrier.pml` has this as a model that spin checks, with the barrier left out as a mutant.

use crate::atomic::{Ordering, fence};
use freehold_sys::SysError;
#[cfg(not(all(test, loom)))]
use freehold_sys::membarrier::Membarrier;

/// How a domain orders its readers' stamps before their loads. Chosen when the first reader or writer comes; barriers that are refused
/// later make [`Membarrier`](Self::Membarrier) [`Fences`](Self::Fences), never the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// Writers issue barriers on all threads (Linux 4.14); guards cost two plain stores.
    Membarrier,
    /// The kernel lacks or refuses that, or it was not wanted: a fence in each guard.
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
    /// As membarrier that a filter refuses from now on.
    #[cfg(test)]
    Refused,
}

impl Barrier {
    /// What the kernel grants.
    pub(crate) fn new() -> Self {
        // Under shuttle, all threads are one of the kernel's.
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

    /// Between the unlinking and the look at stamps. Pairs with [`light`].
    pub(crate) fn heavy(self) -> Result<(), SysError> {
        match self {
            #[cfg(not(all(test, loom)))]
            Self::Membarrier(barrier) => barrier.issue()?,
            Self::Fences => {}
            #[cfg(test)]
            Self::Refused => return Err(SysError { call: "membarrier", errno: 1 }),
        }
        // The caller's own side: the call is a barrier on this thread as well, but only the kernel says so.
        fence(Ordering::SeqCst);
        Ok(())
    }
}
