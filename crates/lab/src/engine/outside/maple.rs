//! A map of ranges from outside: one tree, without cursors. Calls that are several of its operations cross one by one.

use super::{Library, Wire};
use crate::engine::maple::{Map as PlainMap, Two};
use freehold::units::Span;
use freehold::units::{Align, Tally};
use freehold_harness::outside::{Answer as Told, Op as Ask, Scene, status, what};
use freehold_trace::Driven;
use freehold_trace::maple::{
    Answer, Digest, End, GapRequest, MixStep, Op, Refusal, Step, Steps, Trees, Value,
};
use std::time::Duration;

/// A map at work.
struct Map {
    wire: Wire,
    /// Nanoseconds of what crossed since that was last asked.
    spent_ns: u64,
}

impl Library {
    /// An empty map, with the kernel's calls as far as it has them.
    pub(in crate::engine) fn maple(&self) -> Result<Box<dyn Trees>, String> {
        Ok(self.map()?)
    }

    /// An empty map, to bench.
    pub(in crate::engine) fn map(&self) -> Result<Box<dyn PlainMap>, String> {
        Ok(Box::new(Map { wire: self.start(&Scene { granule: 1, ..Scene::default() })?, spent_ns: 0 }))
    }
}

impl Map {
    fn ask(&mut self, op: Ask) -> Told {
        let mut told = [Told::default()];
        self.spent_ns += self.wire.run(&[op], &mut told);
        told[0]
    }

    /// A store or an insertion.
    fn store(&mut self, what: u32, first: u64, last: u64, value: Value) -> Answer {
        let value = match value {
            _ if first > last => return Answer::Done(Err(Refusal::Invalid)),
            Value::Null if what == what::STORE => 0,
            Value::Number(number) => u64::from(number),
            Value::Null | Value::Reserved => return Answer::Done(Err(Refusal::Invalid)),
        };
        match self.ask(Ask { what, first, last, value, ..Ask::default() }).status {
            status::DONE => Answer::Done(Ok(())),
            status::EXISTS => Answer::Done(Err(Refusal::Exists)),
            _ => Answer::Unsupported,
        }
    }

    /// A look-up or a removal.
    fn at(&mut self, what: u32, first: u64) -> Option<Value> {
        let told = self.ask(Ask { what, first, last: first, ..Ask::default() });
        (told.status == status::DONE).then(|| value(told.value))
    }

    /// So many of them.
    fn at_many(&mut self, what: u32, (index, stride, count): (u64, u64, u64)) -> Answer {
        let (mut digest, mut index) = (Digest::default(), index);
        for _ in 0..count {
            let Some(value) = self.at(what, index) else { return Answer::Unsupported };
            digest.push(value.word());
            index = index.wrapping_add(stride);
        }
        Answer::Digest(digest.value())
    }

    fn gap(&mut self, end: End, size: u64, align: Align, min: u64, max: u64) -> Answer {
        let window = Span::new(min, max).filter(|window| size > 0 && u128::from(size) <= window.size_bytes());
        let Some(window) = window else { return Answer::Gap(Err(Refusal::Invalid)) };
        let what = if end == End::Lowest { what::GAP_LOW } else { what::GAP_HIGH };
        let (first, last) = (window.first(), window.last());
        let told = self.ask(Ask { what, size, align: align.bytes(), first, last, ..Ask::default() });
        match (told.status, Span::from_size(told.first, size)) {
            (status::DONE, Some(place)) => Answer::Gap(Ok(place)),
            (status::NO_ROOM, _) => Answer::Gap(Err(Refusal::Busy)),
            _ => Answer::Unsupported,
        }
    }

