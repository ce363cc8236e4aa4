//! Objects of one size placed and freed, in every order: the seed's table.
//!
//! The chunks stay from round to round, so that neither the making of chunks nor the first touch of their maps is
//! in the figures; the first, untimed round has both.

use super::Objects;
use crate::engine::percpu::{EngineEntry, Session};
use crate::family::Entry;
use crate::measure::figures::{median, turns};
use crate::workload::percpu::{ORDERS, Order, Size};
use freehold::percpu::Config;
use freehold::units::Align;
use freehold_trace::percpu::{Footprint, Location};
use std::time::Instant;

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
        let bench = Bench::new(entry, config, size, objects(entry));
        benches.push(bench.map_err(|reason| format!("{}: {reason}", entry.engine))?);
    }
    for round in 0..rounds {
        tick(&format!("{}: round {} of {rounds}", size.label(), round + 1));
        for engine in turns(benches.len(), round) {
            let Some(bench) = benches.get_mut(engine) else { continue };
            bench.round().map_err(|reason| format!("{}: {reason}", bench.run.entry.engine))?;
        }
    }
    Ok(benches.into_iter().map(|bench| bench.run).collect())
}

struct Bench {
    session: Box<dyn Session>,
    sizes: Vec<u32>,
    align: Align,
    places: Vec<Location>,
    run: FillRun,
}

impl Bench {
    fn new(entry: &EngineEntry, config: &Config, size: Size, objects: u32) -> Result<Self, String> {
        let mut session = (entry.make)(config, false)?;
        let mut kept = Objects::new(entry.grain_bytes);
        let judged = !entry.is_floor();
        if judged && size.second_half {
            let fillers = fill_second_halves(session.as_mut(), config, size, objects)?;
            kept.add(&fillers, std::iter::repeat(size.bytes));
        }
        let mut bench = Self {
            session,
            sizes: vec![size.bytes; objects as usize],
            align: size.align,
            places: Vec::with_capacity(objects as usize),
            run: FillRun {
                entry: *entry,
                objects,
                alloc_ns: Vec::new(),
                free_ns: ORDERS.map(|order| (order, Vec::new())).to_vec(),
                full: Footprint::default(),
            },
        };
        bench.place()?;
        bench.run.full = bench.session.footprint();
        bench.session.validate()?;
        if judged {
            let mut all = Objects::new(entry.grain_bytes);
            all.add(&bench.places, bench.sizes.iter().copied());
            all.check(size.align, config.unit_bytes)?;
            kept.add(&bench.places, bench.sizes.iter().copied());
            kept.check(Align::ONE, config.unit_bytes)?;
        }
        bench.free(Order::Random)?;
        bench.session.validate()?;
        Ok(bench)
    }

    fn round(&mut self) -> Result<(), String> {
        for at in 0..self.run.free_ns.len() {
            let placed = self.place()?;
            self.run.alloc_ns.push(placed);
            let Some(&(order, _)) = self.run.free_ns.get(at) else { continue };
            let freed = self.free(order)?;
            if let Some((_, ns)) = self.run.free_ns.get_mut(at) {
                ns.push(freed);
            }
        }
        Ok(())
    }

    fn place(&mut self) -> Result<f64, String> {
        self.places.clear();
        let before = Instant::now();
        self.session.fill(&self.sizes, self.align, &mut self.places);
        let took = before.elapsed();
        if self.places.len() < self.sizes.len() {
            return Err(format!("only {} of {} objects were placed", self.places.len(), self.sizes.len()));
        }
        Ok(took.as_nanos() as f64 / self.sizes.len().max(1) as f64)
    }

    fn free(&mut self, order: Order) -> Result<f64, String> {
        let places = order.arrange(&self.places);
        let before = Instant::now();
        let failed = self.session.drain(&places);
        let took = before.elapsed();
        if failed > 0 {
            return Err(format!("{failed} objects were not there to be freed"));
        }
        Ok(took.as_nanos() as f64 / places.len().max(1) as f64)
    }
}

/// Fills so many units with objects of the same size that the objects fit in their first halves, and frees these
/// halves. Returns what stays.
fn fill_second_halves(
    session: &mut dyn Session,
    config: &Config,
    size: Size,
    objects: u32,
) -> Result<Vec<Location>, String> {
    let half_bytes = config.unit_bytes / 2;
    let align = u32::try_from(size.align.bytes()).map_err(|_| "the alignment is too large")?;
    let stride = size.bytes.next_multiple_of(align);
    let units = objects.div_ceil((half_bytes / stride).max(1));
    let fillers = vec![size.bytes; units as usize * (config.unit_bytes / stride) as usize];
    let mut places = Vec::with_capacity(fillers.len());
    session.fill(&fillers, size.align, &mut places);
    let (first, second): (Vec<Location>, Vec<Location>) =
        places.into_iter().partition(|place| place.offset_bytes < half_bytes);
    match session.drain(&first) {
        0 => Ok(second),
        failed => Err(format!("{failed} objects were not there to be freed")),
    }
}
