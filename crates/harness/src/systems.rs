//! Other systems, imitated by their answers to system calls: older kernels, gVisor, emulators, a sandbox without `/proc` and
//! `/sys`, and filters that refuse calls.
//!
//! An older kernel is the present one without the calls and argument values that the manuals date later. The fields of
//! restartable sequences cannot be imitated, since the kernel sets them up when a program starts: they are the present
//! kernel's.

use crate::supervisor::{Answer, Call, supervise};
use crate::threads::Thread;
use freehold_sys::{SysError, topology};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Advices of `madvise`.
const POPULATE_READ: u64 = 22;
const DONTNEED: u64 = 4;
const WIPE_ON_FORK: u64 = 18;
const GUARD_INSTALL: u64 = 102;
const GUARD_REMOVE: u64 = 103;
/// Commands of `membarrier`.
const QUERY: u64 = 0;
/// The answer to `QUERY` of Linux 4.14, and of 4.16: a bit for each command.
const QUERIED_FIRST: i64 = 0x19;
const QUERIED: i64 = 0x7f;
const PRIVATE_EXPEDITED: u64 = 1 << 3;
const PRIVATE_EXPEDITED_RSEQ: u64 = 1 << 7;
const REGISTER_RSEQ: u64 = 1 << 8;
/// The command of `prctl` that names mappings.
const SET_VMA: u64 = 0x5356_4d41;
/// The request of `ioctl` that scans page maps.
const PAGEMAP_SCAN: u64 = 0xc060_6610;
const SYS_MSEAL: libc::c_long = 462;
/// The category of guards in a page scan (Linux 6.16), and the offset of the masks in the call's argument.
const IS_GUARD: u64 = 1 << 8;
const CATEGORY_INVERTED: usize = 8 * 8;

/// A system that can be imitated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// The present system, unchanged.
    Here,
    /// Linux of a version, such as `(5, 10)`.
    Linux(u32, u32),
    /// gVisor: no page map, no seals, no names of mappings; of the advices for `madvise` only old ones, of which those on huge pages
    /// do nothing.
    Gvisor,
    /// qemu-user: answers 0 to advices that it ignores, and has no page scan, no seals.
    Qemu {
        /// Whether it ignores `MADV_DONTNEED`, too, as older ones do.
        ignores_dontneed: bool,
    },
    /// `/proc` and `/sys` are absent.
    NoFiles,
    /// The C library registers no restartable sequences.
    NoSequences,
    /// One CPU is allowed.
    OneCpu,
    /// The user is `nobody`, who may read only the kernel files that everyone may read.
    Nobody,
}

impl System {
    /// All of them. The first kernel is the oldest that is supported.
    pub const ALL: [Self; 16] = [
        Self::Here,
        Self::Linux(4, 14),
        Self::Linux(5, 4),
        Self::Linux(5, 10),
        Self::Linux(5, 15),
        Self::Linux(6, 1),
        Self::Linux(6, 6),
        Self::Linux(6, 12),
        Self::Linux(6, 13),
        Self::Gvisor,
        Self::Qemu { ignores_dontneed: false },
        Self::Qemu { ignores_dontneed: true },
        Self::NoFiles,
        Self::NoSequences,
        Self::OneCpu,
        Self::Nobody,
    ];

    /// Its name in tables and on command lines.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Here => "this".to_owned(),
            Self::Linux(major, minor) => format!("linux-{major}.{minor}"),
            Self::Gvisor => "gvisor".to_owned(),
            Self::Qemu { ignores_dontneed: false } => "qemu-user".to_owned(),
            Self::Qemu { ignores_dontneed: true } => "qemu-user-old".to_owned(),
            Self::NoFiles => "no-proc-no-sys".to_owned(),
            Self::NoSequences => "no-rseq".to_owned(),
            Self::OneCpu => "one-cpu".to_owned(),
            Self::Nobody => "nobody".to_owned(),
        }
    }

    /// Whether decommitting memory frees its pages.
    #[must_use]
    pub fn takes_back(self) -> bool {
        self != Self::Qemu { ignores_dontneed: true }
    }

    /// Sets up what must be in place when a process starts. [`pretend`] does the rest.
    pub fn prepare(self, command: &mut Command) {
        const NOBODY: u32 = 65_534;
        let without_sequences = |command: &mut Command| {
            command.env("GLIBC_TUNABLES", "glibc.pthread.rseq=0");
        };
        match self {
            Self::NoSequences => without_sequences(command),
            // The kernel has sequences since 4.18.
            Self::Linux(major, minor) if (major, minor) < (4, 18) => without_sequences(command),
            Self::Nobody => drop(command.uid(NOBODY).gid(NOBODY)),
            _ => {}
        }
    }

    /// Its answer to a call.
    #[must_use]
    pub fn answer(self, call: &Call) -> Answer {
        match self {
            Self::Here | Self::NoSequences | Self::OneCpu | Self::Nobody => Answer::Kernel,
            Self::Linux(major, minor) => before(call, (major, minor)),
            Self::Gvisor => match call.number {
                libc::SYS_openat if call.starts_with(1, "/proc/self/pagemap") => Answer::Error(libc::ENOENT),
                libc::SYS_madvise if call.args[2] == 14 || call.args[2] == 15 => Answer::Value(0),
                libc::SYS_madvise if call.args[2] > 17 => Answer::Error(libc::EINVAL),
                _ => before(call, (5, 4)),
            },
            Self::Qemu { ignores_dontneed } => match call.number {
                libc::SYS_madvise if call.args[2] == DONTNEED && !ignores_dontneed => Answer::Kernel,
                libc::SYS_madvise if call.args[2] == WIPE_ON_FORK && !ignores_dontneed => Answer::Kernel,
                libc::SYS_madvise => Answer::Value(0),
                _ => before(call, (5, 4)),
            },
            Self::NoFiles => match call.number {
                libc::SYS_openat if call.starts_with(1, "/proc/") || call.starts_with(1, "/sys/") => {
                    Answer::Error(libc::ENOENT)
                }
                _ => Answer::Kernel,
            },
        }
    }
}

