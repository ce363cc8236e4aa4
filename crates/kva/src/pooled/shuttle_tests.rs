//! A whole space under random schedules: three threads allocate, free, look up, purge and trim; the judge checks the
//! history.
//!
//! ```sh
//! RUSTFLAGS="--cfg shuttle" cargo test -p freehold-kva --features std --lib shuttle
//! ```
//!
//! Shuttle lets another thread run before each access to an atomic or a lock, and models only sequential consistency.
//! Loom covers weaker orderings (`slab/loom_tests.rs`). A page map's top has 4 cells here, there are two shards, and a
//! thread uses another shard each time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at once")]

use super::slab::Freed;
use super::slab::mutant::RETIRES_ANY_WORD;
use super::{CELL_GRANULES, Memory, PooledSpace, SlabRef};
use crate::shuttle_judge;
use crate::shuttle_judge::{Did, Event, is_right, shown};
use crate::{AllocError, FreeError, Request};
use freehold_units::{Align, Span};
use shuttle::rand::{Rng, thread_rng};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::vec;
use std::vec::Vec;

const THREADS: usize = 3;
const STEPS: usize = 7;
const GRANULE: u64 = 4096;
const CELL: u64 = CELL_GRANULES * GRANULE;
/// Room for two slabs of one granule and one of two, and nothing else.
const SPAN: u64 = 8 * CELL;
const SCHEDULES: usize = 4000;

/// Counts of events over all schedules: a test in which an event never happens proves nothing about it.
#[derive(Default)]
struct Reached {
    refused: AtomicU64,
    freed_twice: AtomicU64,
    trimmed: AtomicU64,
    purged: AtomicU64,
    extents: AtomicU64,
    found: AtomicU64,
    retried: AtomicU64,
}

fn count(what: &AtomicU64) {
    what.fetch_add(1, Ordering::Relaxed);
}

/// The way in which threads free, sometimes with an arbitrary slab name; a mutant has its own.
type Free = fn(&PooledSpace, u64, Option<SlabRef>) -> Result<Span, FreeError>;

fn free(space: &PooledSpace, first: u64, slab: Option<SlabRef>) -> Result<Span, FreeError> {
    slab.map_or_else(|| space.free(first), |slab| space.free_slot(first, slab))
}

/// State that all threads share. Its own atomics and locks are the standard library's: between two steps of a schedule
/// no other thread runs.
struct World {
    space: PooledSpace,
    free: Free,
    /// Whether threads free any block that they find; otherwise each frees only its own blocks.
    wild: bool,
    /// The time of the latest event.
    clock: AtomicU64,
    /// The starts of blocks so far.
    known: Mutex<Vec<u64>>,
    /// The slabs of some.
    slabs: Mutex<Vec<SlabRef>>,
    /// The names of extents so far.
    extents: Mutex<Vec<SlabRef>>,
    /// Whether each granule has pages, if not wild: holders write to all of theirs.
    pages: Mutex<Vec<bool>>,
    reached: Arc<Reached>,
}

impl World {
    fn new(wild: bool, free: Free, reached: Arc<Reached>) -> Self {
        let span = Span::from_size(SPAN, SPAN).unwrap();
        // Without memory, slabs are retired more often, since they need no purge first.
        let has_memory = !wild || thread_rng().gen_bool(0.5);
        Self {
            space: if has_memory { PooledSpace::for_memory } else { PooledSpace::new }(span, Align::PAGE)
                .unwrap(),
            free,
            wild,
            clock: AtomicU64::new(0),
            known: Mutex::default(),
            slabs: Mutex::default(),
            extents: Mutex::default(),
            pages: Mutex::new(vec![false; (SPAN / GRANULE) as usize]),
            reached,
        }
    }

    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }

    fn set_pages(&self, span: Span, to: bool) {
        let mut pages = self.pages.lock().unwrap();
        let granule = |address: u64| ((address - SPAN) / GRANULE) as usize;
        pages[granule(span.first())..=granule(span.last())].fill(to);
    }

    fn has_pages(&self, span: Span) -> bool {
        let granule = |address: u64| ((address - SPAN) / GRANULE) as usize;
        self.pages.lock().unwrap()[granule(span.first())..=granule(span.last())].contains(&true)
    }
}

