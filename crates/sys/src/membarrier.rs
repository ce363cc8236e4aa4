//! Barriers that one thread issues for all threads of the process (Linux 4.14, the rseq form 5.10).
//!
//! The other threads pay nothing: instead of a fence on their side, the caller sends an interrupt.

use crate::SysError;

/// Commands, from the manual of membarrier.
const QUERY: libc::c_int = 0;
const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;
const PRIVATE_EXPEDITED_RSEQ: libc::c_int = 1 << 7;
const REGISTER_PRIVATE_EXPEDITED_RSEQ: libc::c_int = 1 << 8;

/// A kind of barrier that this process is registered for, and has issued once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membarrier {
    command: libc::c_int,
}

impl Membarrier {
    /// Barriers that order memory: each running thread of the process passes a full barrier before the call returns.
    ///
    /// # Errors
    /// The kernel lacks the call, or refuses it.
    pub fn memory() -> Result<Self, SysError> {
        Self::register(PRIVATE_EXPEDITED, REGISTER_PRIVATE_EXPEDITED)
    }

    /// Barriers that also restart sequences: a sequence that a thread began before the call is either committed or
    /// restarted.
    ///
    /// # Errors
    /// The kernel lacks the call, or refuses it.
    pub fn restarting() -> Result<Self, SysError> {
        Self::register(PRIVATE_EXPEDITED_RSEQ, REGISTER_PRIVATE_EXPEDITED_RSEQ)
    }

    fn register(command: libc::c_int, registration: libc::c_int) -> Result<Self, SysError> {
        if call(QUERY)? & command == 0 {
            return Err(SysError { call: "membarrier", errno: libc::ENOSYS });
        }
        call(registration)?;
        let barrier = Self { command };
        // A filter may allow the registration and refuse the barrier.
        barrier.issue()?;
        Ok(barrier)
    }

    /// Issues the barrier. A process made by `fork` keeps the registration.
    ///
    /// # Errors
    /// A filter that was installed later refuses it; or `ENOMEM`, which is temporary.
    #[doc(alias = "MEMBARRIER_CMD_PRIVATE_EXPEDITED")]
    pub fn issue(self) -> Result<(), SysError> {
        call(self.command).map(|_| ())
    }
}

/// Calls `membarrier` without flags.
#[cfg(not(any(miri, not(target_os = "linux"))))]
fn call(command: libc::c_int) -> Result<libc::c_int, SysError> {
    // SAFETY: the call takes numbers and writes no memory.
    let done = unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) };
    libc::c_int::try_from(done).ok().filter(|&done| done >= 0).ok_or_else(|| SysError::last("membarrier"))
}

#[cfg(any(miri, not(target_os = "linux")))]
fn call(_command: libc::c_int) -> Result<libc::c_int, SysError> {
    Err(SysError { call: "membarrier", errno: libc::ENOSYS })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed, compiler_fence};

    /// Dekker's algorithm with a fence on one side only: the two sides must not both find the other's flag down.
    #[test]
    fn a_barrier_stands_for_the_fence_of_the_other_side() {
        let Ok(barrier) = Membarrier::memory() else {
            eprintln!("not run: {}", Membarrier::memory().unwrap_err());
            return;
        };
        let (fast, slow) = (AtomicU32::new(0), AtomicU32::new(0));
        let (fast_in, slow_in) = (AtomicU32::new(0), AtomicU32::new(0));
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Relaxed) {
                    fast.store(1, Relaxed);
                    compiler_fence(std::sync::atomic::Ordering::SeqCst);
                    if slow.load(Relaxed) == 0 {
                        fast_in.store(1, Relaxed);
                        compiler_fence(std::sync::atomic::Ordering::SeqCst);
                        assert_eq!(slow_in.load(Relaxed), 0);
                        fast_in.store(0, Relaxed);
                    }
                    fast.store(0, std::sync::atomic::Ordering::Release);
                }
            });
            for _ in 0..2000 {
                slow.store(1, Relaxed);
                barrier.issue().unwrap();
                if fast.load(std::sync::atomic::Ordering::Acquire) == 0 {
                    slow_in.store(1, Relaxed);
                    barrier.issue().unwrap();
                    assert_eq!(fast_in.load(Relaxed), 0);
                    slow_in.store(0, Relaxed);
                    barrier.issue().unwrap();
                }
                slow.store(0, std::sync::atomic::Ordering::Release);
            }
            done.store(true, Relaxed);
        });
    }

    #[test]
    fn what_is_registered_can_be_issued() {
        for barrier in [Membarrier::memory(), Membarrier::restarting()] {
            match barrier {
                Ok(barrier) => assert_eq!(barrier.issue(), Ok(())),
                Err(error) => assert_eq!(error.call, "membarrier"),
            }
        }
    }
}
