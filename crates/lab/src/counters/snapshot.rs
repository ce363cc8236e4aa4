//! `snapshot`: the values of many counters at once, beside a copy of the bytes that they are in.

use super::engines::{FLOOR, OURS, Who, default_heap};
use super::threads::{cpu_ns, in_turn, on_each_cpu};
use super::{Bench, key};
use crate::Progress;
use crate::record::{Metric, Results};
use freehold_percpu::{Counter, snapshot};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A way to have all values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Snapshot,
    OneByOne,
    /// Of plain atomics, side by side.
    Atomics,
    /// Copies as many bytes as a snapshot of ours reads.
    Copy,
    Nothing,
}

const WAYS: [(Who, Way); 5] = [
    (Who::of(OURS), Way::Snapshot),
    (Who::ours("one-by-one"), Way::OneByOne),
    (Who::of("shared-atomic"), Way::Atomics),
    (Who::of("copy"), Way::Copy),
    (Who::of(FLOOR), Way::Nothing),
];

struct Counted {
    counters: Vec<Counter>,
    atomics: Vec<AtomicU64>,
    values: Vec<u64>,
    /// The slots of all CPUs that the kernel may ever use, and where they are copied to.
    slots: Vec<u64>,
    copied: Vec<u64>,
}

impl Counted {
    fn read(&mut self, way: Way) -> anyhow::Result<()> {
        match way {
            Way::Snapshot => snapshot(&self.counters, &mut self.values)?,
            Way::OneByOne => {
                self.counters
                    .iter()
                    .zip(&mut self.values)
                    .for_each(|(counter, value)| *value = counter.get());
            }
            Way::Atomics => {
                let atomics = self.atomics.iter().zip(&mut self.values);
                atomics.for_each(|(atomic, value)| *value = atomic.load(Relaxed));
            }
            Way::Copy => self.copied.copy_from_slice(black_box(&self.slots)),
            Way::Nothing => {}
        }
        black_box((&self.values, &self.copied));
        Ok(())
    }

    /// Whether the way gives the value that each counter has.
    fn check(&mut self, way: Way, value: u64) -> anyhow::Result<bool> {
        self.values.fill(0);
        self.copied.fill(0);
        self.read(way)?;
        Ok(match way {
            Way::Copy => self.copied == self.slots,
            Way::Nothing => true,
            _ => self.values.iter().all(|&read| read == value),
        })
    }
}

/// The case.
pub(super) fn run(bench: &Bench, results: &mut Results, progress: &mut Progress) -> anyhow::Result<()> {
    let n = bench.amount.in_snapshot;
    progress.tick("snapshot: adding on each CPU");
    let heap = default_heap()?;
    let counters = Counter::bulk(heap, n)?;
    let ran = on_each_cpu(usize::MAX, &|| counters.iter().for_each(|counter| counter.add(1)), &mut || Ok(()))?
        as u64;
    let slots: Vec<u64> = (0..n as u64 * u64::from(heap.cpus())).collect();
    let mut counted = Counted {
        counters,
        atomics: (0..n).map(|_| AtomicU64::new(ran)).collect(),
        values: vec![0; n],
        copied: vec![0; slots.len()],
        slots,
    };
    let wanted: Vec<(Who, Way)> =
        WAYS.into_iter().filter(|(who, way)| *way == Way::Nothing || bench.wants(who)).collect();
    for (who, way) in &wanted {
        anyhow::ensure!(counted.check(*way, ran)?, "snapshot: {}: wrong values", who.label());
    }
    let mut rounds_ns = vec![Vec::new(); wanted.len()];
    for round in 0..bench.amount.rounds {
        progress.tick(&format!("snapshot: round {}", round + 1));
        for at in in_turn(round, wanted.len()) {
            let mut done = Ok(());
            let ns = cpu_ns(|| done = counted.read(wanted[at].1))?;
            done?;
            rounds_ns[at].push(ns / n as f64);
        }
    }
    for ((who, _), rounds_ns) in wanted.iter().zip(&rounds_ns) {
        let key = key("snapshot", "read", who).param("n", n as u64);
        results.of(key).rounds(Metric::Time, rounds_ns, (n * bench.amount.rounds) as u64);
    }
    Counter::free_bulk(counted.counters);
    Ok(())
}
