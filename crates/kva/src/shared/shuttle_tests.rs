//! The shared space under random schedules: two threads allocate, move, cut, merge and free, and one looks addresses up
//! without a lock; the judge looks at all they did. A region that is moving counts as one at each place. Reclamation is
//! prompt in half of the schedules, and batched in the other half.
//!
//! ```sh
//! RUSTFLAGS="--cfg shuttle" cargo test -p freehold-kva --features std --lib shuttle
//! ```

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at once")]

use super::SharedSpace;
use crate::shuttle_judge::{Did, Event, explore, is_right, shown};
use crate::{AddressSpace, AllocError, FreeError, PendingMove, Placement, Request, SharedError};
use freehold_maple::maple_tree::Reclaim;
use freehold_units::{Align, Span};
use shuttle::rand::{Rng, thread_rng};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use std::collections::HashSet;
use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::vec::Vec;

const PAGE: u64 = 0x1000;
const PAGES: u64 = 12;
const STEPS: usize = 6;
const SCHEDULES: usize = 3000;

/// A value. The test keeps each value outside the space, too, so that a value dropped too early is reported instead of
/// a crash.
#[derive(Debug)]
struct Canary(usize);

type Space = SharedSpace<Canary>;

/// The way in which threads free; a mutant has its own.
type Free = fn(&Space, u64) -> Result<(Span, Arc<Canary>), SharedError<FreeError>>;

/// State that all threads share. Its own atomics and locks are the standard library's: between two steps of a schedule
/// no other thread runs.
struct World {
    space: Space,
    free: Free,
    clock: AtomicU64,
    kept: Mutex<Vec<Arc<Canary>>>,
    /// The place of each value, and where readers found it.
    put: Mutex<HashSet<(usize, Span)>>,
    found: Mutex<HashSet<(usize, Span)>>,
    history: Mutex<Vec<Vec<Event>>>,
    done: Arc<Tally>,
}

/// How often each happened that is tested, over all schedules.
#[derive(Debug, Default)]
struct Tally {
    moved: AtomicU64,
    cut: AtomicU64,
    merged: AtomicU64,
    freed_in_part: AtomicU64,
}

impl World {
    /// Makes a call and records the event in its answer.
    fn call<T>(
        &self,
        events: &mut Vec<Event>,
        call: impl FnOnce(&Space) -> T,
        did: impl FnOnce(&T) -> Option<Did>,
    ) -> T {
        let begun = self.clock.fetch_add(1, Ordering::Relaxed);
        let answer = call(&self.space);
        let ended = self.clock.fetch_add(1, Ordering::Relaxed);
        events.extend(did(&answer).map(|did| Event { begun, ended, did }));
        answer
    }

    fn value(&self) -> Arc<Canary> {
        let mut kept = self.kept.lock().unwrap();
        let value = Arc::new(Canary(kept.len()));
        kept.push(Arc::clone(&value));
        value
    }

    /// Checks that a refusal is for lack of space, or because readers hold back too much.
    fn refuse<C: Display>(&self, refused: &SharedError<C>, why: impl FnOnce(&C) -> bool) {
        match refused {
            // A thread that tries again lets the readers run first.
            SharedError::Readers { .. } => shuttle::thread::yield_now(),
            SharedError::Refused(cause) if why(cause) => {}
            other => panic!("{other}"),
        }
    }

    fn read(&self) {
        let mut events = Vec::new();
        let long = thread_rng().gen_bool(0.3).then(|| self.space.read());
        for _ in 0..2 * STEPS {
            let address = (PAGES + thread_rng().gen_range(0..PAGES)) * PAGE;
            let did = |span: Option<Span>| Some(span.map_or(Did::FindFree(address), Did::FindHeld));
            let found = if thread_rng().gen_bool(0.5) {
                let found = self.call(
                    &mut events,
                    |space| space.region_at(address),
                    |found| did(found.as_ref()?.0.into()),
                );
                found.map(|(span, value)| (value.0, span))
            } else {
                let reading = self.space.read();
                let found = self.call(
                    &mut events,
                    |_| reading.entry_at(address),
                    |found| did(found.map(|(span, _)| span)),
                );
                // Other threads run here.
                drop(self.space.read());
                found.map(|(span, &Canary(number))| {
                    let owners = Arc::strong_count(&self.kept.lock().unwrap()[number]);
                    assert!(owners > 1, "value {number} was dropped under a guard");
                    (number, span)
                })
            };
            self.found.lock().unwrap().extend(found);
        }
        drop(long);
        self.history.lock().unwrap().push(events);
    }
}

/// A thread that allocates, moves and frees.
struct Writer<'w> {
    world: &'w World,
    events: Vec<Event>,
    mine: Vec<(usize, Span)>,
    /// Pending moves: the old and the new place.
    moves: Vec<(PendingMove, usize, Span, Span)>,
}

