//! `lookup-random` and `lookup-hot`: which range an address is in, and its value. This is what a VMM asks on every exit.
//!
//! ```text
//!   range i     [16 i, 16 i + 7], a hole as long behind it; of address ranges in pages
//!   random      an index anywhere: half of them lie in holes
//!   hot         nine of ten within four ranges, the devices that a guest talks to; the tenth anywhere
//! ```
//!
//! Each engine gives the first and the last index of the range and its value. Each answer is compared with that of a sorted
//! list before anything is timed, and the sum of the answers after each pass that is timed. Time is CPU time of the threads
//! that look up.

mod engines;

pub use engines::{Entry, Found, KVA, MAPLE, READERS, Subject, sum};

use super::place::together_ns;
use super::{Amount, Bench, Who};
use crate::Progress;
use crate::failure::{Failure, usage};
use crate::record::{Field, Key, Metric, Results, Stat};
use crate::run::Options;
use crate::run::instructions::{measured, sized, totals};
use crate::workload::suite::find_cases;
use crate::workload::{SplitMix, check_memory};
use freehold::units::{Align, Span};
use freehold_rivals::maple::ListRanges;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// From one range to the next.
const STRIDE: u64 = 16;
/// Indexes of a range; as many of the hole behind it.
const LENGTH: u64 = STRIDE / 2;
/// Devices that nine of ten look-ups go to.
const HOT: u64 = 4;
/// Look-ups that are made before the same come again.
const READS: usize = 1 << 16;
/// Look-ups whose instructions are counted.
const COUNTED: usize = 1 << 12;
/// Sizes that are measured when nobody says which, the last one where it need not be quick.
const SIZES: [u32; 4] = [16, 256, 10_000, 1_000_000];
/// Bytes of a range in a map, and in what is stored and expected, about.
const BYTES: u64 = 128;
/// What stands before a workload's name under callgrind: then the family.
pub const UNDER: &str = "look-ups/";

/// A workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Its name.
    pub name: &'static str,
    is_hot: bool,
}

/// Both.
pub const WORKLOADS: [Workload; 2] =
    [Workload { name: "lookup-random", is_hot: false }, Workload { name: "lookup-hot", is_hot: true }];

/// Whose look-ups they are.
#[derive(Clone, Copy)]
pub struct Family {
    /// In records.
    pub suite: &'static str,
    /// Who is asked.
    pub entries: &'static [Entry],
    /// What ranges are counted in.
    unit: Align,
    /// Threads that look up at once.
    threads: fn() -> Vec<u32>,
}

/// Those of `bench kva`.
pub const OF_KVA: Family = Family { suite: "kva", entries: KVA, unit: Align::PAGE, threads: || vec![1] };
/// Those of `bench maple`.
pub const OF_MAPLE: Family = Family { suite: "maple", entries: MAPLE, unit: Align::ONE, threads: || vec![1] };
/// Those of `bench readers`.
pub const OF_READERS: Family =
    Family { suite: "readers", entries: READERS, unit: Align::ONE, threads: super::place::threads };

/// The look-ups that `names` ask for, and the rest of the names. No names: all look-ups, and all that there is beside them.
pub fn split(names: &[String]) -> (Vec<Workload>, Option<Vec<String>>) {
    if names.is_empty() {
        return (WORKLOADS.to_vec(), Some(Vec::new()));
    }
    let is = |name: &String, workload: &Workload| workload.name == name;
    let asked = WORKLOADS.into_iter().filter(|workload| names.iter().any(|name| is(name, workload)));
    let rest = names.iter().filter(|name| !WORKLOADS.iter().any(|workload| is(name, workload)));
    let rest: Vec<String> = rest.cloned().collect();
    (asked.collect(), Some(rest).filter(|rest| !rest.is_empty()))
}

/// Runs workloads, of the engines and at the sizes that are asked for.
///
/// # Errors
/// There is no memory for a size, or an engine answers wrong.
pub fn run(
    family: &Family,
    workloads: &[Workload],
    options: &Options,
    results: &mut Results,
    progress: &mut Progress,
) -> anyhow::Result<()> {
    let amount = if options.quick { Amount::QUICK } else { Amount::USUAL };
    let mut bench = Bench { amount, options, results: std::mem::take(results), progress };
    let ran = workloads.iter().try_for_each(|workload| bench.look_ups(family, *workload));
    *results = bench.results;
    ran
}

/// Refuses names that none of the family's engines has.
///
/// # Errors
/// There is one.
pub fn check(family: &Family, names: &[String]) -> Result<(), Failure> {
    let whos: Vec<Who> = family.entries.iter().map(|(who, _)| *who).collect();
    Who::check(&whos, names)
}

impl Workload {
    /// The ranges, in an order of their own, and the indexes that hold them all.
    fn ranges(self, unit: Align, n: u32) -> (Span, Vec<(Span, u64)>) {
        let unit = unit.bytes();
        let range = |slot: u64| {
            let span = Span::from_size(slot * STRIDE * unit, LENGTH * unit).unwrap_or(Span::ALL);
            (span, slot + 1)
        };
        let mut ranges: Vec<_> = (0..u64::from(n)).map(range).collect();
        SplitMix::new(u64::from(n)).shuffle(&mut ranges);
        (Span::from_size(0, u64::from(n) * STRIDE * unit).unwrap_or(Span::ALL), ranges)
    }

    /// The indexes that are looked up.
    fn indexes(self, unit: Align, n: u32, count: usize) -> Vec<u64> {
        let (mut random, unit, n) = (SplitMix::new(u64::from(n) << 1), unit.bytes(), u64::from(n));
        let mut index = || {
            if self.is_hot && random.uniform(10) > 0 {
                // Devices lie apart: at an eighth of the space, three, five and seven.
                let slot = n * (2 * random.uniform(HOT) + 1) / (2 * HOT);
                return slot * STRIDE * unit + random.uniform(LENGTH * unit);
            }
            random.uniform(n * STRIDE * unit)
        };
        (0..count).map(|_| index()).collect()
    }
}

