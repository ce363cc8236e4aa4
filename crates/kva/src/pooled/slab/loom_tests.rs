//! The word under every schedule and memory ordering that loom explores, and its mutants.
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" cargo test -p freehold-kva --features std --lib slab
//! ```

use super::{Freed, Layout, Slab};
use crate::atomic::Ordering;
use crate::pooled::class::Class;
use crate::pooled::word::Word;
use loom::cell::UnsafeCell;
use loom::sync::Arc;

const SLOT: u64 = 0x1000;
const BASE: u64 = 0x10_0000;
/// Where the record's next slab lies: what was the third slot is its first.
const NEXT_BASE: u64 = BASE + 2 * SLOT;

/// A slab, and for two of its slots the accesses of holders: loom stops at one that is not ordered after the one
/// before.
struct Shared {
    slab: Slab,
    slots: [UnsafeCell<()>; 2],
}

impl Shared {
    /// A live slab of generation 1 that the caller owns.
    fn new(free: u32, resident: u32) -> Self {
        let slab = Slab::unused();
        slab.prepare(layout(BASE));
        slab.resident.store(resident, Ordering::Relaxed);
        slab.word.store(Word::live(1, free).0, Ordering::Release);
        Self { slab, slots: Default::default() }
    }

    fn hold(&self, slot: u32) {
        if let Some(slot) = self.slots.get(slot as usize) {
            slot.with_mut(|_| ());
        }
    }
}

fn layout(base: u64) -> Layout {
    Layout { base, slot_bytes: SLOT, class: Class::of(1) }
}

fn address(slot: u32) -> u64 {
    BASE + u64::from(slot) * SLOT
}

fn slot(span: freehold_units::Span) -> u32 {
    ((span.first() - BASE) / SLOT) as u32
}

fn claim(slab: &Slab) -> Option<u32> {
    let (span, _) = slab.try_claim(1, false).or_else(|| slab.claim(1, false, &mut 0))?;
    Some(slot(span))
}

fn free(slab: &Slab, slot: u32) -> bool {
    slab.try_free(1, address(slot), 8).is_some()
        || matches!(slab.free(1, address(slot), 8, &mut 0), Freed::Done { .. })
}