impl Writer<'_> {
    fn write(mut self) {
        for _ in 0..STEPS {
            match thread_rng().gen_range(0..10) {
                0..2 => self.alloc(),
                2 => self.free_one(),
                3..5 => self.begin_move(),
                5 => self.cut_one(),
                6 => self.merge_two(),
                7 => self.free_a_part(),
                _ => self.end_one(),
            }
        }
        while !self.moves.is_empty() {
            self.end_one();
        }
        while !self.mine.is_empty() {
            self.free_one();
        }
        self.world.history.lock().unwrap().push(self.events);
    }

    fn alloc(&mut self) {
        let world = self.world;
        let request = Request::new(PAGE * thread_rng().gen_range(1..4));
        let value = world.value();
        let number = value.0;
        let given = world.call(
            &mut self.events,
            |space| space.alloc(&request, value),
            |given| given.as_ref().ok().copied().map(Did::Take),
        );
        match given {
            Ok(span) => {
                world.put.lock().unwrap().insert((number, span));
                self.mine.push((number, span));
            }
            Err(rejected) => {
                assert_eq!(rejected.value.0, number);
                world.refuse(&rejected.cause, |cause| matches!(cause, AllocError::NoSpace { .. }));
            }
        }
    }

    fn free_one(&mut self) {
        let world = self.world;
        if self.mine.is_empty() {
            return;
        }
        let place = thread_rng().gen_range(0..self.mine.len());
        let (number, span) = self.mine[place];
        let freed = world.call(
            &mut self.events,
            |space| (world.free)(space, span.first()),
            |freed| freed.is_ok().then_some(Did::Free(span)),
        );
        match freed {
            Ok((freed, value)) => {
                assert_eq!((value.0, freed), (number, span));
                self.mine.swap_remove(place);
            }
            Err(refused) => world.refuse(&refused, |_| false),
        }
    }

    /// A region of more than one page, and the start of one of its other pages.
    fn place_to_cut(&self) -> Option<(usize, u64)> {
        let pages = |span: Span| span.size_saturating() / PAGE;
        let place = self.mine.iter().position(|&(_, span)| pages(span) > 1)?;
        let span = self.mine[place].1;
        Some((place, span.first() + PAGE * thread_rng().gen_range(1..pages(span))))
    }

    fn cut_one(&mut self) {
        let world = self.world;
        let Some((place, address)) = self.place_to_cut() else { return };
        let (number, whole) = self.mine[place];
        let second = if thread_rng().gen_bool(0.5) { Some(world.value()) } else { None };
        let of_second = second.as_ref().map_or(number, |second| second.0);
        let parts = world.call(
            &mut self.events,
            |space| match &second {
                Some(second) => space.split_at_with(address, |_, _, old| {
                    assert_eq!(old.0, number);
                    Arc::clone(second)
                }),
                None => space.split_at(address),
            },
            |parts| {
                let &(low, high) = parts.as_ref().ok()?;
                Some(Did::Replace([Some(whole), None], [Some(low), Some(high)]))
            },
        );
        match parts {
            Ok((low, high)) => {
                world.done.cut.fetch_add(1, Ordering::Relaxed);
                world.put.lock().unwrap().extend([(number, low), (of_second, high)]);
                self.mine[place].1 = low;
                self.mine.push((of_second, high));
            }
            Err(refused) => world.refuse(&refused, |_| false),
        }
    }

    fn merge_two(&mut self) {
        let world = self.world;
        let behind = |span: Span| self.mine.iter().position(|(_, next)| next.first() == span.last() + 1);
        let pair = |place: usize| Some((place, behind(self.mine[place].1)?));
        let Some((place, next)) = (0..self.mine.len()).find_map(pair) else { return };
        let ((number, low), (other, high)) = (self.mine[place], self.mine[next]);
        let merged = world.call(
            &mut self.events,
            |space| space.merge_with(low.first(), |(_, one), (_, two)| (one.0, two.0) == (number, other)),
            |merged| {
                let both = merged.as_ref().ok()?.0;
                Some(Did::Replace([Some(low), Some(high)], [Some(both), None]))
            },
        );
        match merged {
            Ok((both, second)) => {
                assert_eq!((both, second.0), (low.hull(high), other));
                world.done.merged.fetch_add(1, Ordering::Relaxed);
                world.put.lock().unwrap().insert((number, both));
                self.mine[place].1 = both;
                self.mine.swap_remove(next);
            }
            Err(refused) => world.refuse(&refused, |_| false),
        }
    }

    /// Frees one page of a region, which is not its first.
    fn free_a_part(&mut self) {
        let world = self.world;
        let Some((place, address)) = self.place_to_cut() else { return };
        let (number, whole) = self.mine[place];
        let gone = Span::from_size(address, PAGE).unwrap();
        let (below, above) = (whole.below(gone), whole.above(gone));
        let freed = world.call(
            &mut self.events,
            |space| space.free_range(gone),
            |freed| freed.is_ok().then_some(Did::Replace([Some(whole), None], [below, above])),
        );
        match freed {
            Ok(freed) => {
                assert!(freed.map(|(span, value)| (span, value.0)).eq([(gone, number)]));
                world.done.freed_in_part.fetch_add(1, Ordering::Relaxed);
                let left = || [below, above].into_iter().flatten().map(|span| (number, span));
                world.put.lock().unwrap().extend(left());
                self.mine.swap_remove(place);
                self.mine.extend(left());
            }
            Err(refused) => world.refuse(&refused, |_| false),
        }
    }

    fn begin_move(&mut self) {
        let world = self.world;
        if self.mine.is_empty() {
            return;
        }
        let place = thread_rng().gen_range(0..self.mine.len());
        let (number, old) = self.mine[place];
        let to = (PAGES + thread_rng().gen_range(0..PAGES)) * PAGE;
        // An overlapping region would be found in parts, which the judge does not model.
        let Some(new) = Span::from_size(to, old.size_saturating()).filter(|new| !new.overlaps(old)) else {
            return;
        };
        let begun = world.call(
            &mut self.events,
            |space| space.begin_move(old.first(), to),
            |begun| begun.is_ok().then_some(Did::Take(new)),
        );
        match begun {
            Ok(pending) => {
                world.put.lock().unwrap().insert((number, new));
                self.mine.swap_remove(place);
                self.moves.push((pending, number, old, new));
            }
            Err(refused) => world.refuse(&refused, |_| true),
        }
    }

    /// Ends a move at one of its places.
    fn end_one(&mut self) {
        let world = self.world;
        let Some(&(pending, number, old, new)) = self.moves.last() else { return };
        let (goes, stays) = if thread_rng().gen_bool(0.5) { (old, new) } else { (new, old) };
        let ended = world.call(
            &mut self.events,
            |space| match stays == new {
                true => space.commit_move(pending).map(|to| assert_eq!(to, new)),
                false => space.cancel_move(pending),
            },
            |ended| ended.is_ok().then_some(Did::Free(goes)),
        );
        match ended {
            Ok(()) => {
                world.done.moved.fetch_add(1, Ordering::Relaxed);
                self.moves.pop();
                self.mine.push((number, stays));
            }
            Err(refused) => world.refuse(&refused, |_| false),
        }
    }
}

