//! Iterators of a shared map that changes between any two of their steps, up, down and from both ends: each item was so at some
//! moment since the iterator began, the moments of either end never go back, items ascend, and what nobody touched is seen once.

use crate::common::{Model, Random, STRIDE, Slot, beside_others, change, compare, filled, span, store};
use crate::ends::{Order, few_orders, orders};
use crate::layouts::{ALL, Bounds, bounds, gaps_of, layouts, sizes, within};
use freehold_maple::Nodes;
use freehold_maple::maple_tree::{MapleTree, Reading};
use freehold_units::Span;
use std::collections::HashMap;
use std::iter::FusedIterator;
use std::sync::Arc;

type Op = (Span, Option<u32>);

/// The entries and gaps of a map at each moment: changes are counted.
struct History {
    now: usize,
    /// Those that are there, and since when.
    present: HashMap<Slot, usize>,
    /// Those that were: which changes brought each, and took it away.
    gone: HashMap<Slot, Vec<[usize; 2]>>,
}

fn slots(model: &Model) -> impl Iterator<Item = Slot> {
    let entries = model.0.iter().map(|&(at, value)| (at, Some(value)));
    entries.chain(model.gaps().into_iter().map(|at| (at, None)))
}

impl History {
    fn new(model: &Model) -> Self {
        Self { now: 0, present: slots(model).map(|slot| (slot, 0)).collect(), gone: HashMap::new() }
    }

    fn changed(&mut self, model: &Model) {
        self.now += 1;
        let mut before = std::mem::take(&mut self.present);
        self.present = slots(model).map(|slot| (slot, before.remove(&slot).unwrap_or(self.now))).collect();
        for (slot, born) in before {
            self.gone.entry(slot).or_default().push([born, self.now]);
        }
    }

    /// The first moment, from one on, at which a slot was there.
    fn moment(&self, from: usize, slot: Slot) -> Option<usize> {
        let gone = self.gone.get(&slot).into_iter().flatten().find(|[_, left]| *left > from);
        let born = gone.map(|[born, _]| born).or_else(|| self.present.get(&slot))?;
        Some(from.max(*born))
    }

    /// What is there, and has been since that moment, in order.
    fn untouched_since(&self, began: usize) -> impl Iterator<Item = Slot> {
        self.present.iter().filter(move |&(_, &born)| born <= began).map(|(&slot, _)| slot)
    }
}

/// From which end an iterator takes its steps: a bit for each step, again from the first after the last; set for the back.
#[derive(Clone, Copy, Debug)]
struct Ends {
    pattern: u64,
    bits: u32,
}

const UP: Ends = Ends { pattern: 0, bits: 1 };
const DOWN: Ends = Ends { pattern: 1, bits: 1 };
const IN_TURN: Ends = Ends { pattern: 0b10, bits: 2 };

/// An iterator, what it gave so far, and what it may give.
struct Walker<'r> {
    iter: Box<dyn DoubleEndedIterator<Item = Slot> + 'r>,
    entries: bool,
    range: Span,
    ends: Ends,
    began: usize,
    /// At which moment what each end gave last was so. It never goes back.
    moments: [usize; 2],
    steps: u32,
    /// What each end gave.
    seen: [Vec<Slot>; 2],
    ended: bool,
}

impl<'r> Walker<'r> {
    fn new(
        reading: &'r Reading<'r, Arc<u32>>,
        history: &History,
        entries: bool,
        range: Span,
        ends: Ends,
    ) -> Self {
        let bounds = range.first()..=range.last();
        let iter: Box<dyn DoubleEndedIterator<Item = Slot>> = if entries {
            Box::new(reading.range(bounds).map(|(at, value)| (at, Some(*value))))
        } else {
            Box::new(reading.gaps(bounds).map(|at| (at, None)))
        };
        Self {
            iter,
            entries,
            range,
            ends,
            began: history.now,
            moments: [history.now; 2],
            steps: 0,
            seen: Default::default(),
            ended: false,
        }
    }

    fn step(&mut self, history: &History) {
        if self.ended {
            return self.stays_ended();
        }
        let back = self.ends.pattern >> (self.steps % self.ends.bits) & 1 == 1;
        self.steps += 1;
        self.take(back, history);
    }

