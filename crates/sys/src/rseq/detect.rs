//! Detects whether this process has restartable sequences, and which fields the kernel writes.

use super::{CPU_ID, Index, Sequence, arch};
use std::fmt;
use std::sync::OnceLock;

/// The area that the C library registered for every thread of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rseq {
    area: isize,
    registered_bytes: u32,
    feature_bytes: u32,
}

impl Rseq {
    /// Offset of the area from the thread pointer.
    pub(super) fn area(&self) -> isize {
        self.area
    }

    /// Bytes of the registered area. 32 is the ABI of Linux 4.18, which newer kernels call legacy. 0 if the kernel does
    /// not say.
    #[must_use]
    pub fn registered_bytes(&self) -> u32 {
        self.registered_bytes
    }

    /// Bytes of the area in which this kernel has fields. 20 if it does not say.
    #[must_use]
    #[doc(alias = "AT_RSEQ_FEATURE_SIZE")]
    pub fn feature_bytes(&self) -> u32 {
        self.feature_bytes
    }

    /// Whether the kernel writes `mm_cid`: the kernel has the field, and the registered area includes it.
    #[must_use]
    pub fn has_mm_cid(&self) -> bool {
        self.registered_bytes.min(self.feature_bytes) >= super::MM_CID + 4
    }
}

/// The reason why there are no restartable sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Absent {
    /// This build has none: another architecture or system, or a C library without the symbols, such as musl.
    Symbols,
    /// The C library registers none: switched off by `GLIBC_TUNABLES=glibc.pthread.rseq=0`, or the kernel has none.
    SwitchedOff,
    /// The kernel refused to register this thread, as under valgrind or in a sandbox.
    NotRegistered,
    /// The sequence gives wrong results on this machine.
    SelfTest,
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Symbols => "this build has no restartable sequences, or its C library does not offer them",
            Self::SwitchedOff => {
                "the C library does not register restartable sequences; its tunable may be off"
            }
            Self::NotRegistered => "the kernel did not register this thread for restartable sequences",
            Self::SelfTest => "restartable sequences failed their self-test",
        })
    }
}

impl std::error::Error for Absent {}

/// The word before each abort handler, by which the kernel recognizes it. On aarch64, a breakpoint.
#[cfg(all(target_os = "linux", not(miri)))]
pub(super) const SIGNATURE: u32 = if cfg!(target_arch = "aarch64") { 0xd428_bc00 } else { 0x5305_3053 };

/// The sequences of this process. Detected once, by the first thread that asks.
///
/// # Errors
/// See [`Absent`].
pub fn detect() -> Result<&'static Rseq, Absent> {
    static FOUND: OnceLock<Result<Rseq, Absent>> = OnceLock::new();
    crate::fork::get_or_init(&FOUND, find).as_ref().map_err(|absent| *absent)
}

fn find() -> Result<Rseq, Absent> {
    let (area, size) = arch::symbols().ok_or(Absent::Symbols)?;
    // The offset is set even if the tunable disables registration.
    if size == 0 {
        return Err(Absent::SwitchedOff);
    }
    // SAFETY: the C library has an area in every thread, and this thread's `cpu_id` is in it.
    if unsafe { arch::read(area, CPU_ID) }.cast_signed() < 0 {
        return Err(Absent::NotRegistered);
    }
    let (registered_bytes, feature_bytes) = sizes(area);
    let rseq = Rseq { area, registered_bytes, feature_bytes };
    if works(&rseq) { Ok(rseq) } else { Err(Absent::SelfTest) }
}

/// The registered bytes, and the bytes that have fields.
#[cfg(all(target_os = "linux", not(miri)))]
fn sizes(area: isize) -> (u32, u32) {
    const AT_RSEQ_FEATURE_SIZE: libc::c_ulong = 27;
    const AT_RSEQ_ALIGN: libc::c_ulong = 28;
    // SAFETY: reads a value that the kernel gave the program at its start; 0 if there is none.
    let told = |what| unsafe { libc::getauxval(what) };
    let feature = u32::try_from(told(AT_RSEQ_FEATURE_SIZE)).unwrap_or(0).max(20);
    let align = u32::try_from(told(AT_RSEQ_ALIGN)).unwrap_or(0).max(32);
    let newer = feature.next_multiple_of(align.next_power_of_two());
    let registered = [32, feature, newer].into_iter().find(|&bytes| is_registered(area, bytes));
    (registered.unwrap_or(0), feature)
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn sizes(_area: isize) -> (u32, u32) {
    (0, 20)
}

/// Whether this thread's area is registered with `bytes` bytes. If a registered thread asks for exactly the same
/// registration again, the kernel answers that it is busy; for any other, that it is invalid. Neither changes anything.
#[cfg(all(target_os = "linux", not(miri)))]
fn is_registered(area: isize, bytes: u32) -> bool {
    let at = arch::thread_pointer().wrapping_offset(area);
    // SAFETY: the thread is registered (`find`), so the call only compares and answers.
    let done = unsafe { libc::syscall(libc::SYS_rseq, at, bytes, 0, SIGNATURE) };
    done == -1 && std::io::Error::last_os_error().raw_os_error() == Some(libc::EBUSY)
}

/// Whether adds by each index arrive. All indexes have the same slot, so this takes no memory.
fn works(rseq: &Rseq) -> bool {
    let limit = crate::topology::possible_cpus();
    let indexes = [Index::CpuId, Index::MmCid];
    let sequences = indexes.iter().filter_map(|&index| Sequence::new(rseq, index, limit, 0));
    sequences.into_iter().all(|sequence| {
        let (mut slot, rounds) = (0_u64, 1000);
        let place = &raw mut slot;
        // SAFETY: the slot of each index is this one, which nobody else uses.
        let added = (0..rounds).all(|_| unsafe { sequence.add(place, 3) });
        // SAFETY: as above.
        let fetched = (0..rounds).all(|_| unsafe { sequence.fetch_add(place, 4) }.is_some());
        added && fetched && slot == 7 * rounds
    })
}
