//! A writer and readers on one map, and what each read saw.

use crate::concurrent::place::beside;
use crate::workload::SplitMix;
use freehold::maple::MapleTree;
use freehold::maple::maple_tree::{Reading, WriteError};
use freehold::units::Span;
use freehold_rivals::maple::history::{Change, Read, Seen};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Reads that a thread notes in a round, at most.
const MOST_READS: usize = 40_000;
/// Reads under one guard, at most.
const MOST_HELD: u64 = 12;
/// One read in so many goes through entries.
const EACH_ITERATION: u64 = 24;
/// Indexes that are stored and read, and those at the end of all.
const WIDTH: u64 = 1 << 13;

/// How a change is made: whether it was not refused.
pub type Put = dyn Fn(&MapleTree<u64>, Change) -> Result<bool, String> + Sync;

/// Stores, or removes without a value; whether readers do not hold too much back for it.
pub fn put(map: &MapleTree<u64>, change: Change) -> Result<bool, String> {
    let done = match change.value {
        Some(value) => map.store(change.over, value).map_err(|refused| refused.cause),
        None => map.remove_range(change.over),
    };
    match done {
        Ok(()) => Ok(true),
        Err(WriteError::Readers { .. }) => Ok(false),
        Err(error) => Err(error.to_string()),
    }
}

/// Changes at random, whose values are their numbers from `first` on.
pub fn changes(count: usize, first: u64, random: &mut SplitMix) -> Vec<Change> {
    let change = |number: u64| {
        let over = span(random);
        let value = (random.uniform(4) != 0).then_some(first + number);
        Change { over, value }
    };
    (0..count as u64).map(change).collect()
}

/// Mostly short; some are long, and some reach the last index of all.
fn span(random: &mut SplitMix) -> Span {
    let first = random.uniform(WIDTH);
    let length = if random.uniform(256) == 0 { WIDTH / 4 } else { 48 };
    let last = match random.uniform(64) {
        0 => u64::MAX - random.uniform(3),
        _ => (first + random.uniform(length)).min(WIDTH),
    };
    Span::new(first, last).unwrap_or(Span::ALL)
}

/// What a round did.
pub(super) struct Round {
    pub(super) reads: Vec<Read>,
    pub(super) refused: u64,
}

/// How far the writer is: changes started, and changes finished.
#[derive(Default)]
struct Clock {
    started: AtomicUsize,
    finished: AtomicUsize,
}

impl Clock {
    /// A read, and the moments that it may be of. Acquire: what is finished is seen; a change that is seen was started.
    fn timed(&self, read: impl FnOnce() -> Seen) -> Read {
        let after = self.finished.load(Ordering::Acquire);
        let seen = read();
        Read { after, until: self.started.load(Ordering::Acquire), seen }
    }
}

/// Makes the changes on one thread, while `readers` others read.
pub(super) fn round(
    map: &MapleTree<u64>,
    put: &Put,
    changes: &[Change],
    readers: u32,
    seed: u64,
) -> anyhow::Result<Round> {
    let clock = Clock::default();
    let writes = |_| write(changes, &clock, &|change| put(map, change)).map_err(anyhow::Error::msg);
    let (refused, reads) = beside(
        &|_| Ok(()),
        (1, &writes),
        (readers, &|reader, done| {
            let mut random = SplitMix::new(seed ^ u64::from(reader + 1) << 32);
            Ok(reads(map, &clock, done, &mut random))
        }),
    )?;
    Ok(Round { reads: reads.concat(), refused: refused.into_iter().sum() })
}

/// Makes the changes; how often one was refused, since readers hold too much back.
fn write(
    changes: &[Change],
    clock: &Clock,
    put: &dyn Fn(Change) -> Result<bool, String>,
) -> Result<u64, String> {
    let mut refused = 0;
    for (at, change) in changes.iter().enumerate() {
        clock.started.store(at + 1, Ordering::Release);
        while !put(*change)? {
            refused += 1;
            std::thread::yield_now();
        }
        clock.finished.store(at + 1, Ordering::Release);
    }
    Ok(refused)
}

fn reads(map: &MapleTree<u64>, clock: &Clock, done: &AtomicBool, random: &mut SplitMix) -> Vec<Read> {
    let mut reads = Vec::new();
    // Each thread reads once at least, also if the writer was done before it ran.
    loop {
        let view = map.read();
        for _ in 0..=random.uniform(MOST_HELD) {
            reads.push(one(&view, clock, random));
        }
        drop(view);
        if done.load(Ordering::Acquire) || reads.len() >= MOST_READS {
            return reads;
        }
    }
}

fn one(view: &Reading<u64>, clock: &Clock, random: &mut SplitMix) -> Read {
    let index = random.uniform(WIDTH);
    match random.uniform(EACH_ITERATION) {
        0 => {
            let (within, backwards) = (span(random), random.uniform(2) == 0);
            clock.timed(|| {
                let entries = view.range(within);
                let entries = if backwards { entries.rev().collect() } else { entries.collect() };
                Seen::Entries { within, backwards, entries }
            })
        }
        1..12 => clock.timed(|| Seen::Value(index, view.get(index))),
        _ => clock.timed(|| {
            let (span, value) = view.slot_at(index);
            Seen::Slot(index, span, value)
        }),
    }
}