    fn take(&mut self, back: bool, history: &History) {
        let item = if back { self.iter.next_back() } else { self.iter.next() };
        let Some(slot) = item else {
            self.ended = true;
            return;
        };
        assert_eq!(slot.1.is_some(), self.entries);
        assert!(slot.0.overlaps(self.range), "{slot:?} is not in {}", self.range);
        let moment = &mut self.moments[usize::from(back)];
        let now = history.moment(*moment, slot);
        *moment = now.unwrap_or_else(|| panic!("{slot:?} was not so since {moment}, {:?}", self.ends));
        if let Some(&(before, _)) = self.seen[usize::from(back)].last() {
            let goes_on = if back { slot.0.first() < before.first() } else { slot.0.last() > before.last() };
            assert!(goes_on, "{slot:?} comes after {before}, {:?}", self.ends);
        }
        self.seen[usize::from(back)].push(slot);
    }

    /// Whatever was changed since it ended.
    fn stays_ended(&mut self) {
        let calls = [self.iter.next_back(), self.iter.next(), self.iter.next_back(), self.iter.next()];
        assert_eq!(calls, [None; 4], "it goes on after its end, {:?}", self.ends);
    }

    fn go(&mut self, steps: usize, history: &History) {
        (0..steps).for_each(|_| self.step(history));
    }

    /// Goes to the end, without changes in between.
    fn finish(mut self, history: &History) {
        let limit = history.present.len() + history.gone.len() + 2;
        self.go(limit, history);
        assert!(self.ended, "it goes on for ever");
        self.stays_ended();
        let [front, back] = &mut self.seen;
        let mut seen = std::mem::take(front);
        seen.append(back);
        seen.sort_unstable();
        for slot in history.untouched_since(self.began) {
            if slot.1.is_some() == self.entries && slot.0.overlaps(self.range) {
                let at = seen.partition_point(|other| *other < slot);
                let times = seen[at..].iter().take_while(|other| **other == slot).count();
                assert_eq!(times, 1, "nobody touched {slot:?}: {:?} in {}", self.ends, self.range);
            }
        }
    }
}

/// Stores over and removals of small ranges, those that begin and end at such places of entries; each `every`th.
fn small_changes(entries: u64, ends_apart: usize, every: usize) -> Vec<Op> {
    let ends: Vec<u64> = (0..entries).flat_map(|at| [0, 3, 6, 7].map(|off| STRIDE * at + off)).collect();
    let near = |at: usize| &ends[at..(at + ends_apart).min(ends.len())];
    let spans = (0..ends.len()).flat_map(|at| near(at).iter().map(move |&last| (at, last)));
    let ops = spans.flat_map(|(at, last)| [Some(1 << 20), None].map(|value| (span(ends[at], last), value)));
    ops.step_by(every).collect()
}

/// For each change, iterators that have gone any number of steps when it comes. They go one step more, then the map is
/// changed again, and they go to their ends. Returns how many iterators there were.
fn all_see_what_was_so(
    entries: u64,
    height: usize,
    ops: &[Op],
    stops: impl Iterator<Item = usize> + Clone,
    all_ends: &[Ends],
    ranges: &[Span],
) -> usize {
    let mut count = 0;
    for (at, &(over, value)) in ops.iter().enumerate() {
        let gaps = at % 2 == 0;
        let (map, mut model) = filled(entries, gaps);
        assert_eq!(map.height(), height, "{entries} entries, gaps: {gaps}");
        let (mut history, reading) = (History::new(&model), map.read());
        let mut walkers = Vec::new();
        for (&ends, &range) in all_ends.iter().flat_map(|ends| ranges.iter().map(move |range| (ends, range)))
        {
            for (kind, stop) in stops.clone().flat_map(|stop| [(true, stop), (false, stop)]) {
                let mut walker = Walker::new(&reading, &history, kind, range, ends);
                walker.go(stop, &history);
                walkers.push(walker);
            }
        }
        change(&map, &mut model, over, value);
        history.changed(&model);
        for walker in &mut walkers {
            walker.step(&history);
        }
        let (over, value) = ops[(at * 7 + 3) % ops.len()];
        change(&map, &mut model, over, value.map(|value| value + 1));
        history.changed(&model);
        count += walkers.len();
        walkers.into_iter().for_each(|walker| walker.finish(&history));
        drop(reading);
        compare(&map, &model);
    }
    count
}

const THREE: [Ends; 3] = [UP, DOWN, IN_TURN];

/// Ranges of a map with so many entries: all, and one that begins and ends within entries.
fn ranges(entries: u64) -> [Span; 2] {
    let width = STRIDE * entries;
    [Span::ALL, span(width / 4 + 2, width * 3 / 4 + 1)]
}

