//! `beside`: one reader, by the wall clock, while another thread stores, or only spins.

use super::engines::{Filled, Guarded, Subject};
use super::ranges::{self, Seen};
use super::{Bench, SUITE};
use crate::concurrent::place::{self, cpus, on_cpu};
use crate::record::{Field, Metric, Stat};
use std::hint::black_box;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Nanoseconds from a paced store to the next: a million in a second.
const PACE: Duration = Duration::from_nanos(1000);
/// Reads between two looks at the clock.
const BATCH: usize = 1024;
/// Stores between two looks whether the reader is done.
const STORES: usize = 16;

/// What the other thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    /// Reads the clock, as a paced writer does between two stores.
    Spins,
    /// Stores a million times in a second.
    Paced,
    /// Stores as fast as it can.
    FlatOut,
}

/// What is run: its name, what the other thread does, and whether it does so in the half that is not read.
const MODES: [(&str, Other, bool); 5] = [
    ("a thread that spins", Other::Spins, false),
    ("1 M stores/s", Other::Paced, false),
    ("flat out", Other::FlatOut, false),
    ("a thread that spins, half", Other::Spins, true),
    ("flat out, other half", Other::FlatOut, true),
];

/// What a round found.
struct Round {
    read_ns: f64,
    reads: u64,
    seen: Seen,
    written: Written,
}

/// What the other thread did.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    stores: u64,
    refused: u64,
    per_second: f64,
    /// The last version, and how many ranges it reached.
    last: (u16, usize),
}

/// The workload.
pub(super) fn run(bench: &mut Bench) -> anyhow::Result<()> {
    if cpus() < 2 {
        bench.results.note("beside: not run: reader and writer need a CPU each");
        return Ok(());
    }
    for ranges in bench.sizes() {
        let maps = bench.filled("beside", ranges, true)?;
        for (op, other, halves) in MODES {
            let long = bench.amount.together;
            let what = format!("beside: {ranges} ranges, {op}");
            let rounds = bench.rounds(&what, 0..=bench.amount.rounds, maps.len(), |_, at| {
                let found = one(&maps[at], ranges, other, halves, long)?;
                let who = maps[at].entry.who.label();
                anyhow::ensure!(found.seen.wrong == 0, "beside: {who}: another range's value was read");
                Ok(found)
            })?;
            for (map, rounds) in maps.iter().zip(&rounds) {
                add(bench, map, ranges, op, rounds);
            }
        }
    }
    Ok(())
}

fn add(bench: &mut Bench, map: &Filled, ranges: u32, op: &str, rounds: &[Round]) {
    let who = map.entry.who;
    let sum = |of: fn(&Round) -> u64| rounds.iter().map(of).sum::<u64>();
    let (reads, missed) = (sum(|round| round.reads), sum(|round| round.seen.missed));
    let (stores, refused) = (sum(|round| round.written.stores), sum(|round| round.written.refused));
    let of = |of: fn(&Round) -> f64| rounds.iter().map(of).collect::<Vec<_>>();
    let key = who.key(SUITE, "beside", op).param(Field::N, ranges);
    bench.results.of(key.clone()).rounds(Metric::Time, &of(|round| round.read_ns), reads);
    let mut share = |what: &str, part: u64, all: u64| {
        if part > 0 {
            let key = key.clone().op(format!("{op}, {what}"));
            bench.results.of(key).put(Metric::Share, Stat::Total, part as f64 / all as f64, all);
        }
    };
    share("found nothing", missed, reads);
    share("refused", refused, stores + refused);
    if stores > 0 {
        let per_second = of(|round| round.written.per_second);
        bench.results.of(key.op(format!("{op}, stores"))).rounds(Metric::Rate, &per_second, stores);
    }
}

/// One round: reads for that long, on one CPU, while the other thread is at work on another.
fn one(map: &Filled, ranges: u32, other: Other, halves: bool, long: Duration) -> anyhow::Result<Round> {
    let middle = ranges / 2;
    let (read, written): (Range<u32>, Range<u32>) =
        if halves { (0..middle, middle..ranges) } else { (0..ranges, 0..ranges) };
    let numbers = ranges::stores(written, 4);
    let indexes = ranges::reads(read, map.entry.exact, 5);
    let shared = map.map.as_ref();
    let (found, written) = place::beside(
        &|number| {
            on_cpu(number, 2);
            Ok(())
        },
        (1, &|_| reads(shared, &indexes, long)),
        (1, &|_, done| at_work(shared, other, &numbers, done)),
    )?;
    let ((read_ns, reads, seen), written) = (found[0], written[0]);
    map.check_stored(&numbers, written.last)?;
    Ok(Round { read_ns, reads, seen, written })
}

/// Reads until the time is over: nanoseconds of a look-up, how many, and what they saw.
fn reads(map: &dyn Subject, indexes: &[u64], long: Duration) -> anyhow::Result<(f64, u64, Seen)> {
    let (started, mut reads, mut seen) = (Instant::now(), 0, Seen::default());
    loop {
        for batch in indexes.chunks(BATCH) {
            let found = map.read(batch, Guarded::Each);
            let found = found.ok_or_else(|| anyhow::anyhow!("a shared map without guards"))?;
            seen.wrong |= found.wrong;
            seen.missed += found.missed;
            reads += batch.len() as u64;
            let passed = started.elapsed();
            if passed >= long {
                return Ok((passed.as_nanos() as f64 / reads as f64, reads, seen));
            }
        }
    }
}

/// What the other thread does until the reader is done.
fn at_work(map: &dyn Subject, other: Other, numbers: &[u32], done: &AtomicBool) -> anyhow::Result<Written> {
    let (started, mut written) = (Instant::now(), Written::default());
    while !done.load(Relaxed) {
        if other == Other::Spins {
            while !done.load(Relaxed) {
                black_box(started.elapsed());
            }
            break;
        }
        written.last = (written.last.0.wrapping_add(1), 0);
        let batch = if other == Other::Paced { 1 } else { STORES };
        for batch in numbers.chunks(batch) {
            written.refused += map.store(batch, written.last.0)?;
            written.stores += batch.len() as u64;
            written.last.1 += batch.len();
            // Who is late stores at once, until it is in time again.
            let due = PACE * u32::try_from(written.stores).unwrap_or(u32::MAX);
            while other == Other::Paced && started.elapsed() < due && !done.load(Relaxed) {}
            if done.load(Relaxed) {
                break;
            }
        }
    }
    written.per_second = written.stores as f64 / started.elapsed().as_secs_f64();
    Ok(written)
}
