//! Readers on several threads beside writers that poison what they reclaim: plain memory, so that Miri and ThreadSanitizer see
//! every access that is not ordered after the one before.

#![allow(clippy::unwrap_used, reason = "a test stops at once")]
#![allow(unsafe_code, reason = "readers follow links to plain memory")]

use freehold_rcu::{Backlog, Domain};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

const LIVE: u64 = 0x11FE;
const POISON: u64 = 0xDEAD;
const LINKS: usize = 4;
const ROUNDS: u64 = if cfg!(miri) { 100 } else { 50_000 };
/// Writers go on until readers were there, too: on a busy machine these may begin late.
const READS: u64 = if cfg!(miri) { 3 } else { 1000 };

struct Node {
    state: u64,
    /// The number of the store that put it there.
    number: u64,
}

/// Nodes that are retired, to be poisoned and used again.
struct Retired(*mut Node);

fn stress(domain: &Domain, global: bool) {
    let node = |number| Box::into_raw(Box::new(Node { state: LIVE, number }));
    let links: Vec<AtomicPtr<Node>> = (0..LINKS).map(|_| AtomicPtr::new(node(0))).collect();
    let done = AtomicBool::new(false);
    let reads = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let reader = domain.reader().unwrap();
                let mut newest = [0; LINKS];
                while !done.load(Ordering::Relaxed) {
                    let guard = if global { freehold_rcu::read() } else { reader.read() };
                    for (link, newest) in links.iter().zip(&mut newest) {
                        // Acquire: pairs with the writer's swap.
                        let node = link.load(Ordering::Acquire);
                        // SAFETY: it was linked while the guard is held, so it is not reused before the guard is dropped.
                        let (state, number) = unsafe { ((*node).state, (*node).number) };
                        assert_eq!(state, LIVE, "a node was reused under a guard");
                        assert!(number >= *newest, "a link went back");
                        *newest = number;
                    }
                    drop(guard);
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let writers: Vec<_> = (0..2)
            .map(|writer| {
                let (links, reads) = (&links, &reads);
                scope.spawn(move || write(domain, links, reads, writer))
            })
            .collect();
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    for link in links {
        // SAFETY: all threads are gone, and each link's node is in no backlog.
        drop(unsafe { Box::from_raw(link.into_inner()) });
    }
}

/// Replaces the nodes of every second link, each reclaimed one used again.
fn write(domain: &Domain, links: &[AtomicPtr<Node>], reads: &AtomicU64, writer: usize) {
    let mut backlog = Backlog::new(domain, 64);
    let mut free = Vec::new();
    for number in (1..).take_while(|&number| number <= ROUNDS || reads.load(Ordering::Relaxed) < READS) {
        let poison = |Retired(node): Retired| {
            // SAFETY: no reader can reach it, and this writer alone has it.
            unsafe { (*node).state = POISON };
            free.push(node);
        };
        if backlog.reserve(1, poison).is_err() {
            // Readers hold back all of it for now.
            std::thread::yield_now();
            continue;
        }
        let new = free.pop().unwrap_or_else(|| Box::into_raw(Box::new(Node { state: POISON, number: 0 })));
        // SAFETY: it is new, or was reclaimed.
        unsafe { new.write(Node { state: LIVE, number }) };
        let link = &links[writer + 2 * (number as usize % (LINKS / 2))];
        // Release: pairs with the readers' Acquire.
        let old = link.swap(new, Ordering::AcqRel);
        assert!(backlog.retire(Retired(old)).is_ok(), "one was reserved");
    }
    backlog.barrier(|Retired(node)| free.push(node)).unwrap();
    let stats = backlog.stats();
    assert_eq!((stats.held, stats.retired), (0, stats.reclaimed));
    for node in free {
        // SAFETY: it was reclaimed, so this writer alone has it.
        drop(unsafe { Box::from_raw(node) });
    }
}

#[test]
fn nothing_is_reused_under_a_guard_by_membarrier() {
    stress(&Domain::new(), false);
}

#[test]
fn nothing_is_reused_under_a_guard_by_fences() {
    stress(&Domain::fenced(), false);
}

#[test]
fn nothing_is_reused_under_a_guard_of_the_global_domain() {
    stress(Domain::global(), true);
}
