//! The shared map under random schedules: readers beside a writer. Every answer must be true at some moment between
//! question and answer. Each value is dropped once, after its readers.
//!
//! ```sh
//! RUSTFLAGS="--cfg shuttle" cargo test -p freehold-maple --features std --lib shuttle
//! ```
//!
//! Shuttle lets another thread run before each access to an atomic, a lock or a published node. It models sequential
//! consistency only: weaker orders are checked by Miri and ThreadSanitizer. A backlog has room for few records here, so
//! that it is often full.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at once")]

#[path = "../../tests/common/shared.rs"]
#[allow(clippy::duplicate_mod, reason = "other unit tests have the model, too")]
mod common;
#[path = "../../tests/common/judge.rs"]
mod judge;

use super::atomic::switch;
use super::{MapleTree, OwnedReading, Reading, Reclaim};
use crate::error::WriteError;
use crate::node::Nodes;
use crate::shared::view::ReadGuard;
use common::{Model, STRIDE, change_model, span};
use freehold_rcu::Domain;
use freehold_units::Span;
use judge::{Event, Seen, Store, wrong};
use shuttle::rand::{Rng, thread_rng};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::vec;
use std::vec::Vec;

const SCHEDULES: usize = 10_000;
/// Stores of a writer.
const STORES: u32 = 8;
/// Rounds of each reader.
const ROUNDS: u32 = 3;

/// A value. A copy of each is kept beside the map, so that a value dropped too early is detected and does not only
/// crash.
#[derive(Debug)]
struct Canary(u32);

type Map = MapleTree<Arc<Canary>>;

/// A deliberately wrong writer.
#[derive(Clone, Copy, PartialEq)]
enum Mutant {
    None,
    /// Stores that belong together are made one after the other.
    StoresInParts,
    /// Retired nodes are reused at once.
    ReusesNodesAtOnce,
    DropsValuesAtOnce,
}

/// How often each event happened, over all schedules: a test that never gets there has shown nothing.
#[derive(Default)]
struct Reached {
    refused: AtomicU64,
    reclaimed: AtomicU64,
    between: AtomicU64,
    sent: AtomicU64,
    over_one: AtomicU64,
}

fn add(what: &AtomicU64, count: u64) {
    what.fetch_add(count, Ordering::Relaxed);
}

/// The state that all threads share. Its own atomics and locks are the standard library's: between two steps of a
/// schedule no other thread runs.
struct World {
    map: Map,
    width: u64,
    /// Numbers of stores.
    begun: AtomicU64,
    finished: AtomicU64,
    kept: Mutex<BTreeMap<u32, Arc<Canary>>>,
    mutant: Mutant,
    reached: Arc<Reached>,
}

impl World {
    /// A map with some entries, and its model.
    fn new(mutant: Mutant, reached: Arc<Reached>) -> (Self, Model) {
        let entries = [0, 5, 14, 14, 48][thread_rng().gen_range(0..5)];
        let length = if thread_rng().gen_bool(0.5) { 6 } else { STRIDE - 1 };
        let world = Self {
            map: any_map(),
            width: STRIDE * entries + 30,
            begun: AtomicU64::new(0),
            finished: AtomicU64::new(0),
            kept: Mutex::default(),
            mutant,
            reached,
        };
        let mut model = Model::default();
        for at in 0..entries {
            let over = span(STRIDE * at, STRIDE * at + length);
            world.map.store(over, world.value(at as u32)).unwrap();
            model.store(over, at as u32);
        }
        (world, model)
    }

    fn value(&self, number: u32) -> Arc<Canary> {
        let value = Arc::new(Canary(number));
        assert!(self.kept.lock().unwrap().insert(number, Arc::clone(&value)).is_none());
        value
    }

    /// Checks that the value under a guard still belongs to the map.
    fn check(&self, value: Option<&Canary>) {
        switch();
        if let Some(&Canary(number)) = value {
            let owners = Arc::strong_count(&self.kept.lock().unwrap()[&number]);
            assert!(owners > 1, "value {number} was dropped under a guard");
        }
    }

    /// Asks a question, and records the time of question and answer.
    fn ask<T>(&self, question: impl FnOnce() -> T) -> (u64, T, u64) {
        let finished = self.finished.load(Ordering::Relaxed);
        let answer = question();
        (finished, answer, self.begun.load(Ordering::Relaxed))
    }