/// Front and back are in one leaf of which the writer makes copies: every order of the steps, every small change before every step.
#[test]
fn two_ends_in_copies_of_one_leaf() {
    let _beside_others = beside_others();
    let (bits, every) = if cfg!(miri) { (3, 79) } else { (6, 1) };
    let orders: Vec<_> = (0..1 << bits).map(|pattern| Ends { pattern, bits }).collect();
    let ops = small_changes(4, 12, every);
    let count = all_see_what_was_so(4, 1, &ops, 0..=5, &orders, &[Span::ALL]);
    assert!(cfg!(miri) || count > 100_000, "{count}");
}

#[test]
fn every_small_change_on_two_levels() {
    let _beside_others = beside_others();
    let ops = small_changes(12, 12, if cfg!(miri) { 300 } else { 1 });
    let stops = (0..=13).step_by(if cfg!(miri) { 5 } else { 1 });
    all_see_what_was_so(12, 2, &ops, stops, &THREE, &ranges(12));
}

#[test]
fn small_changes_on_three_levels() {
    let _beside_others = beside_others();
    let ops = small_changes(48, 16, if cfg!(miri) { 3001 } else { 23 });
    let stops = (0..=49).step_by(if cfg!(miri) { 25 } else { 3 });
    all_see_what_was_so(48, 3, &ops, stops, &THREE, &ranges(48));
}

#[test]
#[cfg_attr(miri, ignore = "as on three levels, and slow there")]
fn small_changes_on_four_levels() {
    let _beside_others = beside_others();
    let ops = small_changes(240, 16, 401);
    all_see_what_was_so(240, 4, &ops, (0..=241).step_by(20), &THREE, &ranges(240));
}