/// The answer of a kernel of that version.
fn before(call: &Call, version: (u32, u32)) -> Answer {
    let lacks =
        |since: (u32, u32), errno| if version < since { Answer::Error(errno) } else { Answer::Kernel };
    match (call.number, call.args) {
        (libc::SYS_madvise, [_, _, GUARD_INSTALL | GUARD_REMOVE, ..]) => lacks((6, 13), libc::EINVAL),
        (libc::SYS_madvise, [_, _, advice, ..]) if advice >= POPULATE_READ => lacks((5, 14), libc::EINVAL),
        (libc::SYS_membarrier, [PRIVATE_EXPEDITED_RSEQ | REGISTER_RSEQ, ..]) => lacks((5, 10), libc::EINVAL),
        (libc::SYS_membarrier, [QUERY, ..]) if version < (4, 16) => Answer::Value(QUERIED_FIRST),
        (libc::SYS_membarrier, [QUERY, ..]) if version < (5, 10) => Answer::Value(QUERIED),
        (libc::SYS_prctl, [SET_VMA, ..]) => lacks((5, 17), libc::EINVAL),
        (libc::SYS_ioctl, [_, PAGEMAP_SCAN, ..]) => {
            let mut arg = [0; 96];
            let read = call.read(2, &mut arg);
            let word = |at: usize| arg[at..].first_chunk().map_or(0, |word| u64::from_ne_bytes(*word));
            let masks = word(CATEGORY_INVERTED) | word(CATEGORY_INVERTED + 8);
            match lacks((6, 7), libc::ENOTTY) {
                Answer::Kernel if read && masks & IS_GUARD != 0 => lacks((6, 16), libc::EINVAL),
                answer => answer,
            }
        }
        (SYS_MSEAL, _) => lacks((6, 10), libc::ENOSYS),
        _ => Answer::Kernel,
    }
}

/// A system call of the crate `sys` that a filter may refuse.
#[derive(Clone, Copy, Debug)]
pub struct Refusable {
    /// Its name in the manual, and sometimes a second word for one use of it.
    pub name: &'static str,
    number: libc::c_long,
    is_ours: fn(&Call) -> bool,
}

impl Refusable {
    /// All of them, without those that every program's allocator and threads need.
    pub const ALL: [Self; 11] = [
        Self::of("mmap", libc::SYS_mmap, |call| call.args[3] as i32 & libc::MAP_NORESERVE != 0),
        Self::of("munmap", libc::SYS_munmap, |_| true),
        Self::of("mprotect", libc::SYS_mprotect, |_| true),
        Self::of("madvise", libc::SYS_madvise, |_| true),
        Self::of("madvise dontneed", libc::SYS_madvise, |call| call.args[2] == DONTNEED),
        Self::of("munlock", libc::SYS_munlock, |_| true),
        Self::of("prctl", libc::SYS_prctl, |call| call.args[0] == SET_VMA),
        Self::of("openat", libc::SYS_openat, |_| true),
        Self::of("ioctl", libc::SYS_ioctl, |_| true),
        Self::of("membarrier", libc::SYS_membarrier, |_| true),
        Self::of("membarrier issue", libc::SYS_membarrier, |call| call.args[0] == PRIVATE_EXPEDITED),
    ];

    const fn of(name: &'static str, number: libc::c_long, is_ours: fn(&Call) -> bool) -> Self {
        Self { name, number, is_ours }
    }
}

/// The calls that imitated systems answer.
const ANSWERED: [libc::c_long; 9] = [
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_munlock,
    libc::SYS_prctl,
    libc::SYS_openat,
    libc::SYS_ioctl,
    libc::SYS_membarrier,
];

/// The number of calls to refuse from now on; `u32::MAX` for all.
static TO_REFUSE: AtomicU32 = AtomicU32::new(0);

/// Imitates a system from now on, for this thread and those that it starts. Needs no supervisor for a system that answers as the
/// present one.
///
/// # Errors
/// As [`supervise`].
pub fn pretend(system: System) -> Result<(), SysError> {
    match system {
        System::Here | System::NoSequences | System::Nobody => return Ok(()),
        System::OneCpu => {
            let cpu = topology::online_cpus().and_then(|cpus| cpus.first().copied()).unwrap_or(0);
            return Thread::current().move_to(cpu);
        }
        _ => {}
    }
    let mut calls = [0; ANSWERED.len() + 1];
    calls[..ANSWERED.len()].copy_from_slice(&ANSWERED);
    calls[ANSWERED.len()] = SYS_MSEAL;
    supervise(&calls, move |call| system.answer(call))
}

/// Prepares to refuse a call with an error number. Nothing is refused until [`refuse`] says how often.
///
/// # Errors
/// As [`supervise`].
pub fn prepare_refusals(refusable: Refusable, errno: libc::c_int) -> Result<(), SysError> {
    supervise(&[refusable.number], move |call| {
        if !(refusable.is_ours)(call) {
            return Answer::Kernel;
        }
        // Relaxed: a count that orders no other memory.
        let taken = TO_REFUSE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| match left {
            0 => None,
            u32::MAX => Some(u32::MAX),
            left => Some(left - 1),
        });
        if taken.is_ok() { Answer::Error(errno) } else { Answer::Kernel }
    })
}

/// Sets how many calls are refused from now on; `u32::MAX` for all.
pub fn refuse(calls: u32) {
    TO_REFUSE.store(calls, Ordering::Relaxed);
}