fn check(shared: impl Fn() -> Shared + Send + Sync + 'static, threads: Vec<fn(&Shared)>, last: fn(&Shared)) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(move || {
        let shared = Arc::new(shared());
        let workers: Vec<_> = threads
            .iter()
            .map(|&work| {
                let shared = Arc::clone(&shared);
                loom::thread::spawn(move || work(&shared))
            })
            .collect();
        last(&shared);
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

use std::vec;
use std::vec::Vec;

fn hold_one_with(shared: &Shared, claim: fn(&Slab) -> Option<u32>, free: fn(&Slab, u32) -> bool) {
    if let Some(slot) = claim(&shared.slab) {
        shared.hold(slot);
        assert!(free(&shared.slab, slot), "a held slot is not freed");
    }
}

fn hold_one(shared: &Shared) {
    hold_one_with(shared, claim, free);
}

/// Three threads, two slots.
#[test]
fn a_slot_has_one_holder() {
    check(|| Shared::new(0b11, 0), vec![hold_one, hold_one], hold_one);
}

#[test]
#[should_panic]
fn mutant_claim_without_exchange() {
    fn claim(slab: &Slab) -> Option<u32> {
        let word = slab.word();
        let slot = (word.free() != 0).then(|| word.free().trailing_zeros())?;
        slab.word.store(word.with_free(word.free() & !(1 << slot)).0, Ordering::Release);
        Some(slot)
    }
    fn work(shared: &Shared) {
        hold_one_with(shared, claim, free);
    }
    check(|| Shared::new(0b11, 0), vec![work], work);
}

#[test]
#[should_panic]
fn mutant_free_that_orders_nothing() {
    fn free(slab: &Slab, slot: u32) -> bool {
        slab.word.fetch_or(1 << slot, Ordering::Relaxed);
        true
    }
    fn work(shared: &Shared) {
        hold_one_with(shared, claim, free);
    }
    check(|| Shared::new(0b1, 0), vec![work], work);
}

/// The owner retires the slab, and writes another into its record.
fn retire_with(shared: &Shared, retire: fn(&Slab) -> bool, prepare: fn(&Slab)) {
    if retire(&shared.slab) {
        shared.slots.iter().for_each(|slot| slot.with_mut(|_| ()));
        prepare(&shared.slab);
        shared.slab.publish(false);
    }
}

fn prepare(slab: &Slab) {
    slab.prepare(layout(NEXT_BASE));
}

fn retire(shared: &Shared) {
    retire_with(shared, Slab::retire, prepare);
}

/// Frees a slot that nobody holds, of a slab that may be gone. In its place, the record's next slab has a held one.
fn free_twice(shared: &Shared) {
    assert_eq!(shared.slab.try_free(1, address(2), 8), None);
    let freed = shared.slab.free(1, address(2), 8, &mut 0);
    assert!(matches!(freed, Freed::AlreadyFree { .. } | Freed::Retired), "{freed:?}");
    assert_eq!(shared.slab.held_at(1, address(2)), None);
}

#[test]
fn a_slab_is_retired_when_nobody_holds_a_slot_and_stays_so() {
    check(|| Shared::new(u32::MAX, 0), vec![hold_one, free_twice], retire);
}

/// A caller that looks for a slot which is ready is shown no place of the record's next slab.
#[test]
fn slots_that_are_shown_are_the_slabs() {
    fn look(shared: &Shared) {
        let mut next = 0;
        let claimed = shared.slab.claim_ready(1, false, &mut |span| {
            assert_eq!(slot(span), next);
            next += 1;
            next == 2
        });
        assert!(claimed.is_none_or(|(span, _)| slot(span) == 1));
    }
    check(|| Shared::new(u32::MAX, 0), vec![look], retire);
}

#[test]
#[should_panic]
fn mutant_retire_without_exchange() {
    fn retire(slab: &Slab) -> bool {
        let is_empty = slab.word().free() == u32::MAX;
        if is_empty {
            slab.word.store(Word::retired(2).0, Ordering::Release);
        }
        is_empty
    }
    fn work(shared: &Shared) {
        retire_with(shared, retire, prepare);
    }
    check(|| Shared::new(u32::MAX, 0), vec![hold_one], work);
}

#[test]
#[should_panic]
fn mutant_prepare_without_fence() {
    fn work(shared: &Shared) {
        retire_with(shared, Slab::retire, |slab| slab.base.store(NEXT_BASE, Ordering::Relaxed));
    }
    check(|| Shared::new(u32::MAX, 0), vec![hold_one, free_twice], work);
}

#[test]
#[should_panic]
fn mutant_free_without_generation() {
    fn free_twice(shared: &Shared) {
        let generation = shared.slab.word().generation();
        assert!(!matches!(shared.slab.free(generation, address(2), 8, &mut 0), Freed::Done { .. }));
    }
    check(|| Shared::new(u32::MAX, 0), vec![free_twice], retire);
}

/// Slot 0 is resident and slot 1 is decommitted. Slot 2 is held by the thread that frees.
fn purge_with(shared: &Shared, claim: fn(&Slab) -> Option<u32>) {
    if let Some(slots) = claim(&shared.slab) {
        assert_eq!(slots, 1);
        shared.hold(0);
        shared.slab.end_purge(true, 8);
        assert_eq!(shared.slab.resident() & 1, 0);
    }
}

fn purge(shared: &Shared) {
    purge_with(shared, |slab| slab.claim_resident(SLOT));
}

fn free_while_purged(shared: &Shared) {
    assert_eq!(shared.slab.try_free(1, address(0), 8), None);
    let freed = shared.slab.free(1, address(0), 8, &mut 0);
    assert!(matches!(freed, Freed::AlreadyFree { .. }), "{freed:?}");
    assert_eq!(shared.slab.held_at(1, address(0)), None);
    // A held one is never taken for free.
    assert!(shared.slab.held_at(1, address(2)).is_some());
    assert!(free(&shared.slab, 2), "a held slot is not freed");
}

fn hold_a_cold_one(shared: &Shared) {
    hold_one_with(
        shared,
        // As `claim`, but of decommitted slots.
        |slab| {
            let word = slab.word();
            let taken = word.with_free(word.free() & !0b10);
            (word.free() & 0b10 != 0 && slab.exchange(word, taken).is_ok()).then_some(1)
        },
        free,
    );
}

#[test]
fn what_a_purge_holds_is_not_freed() {
    check(|| Shared::new(0b11, 0b1), vec![free_while_purged, hold_a_cold_one], purge);
}

/// Slots 0 and 1 are free and resident: slot 1 is purged, then slot 0.
fn purge_twice(shared: &Shared) {
    for slot in [1, 0] {
        assert_eq!(shared.slab.claim_resident(SLOT), Some(1 << slot));
        shared.slab.end_purge(true, 8);
    }
}

fn find_with(shared: &Shared, is_held: fn(&Slab, u64) -> bool) {
    assert!(!is_held(&shared.slab, address(1)), "nobody holds the slot");
}

#[test]
fn what_one_purge_after_the_other_holds_is_not_found() {
    fn find(shared: &Shared) {
        find_with(shared, |slab, address| slab.held_at(1, address).is_some());
        let freed = shared.slab.free(1, address(1) + 1, 8, &mut 0);
        assert!(matches!(freed, Freed::AlreadyFree { .. }), "{freed:?}");
    }
    check(|| Shared::new(0b11, 0b11), vec![find], purge_twice);
}

#[test]
#[should_panic]
fn mutant_look_that_believes_what_another_purge_names() {
    fn is_held(slab: &Slab, address: u64) -> bool {
        let word = slab.word();
        let claimed = if word.is_purging() { slab.claimed() } else { 0 };
        assert_eq!(slab.word_behind().generation(), 1);
        (word.free() | claimed) & (1 << slab.slot_at(BASE, address)) == 0
    }
    fn find(shared: &Shared) {
        find_with(shared, is_held);
    }
    check(|| Shared::new(0b11, 0b11), vec![find], purge_twice);
}

#[test]
fn a_purge_and_a_holder_exclude_each_other() {
    fn hold_one_resident(shared: &Shared) {
        hold_one_with(shared, |slab| Some(slot(slab.claim(1, true, &mut 0)?.0)), free);
    }
    check(|| Shared::new(0b1, 0b1), vec![purge_any, hold_one_resident], purge_any_last);

    fn purge_any(shared: &Shared) {
        if let Some(slots) = shared.slab.claim_resident(SLOT) {
            assert_eq!(slots, 1);
            shared.hold(0);
            shared.slab.end_purge(true, 8);
        }
    }
    fn purge_any_last(shared: &Shared) {
        let _ = shared.slab.held_at(1, address(0));
    }
}

/// Takes the only slot for good, so no purge can follow.
fn hold_resident_with(shared: &Shared, claim: fn(&Slab) -> Option<bool>) {
    if let Some(is_resident) = claim(&shared.slab) {
        // An exchange reads the latest.
        let was_purged = shared.slab.next.fetch_or(0, Ordering::Relaxed) == 1;
        assert!(!(is_resident && was_purged), "a slot without pages passes for resident");
    }
}

fn purge_noting(shared: &Shared) {
    if shared.slab.claim_resident(SLOT).is_some() {
        shared.slab.next.store(1, Ordering::Relaxed);
        shared.slab.end_purge(true, 8);
    }
}

#[test]
fn what_was_purged_is_not_resident() {
    fn hold(shared: &Shared) {
        hold_resident_with(shared, |slab| {
            let (_, is_resident) = slab.try_claim(1, true).or_else(|| slab.claim(1, true, &mut 0))?;
            Some(is_resident)
        });
    }
    check(|| Shared::new(0b1, 0b1), vec![hold], purge_noting);
}

#[test]
#[should_panic]
fn mutant_claim_that_believes_what_it_saw_before() {
    fn claim(slab: &Slab) -> Option<bool> {
        let word = slab.word();
        let is_resident = word.free() & slab.resident() != 0;
        (word.free() != 0 && slab.exchange(word, word.with_free(0)).is_ok()).then_some(is_resident)
    }
    fn hold(shared: &Shared) {
        hold_resident_with(shared, claim);
    }
    check(|| Shared::new(0b1, 0b1), vec![hold], purge_noting);
}

#[test]
#[should_panic]
fn mutant_purge_that_names_its_slots_late() {
    fn claim(slab: &Slab) -> Option<u32> {
        let word = slab.word();
        let claimed = word.free() & slab.resident();
        let new = word.with_free(word.free() & !claimed).purging(true);
        (claimed != 0 && slab.exchange(word, new).is_ok()).then_some(claimed)?;
        slab.claimed.store(claimed, Ordering::Relaxed);
        Some(claimed)
    }
    fn work(shared: &Shared) {
        purge_with(shared, claim);
    }
    check(|| Shared::new(0b11, 0b1), vec![free_while_purged, hold_a_cold_one], work);
}