    fn event(&self, question: impl FnOnce() -> Seen) -> Event {
        let (finished, seen, begun) = self.ask(question);
        Event { finished, begun, seen }
    }

    /// An index, often one at which something begins or ends.
    fn index(&self) -> u64 {
        let index = thread_rng().gen_range(0..self.width);
        if thread_rng().gen_bool(0.5) { index / STRIDE * STRIDE } else { index }
    }

    fn span(&self) -> Span {
        let first = self.index();
        match thread_rng().gen_range(0..12) {
            0 => span(first, self.width.max(first)),
            1 => span(first, u64::MAX),
            // To the end of an entry.
            2..6 => span(first, first / STRIDE * STRIDE + STRIDE * thread_rng().gen_range(1..4) - 1),
            _ => span(first, first + thread_rng().gen_range(0..25)),
        }
    }
}

/// The writer, with its model of the map.
struct Writer<'w> {
    world: &'w World,
    model: Model,
    stores: Vec<Store>,
}

impl Writer<'_> {
    fn write(mut self) -> Vec<Store> {
        for number in 1..=STORES {
            self.world.begun.store(number.into(), Ordering::Relaxed);
            let (done, ops) = match thread_rng().gen_range(0..8) {
                0..2 => self.store(number),
                2 => self.insert(number),
                3 => self.remove(),
                4 => self.erase(),
                _ => self.store_many(number),
            };
            // A store that was refused or dropped has changed nothing.
            let ops = match done {
                Ok(()) => ops,
                Err(WriteError::Readers { .. }) => {
                    add(&self.world.reached.refused, 1);
                    Store::new()
                }
                Err(other) => panic!("{other}"),
            };
            ops.iter().for_each(|&(over, value)| change_model(&mut self.model, over, value));
            self.stores.push(ops);
            self.world.finished.store(number.into(), Ordering::Relaxed);
            let mut writer = self.world.map.lock();
            match self.world.mutant {
                Mutant::ReusesNodesAtOnce => writer.reuse_at_once(),
                Mutant::DropsValuesAtOnce => writer.take_back(|word| drop(Map::value(word))),
                Mutant::None | Mutant::StoresInParts => {}
            }
        }
        self.stores
    }

    fn store(&self, number: u32) -> (Result<(), WriteError>, Store) {
        let mut over = self.world.span();
        // Exactly one entry: readers see such a store by one word.
        if let Some((at, _)) = self.model.at(over.first())
            && thread_rng().gen_bool(0.5)
        {
            add(&self.world.reached.over_one, 1);
            over = at;
        }
        let done = self.world.map.store(over, self.world.value(10 * number + 1000));
        (done.map_err(|refused| refused.cause), vec![(over, Some(10 * number + 1000))])
    }

    fn insert(&self, number: u32) -> (Result<(), WriteError>, Store) {
        let over = self.world.span();
        let done = self.world.map.insert(over, self.world.value(10 * number + 1000));
        match done.map_err(|refused| refused.cause) {
            Err(WriteError::Occupied { entry: other }) => {
                assert_eq!(self.model.in_the_way(over), Some(other));
                (Ok(()), Store::new())
            }
            done => {
                assert!(done.is_err() || self.model.in_the_way(over).is_none());
                (done, vec![(over, Some(10 * number + 1000))])
            }
        }
    }

    fn remove(&self) -> (Result<(), WriteError>, Store) {
        let over = self.world.span();
        (self.world.map.remove_range(over), vec![(over, None)])
    }

    fn erase(&self) -> (Result<(), WriteError>, Store) {
        let index = self.world.index();
        match self.world.map.erase(index) {
            Ok(erased) => {
                assert_eq!(erased, self.model.at(index).map(|(at, _)| at));
                (Ok(()), erased.map(|over| (over, None)).into_iter().collect())
            }
            Err(refused) => (Err(refused), Store::new()),
        }
    }

    /// Several stores at once, sometimes abandoned.
    fn store_many(&self, number: u32) -> (Result<(), WriteError>, Store) {
        let count = thread_rng().gen_range(2..4);
        let one = |at| (self.world.span(), thread_rng().gen_bool(0.7).then_some(10 * number + at + 1000));
        let ops: Store = (0..count).map(one).collect();
        if self.world.mutant == Mutant::StoresInParts {
            let map = &self.world.map;
            let done = ops.iter().try_for_each(|&(over, value)| match value {
                Some(value) => map.store(over, self.world.value(value)).map_err(|refused| refused.cause),
                None => map.remove_range(over),
            });
            return (done, ops);
        }
        let mut all = self.world.map.transaction();
        for &(over, value) in &ops {
            let done = match value {
                Some(value) => all.store(over, self.world.value(value)).map_err(|refused| refused.cause),
                None => all.remove_range(over),
            };
            if done.is_err() {
                return (done, ops);
            }
        }
        if thread_rng().gen_range(0..5) == 0 {
            drop(all);
            return (Ok(()), Store::new());
        }
        all.commit();
        (Ok(()), ops)
    }
}

