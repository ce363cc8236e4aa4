//! Readers and writers of a shared map on threads: what each call answers is the map's after some number of stores, between those
//! that were finished before the call and those that had begun before its return.

use crate::common::{Looks, Map, Model, Random, STRIDE, beside_others, filled_with, span, with_room};
use crate::judge::{Event, Seen, Store, wrong};
use freehold_maple::Nodes;
use freehold_maple::maple_tree::{OwnedReading, Snapshot, WriteError};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

const STORES: usize = if cfg!(miri) { 24 } else { 8000 };
const ENTRIES: u64 = if cfg!(miri) { 12 } else { 40 };
const WIDTH: u64 = STRIDE * ENTRIES;
/// Answers that a reader keeps, at most.
const ANSWERS: usize = if cfg!(miri) { 60 } else { 20_000 };

/// What all threads have.
struct Scene {
    map: Map,
    /// Stores in their order. Its lock is held while a store is made: the order is that of the lock.
    stores: Mutex<Vec<Store>>,
    begun: AtomicU64,
    finished: AtomicU64,
    looks: Looks,
    done: AtomicBool,
}

impl Scene {
    fn new(nodes: Nodes) -> (Self, Model) {
        let (map, model) = filled_with(nodes, ENTRIES, true);
        let zero = || AtomicU64::new(0);
        let (stores, done) = (Mutex::default(), AtomicBool::new(false));
        (Self { map, stores, begun: zero(), finished: zero(), looks: Looks::default(), done }, model)
    }

    /// Asks something, and notes the time of question and answer.
    fn ask<T>(&self, question: impl FnOnce() -> T) -> (u64, T, u64) {
        let finished = self.finished.load(Ordering::SeqCst);
        let answer = question();
        (finished, answer, self.begun.load(Ordering::SeqCst))
    }

    fn event(&self, question: impl FnOnce() -> Seen) -> Event {
        let (finished, seen, begun) = self.ask(question);
        Event { finished, begun, seen }
    }

    /// Makes random stores, alone or several at once.
    fn write(&self, seed: u64) {
        let mut random = Random(seed);
        for _ in 0..STORES / 2 {
            let mut stores = self.stores.lock().unwrap();
            let number = stores.len() as u32 + 1;
            let count = if random.below(3) == 0 { 2 + random.below(4) } else { 1 };
            let ops: Store = (0..count)
                .map(|at| {
                    let any =
                        if random.below(40) == 0 { random.span(WIDTH) } else { random.small_span(WIDTH) };
                    // Often one entry, whole: of such a store, readers see a word.
                    let entry = self.map.entry_owned(any.first()).filter(|_| random.below(3) == 0);
                    let over = entry.map_or(any, |(entry, _)| entry);
                    (over, (random.below(3) > 0).then_some(10 * number + at as u32))
                })
                .collect();
            self.begun.store(u64::from(number), Ordering::SeqCst);
            with_room(|| self.put(&ops)).unwrap();
            self.finished.store(u64::from(number), Ordering::SeqCst);
            stores.push(ops);
            drop(stores);
            if (number as usize).is_multiple_of(STORES / 12) {
                self.looks.wait();
            }
        }
    }

    fn put(&self, ops: &Store) -> Result<(), WriteError> {
        if let [(over, value)] = ops[..] {
            return match value {
                Some(value) => self.map.store(over, Arc::new(value)).map_err(|refused| refused.cause),
                None => self.map.remove_range(over),
            };
        }
        let mut all = self.map.transaction();
        for &(over, value) in ops {
            match value {
                Some(value) => all.store(over, Arc::new(value)).map_err(|refused| refused.cause)?,
                None => all.remove_range(over)?,
            }
        }
        all.commit();
        Ok(())
    }

    /// One round of questions: of a reading that may be of another thread.
    fn look(&self, reading: &OwnedReading<'_, Arc<u32>>, random: &mut Random, events: &mut Vec<Event>) {
        let index = random.below(WIDTH + 30);
        events.push(self.event(|| Seen::Value(index, reading.get(index).copied())));
        events.push(self.event(|| {
            let (at, value) = reading.slot_at(index);
            Seen::Slot(index, (at, value.copied()))
        }));
    }

    /// Asks again and again. Readings and snapshots go to the other reader now and then, and come from there.
    fn read<'m>(&'m self, reader: usize, to: &Sender<Sent<'m>>, from: &Receiver<Sent<'m>>) -> Vec<Event> {
        let looker = self.looks.begin(reader);
        let (mut random, mut events) = (Random(reader as u64 + 21), Vec::new());
        loop {
            let is_last = self.done.load(Ordering::SeqCst);
            let index = random.below(WIDTH + 30);
            let reading = self.map.read();
            events.push(self.event(|| Seen::Value(index, reading.get(index).copied())));
            events.push(self.event(|| {
                let (at, value) = reading.slot_at(index);
                Seen::Slot(index, (at, value.copied()))
            }));
            events.push(
                self.event(|| Seen::Entry(index, reading.entry_at(index).map(|(at, value)| (at, *value)))),
            );
            events.push(self.event(|| Seen::Value(index, self.map.get_owned(index).map(|value| *value))));
            // What an iterator gives was so since it began.
            let (first, iter) = (self.finished.load(Ordering::SeqCst), reading.range(index..));
            for (at, value) in iter.take(4) {
                let seen = Seen::Slot(at.last(), (at, Some(*value)));
                events.push(Event { finished: first, begun: self.begun.load(Ordering::SeqCst), seen });
            }
            drop(reading);
            // The other may have ended.
            match random.below(8) {
                0 => drop(to.send(Sent::Reading(self.map.read_owned().unwrap()))),
                1 => {
                    let (finished, snapshot, begun) = self.ask(|| self.map.snapshot().unwrap());
                    drop(to.send(Sent::Snapshot(finished, snapshot, begun)));
                }
                _ => {}
            }
            for sent in from.try_iter() {
                match sent {
                    Sent::Reading(reading) => self.look(&reading, &mut random, &mut events),
                    Sent::Snapshot(finished, snapshot, begun) => {
                        let all = snapshot.iter().map(|(at, value)| (at, *value)).collect();
                        events.push(Event { finished, begun, seen: Seen::All(all) });
                    }
                }
            }
            // Of all times, not of the first.
            while events.len() > ANSWERS {
                events.swap_remove(random.below(events.len() as u64) as usize);
            }
            looker.looked();
            if is_last {
                return events;
            }
        }
    }
}

