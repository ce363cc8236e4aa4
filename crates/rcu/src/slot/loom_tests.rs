//! The protocol of guards and grace periods, under every schedule and memory order that loom explores, and its mutants.
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" cargo test -p freehold-rcu --lib
//! ```

use super::Slot;
use crate::atomic::{AtomicBool, Ordering, fence};
use crate::slot::A_VALUE;
use crate::{Backlog, Domain, Guard};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicUsize;

/// Two nodes and the link to one of them.
struct Shared {
    domain: Domain,
    link: AtomicUsize,
    nodes: [Node; 2],
}

/// A node is modelled by its accesses: loom stops at an access that is not ordered after the previous one.
#[derive(Default)]
struct Node {
    accesses: UnsafeCell<()>,
    is_reused: AtomicBool,
}

impl Shared {
    fn new() -> Arc<Self> {
        let domain = Domain::new();
        domain.mode();
        Arc::new(Self { domain, link: AtomicUsize::new(0), nodes: Default::default() })
    }

    /// The work of a reader under a guard.
    fn read(&self) {
        let node = &self.nodes[self.link.load(Ordering::Acquire)];
        node.accesses.with(|_| ());
        assert!(!node.is_reused.load(Ordering::Relaxed), "a node was reused under a guard");
    }

    fn unlink(&self) {
        self.link.store(1, Ordering::Release);
    }

    fn reuse(&self, node: usize) {
        self.nodes[node].accesses.with_mut(|_| ());
        self.nodes[node].is_reused.store(true, Ordering::Relaxed);
    }
}

/// A reader that uses `enter` runs beside a writer that unlinks node 0, and reuses it if `passed` says so.
fn run(readers: usize, enter: fn(&Domain, &Slot), write: fn(&Shared) -> bool) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let shared = Shared::new();
        let threads: Vec<_> = (0..readers)
            .map(|_| {
                let shared = Arc::clone(&shared);
                loom::thread::spawn(move || {
                    // Most often the same slot, with the state that its last owner left.
                    for _ in 0..2 {
                        let slot = shared.domain.slots_of_test();
                        enter(&shared.domain, slot);
                        shared.read();
                        slot.leave();
                        slot.end();
                    }
                })
            })
            .collect();
        if write(&shared) {
            shared.reuse(0);
        }
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

impl Domain {
    fn slots_of_test(&self) -> &Slot {
        self.take_slot(A_VALUE).unwrap().1
    }
}

fn enter(domain: &Domain, slot: &Slot) {
    slot.enter(&domain.epoch);
}

/// The fast path of a guard without fences, with a fence where the writer's barrier takes effect.
fn enter_first(domain: &Domain, slot: &Slot) {
    slot.state.store(0, Ordering::Release);
    assert!(slot.enter_first(&domain.epoch));
    fence(Ordering::SeqCst);
}

fn enter_without_fence(domain: &Domain, slot: &Slot) {
    slot.publish(&domain.epoch, super::FENCES);
}

/// As `Slot::enter`, but the stamp's store orders nothing before it.
fn enter_relaxed(domain: &Domain, slot: &Slot) {
    slot.state.store(domain.epoch.load(Ordering::Acquire), Ordering::Relaxed);
    fence(Ordering::SeqCst);
}

fn write(shared: &Shared) -> bool {
    shared.unlink();
    let grace = shared.domain.end_epoch().unwrap();
    grace.ended < grace.oldest
}

fn write_with_the_epoch_ended_first(shared: &Shared) -> bool {
    let ended = shared.domain.advance();
    shared.unlink();
    shared.domain.heavy().unwrap();
    ended < shared.domain.oldest()
}

fn write_with_a_look_before_the_barrier(shared: &Shared) -> bool {
    shared.unlink();
    let ended = shared.domain.advance();
    let oldest = shared.domain.oldest();
    shared.domain.heavy().unwrap();
    ended < oldest
}

#[test]
fn nothing_is_reused_under_a_guard() {
    run(1, enter, write);
}

#[test]
fn nothing_is_reused_under_a_usual_guard() {
    run(1, enter_first, write);
}

#[test]
#[should_panic]
fn mutant_no_fence_in_the_guard() {
    run(1, enter_without_fence, write);
}

#[test]
#[should_panic]
fn mutant_relaxed_stamp() {
    run(1, enter_relaxed, write);
}