/// A reader, which sends readings to another one.
struct Reader<'w, 's> {
    world: &'w World,
    sent: &'s shuttle::sync::Mutex<Vec<OwnedReading<'w, Arc<Canary>>>>,
    events: Vec<Event>,
}

impl Reader<'_, '_> {
    fn read(mut self) -> Vec<Event> {
        let world = self.world;
        // Some keep a reading over all rounds, so that stores are refused meanwhile.
        let long = thread_rng().gen_bool(0.3).then(|| world.map.read());
        for _ in 0..ROUNDS {
            match thread_rng().gen_range(0..6) {
                0..3 => self.look(&world.map.read()),
                3 => {
                    let owned = world.map.read_owned().unwrap();
                    self.sent.lock().unwrap().push(owned);
                    let got = self.sent.lock().unwrap().pop();
                    if let Some(reading) = got {
                        add(&world.reached.sent, 1);
                        self.look(&reading);
                    }
                }
                4 => self.snapshot(),
                _ => {
                    let index = world.index();
                    let (finished, value, begun) = world.ask(|| world.map.get_owned(index));
                    let seen = Seen::Value(index, value.as_ref().map(|value| value.0));
                    self.events.push(Event { finished, begun, seen });
                    world.check(value.as_deref());
                }
            }
        }
        drop(long);
        self.events
    }

    /// A round of questions under one guard.
    fn look<K: ReadGuard>(&mut self, reading: &Reading<'_, Arc<Canary>, K>) {
        let world = self.world;
        let index = world.index();
        let (finished, value, begun) = world.ask(|| reading.get(index));
        self.events.push(Event { finished, begun, seen: Seen::Value(index, value.map(|value| value.0)) });
        world.check(value);
        let index = world.index();
        let (finished, (at, value), begun) = world.ask(|| reading.slot_at(index));
        self.events.push(Event {
            finished,
            begun,
            seen: Seen::Slot(index, (at, value.map(|value| value.0))),
        });
        world.check(value);
        // Each item of an iterator was true at some moment since it began.
        let (first, mut all) = (world.finished.load(Ordering::Relaxed), reading.range(world.index()..));
        let backwards = thread_rng().gen_bool(0.3);
        for _ in 0..3 {
            let Some((at, value)) = (if backwards { all.next_back() } else { all.next() }) else { break };
            let seen = Seen::Slot(at.last(), (at, Some(value.0)));
            self.events.push(Event { finished: first, begun: world.begun.load(Ordering::Relaxed), seen });
            world.check(Some(value));
        }
        let (first, gaps) = (world.finished.load(Ordering::Relaxed), reading.gaps(world.index()..));
        for at in gaps.take(2) {
            let seen = Seen::Slot(at.last(), (at, None));
            self.events.push(Event { finished: first, begun: world.begun.load(Ordering::Relaxed), seen });
        }
        // Later than the previous question, under the same guard.
        self.events.push(world.event(|| {
            let entry = reading.entry_at(index);
            Seen::Entry(index, entry.map(|(at, value)| (at, value.0)))
        }));
        world.check(value);
    }

    /// The whole map at one moment, read while it changes.
    fn snapshot(&mut self) {
        let (finished, snapshot, begun) = self.world.ask(|| self.world.map.snapshot().unwrap());
        let mut all = Vec::new();
        for (at, value) in snapshot.iter() {
            self.world.check(Some(value));
            all.push((at, value.0));
        }
        self.events.push(Event { finished, begun, seen: Seen::All(all) });
    }
}

