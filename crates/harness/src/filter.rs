//! seccomp filters for this thread, and for those that it makes from then on. They stay until these end.
//!
//! [`PROGRAM`] and [`OURS`] are the calls that a program with these crates needs; the README of `sys` has them for users.
//!
//! A filter is a program in the kernel's old packet filter language: each call's number is compared with those of a list.

use crate::last;
use freehold_sys::SysError;

/// The architecture whose numbers these are, so that another one's calls do not pass for them.
#[cfg(target_arch = "x86_64")]
pub(crate) const ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
pub(crate) const ARCH: u32 = 0xc000_00b7;

/// Where a call's number and its architecture are in what a filter sees.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;

const LOAD: u16 = 0x20;
const JUMP_IF_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;

const KILL: u32 = 0x8000_0000;
const NOTIFY: u32 = 0x7fc0_0000;
const TRACE: u32 = 0x7ff0_0000;
const ALLOW: u32 = 0x7fff_0000;
const ERRNO: u32 = 0x0005_0000;

/// A call's name and number.
pub type Named = (&'static str, libc::c_long);

/// Names of calls, with their numbers.
macro_rules! calls {
    ($($name:ident = $number:ident),* $(,)?) => { &[$((stringify!($name), libc::$number)),*] };
}

/// What every program of the standard library needs that has threads, asks for memory, closes files, prints and ends.
pub const PROGRAM: &[Named] = calls![
    brk = SYS_brk,
    clock_nanosleep = SYS_clock_nanosleep,
    clone = SYS_clone,
    clone3 = SYS_clone3,
    exit = SYS_exit,
    exit_group = SYS_exit_group,
    fcntl = SYS_fcntl,
    futex = SYS_futex,
    getrandom = SYS_getrandom,
    gettid = SYS_gettid,
    madvise = SYS_madvise,
    mmap = SYS_mmap,
    mprotect = SYS_mprotect,
    mremap = SYS_mremap,
    munmap = SYS_munmap,
    rseq = SYS_rseq,
    rt_sigprocmask = SYS_rt_sigprocmask,
    sched_getaffinity = SYS_sched_getaffinity,
    sched_yield = SYS_sched_yield,
    set_robust_list = SYS_set_robust_list,
    sigaltstack = SYS_sigaltstack,
    write = SYS_write,
];

/// What each crate calls itself, with what `PROGRAM` has of it.
pub const OURS: [(&str, &[Named]); 4] = [
    (
        "rcu, maple",
        calls![
            membarrier = SYS_membarrier,
            sched_yield = SYS_sched_yield,
            clock_nanosleep = SYS_clock_nanosleep
        ],
    ),
    (
        "kva",
        calls![
            membarrier = SYS_membarrier,
            rseq = SYS_rseq,
            openat = SYS_openat,
            statx = SYS_statx,
            read = SYS_read,
            close = SYS_close,
        ],
    ),
    (
        "percpu",
        calls![
            mmap = SYS_mmap,
            munlock = SYS_munlock,
            munmap = SYS_munmap,
            mprotect = SYS_mprotect,
            madvise = SYS_madvise,
            rseq = SYS_rseq,
            prlimit64 = SYS_prlimit64,
            openat = SYS_openat,
            statx = SYS_statx,
            read = SYS_read,
            close = SYS_close,
        ],
    ),
    (
        "vmalloc",
        calls![
            mmap = SYS_mmap,
            munlock = SYS_munlock,
            munmap = SYS_munmap,
            mprotect = SYS_mprotect,
            madvise = SYS_madvise,
            prctl = SYS_prctl,
            rt_sigprocmask = SYS_rt_sigprocmask,
            rseq = SYS_rseq,
            ioctl = SYS_ioctl,
            openat = SYS_openat,
            statx = SYS_statx,
            read = SYS_read,
            pread64 = SYS_pread64,
            close = SYS_close,
        ],
    ),
];

/// Lets this thread, and those that it makes, do what a crate and every program needs, and `more`: any other call ends the process. False
/// if there is no such crate.
///
/// # Errors
/// As [`allow_only`].
pub fn allow_crate(name: &str, more: &[libc::c_long]) -> Result<bool, SysError> {
    let Some((_, ours)) = OURS.iter().find(|(crates, _)| crates.split(", ").any(|other| other == name))
    else {
        return Ok(false);
    };
    let numbers: Vec<_> =
        PROGRAM.iter().chain(*ours).map(|(_, number)| *number).chain(more.iter().copied()).collect();
    allow_only(&numbers).map(|()| true)
}

/// One instruction.
fn step(code: u16, value: u32, if_equal: u8, otherwise: u8) -> libc::sock_filter {
    libc::sock_filter { code, jt: if_equal, jf: otherwise, k: value }
}

/// A filter that does `listed` with these calls, `other` with all others, and `foreign` with those of another architecture.
fn program(
    calls: &[libc::c_long],
    listed: u32,
    other: u32,
    foreign: u32,
) -> Result<Vec<libc::sock_filter>, SysError> {
    let mut program = vec![
        step(LOAD, ARCHITECTURE, 0, 0),
        step(JUMP_IF_EQUAL, ARCH, 1, 0),
        step(RETURN, foreign, 0, 0),
        step(LOAD, NUMBER, 0, 0),
    ];
    for &call in calls {
        let number = u32::try_from(call).map_err(|_| SysError { call: "seccomp", errno: libc::EINVAL })?;
        program.extend([step(JUMP_IF_EQUAL, number, 0, 1), step(RETURN, listed, 0, 0)]);
    }
    program.push(step(RETURN, other, 0, 0));
    Ok(program)
}

/// A filter that stops a traced thread at these calls, and at all calls of another architecture.
pub(crate) fn stopping(calls: &[libc::c_long]) -> Result<Vec<libc::sock_filter>, SysError> {
    program(calls, TRACE, ALLOW, TRACE)
}

/// Installs a filter that does `listed` with these calls and `other` with all others. Returns a descriptor, if `flags` ask for one.
fn install(calls: &[libc::c_long], listed: u32, other: u32, flags: libc::c_ulong) -> Result<i32, SysError> {
    install_program(&mut program(calls, listed, other, KILL)?, flags)
}

/// Installs a filter on the calling thread. Takes no lock and asks for no memory, so that a child of `fork` may call it.
pub(crate) fn install_program(
    program: &mut [libc::sock_filter],
    flags: libc::c_ulong,
) -> Result<i32, SysError> {
    let len = u16::try_from(program.len()).map_err(|_| SysError { call: "seccomp", errno: libc::E2BIG })?;
    let program = libc::sock_fprog { len, filter: program.as_mut_ptr() };
    // SAFETY: the calls read the program, which outlives them, and take away from this thread what it may do, which breaks no memory.
    let done = unsafe {
        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
            return Err(last("prctl"));
        }
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
    };
    i32::try_from(done).ok().filter(|&done| done >= 0).ok_or_else(|| last("seccomp"))
}