#[test]
#[should_panic]
fn mutant_epoch_ended_before_the_unlinking() {
    run(1, enter, write_with_the_epoch_ended_first);
}

#[test]
#[should_panic]
fn mutant_look_before_the_barrier() {
    run(1, enter, write_with_a_look_before_the_barrier);
}

/// The backlog's own steps, by two writers that end epochs at the same time.
#[test]
fn two_writers_reclaim_what_nobody_reads() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let shared = Shared::new();
        let reader = {
            let shared = Arc::clone(&shared);
            loom::thread::spawn(move || {
                let reader = shared.domain.reader().unwrap();
                let guard = reader.read();
                shared.read();
                drop(guard);
            })
        };
        let other = {
            let shared = Arc::clone(&shared);
            loom::thread::spawn(move || shared.domain.end_epoch().map(|_| ()).unwrap())
        };
        let mut backlog = Backlog::new(&shared.domain, 1);
        backlog.reserve(1, |_: usize| ()).unwrap();
        shared.unlink();
        backlog.retire(0).unwrap();
        backlog.poll(|node| shared.reuse(node)).unwrap();
        reader.join().unwrap();
        other.join().unwrap();
        backlog.barrier(drop).unwrap();
    });
}

/// A change that removes a value and, under prompt reclamation, polls at its end; then `again`, by which the next change
/// begins. The reader says that it has left by the last of `leave`.
fn run_prompt(again: fn(&mut Backlog<'_, usize>, &Shared) -> usize, leave: fn(Guard<'_>, &AtomicBool)) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let (shared, has_left) = (Shared::new(), Arc::new(AtomicBool::new(false)));
        let reader = {
            let (shared, has_left) = (Arc::clone(&shared), Arc::clone(&has_left));
            loom::thread::spawn(move || {
                let reader = shared.domain.reader().unwrap();
                let guard = reader.read();
                shared.read();
                leave(guard, &has_left);
            })
        };
        let mut backlog = Backlog::new(&shared.domain, 1);
        backlog.reserve(1, |_| ()).unwrap();
        shared.unlink();
        backlog.retire(0).unwrap();
        let own = backlog.poll(|node| shared.reuse(node)).unwrap();
        let must_go = has_left.load(Ordering::Acquire);
        let later = if own == 0 { again(&mut backlog, &shared) } else { 0 };
        assert!(own + later == 1 || !must_go, "a value stayed after its last reader");
        reader.join().unwrap();
        backlog.barrier(drop).unwrap();
    });
}

fn poll_again(backlog: &mut Backlog<'_, usize>, shared: &Shared) -> usize {
    if backlog.is_held_back() { 0 } else { backlog.poll(|node| shared.reuse(node)).unwrap() }
}

fn take_without_a_look(backlog: &mut Backlog<'_, usize>, shared: &Shared) -> usize {
    backlog.take_all(|node| shared.reuse(node))
}

fn leave(guard: Guard<'_>, has_left: &AtomicBool) {
    drop(guard);
    has_left.store(true, Ordering::Release);
}

fn leave_too_late(guard: Guard<'_>, has_left: &AtomicBool) {
    has_left.store(true, Ordering::Release);
    drop(guard);
}

#[test]
fn a_value_goes_with_the_first_change_after_its_last_reader() {
    run_prompt(poll_again, leave);
}

#[test]
#[should_panic]
fn mutant_a_value_taken_without_a_look_at_readers() {
    run_prompt(take_without_a_look, leave);
}

#[test]
#[should_panic]
fn mutant_a_guard_that_is_left_late() {
    run_prompt(poll_again, leave_too_late);
}

/// A domain whose barriers are refused from now on, and a reader that had its slot before. It reads three times: its
/// first guard may have no flag, its second the flag without a fence, its third both.
fn run_refused(enter: fn(&Domain, &Slot), write: fn(&Shared) -> bool) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let domain = Domain::refusing();
        domain.mode();
        let shared = Arc::new(Shared { domain, link: AtomicUsize::new(0), nodes: Default::default() });
        let reader = {
            let shared = Arc::clone(&shared);
            loom::thread::spawn(move || {
                let slot = shared.domain.slots_of_test();
                for _ in 0..3 {
                    enter(&shared.domain, slot);
                    shared.read();
                    slot.leave();
                }
                slot.end();
            })
        };
        if write(&shared) {
            shared.reuse(0);
        }
        reader.join().unwrap();
    });
}

