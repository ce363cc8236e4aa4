//! Engines take turns in rounds, each for about as long; their time and page faults.

use super::Bench;
use crate::concurrent::place::{Work, wall_clock};
use crate::record::{Key, Metric, Stat};
use freehold_harness::threads::{cpu_time, page_faults};
use std::time::Duration;

/// The part of `Amount::together` that a turn takes, and the most operations in it.
const TURNS: u32 = 10;
const MOST: usize = 1 << 24;
/// What is done before it is told how often it fits into a turn.
const COLD: usize = 4;

/// What a turn took: the CPU time of one thread, or the time until the last of several was done; and the page faults of all.
#[derive(Clone, Copy, Debug)]
pub struct Took {
    time: Duration,
    /// The CPU time of the thread that has most: how much is done does not depend on who else runs.
    cpu_time: Duration,
    faults: u64,
}

impl Took {
    /// Of work on this thread.
    pub fn here(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<Self> {
        let (faults, started) = (page_faults()?, cpu_time()?);
        work()?;
        let time = cpu_time()? - started;
        Ok(Self { time, cpu_time: time, faults: page_faults()? - faults })
    }

    /// Of work on threads that begin at once, after each has done something that does not count.
    pub fn of(threads: u32, before: &Work, work: &Work) -> anyhow::Result<Self> {
        let (time, each) = wall_clock(threads, before, &|thread| Self::here(|| work(thread)))?;
        let cpu_time = each.iter().map(|took| took.cpu_time).max().unwrap_or_default();
        let faults = each.iter().map(|took| took.faults).sum();
        Ok(Self { time: if threads == 1 { cpu_time } else { time }, cpu_time, faults })
    }
}

/// What has its turn in each round.
pub(super) struct Turn<'a> {
    pub key: Key,
    pub threads: u32,
    /// Operations that are done at once, by a thread.
    pub each: usize,
    /// Does that so often.
    pub run: Box<dyn FnMut(usize) -> anyhow::Result<Took> + 'a>,
}

impl Turn<'_> {
    /// How often it is done in a turn of that length.
    fn count(&mut self, length: Duration) -> anyhow::Result<usize> {
        let mut count = 1;
        // Memory that is cold takes long, and would pass for a turn.
        for _ in 0..if length.is_zero() { 0 } else { COLD } {
            (self.run)(count)?;
        }
        loop {
            let took = (self.run)(count)?;
            if took.cpu_time * 2 >= length || count >= MOST {
                return Ok(count);
            }
            count *= if took.cpu_time * 16 < length { 8 } else { 2 };
        }
    }
}

/// Each as often as fits into a turn; what is too short for that, and must not be done twice in a row, is done `once`.
pub(super) fn in_rounds(
    bench: &mut Bench,
    what: &str,
    once: bool,
    rounds: usize,
    mut turns: Vec<Turn>,
) -> anyhow::Result<()> {
    let length = if once { Duration::ZERO } else { bench.amount.together / TURNS };
    let mut counts = Vec::new();
    for turn in &mut turns {
        bench.progress.tick(&format!("{what}: {} warms up", turn.key.label()));
        counts.push(turn.count(length)?);
    }
    let took = bench.rounds(what, 1..=rounds, turns.len(), |_, at| (turns[at].run)(counts[at]))?;
    for (at, turn) in turns.into_iter().enumerate() {
        let each = (counts[at] * turn.each) as f64;
        let times_ns: Vec<f64> = took[at].iter().map(|took| took.time.as_nanos() as f64 / each).collect();
        let faults: u64 = took[at].iter().map(|took| took.faults).sum();
        let operations = (counts[at] * turn.each * rounds) as u64 * u64::from(turn.threads);
        let mut figures = bench.results.of(turn.key);
        figures.rounds(Metric::Time, &times_ns, operations);
        figures.put(Metric::Faults, Stat::Mean, faults as f64 / operations as f64, operations);
    }
    Ok(())
}