    fn answer(&mut self, op: &Op) -> Answer {
        match *op {
            Op::Store { first, last, value } => self.store(what::STORE, first, last, value),
            Op::Insert { first, last, value } => self.store(what::INSERT, first, last, value),
            Op::Erase { index } => self.at(what::ERASE, index).map_or(Answer::Unsupported, Answer::Value),
            Op::Load { index } => self.at(what::LOAD, index).map_or(Answer::Unsupported, Answer::Value),
            Op::LoadMany { index, stride, count } => self.at_many(what::LOAD, (index, stride, count)),
            Op::EraseMany { index, stride, count } => self.at_many(what::ERASE, (index, stride, count)),
            Op::StoreMany { first, stride, len, count, value } => {
                let (mut first, mut value) = (first, value);
                for _ in 0..count {
                    let last = first.wrapping_add(len.wrapping_sub(1));
                    match self.store(what::STORE, first, last, value) {
                        Answer::Done(Ok(())) => {}
                        refused => return refused,
                    }
                    (first, value) = (first.wrapping_add(stride), value.successor());
                }
                Answer::Nothing
            }
            Op::StepMany { step: Step::Find, index: 0, limit: u64::MAX, most: None } => {
                let (count, digest) = walk(&self.wire, true);
                Answer::Walked { count, digest }
            }
            Op::EmptyArea { end, min, max, size } => self.gap(end, size, Align::ONE, min, max),
            Op::AlignedGap { end, size, align, window } => {
                // No place is too large a wish here, not a wrong one.
                match self.gap(end, size, align, window.first(), window.last()) {
                    Answer::Gap(Err(_)) => Answer::Gap(Err(Refusal::Busy)),
                    found => found,
                }
            }
            Op::AllocRange { end, size, min, max, value } => {
                match self.gap(end, size, Align::ONE, min, max) {
                    Answer::Gap(Ok(place)) => {
                        match self.store(what::STORE, place.first(), place.last(), value) {
                            Answer::Done(done) => Answer::Placed(done.map(|()| place.first())),
                            other => other,
                        }
                    }
                    Answer::Gap(Err(refusal)) => Answer::Placed(Err(refusal)),
                    other => other,
                }
            }
            _ => Answer::Unsupported,
        }
    }
}

fn value(word: u64) -> Value {
    // What it was given fits; any other word is wrong, and shows as a number that nobody stored.
    if word == 0 { Value::Null } else { Value::Number(u32::try_from(word).unwrap_or(u32::MAX)) }
}

/// All ranges, one after the other, and the nanoseconds that this took.
fn ranges(wire: &Wire) -> (Vec<Told>, u64) {
    let (mut ranges, mut from, mut took) = (Vec::new(), Some(0), 0);
    while let Some(first) = from {
        let mut told = [Told::default()];
        took += wire.run(&[Ask { what: what::FIND, first, last: u64::MAX, ..Ask::default() }], &mut told);
        let [told] = told;
        // One that does not go on is wrong: the walk ends where it stops.
        if told.status != status::DONE || told.value == 0 || told.last < first {
            break;
        }
        ranges.push(told);
        from = told.last.checked_add(1);
    }
    (ranges, took)
}

/// Number and digest of the ranges, of their values too if `values`.
fn walk(wire: &Wire, values: bool) -> (u64, u64) {
    let (ranges, mut digest) = (ranges(wire).0, Digest::default());
    for told in &ranges {
        digest.push(told.first);
        digest.push(told.last);
        if values {
            digest.push(told.value);
        }
    }
    (ranges.len() as u64, digest.value())
}

impl Driven<Op, Answer> for Map {
    fn run(&mut self, ops: &[Op], answers: &mut [Answer]) {
        for (op, answer) in ops.iter().zip(answers) {
            *answer = self.answer(op);
        }
    }

    fn run_clocked(&mut self, ops: &[Op], answers: &mut [Answer]) -> u64 {
        self.spent_ns = 0;
        self.run(ops, answers);
        self.spent_ns
    }

    fn run_timed(&mut self, ops: &[Op], answers: &mut [Answer], nanoseconds: &mut [u64]) {
        for ((op, answer), took) in ops.iter().zip(answers).zip(nanoseconds) {
            self.spent_ns = 0;
            *answer = self.answer(op);
            *took = self.spent_ns;
        }
    }

    fn run_one(&mut self, op: &Op) -> Answer {
        self.answer(op)
    }

