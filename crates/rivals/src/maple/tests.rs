//! The model on the cases that the recorded logs leave out, and every plain map against the simplest there is: a list
//! of cells.

use super::{BTreeMapRanges, ListRanges, Naive, NoditRanges, RangemapRanges};
use freehold_trace::Drive;
use freehold_trace::maple::{
    Answer, Cycled, Driver, End, Engine, Op, RangeDriver, Ranges, Refusal, StoreCall, TreeFlags, Value,
};
use freehold_units::{Align, Span};

const ALLOC: TreeFlags = TreeFlags { alloc: true, rcu: false };
const MAX: u64 = u64::MAX;

fn run(ops: &[Op]) -> Answer {
    let mut driver = Driver::<Naive>::new(ALLOC);
    let mut answers = vec![Answer::default(); ops.len()];
    driver.run_batch(ops, &mut answers, &mut ());
    driver.tree().unwrap().validate().unwrap();
    answers.pop().unwrap()
}

fn store(first: u64, last: u64, number: u32) -> Op {
    Op::Store { first, last, value: Value::Number(number) }
}

fn gap(end: End, max: u64, size: u64) -> Op {
    Op::EmptyArea { end, min: 0, max, size }
}

#[test]
fn what_the_kernel_gets_wrong_the_model_gets_right() {
    let found = Answer::Gap(Ok(Span::new(0x5a, 0x63).unwrap()));
    assert_eq!(run(&[store(0x64, MAX, 1), gap(End::Highest, MAX, 0xa)]), found);
    let over = Op::Insert { first: 0, last: MAX, value: Value::Number(2) };
    assert_eq!(run(&[store(5, 9, 1), over]), Answer::Done(Err(Refusal::Exists)));
    let whole = [store(0, MAX, 1), Op::Erase { index: 7 }, gap(End::Highest, MAX, 2)];
    assert_eq!(run(&whole), Answer::Gap(Ok(Span::new(MAX - 1, MAX).unwrap())));
    let replace = Op::CursorStore { call: StoreCall::Store, first: 0, last: MAX, value: Value::Number(2) };
    let old = Some(Value::Number(1));
    assert_eq!(run(&[store(0, 9, 1), replace]), Answer::Replaced { old, index: 0, last: MAX });
}

#[test]
fn a_cyclic_allocation_at_the_last_index_makes_the_next_at_0_a_wrapped_one() {
    let cyclic = |next| Op::AllocCyclic { low: 0, high: MAX, next, value: Value::Number(1) };
    let last = Cycled { index: MAX, next: 0, wrapped: false };
    assert_eq!(run(&[cyclic(MAX)]), Answer::Cycled(Ok(last)));
    let again = Cycled { index: 0, next: 1, wrapped: true };
    assert_eq!(run(&[cyclic(MAX), cyclic(0)]), Answer::Cycled(Ok(again)));
    // A tree that remembers it can still be copied.
    assert_eq!(run(&[cyclic(MAX), Op::Duplicate { from: 0, into: 1 }]), Answer::Done(Ok(())));
}

#[test]
fn ends_the_wrong_way_round_are_refused_everywhere() {
    let value = Value::Number(1);
    for op in [
        store(9, 8, 1),
        Op::Insert { first: 9, last: 8, value },
        Op::CursorStore { call: StoreCall::StoreGfp, first: 9, last: 8, value },
        Op::EmptyArea { end: End::Lowest, min: 9, max: 8, size: 1 },
        Op::AllocCyclic { low: 9, high: 8, next: 9, value },
    ] {
        let answer = run(&[op]);
        assert!(format!("{answer:?}").contains("Invalid"), "{op:?}: {answer:?}");
    }
}

/// Cells of the smallest space; index 0 is `base`.
const CELLS: u64 = 24;

/// The simplest map of ranges: for each index its value. Every range has a value of its own.
struct Cells {
    base: u64,
    cells: [Option<u32>; CELLS as usize],
    state: u64,
}

