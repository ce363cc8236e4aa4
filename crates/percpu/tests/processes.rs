//! What only shows in a process of its own: no restartable sequences, no addresses, a fork.
#![cfg(all(feature = "std", target_os = "linux", not(miri)))]
#![allow(clippy::unwrap_used, reason = "a test stops at once")]
#![allow(unsafe_code, reason = "processes are made and limited")]

use freehold_percpu::heap::{AddMode, HeapError, PerCpuHeap, TryAllocError};
use freehold_percpu::{Counter, Gauge, Histogram};
use std::alloc::Layout;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

static HITS: Counter = Counter::new();

/// Runs one of the ignored tests below in a process of its own.
fn alone(test: &str, prepare: impl FnOnce(&mut Command)) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"]);
    prepare(&mut command);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"), "{text}");
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn without_sequences_a_lower_rung_is_taken() {
    alone("counts_on_the_third_rung", |command| {
        command.env("GLIBC_TUNABLES", "glibc.pthread.rseq=0");
    });
}

#[test]
#[ignore = "run by another test, in a process without restartable sequences"]
fn counts_on_the_third_rung() {
    let heap = PerCpuHeap::global().unwrap();
    assert_eq!(heap.add_mode(), AddMode::Sticky, "and says so: {}", heap.add_mode());
    let refused = PerCpuHeap::builder().add_mode(AddMode::Sequence).build().unwrap_err();
    assert!(matches!(refused, HeapError::AddMode { .. }), "{refused}");
    std::thread::scope(|scope| {
        (0..4).for_each(|_| drop(scope.spawn(|| (0..10_000).for_each(|_| HITS.add(1)))));
    });
    assert_eq!(HITS.get(), 40_000);
}

#[test]
fn without_addresses_counts_are_kept() {
    alone("counts_where_addresses_are_limited", |_| ());
}