/// Iterators of all kinds at once, of which any takes a step between random changes, near it or not.
#[test]
fn random_changes_between_any_two_steps() {
    let _beside_others = beside_others();
    let mut random = Random(11);
    let (rounds, changes) = if cfg!(miri) { (1, 20) } else { (40, 250) };
    for round in 0..rounds {
        let entries = [12, 48, 240][round % 3];
        let width = STRIDE * entries;
        let (map, mut model) = filled(entries, round % 2 == 0);
        let (mut history, reading) = (History::new(&model), map.read());
        let mut walkers: Vec<Walker<'_>> = Vec::new();
        for at in 0..changes {
            if walkers.len() < 6 {
                let ends = match random.below(4) {
                    0 => UP,
                    1 => DOWN,
                    _ => Ends { pattern: random.below(1 << 20), bits: 20 },
                };
                let range = if random.below(2) == 0 { Span::ALL } else { random.span(width) };
                walkers.push(Walker::new(&reading, &history, random.below(3) > 0, range, ends));
            }
            // Where one of them is, or anywhere.
            let at_end = &walkers[random.below(walkers.len() as u64) as usize].seen[random.below(2) as usize];
            let near = at_end.last().filter(|slot| slot.0.last() <= width);
            let over = match near {
                Some(&(at, _)) if random.below(3) > 0 => {
                    let first = (at.first() + random.below(40)).saturating_sub(20);
                    span(first, first + random.below(30))
                }
                _ if random.below(60) == 0 => random.span(width),
                _ => random.small_span(width),
            };
            change(&map, &mut model, over, (random.below(3) > 0).then_some(1000 + at));
            history.changed(&model);
            for walker in &mut walkers {
                walker.go(random.below(3) as usize, &history);
            }
            if random.below(12) == 0 {
                walkers.swap_remove(random.below(walkers.len() as u64) as usize).finish(&history);
            }
            let (going, ended) = walkers.into_iter().partition(|walker| !walker.ended);
            walkers = going;
            ended.into_iter().for_each(|walker: Walker<'_>| walker.finish(&history));
        }
        walkers.into_iter().for_each(|walker| walker.finish(&history));
        drop(reading);
        compare(&map, &model);
    }
}

/// From both ends, a snapshot gives what was there when it began, whatever is changed between its steps.
#[test]
fn both_ends_of_a_snapshot() {
    let _beside_others = beside_others();
    let entries = if cfg!(miri) { 12 } else { 48 };
    let mut random = Random(5);
    for round in 0..if cfg!(miri) { 1 } else { 60 } {
        let (map, mut model) = filled(entries, round % 2 == 0);
        let (snapshot, was) = (map.snapshot().unwrap(), model.clone());
        let (mut iter, mut front, mut back) = (snapshot.iter(), Vec::new(), Vec::new());
        let (mut gaps, mut lower, mut upper) = (snapshot.gaps(..), Vec::new(), Vec::new());
        for at in 0..=entries {
            match random.below(2) {
                0 => {
                    front.extend(iter.next().map(|(at, value)| (at, *value)));
                    lower.extend(gaps.next());
                }
                _ => {
                    back.extend(iter.next_back().map(|(at, value)| (at, *value)));
                    upper.extend(gaps.next_back());
                }
            }
            change(&map, &mut model, random.small_span(STRIDE * entries), Some(1000 + at as u32));
        }
        front.extend(iter.map(|(at, value)| (at, *value)));
        front.extend(back.into_iter().rev());
        lower.extend(gaps);
        lower.extend(upper.into_iter().rev());
        assert_eq!((front, lower), (was.0.clone(), was.gaps()));
        drop(snapshot);
        compare(&map, &model);
    }
}

/// Iterators of a map without a node, which then has some; of a map that loses all.
#[test]
fn maps_that_come_and_go() {
    let _beside_others = beside_others();
    let (sizes, every, stores): (&[u64], _, _) =
        if cfg!(miri) { (&[0, 9], 7, 4) } else { (&[0, 12, 48], 1, 30) };
    for (&entries, ends) in sizes.iter().flat_map(|entries| THREE.map(|ends| (entries, ends))) {
        for steps in (0..8).step_by(every) {
            let (map, mut model) = filled(entries, true);
            let (mut history, reading) = (History::new(&model), map.read());
            let mut walkers =
                [true, false].map(|kind| Walker::new(&reading, &history, kind, Span::ALL, ends));
            walkers.iter_mut().for_each(|walker| walker.go(steps, &history));
            for first in [None, Some(7)] {
                change(&map, &mut model, Span::ALL, None);
                if let Some(value) = first {
                    for at in 0..stores {
                        change(&map, &mut model, span(at * 16, at * 16 + 5), Some(value + at as u32));
                    }
                }
                history.changed(&model);
                walkers.iter_mut().for_each(|walker| walker.step(&history));
            }
            walkers.into_iter().for_each(|walker| walker.finish(&history));
            drop(reading);
            compare(&map, &model);
        }
    }
}

#[test]
fn ranges_without_an_index() {
    let _beside_others = beside_others();
    for entries in [0, 3, if cfg!(miri) { 12 } else { 48 }] {
        let (map, _) = filled(entries, true);
        let reading = map.read();
        for first in [0, 5, 7, 65, u64::MAX] {
            assert_eq!((reading.range(first..first).next(), reading.gaps(first..first).next()), (None, None));
            let last = reading.range(first..first).next_back();
            assert_eq!((last, reading.gaps(first..first).next_back()), (None, None));
        }
    }
}

/// The iterators of one reader, of a map that nobody changes: each entry or gap once and in order, and then none.
fn check_reader<E, G>(spans: &[Span], entries: impl Fn(Bounds) -> E, gaps: impl Fn(Bounds) -> G)
where
    E: DoubleEndedIterator<Item = Slot> + FusedIterator,
    G: DoubleEndedIterator<Item = Span> + FusedIterator,
{
    let entry = |span: Span| (span, Some(spans.partition_point(|other| *other < span) as u32));
    let some_bounds = bounds(spans).into_iter().map(|bounds| (bounds, few_orders as fn(usize) -> Vec<Order>));
    for (bounds, orders) in some_bounds.chain([(ALL, orders as _)]) {
        let wanted: Vec<Slot> = within(spans, &bounds).into_iter().map(entry).collect();
        orders(wanted.len()).into_iter().for_each(|order| order.check(entries(bounds.clone()), &wanted));
        let wanted = within(&gaps_of(spans), &bounds);
        orders(wanted.len()).into_iter().for_each(|order| order.check(gaps(bounds.clone()), &wanted));
    }
}

#[test]
fn maps_that_stay() {
    let _beside_others = beside_others();
    for nodes in [Nodes::Small, Nodes::Full] {
        for spans in sizes().into_iter().flat_map(layouts) {
            let map = MapleTree::with_nodes(nodes);
            spans.iter().zip(0..).for_each(|(&span, value)| store(&map, span, value));
            let entry = |(span, value): (Span, &u32)| (span, Some(*value));
            let reading = map.read();
            check_reader(&spans, |bounds| reading.range(bounds).map(entry), |bounds| reading.gaps(bounds));
            let snapshot = map.snapshot().unwrap();
            check_reader(&spans, |bounds| snapshot.range(bounds).map(entry), |bounds| snapshot.gaps(bounds));
        }
    }
}