    fn run_counted(&mut self, op: &Op) -> (Answer, Tally) {
        (self.answer(op), Tally::default())
    }

    /// Nothing has a name here.
    fn expect_objects(&mut self, _: u32) {}

    fn metadata_bytes(&self) -> usize {
        self.wire.bytes()
    }

    fn validate(&self) -> Result<(), String> {
        self.wire.valid()
    }
}

impl Trees for Map {
    /// There is one.
    fn current(&self) -> u32 {
        0
    }

    fn content(&self, _: u32, values: bool) -> (u64, u64) {
        walk(&self.wire, values)
    }
}

/// What steps of one kind ask, all at once; going through the map depends on its answers, and crosses range by range.
fn asked(steps: &Steps) -> Vec<Ask> {
    let at = |what, index: u64| Ask { what, first: index, last: index, ..Ask::default() };
    let over = |what, span: Span, number: u32| {
        let (first, last) = (span.first(), span.last());
        Ask { what, first, last, value: number.into(), ..Ask::default() }
    };
    let gap = |&GapRequest { end, size, align, window }: &GapRequest| {
        let what = if end == End::Lowest { what::GAP_LOW } else { what::GAP_HIGH };
        let (first, last) = (window.first(), window.last());
        Ask { what, size, align: align.bytes(), first, last, ..Ask::default() }
    };
    match steps {
        Steps::Iterate(_) => Vec::new(),
        Steps::Get(indexes) => indexes.iter().map(|&index| at(what::LOAD, index)).collect(),
        Steps::Erase(indexes) => indexes.iter().map(|&index| at(what::ERASE, index)).collect(),
        Steps::Insert(stores) => {
            stores.iter().map(|&(span, number)| over(what::INSERT, span, number)).collect()
        }
        Steps::Store(stores) => {
            stores.iter().map(|&(span, number)| over(what::STORE, span, number)).collect()
        }
        Steps::Gap(requests) => requests.iter().map(gap).collect(),
        Steps::Mix(steps) => steps
            .iter()
            .map(|step| match *step {
                MixStep::Get(index) => at(what::LOAD, index),
                MixStep::Store(span, number) => over(what::STORE, span, number),
                MixStep::Erase(index) => at(what::ERASE, index),
            })
            .collect(),
    }
}

/// What an answer adds to the sum that all maps have.
fn summand(ask: &Ask, told: &Told) -> u64 {
    match ask.what {
        what::LOAD | what::ERASE => {
            if told.value == 0 {
                u64::MAX
            } else {
                told.value
            }
        }
        what::INSERT => u64::from(told.status == status::DONE),
        what::GAP_LOW | what::GAP_HIGH => {
            if told.status == status::DONE {
                told.first
            } else {
                u64::MAX
            }
        }
        _ => 0,
    }
}

impl PlainMap for Map {
    fn perform(&mut self, steps: &Steps) -> u64 {
        let asked = asked(steps);
        let mut told = vec![Told::default(); asked.len()];
        self.spent_ns += self.wire.run(&asked, &mut told);
        let mut sum =
            asked.iter().zip(&told).map(|(ask, told)| summand(ask, told)).fold(0, u64::wrapping_add);
        if let Steps::Iterate(times) = steps {
            for _ in 0..*times {
                let (ranges, took) = ranges(&self.wire);
                self.spent_ns += took;
                for told in ranges {
                    sum = sum.wrapping_add(told.first ^ told.last ^ told.value);
                }
            }
        }
        sum
    }

    fn perform_clocked(&mut self, steps: &Steps) -> (u64, Duration) {
        self.spent_ns = 0;
        let sum = self.perform(steps);
        (sum, Duration::from_nanos(self.spent_ns))
    }

    fn duplicate(&self) -> Option<Box<dyn PlainMap>> {
        None
    }

    /// It is not known.
    fn gap_is_linear(&self) -> bool {
        false
    }

    fn count(&self) -> usize {
        usize::try_from(walk(&self.wire, false).0).unwrap_or(usize::MAX)
    }

    fn two(&self, _: &Steps) -> Option<Box<dyn Two>> {
        None
    }
}