/// One schedule.
fn run(free: Free, done: &Arc<Tally>) {
    let span = Span::from_size(PAGES * PAGE, PAGES * PAGE).unwrap();
    let alone = AddressSpace::new(span, Align::PAGE, Placement::Lowest).unwrap();
    let reclaim = if thread_rng().gen_bool(0.5) { Reclaim::Prompt } else { Reclaim::Batched };
    let world = World {
        space: Space::share(alone, Space::readers().reclaim(reclaim)).unwrap(),
        free,
        clock: AtomicU64::new(0),
        kept: Mutex::default(),
        put: Mutex::default(),
        found: Mutex::default(),
        history: Mutex::default(),
        done: Arc::clone(done),
    };
    // Not joined: a thread that runs on in the drop of its thread-locals, as those of `rcu` do, has no result yet for
    // shuttle.
    shuttle::thread::scope(|scope| {
        let world = &world;
        for _ in 0..2 {
            scope.spawn(move || {
                Writer { world, events: Vec::new(), mine: Vec::new(), moves: Vec::new() }.write()
            });
        }
        scope.spawn(|| world.read());
    });
    let World { space, kept, put, found, history, .. } = world;
    let history = history.into_inner().unwrap();
    assert!(is_right(&history), "no order explains{}", shown(&history));
    let (put, found) = (put.into_inner().unwrap(), found.into_inner().unwrap());
    assert!(found.is_subset(&put), "a value was never there: {found:?}, {put:?}");
    space.validate().unwrap();
    assert!(space.is_empty());
    drop(space);
    let kept = kept.into_inner().unwrap();
    assert!(kept.iter().all(|value| Arc::strong_count(value) == 1), "values were not dropped");
}

fn explore_both(free: Free) {
    let done = Arc::new(Tally::default());
    let all = Arc::clone(&done);
    explore(RandomScheduler::new(SCHEDULES), move || run(free, &all));
    let all = Arc::clone(&done);
    explore(PctScheduler::new(4, SCHEDULES), move || run(free, &all));
    let Tally { moved, cut, merged, freed_in_part } = &*done;
    let all = [moved, cut, merged, freed_in_part].map(|count| count.load(Ordering::Relaxed));
    assert!(all.iter().all(|&count| count > 0), "what is tested never happened: {done:?}");
}

#[test]
fn shuttle_every_region_is_found_in_its_time() {
    explore_both(Space::free);
}

/// Frees the addresses before readers have lost the region.
fn free_before_unpublishing(
    space: &Space,
    first: u64,
) -> Result<(Span, Arc<Canary>), SharedError<FreeError>> {
    let (span, value) = space.region_at(first).unwrap();
    space.lock().free(first).unwrap();
    space.busy.erase_under_lock(first)?;
    Ok((span, value))
}

#[test]
#[should_panic]
fn shuttle_mutant_free_before_unpublishing() {
    explore_both(free_before_unpublishing);
}