enum Sent<'m> {
    Reading(OwnedReading<'m, Arc<u32>>),
    /// With the time in which it was made.
    Snapshot(u64, Snapshot<'m, Arc<u32>>, u64),
}

fn answers_are_in_their_time(nodes: Nodes) {
    let (scene, start) = Scene::new(nodes);
    let ((to_first, from_second), (to_second, from_first)) = (channel(), channel());
    let events = std::thread::scope(|scope| {
        let scene = &scene;
        let readers = [
            scope.spawn(move || scene.read(0, &to_second, &from_second)),
            scope.spawn(move || scene.read(1, &to_first, &from_first)),
        ];
        let writers = [3, 4].map(|seed| scope.spawn(move || scene.write(seed)));
        let written = writers.map(|writer| writer.join());
        scene.done.store(true, Ordering::SeqCst);
        written.into_iter().for_each(|written| written.unwrap());
        readers.map(|reader| reader.join().unwrap()).concat()
    });
    scene.map.validate().unwrap();
    let stores = scene.stores.into_inner().unwrap();
    let between = |event: &&Event| event.finished > 0 && event.finished < stores.len() as u64;
    assert!(events.iter().filter(between).count() > 10, "readers ran beside the writers");
    let is_all = |event: &&Event| matches!(event.seen, Seen::All(_));
    assert!(cfg!(miri) || events.iter().filter(is_all).count() > 3);
    let wrong = wrong(&start, &stores, events);
    assert!(wrong.is_empty(), "{} answers were not so in their time, like {:?}", wrong.len(), wrong[0]);
    let mut end = start;
    stores.iter().flatten().for_each(|&(over, value)| crate::common::change_model(&mut end, over, value));
    crate::common::compare(&scene.map, &end);
}

#[test]
fn answers_are_in_their_time_on_small_nodes() {
    let _beside_others = beside_others();
    answers_are_in_their_time(Nodes::Small);
}

#[test]
fn answers_are_in_their_time_on_full_nodes() {
    let _beside_others = beside_others();
    answers_are_in_their_time(Nodes::Full);
}

/// What the judge must not believe: answers that are too old, or too new; half a store; a range that never was.
#[test]
fn the_judge_finds_what_is_wrong() {
    let mut start = Model::default();
    start.store(span(0, 9), 1);
    let stores: Vec<Store> = vec![
        vec![(span(20, 29), Some(2))],
        vec![(span(0, 4), None), (span(20, 24), Some(3))],
        vec![(span(0, 99), Some(4))],
    ];
    let event = |finished, begun, seen| Event { finished, begun, seen };
    let right = vec![
        event(0, 0, Seen::Value(5, Some(1))),
        event(0, 0, Seen::Slot(25, (span(10, u64::MAX), None))),
        event(0, 1, Seen::Slot(25, (span(10, u64::MAX), None))),
        event(0, 1, Seen::Slot(25, (span(20, 29), Some(2)))),
        event(1, 3, Seen::Entry(25, Some((span(25, 29), 2)))),
        event(2, 2, Seen::All(vec![(span(5, 9), 1), (span(20, 24), 3), (span(25, 29), 2)])),
        event(3, 3, Seen::Entry(100, None)),
        event(0, 3, Seen::Value(0, None)),
    ];
    assert_eq!(wrong(&start, &stores, right.clone()), []);
    let never = [
        // Too old, and too new.
        event(1, 1, Seen::Slot(25, (span(10, u64::MAX), None))),
        event(3, 3, Seen::Value(0, Some(1))),
        event(0, 1, Seen::Value(0, Some(4))),
        event(0, 1, Seen::Entry(25, Some((span(25, 29), 2)))),
        // Half of the second store.
        event(0, 3, Seen::All(vec![(span(5, 9), 1), (span(20, 29), 2)])),
        // Never so, at any time.
        event(0, 3, Seen::Slot(12, (span(10, 24), None))),
        event(0, 3, Seen::Value(5, None)),
        // Of a time that did not come.
        event(4, 4, Seen::Value(5, Some(4))),
    ];
    for event in never {
        let mut events = right.clone();
        events.insert(3, event.clone());
        assert_eq!(wrong(&start, &stores, events), [event]);
    }
    // A history that was right is not, with two stores in the other order.
    let mut swapped = stores;
    swapped.swap(0, 1);
    assert!(!wrong(&start, &swapped, right).is_empty());
}
