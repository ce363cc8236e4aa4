//! `snapshot`: the values of many counters at once, beside a copy of the bytes that they are in.

use super::engines::{OURS, default_heap, ours};
use super::{Bench, SUITE};
use crate::concurrent::place::{cpu_ns, on_each_cpu};
use crate::concurrent::{FLOOR, Who};
use crate::record::Field;
use freehold_percpu::{Counter, snapshot};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Reads all values.
type Way = fn(&mut Counted) -> anyhow::Result<()>;

/// The copy among them.
const COPY: &str = "copy";

/// Ours and one by one, of plain atomics side by side, and a copy of as many bytes as a snapshot of ours reads.
const WAYS: [(Who, Way); 5] = [
    (Who::default(OURS), |of| Ok(snapshot(&of.counters, &mut of.values)?)),
    (ours("one-by-one"), |of| fill(&mut of.values, of.counters.iter().map(Counter::get))),
    (Who::other("shared-atomic"), |of| {
        fill(&mut of.values, of.atomics.iter().map(|atomic| atomic.load(Relaxed)))
    }),
    (Who::other(COPY), |of| {
        of.copied.copy_from_slice(black_box(&of.slots));
        Ok(())
    }),
    (Who::other(FLOOR), |_| Ok(())),
];

struct Counted {
    counters: Vec<Counter>,
    atomics: Vec<AtomicU64>,
    values: Vec<u64>,
    /// The slots of all CPUs that the kernel may ever use, and where they are copied to.
    slots: Vec<u64>,
    copied: Vec<u64>,
}

fn fill(values: &mut [u64], from: impl Iterator<Item = u64>) -> anyhow::Result<()> {
    values.iter_mut().zip(from).for_each(|(value, now)| *value = now);
    Ok(())
}

impl Counted {
    fn read(&mut self, way: Way) -> anyhow::Result<()> {
        way(self)?;
        black_box((&self.values, &self.copied));
        Ok(())
    }

    /// Whether the way of that name gives the value that each counter has; the copy, what is copied; the floor, nothing.
    fn check(&mut self, name: &str, way: Way, value: u64) -> anyhow::Result<bool> {
        self.values.fill(0);
        self.copied.fill(0);
        self.read(way)?;
        Ok(match name {
            COPY => self.copied == self.slots,
            FLOOR => true,
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
    // From 1 on: what is cleared is no copy.
    let slots: Vec<u64> = (1..=n as u64 * u64::from(heap.cpus())).collect();
    let mut counted = Counted {
        counters,
        atomics: (0..n).map(|_| AtomicU64::new(ran)).collect(),
        values: vec![0; n],
        copied: vec![0; slots.len()],
        slots,
    };
    let wanted = bench.wanted(WAYS);
    for (who, way) in &wanted {
        let right = counted.check(who.engine, *way, ran)?;
        anyhow::ensure!(right, "snapshot: {}: wrong values", who.label());
    }
    let keys = wanted.iter().map(|(who, _)| [who.key(SUITE, "snapshot", "read").param(Field::N, n as u64)]);
    bench.time("snapshot", keys.collect(), [n], |_, at| {
        let mut done = Ok(());
        let ns = cpu_ns(|| done = counted.read(wanted[at].1))?;
        done.map(|()| [ns / n as f64])
    })?;
    Counter::free_bulk(counted.counters);
    Ok(())
}
