//! Does by hand what the kernel does to an interrupted sequence: the thread resumes at the abort handler, on another
//! CPU.
//!
//! The area is a fake one that the kernel does not use, so the test also runs without sequences, as under an emulator.
//! The slot of CPU 0 has no memory. The fault stops the sequence between start and commit. The signal handler acts as
//! the kernel does: it clears `rseq_cs`, writes another CPU's number, and moves the thread to the abort handler.

use super::*;
use crate::{Reservation, page_bytes};
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::SeqCst};

/// The area in the kernel's layout.
#[repr(C, align(32))]
#[derive(Default)]
struct FakeArea {
    cpu_id_start: AtomicU32,
    cpu_id: AtomicU32,
    rseq_cs: AtomicU64,
    flags: AtomicU32,
    node_id: AtomicU32,
    mm_cid: AtomicU32,
}

/// The target of `rseq_cs`.
#[repr(C)]
struct Descriptor {
    version: u32,
    flags: u32,
    start: u64,
    commit_offset: u64,
    abort: u64,
}

static AREA: AtomicPtr<FakeArea> = AtomicPtr::new(std::ptr::null_mut());
static ABORTS: AtomicU32 = AtomicU32::new(0);

/// The address at which the thread resumes when the handler returns.
#[cfg(target_arch = "x86_64")]
fn program_counter(context: &mut libc::ucontext_t) -> &mut u64 {
    // SAFETY: a register is any 64 bits, signed or not.
    unsafe { &mut *(&raw mut context.uc_mcontext.gregs[libc::REG_RIP as usize]).cast() }
}

/// The address at which the thread resumes when the handler returns.
#[cfg(target_arch = "aarch64")]
fn program_counter(context: &mut libc::ucontext_t) -> &mut u64 {
    &mut context.uc_mcontext.pc
}

extern "C" fn abort(_signal: libc::c_int, _info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY:
    // - The kernel passes `context` to the handler.
    // - The area outlives the sequences that fault.
    // - The descriptor is the one that the sequence under test points to.
    unsafe {
        let area = AREA.load(SeqCst);
        if area.is_null() {
            libc::_exit(101);
        }
        let counter = program_counter(&mut *context.cast());
        let descriptor =
            std::ptr::with_exposed_provenance::<Descriptor>((*area).rseq_cs.swap(0, SeqCst) as usize);
        let Descriptor { version, flags, start, commit_offset, abort } = descriptor.read();
        let signature = std::ptr::with_exposed_provenance::<u32>(abort as usize - 4).read_unaligned();
        let within = (start..start + commit_offset).contains(counter);
        if !within
            || (version, flags, signature) != (0, 0, detect::SIGNATURE)
            || !descriptor.addr().is_multiple_of(32)
        {
            libc::_exit(102);
        }
        (*area).cpu_id.store(1, SeqCst);
        (*area).mm_cid.store(1, SeqCst);
        *counter = abort;
    }
    ABORTS.fetch_add(1, SeqCst);
}

#[test]
fn an_aborted_sequence_begins_again() {
    // Any other fault of this process still ends it: there is no area then.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap();
    let page = page_bytes();
    let memory = Reservation::new(2 * page).unwrap();
    memory.commit(page..2 * page).unwrap();
    let (slot, other) = (memory.base().cast::<u64>().as_ptr(), memory.base().as_ptr().wrapping_add(page));
    let area = FakeArea::default();
    let offset = (&raw const area).addr().wrapping_sub(arch::thread_pointer().addr()).cast_signed();
    let mut before: libc::sigaction;
    // SAFETY: the handler has the right type for this signal, and is removed below.
    unsafe {
        before = std::mem::zeroed();
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = abort as extern "C" fn(_, _, _) as usize;
        action.sa_flags = libc::SA_SIGINFO;
        assert_eq!(libc::sigaction(libc::SIGSEGV, &raw const action, &raw mut before), 0);
    }
    AREA.store((&raw const area).cast_mut(), SeqCst);
    (&raw const area).expose_provenance();
    let mut sum = 0;
    for field in [CPU_ID, MM_CID] {
        let sequence = Sequence::by_field(offset, field, 2, page);
        for fetch in [false, true] {
            area.cpu_id.store(0, SeqCst);
            area.mm_cid.store(0, SeqCst);
            let aborts = ABORTS.load(SeqCst);
            // SAFETY: the first slot faults, and the handler resolves that; the second is committed.
            let was = unsafe {
                if fetch { sequence.fetch_add(slot, 5) } else { sequence.add(slot, 5).then_some(sum) }
            };
            assert_eq!((was, ABORTS.load(SeqCst)), (Some(sum), aborts + 1), "field {field}, {fetch}");
            assert_ne!(area.rseq_cs.load(SeqCst), 0, "the sequence was announced again");
            sum += 5;
            // SAFETY: the page is committed.
            assert_eq!(unsafe { other.cast::<u64>().read() }, sum);
        }
    }
    AREA.store(std::ptr::null_mut(), SeqCst);
    // SAFETY: restores the previous action.
    assert_eq!(unsafe { libc::sigaction(libc::SIGSEGV, &raw const before, std::ptr::null_mut()) }, 0);
}

#[test]
fn a_fake_area_without_a_cpu_adds_nothing() {
    let area = FakeArea::default();
    area.cpu_id.store(u32::MAX, SeqCst);
    let offset = (&raw const area).addr().wrapping_sub(arch::thread_pointer().addr()).cast_signed();
    let mut slots = [7_u64; 2];
    for field in [CPU_ID, MM_CID] {
        let sequence = Sequence::by_field(offset, field, 2, 8);
        // SAFETY: there are two slots.
        let added =
            unsafe { (sequence.add(slots.as_mut_ptr(), 1), sequence.fetch_add(slots.as_mut_ptr(), 1)) };
        assert_eq!((added, sequence.index(), slots), ((false, None), None, [7, 7]));
    }
    area.cpu_id.store(1, SeqCst);
    let sequence = Sequence::by_field(offset, CPU_ID, 2, 8);
    // SAFETY: as above.
    assert!(unsafe { sequence.add(slots.as_mut_ptr(), 1) });
    assert_eq!((slots, sequence.index()), ([7, 8], Some(1)));
}