/// Lets this thread, and those that it makes, do these calls alone: any other ends the process.
///
/// # Errors
/// The kernel has no filters, or this process has too many.
pub fn allow_only(calls: &[libc::c_long]) -> Result<(), SysError> {
    install(calls, ALLOW, KILL, 0).map(drop)
}

/// Refuses these calls to this thread, and to those that it makes, with an error number.
///
/// # Errors
/// As [`allow_only`].
pub fn refuse(calls: &[libc::c_long], errno: u16) -> Result<(), SysError> {
    install(calls, ERRNO | u32::from(errno), ALLOW, 0).map(drop)
}

/// Has a listener told of these calls, which wait for its answer.
pub(crate) fn notify(calls: &[libc::c_long]) -> Result<i32, SysError> {
    install(calls, NOTIFY, ALLOW, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops at once")]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_refused_to_this_thread_alone() {
        // SAFETY: a call that only returns a number, or an error.
        let call = || unsafe { libc::syscall(libc::SYS_getpriority, 0, 0) };
        std::thread::spawn(move || {
            assert!(call() > 0);
            refuse(&[libc::SYS_getpriority], libc::ENOTTY as u16).unwrap();
            assert_eq!((call(), last("getpriority").errno), (-1, libc::ENOTTY));
            std::thread::spawn(move || assert_eq!(call(), -1)).join().unwrap();
        })
        .join()
        .unwrap();
        assert!(call() > 0);
    }
}
