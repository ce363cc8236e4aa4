//! What a measurement or a stress test does to threads: their CPU time and page faults, signals that interrupt them, moves from CPU to
//! CPU.

use crate::last;
use freehold_sys::SysError;
use std::mem;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// CPU time that the calling thread has used so far.
///
/// # Errors
/// The system has no such clock.
pub fn cpu_time() -> Result<Duration, SysError> {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Nanoseconds of the clock that stamps events of a trace whose `trace_clock` is `mono`.
///
/// # Errors
/// The system has no such clock.
#[doc(alias = "CLOCK_MONOTONIC")]
pub fn monotonic_ns() -> Result<u64, SysError> {
    let time = clock(libc::CLOCK_MONOTONIC)?;
    // 2^64 nanoseconds are 584 years after the machine's start.
    Ok(time.as_secs() * 1_000_000_000 + u64::from(time.subsec_nanos()))
}

fn clock(clock: libc::clockid_t) -> Result<Duration, SysError> {
    // SAFETY: a zeroed time is a time; the call writes to it and to nothing else.
    let (time, status) = unsafe {
        let mut time: libc::timespec = mem::zeroed();
        let status = libc::clock_gettime(clock, &raw mut time);
        (time, status)
    };
    check("clock_gettime", i64::from(status))?;
    // These clocks are never negative, and their nanoseconds are below a second.
    Ok(Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32))
}

/// Page faults of the calling thread so far that needed no disk.
///
/// # Errors
/// The system does not count them.
#[doc(alias = "ru_minflt")]
pub fn page_faults() -> Result<u64, SysError> {
    // SAFETY: zeroed counts are counts; the call writes to them and to nothing else.
    let (usage, status) = unsafe {
        let mut usage: libc::rusage = mem::zeroed();
        let status = libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        (usage, status)
    };
    check("getrusage", i64::from(status))?;
    Ok(usage.ru_minflt.unsigned_abs())
}

/// The CPU that the calling thread runs on, as the C library tells it.
///
/// # Errors
/// It does not tell.
#[inline]
#[doc(alias = "sched_getcpu")]
pub fn current_cpu() -> Result<u32, SysError> {
    // SAFETY: the call only returns a number.
    let cpu = unsafe { libc::sched_getcpu() };
    u32::try_from(cpu).map_err(|_| last("sched_getcpu"))
}

/// A thread of this process, or one that was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread(libc::pid_t);

/// Signals that threads were interrupted by.
static INTERRUPTIONS: AtomicU64 = AtomicU64::new(0);

extern "C" fn count_interruption(_signal: libc::c_int) {
    INTERRUPTIONS.fetch_add(1, Ordering::Relaxed);
}

impl Thread {
    /// The calling one.
    #[must_use]
    pub fn current() -> Self {
        // SAFETY: the call only returns a number.
        Self(unsafe { libc::gettid() })
    }

    /// Lets the thread run on one CPU only, and moves it there.
    ///
    /// # Errors
    /// There is no such thread, or no such CPU for this process.
    pub fn move_to(self, cpu: u32) -> Result<(), SysError> {
        let mut words = [0_u64; 64];
        let Some(word) = words.get_mut(cpu as usize / 64) else {
            return Err(SysError { call: "sched_setaffinity", errno: libc::EINVAL });
        };
        *word = 1 << (cpu % 64);
        // SAFETY: the call reads as many bytes as there are; the kernel's sets are words of bits, the lowest bit first.
        let status = unsafe { libc::sched_setaffinity(self.0, size_of_val(&words), words.as_ptr().cast()) };
        check("sched_setaffinity", i64::from(status))
    }

    /// Interrupts the thread by a signal, `SIGURG`, whose handler counts it and does nothing else.
    ///
    /// # Errors
    /// There is no such thread, or the handler cannot be set.
    pub fn interrupt(self) -> Result<(), SysError> {
        static HANDLER: OnceLock<Result<(), SysError>> = OnceLock::new();
        (*HANDLER.get_or_init(set_handler))?;
        // SAFETY: a signal that has a handler, to a thread of this process; `tgkill` refuses any other thread.
        let status = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), self.0, libc::SIGURG) };
        check("tgkill", status)
    }
}

/// How many signals of [`Thread::interrupt`] were handled so far.
#[must_use]
pub fn interruptions() -> u64 {
    INTERRUPTIONS.load(Ordering::Relaxed)
}

fn set_handler() -> Result<(), SysError> {
    let handler: extern "C" fn(libc::c_int) = count_interruption;
    // SAFETY: a zeroed action is an action without mask; the handler only adds to an atomic, which a handler may.
    let status = unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGURG, &raw const action, ptr::null_mut())
    };
    check("sigaction", i64::from(status))
}

fn check(call: &'static str, status: i64) -> Result<(), SysError> {
    if status == 0 { Ok(()) } else { Err(last(call)) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops at once")]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc;

    #[test]
    fn time_goes_on_while_a_thread_works() {
        let before = cpu_time().unwrap();
        while cpu_time().unwrap() < before + Duration::from_millis(2) {}
        assert!(cpu_time().unwrap() < before + Duration::from_secs(10));
    }

    #[test]
    fn a_thread_is_moved_and_interrupted() {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (send, receive) = mpsc::channel();
            let done = &done;
            let worker = scope.spawn(move || {
                send.send(Thread::current()).unwrap();
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
                current_cpu().unwrap()
            });
            let thread = receive.recv().unwrap();
            let cpus = freehold_sys::topology::online_cpus().unwrap_or_else(|| vec![0]);
            let last = cpus.into_iter().rev().find(|&cpu| thread.move_to(cpu).is_ok()).unwrap();
            let before = interruptions();
            while interruptions() < before + 10 {
                thread.interrupt().unwrap();
                std::thread::yield_now();
            }
            assert!(thread.move_to(u32::MAX).is_err());
            done.store(true, Ordering::Relaxed);
            assert_eq!(worker.join().unwrap(), last);
        });
    }
}