/// A thread and its history.
struct Worker<'w> {
    world: &'w World,
    events: Vec<Event>,
    /// The blocks that the thread holds, if not wild.
    mine: Vec<Span>,
}

impl<'w> Worker<'w> {
    fn new(world: &'w World) -> Self {
        Self { world, events: Vec::new(), mine: Vec::new() }
    }

    /// Makes a call and records the event in its answer.
    fn call<T>(&mut self, call: impl FnOnce(&PooledSpace) -> T, did: impl FnOnce(&T) -> Vec<Did>) -> T {
        let begun = self.world.now();
        let answer = call(&self.world.space);
        let ended = self.world.now();
        self.events.extend(did(&answer).into_iter().map(|did| Event { begun, ended, did }));
        answer
    }

    fn work(mut self) -> Vec<Event> {
        // Half of the operations.
        let often = thread_rng().gen_range(0..5);
        for _ in 0..STEPS {
            let any = thread_rng().gen_range(0..5);
            match if thread_rng().gen_bool(0.5) { often } else { any } {
                0 => self.take(),
                1 => self.free_some(),
                2 => self.find(),
                3 => self.purge(),
                _ => {
                    let bytes = self.world.space.trim();
                    self.world.reached.trimmed.fetch_add(bytes, Ordering::Relaxed);
                }
            }
        }
        for block in std::mem::take(&mut self.mine) {
            self.free_mine(block);
        }
        self.events
    }

    fn take(&mut self) {
        let which = thread_rng().gen_range(0..11);
        let extent = {
            let extents = self.world.extents.lock().unwrap();
            extents.get(thread_rng().gen_range(0..extents.len().max(1))).copied()
        };
        let answer = self.call(
            |space| match which {
                0..3 => space.alloc_memory(GRANULE),
                3..6 => match space.alloc_resident(GRANULE) {
                    Some((span, slab)) => Ok(Memory { span, is_resident: true, slab: Some(slab) }),
                    None => space.alloc_memory(GRANULE),
                },
                6..8 => space.alloc_memory(2 * GRANULE),
                8 => space
                    .alloc_memory_request(&Request::new(3 * GRANULE).align(Align::new(2 * CELL).unwrap())),
                9 => space.alloc_memory(CELL),
                _ => extent
                    .and_then(|name| space.alloc_extent_again(name))
                    .map_or_else(|| space.alloc_memory(CELL), Ok),
            },
            |answer| answer.iter().map(|memory| Did::Take(memory.span)).collect(),
        );
        match answer {
            Ok(Memory { span, is_resident, slab }) => {
                if !self.world.wild {
                    // Callers count a block when they free it resident, and uncount it when they get it as resident. So
                    // `is_resident` must be exact.
                    assert_eq!(
                        is_resident,
                        self.world.has_pages(span),
                        "{span}: what is resident has pages, and all else is zero"
                    );
                    self.world.set_pages(span, true);
                    self.mine.push(span);
                }
                self.world.known.lock().unwrap().push(span.first());
                self.world.slabs.lock().unwrap().extend(slab);
                // Asked before the lock, under which no other thread may run.
                let extent = self.world.space.extent_name(span.first());
                self.world.extents.lock().unwrap().extend(extent);
                self.world.reached.extents.fetch_add(slab.is_none().into(), Ordering::Relaxed);
            }
            Err(AllocError::NoSpace { .. }) => count(&self.world.reached.refused),
            Err(other) => panic!("{other}"),
        }
    }

    /// Any address at which a block started, sometimes the next granule.
    fn known(&self) -> Option<u64> {
        let known = self.world.known.lock().unwrap();
        let first = *known.get(thread_rng().gen_range(0..known.len().max(1)))?;
        Some(if thread_rng().gen_range(0..8) == 0 { (first + GRANULE).min(2 * SPAN - 1) } else { first })
    }

    fn free_some(&mut self) {
        if self.world.wild {
            if let Some(first) = self.known() {
                self.free(first);
            }
        } else if !self.mine.is_empty() {
            let block = self.mine.swap_remove(thread_rng().gen_range(0..self.mine.len()));
            self.free_mine(block);
        }
    }

