//! The sequence under threads, forced migrations and a storm of signals: no add is lost or doubled.

use super::*;
use crate::topology::possible_cpus;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// A slot on a line of its own.
#[repr(align(128))]
#[derive(Default)]
struct Slot(AtomicU64);

/// The state of the storm's signal handler: it makes adds of its own in the midst of another.
struct Storm {
    sequence: Sequence,
    slot: *mut u64,
    handled: AtomicU64,
}

static STORM: AtomicPtr<Storm> = AtomicPtr::new(std::ptr::null_mut());

extern "C" fn handler(_signal: libc::c_int) {
    // SAFETY: the storm outlives the threads that are interrupted.
    let storm = unsafe { &*STORM.load(Relaxed) };
    // SAFETY: the slots outlive the storm, and there is one for each index.
    let added = unsafe { storm.sequence.add(storm.slot, 1_000_000) };
    storm.handled.fetch_add(u64::from(added), Relaxed);
}

fn install_handler() {
    // SAFETY: the handler adds by a sequence and to an atomic, which a handler may do.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as extern "C" fn(libc::c_int) as usize;
        action.sa_flags = libc::SA_RESTART;
        assert_eq!(libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()), 0);
    }
}

#[test]
fn adds_are_exact_in_a_storm() {
    let Ok(rseq) = detect() else {
        eprintln!("not run: {}", detect().unwrap_err());
        return;
    };
    for index in [Index::CpuId, Index::MmCid] {
        let limit = possible_cpus();
        let Some(sequence) = Sequence::new(rseq, index, limit, size_of::<Slot>()) else {
            eprintln!("not run: no {index:?}");
            continue;
        };
        let slots: Vec<Slot> = (0..limit).map(|_| Slot::default()).collect();
        let first = slots.as_ptr().expose_provenance();
        let slot = move || std::ptr::with_exposed_provenance_mut::<u64>(first);
        let storm = Storm { sequence, slot: slot(), handled: AtomicU64::new(0) };
        STORM.store((&raw const storm).cast_mut(), Relaxed);
        install_handler();
        let stop = AtomicBool::new(false);
        let expected = std::thread::scope(|scope| {
            let mut workers = Vec::new();
            for _ in 0..2 * limit + 2 {
                let stop = &stop;
                let (send, receive) = std::sync::mpsc::channel();
                let worker = scope.spawn(move || {
                    // SAFETY: both name the calling thread.
                    send.send(unsafe { (libc::pthread_self() as usize, libc::gettid()) }).unwrap();
                    let mut sum = 0_u64;
                    while !stop.load(Relaxed) {
                        let value = sum % 7 + 1;
                        // SAFETY: `slots` outlives the scope, and has a slot for each index.
                        let added = unsafe {
                            if value < 3 {
                                sequence.add(slot(), value)
                            } else {
                                sequence.fetch_add(slot(), value).is_some()
                            }
                        };
                        assert!(added);
                        sum += value;
                    }
                    sum
                });
                workers.push((worker, receive.recv().unwrap()));
            }
            // Each round interrupts all threads and moves each to another CPU. They are not joined, so their ids are
            // valid.
            let begun = Instant::now();
            let mut round = 0;
            while begun.elapsed() < Duration::from_millis(700) {
                for &(_, (thread, id)) in &workers {
                    // SAFETY: the thread is not joined.
                    unsafe { libc::pthread_kill(thread as libc::pthread_t, libc::SIGUSR1) };
                    move_to(id, round % limit);
                    round += 1;
                }
                std::thread::sleep(Duration::from_micros(50));
            }
            stop.store(true, Relaxed);
            workers.into_iter().map(|(worker, _)| worker.join().unwrap()).sum::<u64>()
        });
        let handled = storm.handled.load(Relaxed);
        let sum: u64 = slots.iter().map(|slot| slot.0.load(Relaxed)).sum();
        assert_eq!(sum, expected + handled * 1_000_000, "{index:?}");
        assert!(handled > 100, "{handled} signals are no storm");
    }
}

/// Lets a thread run on one CPU only. For a CPU that does not exist, nothing changes.
fn move_to(thread: libc::pid_t, cpu: u32) {
    // SAFETY: a zeroed set is an empty set; the call only reads it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu as usize, &mut set);
        libc::sched_setaffinity(thread, size_of::<libc::cpu_set_t>(), &raw const set);
    }
}

#[test]
fn an_index_at_the_limit_adds_nothing() {
    let Ok(rseq) = detect() else { return };
    let sequence = Sequence::new(rseq, Index::CpuId, 0, 8).unwrap();
    let mut slot = 5_u64;
    // SAFETY: no slot is below the limit, so none is reached.
    assert!(!unsafe { sequence.add(&raw mut slot, 1) });
    // SAFETY: as above.
    assert_eq!(unsafe { sequence.fetch_add(&raw mut slot, 1) }, None);
    assert_eq!((slot, sequence.index()), (5, None));
}

#[test]
fn a_thread_that_is_not_registered_adds_nothing() {
    let Ok(rseq) = detect() else { return };
    let index = if rseq.has_mm_cid() { Index::MmCid } else { Index::CpuId };
    let sequence = Sequence::new(rseq, index, possible_cpus(), 8).unwrap();
    std::thread::spawn(move || {
        let at = arch::thread_pointer().wrapping_offset(rseq.area());
        let (bytes, signature) = (rseq.registered_bytes(), detect::SIGNATURE);
        let again = || {
            // SAFETY: the area is this thread's, and is registered again as it was.
            unsafe { libc::syscall(libc::SYS_rseq, at, bytes, 0, signature) }
        };
        // SAFETY: flag 1 unregisters this thread; it has no sequence on its way.
        if unsafe { libc::syscall(libc::SYS_rseq, at, bytes, 1, signature) } != 0 {
            return;
        }
        let mut slots = vec![0_u64; possible_cpus() as usize];
        // SAFETY: there is a slot for each index.
        let added = unsafe { sequence.add(slots.as_mut_ptr(), 1) };
        // SAFETY: as above.
        let fetched = unsafe { sequence.fetch_add(slots.as_mut_ptr(), 1) };
        assert_eq!((added, fetched, sequence.index(), again()), (false, None, None, 0));
        // SAFETY: as above.
        assert!(unsafe { sequence.add(slots.as_mut_ptr(), 1) });
        assert_eq!(slots.iter().sum::<u64>(), 1);
    })
    .join()
    .unwrap();
}

#[test]
fn the_index_is_a_cpu() {
    let Ok(rseq) = detect() else { return };
    let sequence = Sequence::new(rseq, Index::CpuId, possible_cpus(), 8).unwrap();
    for cpu in 0..possible_cpus() {
        std::thread::spawn(move || {
            // SAFETY: it names the calling thread.
            move_to(unsafe { libc::gettid() }, cpu);
            // SAFETY: asks where this thread runs.
            assert_eq!(sequence.index(), u32::try_from(unsafe { libc::sched_getcpu() }).ok());
        })
        .join()
        .unwrap();
    }
}