impl Bench<'_> {
    /// A workload at all sizes.
    pub(super) fn look_ups(&mut self, family: &Family, workload: Workload) -> anyhow::Result<()> {
        let usual = if self.options.quick { &SIZES[..3] } else { &SIZES };
        let sizes = if self.options.sizes.is_empty() { usual } else { &self.options.sizes };
        let entries = self.wanted(family.entries.iter().copied());
        for &n in sizes {
            if self.options.instructions {
                self.count_instructions(family, workload, n, &entries)?;
                continue;
            }
            check_memory(n.into(), BYTES * (2 + entries.len() as u64))?;
            let indexes = workload.indexes(family.unit, n, READS);
            let (subjects, expected) = self.checked_maps(family, workload, n, &entries, &indexes)?;
            for threads in (family.threads)() {
                let op = if threads == 1 { "look-up" } else { "look-up by two" };
                let key = |(who, _): &Entry| [who.key(family.suite, workload.name, op).param(Field::N, n)];
                let keys: Vec<[Key; 1]> = entries.iter().map(key).collect();
                let passes = self.amount.operations.div_ceil(4 * READS);
                let each = passes * READS * threads as usize;
                let what = format!("{}: {n} ranges, {op}", workload.name);
                self.time(&what, keys, [each], |_, at| {
                    let wrong = AtomicBool::new(false);
                    let (ns, _) = together_ns(threads, &|_| {
                        for _ in 0..passes {
                            let sum = subjects[at].sum(black_box(&indexes));
                            wrong.fetch_or(sum != expected, Relaxed);
                        }
                    })?;
                    let who = entries[at].0.label();
                    anyhow::ensure!(!wrong.into_inner(), "{who}: another answer than before");
                    Ok([ns / each as f64])
                })?;
            }
        }
        Ok(())
    }

    /// The maps, each of whose answers was compared with that of a list, and the sum of the answers.
    fn checked_maps(
        &mut self,
        family: &Family,
        workload: Workload,
        n: u32,
        entries: &[Entry],
        indexes: &[u64],
    ) -> anyhow::Result<(Vec<Box<dyn Subject>>, u64)> {
        let mut list = ListRanges::<u64>::new();
        let mut ascending = workload.ranges(family.unit, n).1;
        ascending.sort_unstable_by_key(|(span, _)| span.first());
        ascending.iter().for_each(|&(span, value)| list.put(span, Some(value)));
        let expected: Vec<Option<Found>> = indexes.iter().map(|&index| list.holding(index)).collect();
        let mut subjects = Vec::new();
        for entry in entries {
            let who = entry.0.label();
            self.progress.tick(&format!("{}: checking {who}", workload.name));
            let subject = filled(family, workload, n, entry)?;
            for (&index, right) in indexes.iter().zip(&expected) {
                let found = subject.find(index);
                anyhow::ensure!(found == *right, "{who}: {found:?} at {index:#x}, not {right:?}");
            }
            subjects.push(subject);
        }
        Ok((subjects, sum(expected.into_iter())))
    }

    fn count_instructions(
        &mut self,
        family: &Family,
        workload: Workload,
        n: u32,
        entries: &[Entry],
    ) -> anyhow::Result<()> {
        for (who, _) in entries {
            let label = who.label();
            self.progress.tick(&format!("{} n {n}: counting instructions of {label}", workload.name));
            let of = format!("{UNDER}{}/{}", family.suite, workload.name);
            let totals = totals(&sized(&of, n, &label), 1)?;
            let mean = totals.first().copied().unwrap_or_default() as f64 / COUNTED as f64;
            let key = who.key(family.suite, workload.name, "look-up").param(Field::N, n);
            self.results.of(key).put(Metric::Instructions, Stat::Mean, mean, COUNTED as u64);
        }
        Ok(())
    }
}

/// A map with all ranges.
fn filled(
    family: &Family,
    workload: Workload,
    n: u32,
    (who, make): &Entry,
) -> anyhow::Result<Box<dyn Subject>> {
    let (within, ranges) = workload.ranges(family.unit, n);
    let subject = make(within).filter(|_| n > 0);
    let mut subject = subject.ok_or_else(|| anyhow::anyhow!("{}: no empty map", who.label()))?;
    anyhow::ensure!(subject.fill(&ranges), "{}: a range was refused", who.label());
    Ok(subject)
}

/// What is run under callgrind: the look-ups of one engine, of a workload behind its family.
///
/// # Errors
/// There is no such family, workload or engine.
pub fn run_under_callgrind(name: &str, n: u32, engine: &str) -> anyhow::Result<()> {
    let (suite, name) = name.split_once('/').unwrap_or_default();
    let families = [OF_KVA, OF_MAPLE, OF_READERS];
    let Some(family) = families.iter().find(|family| family.suite == suite) else {
        return usage(format!("no look-ups of {suite}"));
    };
    let workloads = find_cases("workload", &[name.to_owned()], WORKLOADS, |workload| workload.name)?;
    check(family, &[engine.to_owned()])?;
    for workload in workloads {
        for entry in family.entries.iter().filter(|(who, _)| who.label() == engine) {
            let subject = filled(family, workload, n, entry)?;
            let indexes = workload.indexes(family.unit, n, COUNTED);
            // The first look-up of a thread may register it.
            black_box(subject.find(0));
            let mut run = || {
                black_box(subject.sum(&indexes));
            };
            measured(&mut run, true);
        }
    }
    Ok(())
}
