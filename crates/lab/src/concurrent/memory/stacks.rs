//! `stack`, `guards`: guarded stacks taken and given back, and as many alive as there can be.

use super::engines::{KEPT, VMALLOC, ours};
use super::rounds::{Took, Turn, in_rounds};
use super::{Bench, SUITE};
use crate::concurrent::{Who, apart};
use crate::record::{Field, Metric};
use freehold::vmalloc::StackPool;
use freehold_rivals::memory::{DefaultStack, Stack};
use freehold_sys::mappings;
use std::fmt::Display;
use std::hint::black_box;

/// Bytes of a stack, and stacks that are held at once where they are checked.
pub const STACK_BYTES: usize = 256 << 10;
const CHECKED: u64 = 64;
/// Guarded stacks that shall be alive at once.
pub const ALIVE: usize = 200_000;

/// Who has stacks, and whether they are ours.
pub const ENTRIES: [(Who, bool); 2] = [(Who::default(VMALLOC), true), (Who::other("corosensei"), false)];

/// First byte and length of a stack, with its guard.
pub type Place = (u64, u64);

fn place_of_ours(stack: &freehold::vmalloc::Stack<'_>) -> Place {
    let guard = stack.guard().addr().get();
    (guard as u64, (stack.base().addr().get() - guard) as u64)
}

fn place_of_theirs(stack: &DefaultStack) -> Place {
    let (base, limit) = (stack.base().get() as u64, stack.limit().get() as u64);
    (limit, base - limit)
}

/// Stacks that were alive at once.
pub struct Alive {
    /// Where they are.
    pub places: Vec<Place>,
    /// Mappings that the process had more of.
    pub mappings: u64,
    /// Why there are no more.
    pub ended: String,
}

impl Alive {
    /// Takes stacks until one is refused, or there are so many; `before` there were so many mappings.
    fn until<T, E: Display>(
        before: u64,
        asked: u64,
        take: impl Fn() -> Result<T, E>,
        place: fn(&T) -> Place,
    ) -> anyhow::Result<Self> {
        // No room is asked for where there may be none any more.
        let (mut held, mut places) = (Vec::with_capacity(asked as usize), Vec::with_capacity(asked as usize));
        let mut ended = "all that were asked for".to_owned();
        while (held.len() as u64) < asked {
            match take() {
                Ok(stack) => held.push(stack),
                Err(error) => {
                    ended = error.to_string();
                    break;
                }
            }
        }
        places.extend(held.iter().map(place));
        let mappings = mappings_of_process()?.saturating_sub(before);
        drop(held);
        Ok(Self { places, mappings, ended })
    }

    /// Whether they are long enough, and apart.
    pub fn check(&self) -> anyhow::Result<()> {
        // A page of ours is the guard; corosensei's lies beside as much as was asked for.
        let short = self.places.iter().find(|place| place.1 < STACK_BYTES as u64);
        anyhow::ensure!(short.is_none() && !self.places.is_empty(), "a stack is too short: {short:?}");
        apart(self.places.iter().copied())
    }
}

fn mappings_of_process() -> anyhow::Result<u64> {
    let mut count = 0;
    mappings::each(|_, _| count += 1)?;
    Ok(count)
}

/// So many stacks of either.
fn alive((who, is_ours): (Who, bool), asked: u64) -> anyhow::Result<Alive> {
    let before = mappings_of_process()?;
    let alive = if is_ours {
        let vm = ours(KEPT)?;
        let pool = StackPool::with_count(&vm, STACK_BYTES, asked)?;
        Alive::until(before, asked, || pool.get(), place_of_ours)
    } else {
        Alive::until(before, asked, || DefaultStack::new(STACK_BYTES), place_of_theirs)
    }?;
    alive.check().map_err(|wrong| wrong.context(who.label()))?;
    Ok(alive)
}

/// One at a time: ours is warm, nobody runs on it.
pub(super) fn pairs(bench: &mut Bench) -> anyhow::Result<()> {
    let vm = ours(KEPT)?;
    let pool = StackPool::with_count(&vm, STACK_BYTES, CHECKED)?;
    let mut turns = Vec::new();
    for (who, is_ours) in bench.wanted(ENTRIES) {
        alive((who, is_ours), CHECKED)?;
        let pool = &pool;
        let run = move |count| {
            Took::here(|| {
                let right = (0..count).all(|_| match is_ours {
                    true => {
                        pool.get().is_ok_and(|stack| black_box(stack.base()).addr() > stack.limit().addr())
                    }
                    false => DefaultStack::new(black_box(STACK_BYTES))
                        .is_ok_and(|stack| black_box(stack.base()) > stack.limit()),
                });
                anyhow::ensure!(right, "stack: {}: one was refused", who.label());
                Ok(())
            })
        };
        let key = who.key(SUITE, "stack", "take and give back").param(Field::Size, STACK_BYTES as u64);
        turns.push(Turn { key, threads: 1, each: 1, run: Box::new(run) });
    }
    in_rounds(bench, "stack", false, bench.amount.rounds, turns)
}

/// As many at once as are asked for, or as there can be.
pub(super) fn guards(bench: &mut Bench) -> anyhow::Result<()> {
    let asked = bench.amount.operations.min(ALIVE) as u64;
    for (who, is_ours) in bench.wanted(ENTRIES) {
        bench.progress.tick(&format!("guards: {}", who.label()));
        let Alive { places, mappings, ended } = alive((who, is_ours), asked)?;
        let key = who.key(SUITE, "guards", "alive").param(Field::Ended, ended);
        let mut figures = bench.results.of(key);
        figures.total(Metric::Live, places.len() as u64).total(Metric::Mappings, mappings);
    }
    Ok(())
}
