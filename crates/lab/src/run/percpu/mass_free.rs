//! Requests that come after many frees: what frees put off is paid there, and shows.

use super::Bench;
use super::bench::{alloc, allocs_and_frees};
use crate::engine::percpu::EngineEntry;
use crate::run::figures::in_turn;
use crate::workload::percpu::{Order, Size};
use freehold::percpu::Config;
use freehold_trace::percpu::Op;

/// Requests right after the frees that are timed apart, and one by one.
pub const FIRST: usize = 1000;

/// What an engine made of it. All in nanoseconds, by round.
#[derive(Clone, Debug)]
pub struct MassFreeRun {
    /// The engine.
    pub entry: EngineEntry,
    /// Of a free.
    pub free_ns: Vec<f64>,
    /// Of the first request after the frees.
    pub first_ns: Vec<f64>,
    /// The longest of the first [`FIRST`] requests.
    pub longest_ns: Vec<f64>,
    /// Of one of these, in the mean.
    pub early_ns: Vec<f64>,
    /// Of one of all requests that fill the holes again, in the mean.
    pub all_ns: Vec<f64>,
}

/// Fills with `objects` objects, frees half of them at random, and places as many again.
///
/// # Errors
/// An engine cannot be made, cannot place an object, or places one where it may not be.
pub fn mass_free(
    engines: &[EngineEntry],
    config: &Config,
    size: Size,
    objects: u32,
    rounds: usize,
    tick: &mut dyn FnMut(&str),
) -> Result<Vec<MassFreeRun>, String> {
    let mut runs: Vec<MassFreeRun> = engines.iter().map(MassFreeRun::new).collect();
    for round in 0..rounds {
        tick(&format!("mass-free {}: round {} of {rounds}", size.label(), round + 1));
        in_turn(round, &mut runs, |run: &mut MassFreeRun| run.round(config, size, objects))?;
    }
    Ok(runs)
}

impl MassFreeRun {
    fn new(entry: &EngineEntry) -> Self {
        let (free_ns, first_ns, longest_ns) = (Vec::new(), Vec::new(), Vec::new());
        Self { entry: *entry, free_ns, first_ns, longest_ns, early_ns: Vec::new(), all_ns: Vec::new() }
    }

    fn round(&mut self, config: &Config, size: Size, objects: u32) -> Result<(), String> {
        let mut bench = Bench::new(&self.entry, config, objects as usize)?;
        let (allocs, frees) = allocs_and_frees(0..objects, size.bytes, size.align);
        bench.run(&allocs)?;
        let mixed = Order::Random.arrange(&frees);
        let (freed, _) = mixed.split_at(mixed.len() / 2);
        self.free_ns.push(bench.run(freed)?);
        // As many again, by the names that are free now.
        let again: Vec<Op> = freed.iter().map(|op| alloc(op.object(), size.bytes, size.align)).collect();
        let (early, late) = again.split_at(FIRST.min(again.len()));
        let ns: Vec<f64> = early.chunks(1).map(|one| bench.run(one)).collect::<Result<_, _>>()?;
        let late_ns = bench.run(late)? * late.len() as f64;
        let early_ns: f64 = ns.iter().sum();
        self.first_ns.extend(ns.first());
        self.longest_ns.push(ns.iter().copied().fold(0.0, f64::max));
        self.early_ns.push(early_ns / early.len().max(1) as f64);
        self.all_ns.push((early_ns + late_ns) / again.len().max(1) as f64);
        bench.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::{Family, Percpu};

    #[test]
    fn every_engine_fills_its_holes_again() {
        let engines = Percpu::engines(&[]).unwrap();
        let config = Config::new(32 << 10, 2);
        let runs = mass_free(&engines, &config, Size::new(16, 8), 3_000, 2, &mut |_| {}).unwrap();
        assert_eq!(runs.len(), engines.len());
        for run in &runs {
            assert!(
                run.all_ns.len() == 2
                    && run.longest_ns.iter().zip(&run.first_ns).all(|(most, ns)| most >= ns)
            );
        }
    }
}