impl Cells {
    fn random(&mut self, below: u64) -> u64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % below
    }

    /// An operation at random, and what is right to answer.
    fn operation(&mut self, number: u32) -> (Op, Answer) {
        let from = self.random(CELLS);
        let until = (from + self.random(6)).min(CELLS - 1);
        let (first, last) = (self.base + from, self.base + until);
        let kind = self.random(6);
        let cut = &mut self.cells[from as usize..=until as usize];
        match kind {
            0 | 1 => {
                cut.fill(Some(number));
                (store(first, last, number), Answer::Done(Ok(())))
            }
            2 => {
                cut.fill(None);
                (Op::Store { first, last, value: Value::Null }, Answer::Done(Ok(())))
            }
            3 => {
                let free = cut.iter().all(Option::is_none);
                if free {
                    cut.fill(Some(number));
                }
                let done = if free { Ok(()) } else { Err(Refusal::Exists) };
                (Op::Insert { first, last, value: Value::Number(number) }, Answer::Done(done))
            }
            4 => (Op::Erase { index: first }, Answer::Value(self.erase(from as usize))),
            _ => self.search(from, until),
        }
    }

    /// Erases the cells around one that have its value. Of a range that was cut in two, one side stays.
    fn erase(&mut self, at: usize) -> Value {
        let Some(number) = self.cells[at] else { return Value::Null };
        let (below, above) = self.cells.split_at_mut(at);
        let ours = |cell: &&mut Option<u32>| **cell == Some(number);
        below.iter_mut().rev().take_while(ours).for_each(|cell| *cell = None);
        above.iter_mut().take_while(ours).for_each(|cell| *cell = None);
        Value::Number(number)
    }

    fn search(&mut self, from: u64, until: u64) -> (Op, Answer) {
        let (size, align) = (1 + self.random(4), Align::new(1 << self.random(4)).unwrap());
        let end = if self.random(2) == 0 { End::Lowest } else { End::Highest };
        let free = |at: u64| self.cells[at as usize..(at + size) as usize].iter().all(Option::is_none);
        let fits = |at: &u64| at + size - 1 <= until && align.divides(self.base + at) && free(*at);
        let mut fitting = (from..=until).filter(fits);
        let at = if end == End::Lowest { fitting.next() } else { fitting.next_back() };
        let place = at.and_then(|at| Span::from_size(self.base + at, size));
        let window = Span::new(self.base + from, self.base + until).unwrap();
        (Op::AlignedGap { end, size, align, window }, Answer::Gap(place.ok_or(Refusal::Busy)))
    }
}

fn agrees_with_cells<R: Ranges>(base: u64, seed: u64) {
    let mut driver = RangeDriver::new(R::new());
    let mut cells = Cells { base, cells: [None; CELLS as usize], state: seed };
    for number in 1..400 {
        let (op, expected) = cells.operation(number);
        assert_eq!(driver.run(&op), expected, "{op:?}");
        driver.map().validate().unwrap();
        for (at, cell) in (base..=MAX).zip(&cells.cells) {
            assert_eq!(driver.map().get(at), cell.map(u64::from), "index {at:#x} after {op:?}");
        }
    }
}

#[test]
fn every_map_agrees_with_a_list_of_cells() {
    for base in [0, 1 << 40, MAX - CELLS + 1] {
        for seed in 0..40 {
            agrees_with_cells::<BTreeMapRanges<u64>>(base, seed);
            agrees_with_cells::<ListRanges<u64>>(base, seed);
            agrees_with_cells::<RangemapRanges>(base, seed);
            agrees_with_cells::<NoditRanges>(base, seed);
        }
    }
}

/// The model of maps that merge equal neighbours, against the one there is.
#[test]
fn equal_neighbours_merge_where_the_model_merges() {
    let mut merging = ListRanges::merging();
    let mut peer = RangemapRanges::new();
    let mut state = 1u64;
    for _ in 0..4000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let [first, length, value] = [state >> 59, state >> 54 & 7, state >> 50 & 3];
        let span = Span::new(first, first + length).unwrap();
        match value {
            0 => merging.put(span, None),
            _ => merging.put(span, Some(value)),
        }
        match value {
            0 => peer.clear(span),
            _ => peer.store(span, value),
        }
        assert!(merging.iter().eq(peer.iter()), "{span} {value}");
        merging.validate().unwrap();
        assert_eq!(ListRanges::erase(&mut merging, first).map(|erased| erased.2), peer.erase(first));
    }
}
