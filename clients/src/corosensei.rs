//! corosensei: coroutines on stacks of a pool, against its own stacks, each of which is a mapping with a guard.

use clients::Answer;
use clients::table::{Effort, Row, Unit, compare, count};
use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use freehold_vmalloc::{RetainPolicy, StackLayout, VirtualMemory};
use std::sync::Arc;

const STACK_BYTES: usize = 256 << 10;
/// Coroutines at once that are compared, and that there are at once on ours.
const SOME: usize = 20_000;
const MOST: usize = 50_000;

pub fn run(effort: Effort) -> Answer<Vec<Row>> {
    let vm = VirtualMemory::builder().reserve(1 << 40).retain(RetainPolicy::bytes(16 << 30)).build()?;
    let stacks = Arc::new(vm).stacks_owned(&StackLayout::new(STACK_BYTES).count(MOST as u64))?;
    let ours = || Some(Coroutine::with_stack(stacks.get().ok()?, body));
    let its = || Some(Coroutine::with_stack(DefaultStack::new(STACK_BYTES).ok()?, body));
    let turns = effort.of(20_000);
    let mut rows = vec![
        compare(effort, "one at a time", turns, || one_by_one(turns, ours), || one_by_one(turns, its))?
            .at_most(0.05),
    ];
    let some = effort.of(SOME);
    let fewer = Effort { rounds: effort.rounds.min(5), ..effort };
    rows.push(compare(fewer, &format!("{some} at once"), some, || all(some, ours), || all(some, its))?);
    let (ours, its) = (at_once(ours)?, at_once(its)?);
    if ours < MOST {
        return Err(format!("{ours} coroutines at once, not {MOST}").into());
    }
    rows.push(count("at once, of 50,000", Unit::Number, ours as u64, its as u64));
    Ok(rows)
}

/// Adds what it is resumed with, until that is 0. What it counts in lies on its stack.
fn body(yielder: &Yielder<u64, u64>, first: u64) -> u64 {
    let mut sums = [first; 16];
    let mut next = first;
    while next > 0 {
        next = yielder.suspend(sums[0]);
        for (at, sum) in sums.iter_mut().enumerate() {
            *std::hint::black_box(sum) += next * (at as u64 + 1);
        }
    }
    sums.iter().sum()
}

fn resumed<S: Stack>(
    coroutine: &mut Coroutine<u64, u64, u64, S>,
    with: u64,
    wanted: CoroutineResult<u64, u64>,
) -> Answer<()> {
    let answer = coroutine.resume(with);
    if answer == wanted {
        Ok(())
    } else {
        Err(format!("resumed with {with}: {answer:?}, not {wanted:?}").into())
    }
}

/// Starts a coroutine.
fn begun<S: Stack>(coroutine: &mut Coroutine<u64, u64, u64, S>, number: u64) -> Answer<()> {
    resumed(coroutine, number + 1, CoroutineResult::Yield(number + 1))
}

/// Resumes a coroutine that was started to its end.
fn ended<S: Stack>(coroutine: &mut Coroutine<u64, u64, u64, S>, number: u64) -> Answer<()> {
    resumed(coroutine, 2, CoroutineResult::Yield(number + 3))?;
    // 2 by 1 to 16, and what each began with.
    resumed(coroutine, 0, CoroutineResult::Return(16 * (number + 1) + 2 * 136))
}

fn one_by_one<S: Stack>(turns: usize, start: impl Fn() -> Option<Coroutine<u64, u64, u64, S>>) -> Answer<()> {
    for number in 0..turns as u64 {
        let mut coroutine = start().ok_or("no stack")?;
        begun(&mut coroutine, number)?;
        ended(&mut coroutine, number)?;
    }
    Ok(())
}

fn all<S: Stack>(most: usize, start: impl Fn() -> Option<Coroutine<u64, u64, u64, S>>) -> Answer<()> {
    let live = held(most, start)?;
    if live == most { Ok(()) } else { Err(format!("{live} of {most} at once").into()) }
}

fn at_once<S: Stack>(start: impl Fn() -> Option<Coroutine<u64, u64, u64, S>>) -> Answer<usize> {
    held(MOST, start)
}

/// Starts coroutines while there are stacks, `most` at most, then resumes each to its end. Says how many there were at once.
fn held<S: Stack>(most: usize, start: impl Fn() -> Option<Coroutine<u64, u64, u64, S>>) -> Answer<usize> {
    let mut live = Vec::new();
    while live.len() < most
        && let Some(mut coroutine) = start()
    {
        begun(&mut coroutine, live.len() as u64)?;
        live.push(coroutine);
    }
    for (number, coroutine) in live.iter_mut().enumerate() {
        ended(coroutine, number as u64)?;
    }
    Ok(live.len())
}
