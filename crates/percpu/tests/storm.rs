//! Exact sums over 10^8 adds for each mode, by more threads than CPUs, while signals interrupt them and they are moved from
//! CPU to CPU; approximate reads stay within their bound meanwhile.
#![cfg(all(feature = "std", target_os = "linux"))]
#![allow(clippy::unwrap_used, reason = "a test stops at once")]
#![allow(unsafe_code, reason = "signals are sent and threads moved")]

use freehold_percpu::heap::{AddMode, Index, PerCpuHeap};
use freehold_percpu::{ApproxCounter, Counter, Histogram};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

const ADDS: u64 = 100_000_000;
/// One add in so many is a record of the histogram as well.
const EACH_RECORD: u64 = 64;

/// What a handler adds to.
struct Interrupted {
    counter: Counter,
    handled: AtomicU64,
}

static INTERRUPTED: AtomicPtr<Interrupted> = AtomicPtr::new(ptr::null_mut());

extern "C" fn handler(_signal: libc::c_int) {
    // SAFETY: it outlives the threads that are interrupted.
    let interrupted = unsafe { &*INTERRUPTED.load(SeqCst) };
    interrupted.counter.add(1);
    interrupted.handled.fetch_add(1, SeqCst);
}

fn install_handler() {
    // SAFETY: the handler adds to counters that have their memory, which a handler may do.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as extern "C" fn(libc::c_int) as usize;
        action.sa_flags = libc::SA_RESTART;
        assert_eq!(libc::sigaction(libc::SIGUSR1, &raw const action, ptr::null_mut()), 0);
    }
}

/// Lets a thread run on one CPU only. One that is not there leaves it where it may run.
fn move_to(thread: libc::pid_t, cpu: u32) {
    // SAFETY: a zeroed set is an empty set; the call only reads it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu as usize, &mut set);
        libc::sched_setaffinity(thread, size_of::<libc::cpu_set_t>(), &raw const set);
    }
}

/// What one thread has begun to add, and what it has added.
#[derive(Default)]
#[repr(align(128))]
struct Progress {
    begun: AtomicU64,
    added: AtomicU64,
}

#[test]
fn sums_are_exact_in_a_storm() {
    install_handler();
    let builder = PerCpuHeap::builder().capacity(1 << 18);
    for (mode, index) in [
        (AddMode::Sequence, Index::CpuId),
        (AddMode::Sequence, Index::MmCid),
        (AddMode::Indexed, Index::CpuId),
        (AddMode::Sticky, Index::CpuId),
    ] {
        match builder.add_mode(mode).index(index).build() {
            Ok(heap) => in_a_storm(heap.leak()),
            Err(absent) => eprintln!("not run: {mode} by {index:?}: {absent}"),
        }
    }
}

fn in_a_storm(heap: &'static PerCpuHeap) {
    let threads = 2 * heap.cpus() + 2;
    let each = ADDS / u64::from(threads);
    let counter = Counter::in_heap(heap).unwrap();
    let approx = ApproxCounter::in_heap(heap, 8).unwrap();
    let histogram = Histogram::in_heap(heap).unwrap();
    let interrupted = Interrupted { counter: Counter::in_heap(heap).unwrap(), handled: AtomicU64::new(0) };
    INTERRUPTED.store((&raw const interrupted).cast_mut(), SeqCst);
    let progress: Vec<Progress> = (0..threads).map(|_| Progress::default()).collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let mut workers = Vec::new();
        for progress in &progress {
            let (send, receive) = std::sync::mpsc::channel();
            let (counter, approx, histogram) = (&counter, &approx, &histogram);
            let worker = scope.spawn(move || {
                // SAFETY: both name the calling thread.
                send.send(unsafe { (libc::pthread_self() as usize, libc::gettid()) }).unwrap();
                for add in 0..each {
                    counter.add(add & 3);
                    if add % EACH_RECORD == 0 {
                        progress.begun.fetch_add(add & 127, SeqCst);
                        approx.add(add & 127);
                        progress.added.fetch_add(add & 127, SeqCst);
                        histogram.record(add);
                    }
                }
            });
            workers.push((worker, receive.recv().unwrap()));
        }
        let (done, progress, approx) = (&done, &progress, &approx);
        let reader = scope.spawn(move || {
            let mut reads = 0_u64;
            while !done.load(SeqCst) {
                let least: u64 = progress.iter().map(|at| at.added.load(SeqCst)).sum();
                let seen = approx.approx();
                let most: u64 = progress.iter().map(|at| at.begun.load(SeqCst)).sum();
                let error = approx.max_error(threads);
                assert!(seen <= most && seen + error >= least, "{least} {seen} {most}, error {error}");
                reads += 1;
                std::thread::sleep(Duration::from_micros(20));
            }
            reads
        });
        // Threads are not joined meanwhile, so their names are valid.
        let mut round = 0;
        while workers.iter().any(|(worker, _)| !worker.is_finished()) {
            for &(_, (thread, id)) in &workers {
                // SAFETY: the thread is not joined.
                unsafe { libc::pthread_kill(thread as libc::pthread_t, libc::SIGUSR1) };
                move_to(id, round % heap.cpus());
                round += 1;
            }
            std::thread::sleep(Duration::from_micros(50));
        }
        workers.into_iter().for_each(|(worker, _)| worker.join().unwrap());
        done.store(true, SeqCst);
        eprintln!("{}: {} approximate reads", heap.add_mode(), reader.join().unwrap());
    });
    let all = u64::from(threads);
    let sum = |of: &dyn Fn(u64) -> u64| all * (0..each).map(of).sum::<u64>();
    assert_eq!(counter.get(), sum(&|add| add & 3), "{}", heap.add_mode());
    assert_eq!(approx.get(), sum(&|add| if add % EACH_RECORD == 0 { add & 127 } else { 0 }));
    let seen = histogram.snapshot();
    assert_eq!(seen.count(), all * each.div_ceil(EACH_RECORD));
    assert_eq!(seen.sum(), u128::from(sum(&|add| if add % EACH_RECORD == 0 { add } else { 0 })));
    let handled = interrupted.handled.load(SeqCst);
    eprintln!("{}: {handled} signals", heap.add_mode());
    assert_eq!(interrupted.counter.get(), handled);
    assert!(handled > 100, "{handled} signals are no storm");
}
