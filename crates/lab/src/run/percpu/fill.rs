//! Objects of one size placed and freed, in every order: the seed's table.
//!
//! The chunks stay from round to round, so that neither the making of chunks nor the first touch of their maps is
//! in the figures; the first, untimed round has both.

use super::Bench;
use super::bench::allocs_and_frees;
use crate::engine::percpu::EngineEntry;
use crate::run::figures::{in_turn, median};
use crate::workload::percpu::{ORDERS, Order, Size};
use freehold::percpu::Config;
use freehold_trace::percpu::{Footprint, Op};

/// What an engine made of it.
#[derive(Clone, Debug)]
pub struct FillRun {
    /// The engine.
    pub entry: EngineEntry,
    /// Objects that were placed.
    pub objects: u32,
    /// Nanoseconds of an allocation, by round.
    pub alloc_ns: Vec<f64>,
    /// Nanoseconds of a free, by order and round.
    pub free_ns: Vec<(Order, Vec<f64>)>,
    /// What the engine took while all objects were live.
    pub full: Footprint,
}

impl FillRun {
    /// The longest of the orders, in nanoseconds of a free.
    #[must_use]
    pub fn worst_free_ns(&self, orders: &[Order]) -> f64 {
        let of = self.free_ns.iter().filter(|(order, _)| orders.contains(order));
        of.map(|(_, ns)| median(ns)).fold(0.0, f64::max)
    }

    /// Nanoseconds of a free in that order.
    #[must_use]
    pub fn free_ns(&self, order: Order) -> f64 {
        self.worst_free_ns(&[order])
    }
}

/// Places and frees `objects` objects, in each order once a round. Engines for which `objects` says less do less.
///
/// # Errors
/// An engine cannot be made, cannot place an object, or places one where it may not be.
pub fn fill(
    engines: &[EngineEntry],
    config: &Config,
    size: Size,
    objects: impl Fn(&EngineEntry) -> u32,
    rounds: usize,
    tick: &mut dyn FnMut(&str),
) -> Result<Vec<FillRun>, String> {
    let mut benches = Vec::new();
    for entry in engines {
        tick(&format!("{}: checking {}", size.label(), entry.engine));
        benches.push(Filled::new(entry, config, size, objects(entry))?);
    }
    for round in 0..rounds {
        tick(&format!("{}: round {} of {rounds}", size.label(), round + 1));
        in_turn(round, &mut benches, |bench: &mut Filled| bench.round())?;
    }
    Ok(benches.into_iter().map(|bench| bench.run).collect())
}

/// An engine, and what it is asked.
struct Filled {
    bench: Bench,
    allocs: Vec<Op>,
    frees: Vec<Op>,
    run: FillRun,
}

impl Filled {
    fn new(entry: &EngineEntry, config: &Config, size: Size, objects: u32) -> Result<Self, String> {
        let (allocs, frees) = allocs_and_frees(0..objects, size.bytes, size.align);
        let mut bench = if size.second_half {
            with_second_halves(entry, config, size, objects)?
        } else {
            Bench::new(entry, config, allocs.len())?
        };
        bench.run(&allocs)?;
        bench.check()?;
        let full = bench.session.footprint();
        bench.run(&Order::Random.arrange(&frees))?;
        bench.check()?;
        let free_ns = ORDERS.map(|order| (order, Vec::new())).to_vec();
        let run = FillRun { entry: *entry, objects, alloc_ns: Vec::new(), free_ns, full };
        Ok(Self { bench, allocs, frees, run })
    }

    fn round(&mut self) -> Result<(), String> {
        for (order, ns) in &mut self.run.free_ns {
            self.run.alloc_ns.push(self.bench.run(&self.allocs)?);
            ns.push(self.bench.run(&order.arrange(&self.frees))?);
        }
        Ok(())
    }
}

/// An engine with so many units full of objects of the same size that `objects` more fit in their first halves, which are
/// free.
fn with_second_halves(
    entry: &EngineEntry,
    config: &Config,
    size: Size,
    objects: u32,
) -> Result<Bench, String> {
    let half_bytes = config.unit_bytes / 2;
    let align = u32::try_from(size.align.bytes()).map_err(|_| "the alignment is too large")?;
    let stride = size.bytes.next_multiple_of(align);
    let units = objects.div_ceil((half_bytes / stride).max(1));
    let end = objects + units * (config.unit_bytes / stride);
    let (fillers, mut freed) = allocs_and_frees(objects..end, size.bytes, size.align);
    let mut bench = Bench::new(entry, config, end as usize)?;
    bench.run(&fillers)?;
    let in_first_half = |op: &Op| bench.offset_bytes(op.object()) < Some(half_bytes.into());
    freed.retain(in_first_half);
    bench.run(&freed)?;
    Ok(bench)
}