/// Limits this process's addresses to what it has and some more.
fn limit_addresses(more: u64) {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let used: u64 = pages.split(' ').next().unwrap().parse().unwrap();
    let limit = libc::rlimit { rlim_cur: used * 4096 + more, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: sets a limit of this process.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn counts_where_addresses_are_limited() {
    static DEPTH: Gauge = Gauge::new();
    static SIZES: Histogram = Histogram::new();
    limit_addresses(128 << 10);
    // Nothing is lost, nothing panics, and the next add tries again.
    let refused = HITS.prepare().unwrap_err();
    assert!(matches!(refused, HeapError::Reserve { error, .. } if error.is_out_of_memory()), "{refused}");
    HITS.add(7);
    DEPTH.add(-3);
    SIZES.record(100);
    assert_eq!((HITS.get(), DEPTH.get(), SIZES.missed()), (7, -3, 1));
    assert_eq!((HITS.reset(), HITS.get()), (7, 0));
    HITS.add(5);
    // A smaller capacity is taken where the default one does not fit.
    limit_addresses(64 << 20);
    HITS.add(1);
    DEPTH.add(1);
    SIZES.record(100);
    assert_eq!((HITS.get(), DEPTH.get(), SIZES.snapshot().count(), SIZES.missed()), (6, -2, 1, 1));
    HITS.prepare().unwrap();
    let capacity = PerCpuHeap::global().unwrap().stats().capacity_bytes;
    assert!(
        (1 << 18..=2 << 20).contains(&capacity),
        "{capacity} bytes are a sixteenth for each CPU and two more, or the least"
    );
    limit_addresses(1 << 40);
    HITS.add(1);
    assert_eq!(HITS.get(), 7);
    // A capacity that is asked for is not made smaller.
    limit_addresses(64 << 20);
    let refused = PerCpuHeap::builder().capacity(1 << 30).build().unwrap_err().to_string();
    assert!(refused.starts_with("mmap: ") && refused.contains("`capacity`"), "{refused}");
}

#[test]
fn a_heap_takes_no_memory_where_a_process_locks_all_that_it_maps() {
    alone("counts_where_all_is_locked", |_| ());
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn counts_where_all_is_locked() {
    // SAFETY: locks pages of this process only.
    if unsafe { libc::mlockall(libc::MCL_FUTURE) } != 0 {
        return eprintln!("not run: {}; this user may lock nothing", std::io::Error::last_os_error());
    }
    let heap = PerCpuHeap::new().unwrap();
    let counters = Counter::bulk(Box::leak(Box::new(heap)), 1000).unwrap();
    counters.iter().for_each(|counter| counter.add(3));
    assert!(counters.iter().all(|counter| counter.get() == 3));
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let resident =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")).unwrap();
    let kib: u64 = resident.parse().unwrap();
    assert!(kib < 64 << 10, "{kib} KiB");
    drop(counters);
}

#[test]
fn a_child_goes_on_from_what_its_parent_had() {
    alone("forks_while_threads_allocate", |_| ());
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn forks_while_threads_allocate() {
    use freehold_percpu::heap::TryAllocError;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
    // Too large for a magazine: it takes the heap's lock.
    type Wide = [AtomicU64; 16];
    let heap = PerCpuHeap::global().unwrap();
    HITS.add(1000);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !done.load(Relaxed) {
                    let counters: Vec<Counter> = (0..200).map(|_| Counter::in_heap(heap).unwrap()).collect();
                    counters.iter().for_each(|counter| counter.add(1));
                    drop(Histogram::in_heap(heap).unwrap());
                }
            });
        }
        scope.spawn(|| {
            while !done.load(Relaxed) {
                let tried = heap.try_alloc::<Wide>();
                // SAFETY: nobody else has the object.
                tried.into_iter().for_each(|object| unsafe { heap.free(object) });
            }
        });
        let failed = (0..300).find(|_| {
            // SAFETY: the child uses nothing but the heap, whose locks are held over the fork, and ends at once. Lists of
            // the heap are reserved with memory of the C library, which holds its locks over forks as well.
            let child = unsafe { libc::fork() };
            if child == 0 {
                HITS.add(1);
                let is_busy = heap.try_alloc::<Wide>().is_err_and(|error| error == TryAllocError::Busy);
                // SAFETY: ends the child, which would wait for a thread that it does not have.
                is_busy.then(|| unsafe { libc::_exit(2) });
                let counters = Counter::bulk(heap, 1000);
                let right = HITS.get() == 1001
                    && counters.is_ok_and(|counters| {
                        counters.iter().for_each(|counter| counter.add(2));
                        counters.iter().all(|counter| counter.get() == 2)
                    })
                    && Histogram::in_heap(heap).is_ok();
                // SAFETY: ends the child without what the parent set up for its end.
                unsafe { libc::_exit(i32::from(!right)) };
            }
            let mut status = 0;
            // SAFETY: waits for the child just made, for at most a while.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            status != 0
        });
        done.store(true, Relaxed);
        assert_eq!(failed, None, "the first round whose child failed");
    });
    // What the child added is the child's.
    assert_eq!(HITS.get(), 1000);
    heap.validate().unwrap();
}

#[test]
fn an_allocation_that_must_not_wait_waits_for_no_fork() {
    alone("tries_to_allocate_during_a_fork", |_| ());
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn tries_to_allocate_during_a_fork() {
    static IS_FORKING: AtomicBool = AtomicBool::new(false);
    static IS_ANSWERED: AtomicBool = AtomicBool::new(false);
    extern "C" fn linger() {
        IS_FORKING.store(true, SeqCst);
        let start = Instant::now();
        while !IS_ANSWERED.load(SeqCst) && start.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    // Installed before the hooks of the project, so it runs after them.
    // SAFETY: the hook is a function.
    assert_eq!(unsafe { libc::pthread_atfork(Some(linger), None, None) }, 0);
    let heap = PerCpuHeap::new().unwrap();
    heap.prepare(Layout::new::<AtomicU64>(), 9).unwrap();
    heap.try_alloc::<AtomicU64>().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !IS_FORKING.load(SeqCst) {
                std::thread::yield_now();
            }
            let answer = heap.try_alloc::<AtomicU64>().map(drop);
            IS_ANSWERED.store(true, SeqCst);
            assert_eq!(answer, Err(TryAllocError::Busy), "it waited");
        });
        // SAFETY: the child exits at once.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: ends it at once.
            unsafe { libc::_exit(0) };
        }
        let mut status = 0;
        // SAFETY: it waits for the child that was just made.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    });
    heap.try_alloc::<AtomicU64>().unwrap();
}