    fn free(&mut self, first: u64) {
        let slab = {
            let slabs = self.world.slabs.lock().unwrap();
            slabs.get(thread_rng().gen_range(0..2 * slabs.len().max(1))).copied()
        };
        let world = self.world;
        let freed = self.call(
            |space| (world.free)(space, first, slab),
            |answer| {
                vec![match *answer {
                    Ok(span) => Did::Free(span),
                    Err(FreeError::AlreadyFree { .. } | FreeError::Unknown { .. }) => Did::FindFree(first),
                    Err(FreeError::Interior { region, .. }) => Did::FindHeld(region),
                    Err(other) => panic!("{other}"),
                }]
            },
        );
        match freed {
            Ok(span) => assert_eq!(span.first(), first),
            Err(FreeError::Interior { region, .. }) => {
                assert!(region.first() < first, "{region} at {first:#x}")
            }
            Err(_) => count(&self.world.reached.freed_twice),
        }
    }

    /// Frees a block that the thread holds: as it is, or decommitted.
    fn free_mine(&mut self, block: Span) {
        if thread_rng().gen_range(0..3) == 0 {
            self.world.set_pages(block, false);
            let freed = self.call(|space| space.free_decommitted(block.first()), |_| vec![Did::Free(block)]);
            assert_eq!(freed, Ok(block));
        } else {
            self.free(block.first());
        }
    }

    fn find(&mut self) {
        let Some(address) = self.known() else { return };
        let found = self.call(
            |space| space.locate(address),
            |found| vec![found.map_or(Did::FindFree(address), Did::FindHeld)],
        );
        if let Some(block) = found {
            assert!(block.contains(address), "{block} at {address:#x}");
            count(&self.world.reached.found);
        }
    }

    fn purge(&mut self) {
        let world = self.world;
        let budget = thread_rng().gen_range(1..4) * GRANULE;
        let batch = self.call(
            |_| world.space.take_resident(budget).unwrap(),
            |batch| batch.spans().map(Did::Purge).collect(),
        );
        let spans: Vec<Span> = batch.spans().collect();
        if thread_rng().gen_range(0..4) == 0 {
            self.call(|_| drop(batch), |()| spans.iter().rev().copied().map(Did::GiveBack).collect());
            return;
        }
        if !world.wild {
            spans.iter().for_each(|&span| world.set_pages(span, false));
        }
        world.reached.purged.fetch_add(spans.len() as u64, Ordering::Relaxed);
        self.call(
            |space| space.give_back(batch),
            |()| spans.iter().rev().copied().map(Did::GiveBack).collect(),
        );
    }

    /// Frees all blocks of all threads, after all others have ended.
    fn free_all(mut self) -> Vec<Event> {
        for address in (SPAN..2 * SPAN).step_by(GRANULE as usize) {
            if self.world.space.locate(address).is_some() {
                self.free(address);
            }
        }
        self.events
    }
}

/// One schedule.
fn run(wild: bool, free: Free, reached: &Arc<Reached>) {
    let world = Arc::new(World::new(wild, free, Arc::clone(reached)));
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let world = Arc::clone(&world);
            shuttle::thread::spawn(move || Worker::new(&world).work())
        })
        .collect();
    let mut history: Vec<Vec<Event>> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    history.push(Worker::new(&world).free_all());
    assert!(is_right(&history), "no order explains{}", shown(&history));
    reached.retried.fetch_add(world.space.stats().retries, Ordering::Relaxed);
    // Nothing is lost: one free block.
    let batch = world.space.take_resident(u64::MAX).unwrap();
    world.space.give_back(batch);
    world.space.trim();
    world.space.validate().unwrap();
    assert!(world.space.lock().space.free_blocks().eq([world.space.span()]), "{:?}", world.space.stats());
}

/// Many schedules.
fn explore(scheduler: impl Scheduler + 'static, wild: bool, free: Free) -> Arc<Reached> {
    let reached = Arc::new(Reached::default());
    let all = Arc::clone(&reached);
    shuttle_judge::explore(scheduler, move || run(wild, free, &all));
    reached
}

fn every_answer_is_right(wild: bool) {
    for reached in [
        explore(RandomScheduler::new(SCHEDULES), wild, free),
        explore(PctScheduler::new(4, SCHEDULES), wild, free),
    ] {
        let Reached { refused, freed_twice, trimmed, purged, extents, found, retried } = &*reached;
        for reached in [refused, trimmed, purged, extents, found, retried] {
            assert!(reached.load(Ordering::Relaxed) > 0, "what is tested never happened");
        }
        assert_eq!(freed_twice.load(Ordering::Relaxed) > 0, wild);
    }
}