/// A map of each kind in turn: readers of the global domain or of one of its own, with barriers or fences, and values
/// that are dropped in batches or promptly.
fn any_map() -> Map {
    let map = Map::builder().nodes(Nodes::Small);
    match thread_rng().gen_range(0..4) {
        0 => map.domain(Domain::new()).build(),
        1 => map.domain(Domain::new()).reclaim(Reclaim::Prompt).build(),
        2 => map.domain(Domain::fenced()).reclaim(Reclaim::Prompt).build(),
        _ => map.build(),
    }
}

/// Runs one schedule.
fn run(mutant: Mutant, reached: &Arc<Reached>) {
    let (world, start) = World::new(mutant, Arc::clone(reached));
    let (sent, writer) =
        (shuttle::sync::Mutex::default(), Writer { world: &world, model: start.clone(), stores: Vec::new() });
    // Not joined: a thread that still drops its thread-locals, as those of `rcu`, has no result yet for shuttle.
    let (stores, events) = (Mutex::default(), Mutex::new(Vec::new()));
    shuttle::thread::scope(|scope| {
        let (world, sent, events) = (&world, &sent, &events);
        scope.spawn(|| *stores.lock().unwrap() = writer.write());
        for _ in 0..2 {
            scope.spawn(move || {
                let seen = Reader { world, sent, events: Vec::new() }.read();
                events.lock().unwrap().extend(seen);
            });
        }
    });
    let (stores, events) = (stores.into_inner().unwrap(), events.into_inner().unwrap());
    let between = events.iter().filter(|event| event.finished > 0 && event.begun < STORES.into()).count();
    add(&reached.between, between as u64);
    let wrong = wrong(&start, &stores, events);
    assert!(
        wrong.is_empty(),
        "answers were not so in their time: {wrong:?}, stores {stores:?}, start {start:?}"
    );
    // Everything that was sent has been read, or is abandoned now.
    drop(sent);
    let mut end = start;
    stores.iter().flatten().for_each(|&(over, value)| change_model(&mut end, over, value));
    let World { map, kept, .. } = world;
    map.validate().unwrap();
    assert!(map.read().iter().map(|(at, value)| (at, value.0)).eq(end.0));
    add(&reached.reclaimed, map.backlog().reclaimed);
    drop(map);
    let kept = kept.into_inner().unwrap();
    let others: Vec<_> = kept.values().filter(|value| Arc::strong_count(value) != 1).collect();
    assert!(others.is_empty(), "values were not dropped: {others:?}");
}

/// Runs many schedules.
fn explore(scheduler: impl Scheduler + 'static, mutant: Mutant) -> Arc<Reached> {
    let reached = Arc::new(Reached::default());
    let mut config = Config::new();
    config.stack_size = 1 << 18;
    config.silence_warnings = true;
    let all = Arc::clone(&reached);
    Runner::new(scheduler, config).run(move || run(mutant, &all));
    reached
}

/// Runs the same schedules each time, for mutants.
fn explore_known(mutant: Mutant) {
    explore(RandomScheduler::new_from_seed(1, SCHEDULES), mutant);
}

#[test]
fn shuttle_every_answer_was_so_in_its_time() {
    for reached in [
        explore(RandomScheduler::new(SCHEDULES), Mutant::None),
        explore(PctScheduler::new(4, SCHEDULES), Mutant::None),
    ] {
        let Reached { refused, reclaimed, between, sent, over_one } = &*reached;
        for reached in [refused, reclaimed, between, sent, over_one] {
            assert!(reached.load(Ordering::Relaxed) > 0, "what is tested never happened");
        }
    }
}

#[test]
#[should_panic(expected = "not so in their time")]
fn shuttle_mutant_stores_in_parts() {
    explore_known(Mutant::StoresInParts);
}

/// A reader may find anything in such a node: it answers wrongly, or stops.
#[test]
#[should_panic]
fn shuttle_mutant_reuses_nodes_at_once() {
    explore_known(Mutant::ReusesNodesAtOnce);
}

#[test]
#[should_panic(expected = "dropped under a guard")]
fn shuttle_mutant_drops_values_at_once() {
    explore_known(Mutant::DropsValuesAtOnce);
}
