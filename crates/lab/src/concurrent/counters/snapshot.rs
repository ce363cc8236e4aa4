//! `snapshot`: the values of many counters at once, beside a copy of the bytes that they are in.

use super::engines::{OURS, default_heap, other, ours};
use super::{Bench, SUITE};
use crate::concurrent::place::{cpu_ns, on_each_cpu};
use crate::concurrent::{FLOOR, Who};
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
    (Who::default(OURS), Way::Snapshot),
    (ours("one-by-one"), Way::OneByOne),
    (other("shared-atomic"), Way::Atomics),
    (other("copy"), Way::Copy),
    (other(FLOOR), Way::Nothing),
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
pub(super) fn run(bench: &mut Bench) -> anyhow::Result<()> {
    let n = bench.amount.operations;
    bench.progress.tick("snapshot: adding on each CPU");
    let heap = default_heap()?;
    let counters = Counter::bulk(heap, n)?;
    let add = || counters.iter().for_each(|counter| counter.add(1));
    let ran = on_each_cpu(usize::MAX, &add, &mut || Ok(()))? as u64;
    let slots: Vec<u64> = (0..n as u64 * u64::from(heap.cpus())).collect();
    let mut counted = Counted {
        counters,
        atomics: (0..n).map(|_| AtomicU64::new(ran)).collect(),
        values: vec![0; n],
        copied: vec![0; slots.len()],
        slots,
    };
    let wanted: Vec<(Who, Way)> = WAYS.into_iter().filter(|(who, _)| bench.options.wants(who)).collect();
    for (who, way) in &wanted {
        anyhow::ensure!(counted.check(*way, ran)?, "snapshot: {}: wrong values", who.label());
    }
    let keys = wanted.iter().map(|(who, _)| [who.key(SUITE, "snapshot", "read").param("n", n as u64)]);
    bench.time("snapshot", keys.collect(), [n], |_, at| {
        let mut done = Ok(());
        let ns = cpu_ns(|| done = counted.read(wanted[at].1))?;
        done.map(|()| [ns / n as f64])
    })?;
    Counter::free_bulk(counted.counters);
    Ok(())
}
