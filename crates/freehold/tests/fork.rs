//! What a child made by `fork` may do (`freehold_sys::fork`), while threads of the parent are inside of everything that has a lock.
#![cfg(all(feature = "std", unix, not(miri)))]
#![allow(clippy::unwrap_used, reason = "a test stops at once")]
#![allow(unsafe_code, reason = "it forks")]

use freehold::kva::{Placement, PooledSpace, Request, SharedSpace};
use freehold::maple::MapleTree;
use freehold::percpu::heap::PerCpuHeap;
use freehold::percpu::registry::Registry;
use freehold::percpu::{Counter, Histogram};
use freehold::units::{Align, Span};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How a child ended.
#[derive(Debug, PartialEq)]
enum End {
    Right,
    Wrong,
    Hung,
}

/// Runs `check` in a child. One that takes ten seconds hangs: it has a few microseconds of work.
fn child(check: impl FnOnce() -> bool) -> End {
    // SAFETY: the child runs the check, which is what is tested, and exits.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork: {}", std::io::Error::last_os_error());
    if pid == 0 {
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(!check())) };
    }
    let (start, mut status) = (Instant::now(), 0);
    loop {
        // SAFETY: it asks for the child that was just made.
        match unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) } {
            0 if start.elapsed() > Duration::from_secs(10) => break,
            0 => std::thread::yield_now(),
            _ => return if status == 0 { End::Right } else { End::Wrong },
        }
    }
    // SAFETY: ends the child and waits for it.
    unsafe { (libc::kill(pid, libc::SIGKILL), libc::waitpid(pid, &raw mut status, 0)) };
    End::Hung
}

/// Everything that has a lock.
struct All {
    map: MapleTree<Arc<u64>>,
    space: SharedSpace<u64>,
    pool: PooledSpace,
    heap: PerCpuHeap,
    registry: Registry,
    histogram: Histogram,
}

impl All {
    fn new() -> Self {
        let span = Span::new(0, (1 << 30) - 1).unwrap();
        let space = SharedSpace::new(span, Align::PAGE, Placement::Lowest).unwrap();
        let pool = PooledSpace::new(span, Align::PAGE).unwrap();
        let registry = Registry::new();
        let (map, heap, histogram) = (MapleTree::new(), PerCpuHeap::new().unwrap(), Histogram::new());
        Self { map, space, pool, heap, registry, histogram }
    }

    /// One of each operation that takes a lock.
    fn operate(&self, at: u64) {
        let at = at % 50;
        self.map.store(at * 16..at * 16 + 8, Arc::new(at)).unwrap();
        self.map.erase((at + 25) % 50 * 16).unwrap();
        let mut two = self.map.transaction();
        two.store(1000..1010 + at, Arc::new(1000)).unwrap();
        two.store(2000..2010 + at, Arc::new(1000)).unwrap();
        two.commit();
        let region = self.space.alloc(&Request::new(0x1000 * (1 + at % 3)), Arc::new(at)).unwrap();
        self.space.free(region.first()).unwrap();
        let memory = self.pool.alloc(0x10_0000u64 * (1 + at % 3)).unwrap();
        self.pool.free(memory.first()).unwrap();
        drop(self.heap.alloc_boxed::<[AtomicU64; 16]>().unwrap());
        drop(self.heap.alloc_boxed::<AtomicU64>().unwrap());
        drop(Counter::default());
        let label = at.to_string();
        self.registry.counter("operations", &[("at", &label)]).unwrap().add(1);
        assert!(self.registry.render().contains("operations"));
        self.histogram.record(at);
        let _ = self.histogram.reset();
    }

    fn is_right(&self) -> bool {
        let whole =
            |span: Span| self.map.read().entry_at(span.first()).is_none_or(|(found, _)| found == span);
        self.map.validate().is_ok()
            && self.space.validate().is_ok()
            && self.pool.validate().is_ok()
            && (0..50).all(|at| whole(Span::new(at * 16, at * 16 + 7).unwrap()))
            && self.map.read().get(1000).is_some() == self.map.read().get(2000).is_some()
    }
}

