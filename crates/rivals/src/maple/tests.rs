//! The model on the cases that the recorded logs leave out, and every plain map against the simplest there is: a list
//! of cells.

use super::{BTreeMapRanges, Naive, NoditRanges, RangemapRanges};
use freehold_trace::maple::{
    Answer, Cycled, Driver, End, Engine, Op, RangeDriver, Ranges, Refusal, StoreCall, TreeFlags, Value,
};
use freehold_units::{Align, Span};

const ALLOC: TreeFlags = TreeFlags { alloc: true, rcu: false };
const MAX: u64 = u64::MAX;

fn run(ops: &[Op]) -> Answer {
    let mut driver = Driver::<Naive>::new(ALLOC);
    let mut answers = vec![Answer::default(); ops.len()];
    driver.run_batch(ops, &mut answers);
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

/// Holds a map against cells, each with its value and the name of the range it belongs to.
fn agrees_with_cells<R: Ranges>(base: u64, seed: u64) {
    let mut driver = RangeDriver::new(R::new());
    let mut cells = [None::<u32>; CELLS as usize];
    let mut state = seed;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for number in 1..400_u32 {
        let (from, kind) = (random(CELLS), random(6));
        let until = (from + random(6)).min(CELLS - 1);
        let (first, last) = (base + from, base + until);
        let value = Value::Number(number);
        let cut = cells.get_mut(from as usize..=until as usize).unwrap();
        let (op, expected) = match kind {
            0 | 1 => {
                cut.fill(Some(number));
                (Op::Store { first, last, value }, Answer::Done(Ok(())))
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
                (Op::Insert { first, last, value }, Answer::Done(done))
            }
            4 => {
                let held = cells[from as usize];
                // A range that was cut in two is erased on one side alone.
                let around = |step: fn(usize) -> usize| {
                    let mut at = from as usize;
                    while held.is_some() && cells.get(at).copied().flatten() == held {
                        at = step(at);
                    }
                    at
                };
                let (below, above) = (around(|at| at.wrapping_sub(1)), around(|at| at + 1));
                cells[below.wrapping_add(1).min(from as usize)..above.max(from as usize)].fill(None);
                cells[from as usize] = None;
                (Op::Erase { index: first }, Answer::Value(held.map_or(Value::Null, Value::Number)))
            }
            _ => {
                let (size, align) = (1 + random(4), Align::new(1 << random(4)).unwrap());
                let end = if random(2) == 0 { End::Lowest } else { End::Highest };
                let fits = |at: &u64| {
                    let place = cells.get(*at as usize..(*at + size) as usize);
                    let free = place.is_some_and(|place| place.iter().all(Option::is_none));
                    free && *at + size - 1 <= until && align.divides(base + at)
                };
                let mut fitting = (from..=until).filter(fits);
                let at = if end == End::Lowest { fitting.next() } else { fitting.last() };
                let place = at.and_then(|at| Span::from_size(base + at, size));
                let window = Span::new(first, last).unwrap();
                (Op::AlignedGap { end, size, align, window }, Answer::Gap(place.ok_or(Refusal::Busy)))
            }
        };
        assert_eq!(driver.run(&op), expected, "{op:?}");
        driver.map().validate().unwrap();
        for (at, cell) in (base..=MAX).zip(&cells) {
            assert_eq!(driver.map().get(at), cell.map(u64::from), "index {at:#x} after {op:?}");
        }
    }
}

#[test]
fn every_map_agrees_with_a_list_of_cells() {
    for base in [0, 1 << 40, MAX - CELLS + 1] {
        for seed in 0..40 {
            agrees_with_cells::<BTreeMapRanges<u64>>(base, seed);
            agrees_with_cells::<RangemapRanges>(base, seed);
            agrees_with_cells::<NoditRanges>(base, seed);
        }
    }
}