#[test]
fn shuttle_every_answer_is_right_whoever_frees() {
    every_answer_is_right(true);
}

#[test]
fn shuttle_cold_memory_has_no_pages() {
    every_answer_is_right(false);
}

#[test]
#[should_panic(expected = "no order explains")]
fn shuttle_mutant_retire_from_any_word() {
    RETIRES_ANY_WORD.set(true);
    explore(RandomScheduler::new_from_seed(1, 20 * SCHEDULES), true, free);
}

/// Frees a slot of whatever slab the record has by now.
fn free_without_generation(space: &PooledSpace, first: u64, _: Option<SlabRef>) -> Result<Span, FreeError> {
    let name = space.map.name_at(first).ok_or(FreeError::Unknown { address: first })?;
    let slab = space.records.at(name.id());
    match slab.free(slab.word().generation(), first, 8, &mut 0) {
        Freed::Done { span, owned: false, .. } => Ok(span),
        Freed::AlreadyFree { block } => Err(FreeError::AlreadyFree { address: first, block }),
        Freed::Interior { region } => Err(FreeError::Interior { address: first, region }),
        _ => space.free(first),
    }
}

#[test]
#[should_panic(expected = "no order explains")]
fn shuttle_mutant_free_without_generation() {
    explore(RandomScheduler::new_from_seed(1, 20 * SCHEDULES), true, free_without_generation);
}

/// Two slabs of slots, of which threads hold one each at most.
fn take_one_at_a_time() {
    let span = Span::from_size(SPAN, 4 * CELL).unwrap();
    let space = Arc::new(PooledSpace::new(span, Align::PAGE).unwrap());
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let space = Arc::clone(&space);
            shuttle::thread::spawn(move || {
                for _ in 0..STEPS {
                    if thread_rng().gen_range(0..3) == 0 {
                        space.trim();
                    }
                    let block =
                        space.alloc(GRANULE).unwrap_or_else(|refused| panic!("slots are free: {refused}"));
                    assert_eq!(space.free(block.first()), Ok(block));
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    space.validate().unwrap();
}

#[test]
fn shuttle_nothing_is_refused_while_slots_are_free() {
    shuttle_judge::explore(RandomScheduler::new(SCHEDULES), take_one_at_a_time);
    shuttle_judge::explore(PctScheduler::new(4, SCHEDULES), take_one_at_a_time);
}

/// One resident slot, which a thread takes by the fast path while another purges it. Returns whether the thread got it,
/// and whether the purge did.
fn take_beside_purge() -> (bool, bool) {
    let space = Arc::new(PooledSpace::for_memory(Span::from_size(SPAN, SPAN).unwrap(), Align::PAGE).unwrap());
    let block = space.alloc(GRANULE).unwrap();
    space.free(block.first()).unwrap();
    let purging = Arc::clone(&space);
    let purge = shuttle::thread::spawn(move || {
        let batch = purging.take_resident(GRANULE).unwrap();
        let has_it = !batch.is_empty();
        purging.give_back(batch);
        has_it
    });
    let taken = space.alloc_resident(GRANULE);
    let purged = purge.join().unwrap();
    assert!(
        taken.is_none_or(|(span, _)| span == block && !purged),
        "what was purged is handed out as resident"
    );
    let (held, resident) = (taken.is_some(), taken.is_none() && !purged);
    let stats = space.stats();
    assert_eq!((stats.blocks, stats.resident_bytes), (held.into(), if resident { GRANULE } else { 0 }));
    space.validate().unwrap();
    (held, purged)
}

#[test]
fn shuttle_what_is_purged_meanwhile_is_not_resident() {
    let (taken, purged) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let seen = (Arc::clone(&taken), Arc::clone(&purged));
    let run = move || {
        let (taken, purged) = take_beside_purge();
        seen.0.fetch_add(taken.into(), Ordering::Relaxed);
        seen.1.fetch_add(purged.into(), Ordering::Relaxed);
    };
    shuttle_judge::explore(PctScheduler::new(3, 2 * SCHEDULES), run);
    assert!(taken.load(Ordering::Relaxed) > 0 && purged.load(Ordering::Relaxed) > 0);
}