#[test]
fn children_read_and_write_whatever_other_threads_are_inside() {
    const CHILDREN: usize = 1000;
    let (all, stop) = (All::new(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for first in [0, 7] {
            let (all, stop) = (&all, &stop);
            scope.spawn(move || (first..).take_while(|_| !stop.load(Relaxed)).for_each(|at| all.operate(at)));
        }
        let ends: Vec<End> = (0..CHILDREN)
            .map(|at| {
                child(|| {
                    let was_right = all.is_right();
                    all.operate(at as u64);
                    was_right && all.is_right()
                })
            })
            .collect();
        stop.store(true, Relaxed);
        let hung = ends.iter().filter(|end| **end == End::Hung).count();
        let wrong = ends.iter().filter(|end| **end == End::Wrong).count();
        println!("{CHILDREN} children beside two busy threads: {hung} hang, {wrong} find something wrong");
        assert_eq!((hung, wrong), (0, 0));
    });
    assert!(all.is_right());
}

#[test]
fn a_child_lacks_no_slab_that_another_thread_was_about_to_list() {
    let span = Span::new(0, (1 << 30) - 1).unwrap();
    let (pool, stop) = (&PooledSpace::for_memory(span, Align::PAGE).unwrap(), &AtomicBool::new(false));
    // Two slots in each slab, so that each change lists one or takes one from a list.
    let take = || pool.alloc(200 << 12).unwrap().first();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(move || {
                while !stop.load(Relaxed) {
                    let blocks: Vec<u64> = (0..9).map(|_| take()).collect();
                    blocks.into_iter().for_each(|first| assert!(pool.free(first).is_ok()));
                    let purged = pool.take_resident(u64::MAX).unwrap();
                    pool.give_back(purged);
                }
            });
        }
        // A slot that a thread was taking leaks, and may not count as resident yet (S3).
        let is_right = || pool.validate().err().is_none_or(|broken| broken.invariant != "S5");
        let wrong = (0..200).find(|_| child(is_right) != End::Right);
        stop.store(true, Relaxed);
        assert_eq!(wrong, None, "the first child that finds something wrong");
    });
}

#[test]
fn a_child_lacks_no_slab_that_another_thread_sorts() {
    let span = Span::new(0, (1 << 30) - 1).unwrap();
    let pool = &PooledSpace::for_memory(span, Align::PAGE).unwrap();
    let blocks: Vec<u64> = (0..64).map(|_| pool.alloc(4096).unwrap().first()).collect();
    blocks.into_iter().for_each(|first| assert!(pool.free_decommitted(first).is_ok()));
    let (sort, sorts) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let is_ready = |_| {
                // The other thread has time to fork while this one has taken the slabs out of the lists.
                if sort.send(()).is_ok() {
                    std::thread::sleep(Duration::from_millis(20));
                }
                false
            };
            assert_eq!(pool.alloc_ready(4096, is_ready), None);
        });
        sorts.recv().unwrap();
        let end = child(|| {
            pool.validate().is_ok() && (pool.trim(), pool.stats().unused_bytes) == (1 << 18, 1 << 30)
        });
        drop(sorts);
        assert_eq!(end, End::Right);
    });
}

#[test]
fn a_child_undoes_the_transaction_of_a_thread_that_it_does_not_have() {
    let map = MapleTree::new();
    map.store(0..100, Arc::new(1)).unwrap();
    let (open, is_open) = mpsc::channel();
    let (end, wait_for_end) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let map = &map;
        scope.spawn(move || {
            let mut transaction = map.transaction();
            transaction.store(50..60, Arc::new(2)).unwrap();
            open.send(()).unwrap();
            let _ = wait_for_end.recv();
            transaction.commit();
        });
        is_open.recv().unwrap();
        let end_of_child = child(|| {
            let before = map.read().get(55) == Some(&1) && map.len() == 1;
            map.store(200..300, Arc::new(3)).unwrap();
            before
                && map.read().get(55) == Some(&1)
                && map.read().get(250) == Some(&3)
                && map.validate().is_ok()
        });
        assert_eq!(end_of_child, End::Right);
        end.send(()).unwrap();
    });
    assert_eq!((map.read().get(55), map.read().get(250)), (Some(&2), None), "the parent's is its own");
}

#[test]
fn both_processes_go_on_with_the_transaction_of_the_thread_that_forks() {
    let map = MapleTree::new();
    let mut transaction = map.transaction();
    transaction.store(0..10, Arc::new(1)).unwrap();
    let mut here = Some(transaction);
    let end = child(|| {
        here.take().unwrap().commit();
        map.store(20..30, Arc::new(2)).unwrap();
        map.read().get(5) == Some(&1) && map.validate().is_ok()
    });
    assert_eq!(end, End::Right);
    drop(here);
    assert_eq!((map.len(), map.validate()), (0, Ok(())));
}