/// The real guard, by the fast path or the slow one.
fn enter_either(domain: &Domain, slot: &Slot) {
    if !slot.enter_first(&domain.epoch) {
        slot.enter(&domain.epoch);
    }
}

/// A guard that takes the flag and never a fence.
fn enter_without_fences(domain: &Domain, slot: &Slot) {
    if !slot.enter_first(&domain.epoch) {
        slot.publish(&domain.epoch, super::FENCES);
    }
}

fn write_without_barrier(shared: &Shared) -> bool {
    shared.unlink();
    shared.domain.end_epoch().is_ok_and(|grace| grace.ended < grace.oldest)
}

/// A writer whose first scan was inconclusive.
fn write_after_another_look(shared: &Shared) -> bool {
    let _ = shared.domain.end_epoch();
    write_without_barrier(shared)
}

fn write_and_wait(shared: &Shared) -> bool {
    shared.unlink();
    shared.domain.synchronize().is_ok()
}

fn write_as_if_idle_were_quiet(shared: &Shared) -> bool {
    shared.unlink();
    let ended = shared.domain.advance();
    let _ = shared.domain.oldest_fenced();
    fence(Ordering::SeqCst);
    ended < shared.domain.oldest()
}

/// A second scan as after a barrier, of a reader that was seen and has no flag.
fn write_with_a_second_look(shared: &Shared) -> bool {
    shared.unlink();
    let Ok(grace) = shared.domain.end_epoch() else { return false };
    grace.ended < grace.oldest || grace.ended < shared.domain.oldest()
}

#[test]
fn nothing_is_reused_under_a_guard_where_barriers_are_refused() {
    run_refused(enter_either, write_without_barrier);
    run_refused(enter_either, write_after_another_look);
}

#[test]
fn nothing_is_reused_after_a_wait_where_barriers_are_refused() {
    run_refused(enter_either, write_and_wait);
}

#[test]
#[should_panic]
fn mutant_a_flag_without_fences() {
    run_refused(enter_without_fences, write_after_another_look);
}

#[test]
#[should_panic]
fn mutant_an_idle_reader_without_flag_is_quiet() {
    run_refused(enter_either, write_as_if_idle_were_quiet);
}

#[test]
#[should_panic]
fn mutant_a_second_look_without_a_barrier() {
    run_refused(enter_either, write_with_a_second_look);
}

/// A thread that ends with a guard on its slot of a domain of its own, and the next thread that gets the index. `claim`
/// takes the slot over, if it may.
fn run_taken_over(claim: fn(&Slot) -> bool) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let shared = Shared::new();
        let of_first = |shared: &Shared| {
            let index = shared.domain.slots.get(0).unwrap();
            index.give_to(1, true);
            shared.domain.slots.get(1).unwrap().give_to(1, true);
        };
        of_first(&shared);
        let first = {
            let shared = Arc::clone(&shared);
            loom::thread::spawn(move || {
                let slot = shared.domain.slots.get(1).unwrap();
                slot.enter(&shared.domain.epoch);
                // The thread loses its index before its last guard.
                shared.domain.slots.get(0).unwrap().give_back();
                shared.read();
                slot.leave();
            })
        };
        let next = {
            let shared = Arc::clone(&shared);
            loom::thread::spawn(move || {
                let (index, slot) =
                    (shared.domain.slots.get(0).unwrap(), shared.domain.slots.get(1).unwrap());
                if !index.is_taken() {
                    index.give_to(2, true);
                    if claim(slot) {
                        slot.enter(&shared.domain.epoch);
                        shared.read();
                        slot.leave();
                    }
                }
            })
        };
        if write(&shared) {
            shared.reuse(0);
        }
        first.join().unwrap();
        next.join().unwrap();
    });
}

/// As `Domain::claim`.
fn claim_idle(slot: &Slot) -> bool {
    let is_idle = slot.is_idle();
    if is_idle {
        slot.give_to(2, true);
    }
    is_idle
}

fn claim_with_a_guard(slot: &Slot) -> bool {
    slot.give_to(2, true);
    true
}

#[test]
fn a_slot_is_taken_over_once_its_last_guard_has_left() {
    run_taken_over(claim_idle);
}

#[test]
#[should_panic]
fn mutant_a_slot_taken_over_under_a_guard() {
    run_taken_over(claim_with_a_guard);
}
