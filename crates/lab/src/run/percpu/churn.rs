//! A steady state of random sizes: time of a free and an allocation, and how dense the objects lie.

use super::Bench;
use crate::engine::percpu::EngineEntry;
use crate::run::figures::in_turn;
use crate::workload::percpu::Churn;
use freehold::percpu::Config;
use freehold_trace::percpu::Footprint;

/// Pieces that the replacements are timed in: a round is one of them.
const PIECES: usize = 10;

/// What an engine made of it.
#[derive(Clone, Debug)]
pub struct ChurnRun {
    /// The engine.
    pub entry: EngineEntry,
    /// Nanoseconds of a free and an allocation, by piece.
    pub pair_ns: Vec<f64>,
    /// What the engine takes at the end.
    pub end: Footprint,
}

/// Runs the churn on every engine, a piece at a time.
///
/// # Errors
/// An engine cannot be made, cannot place an object, or places one where it may not be.
pub fn churn(
    engines: &[EngineEntry],
    config: &Config,
    churn: &Churn,
    tick: &mut dyn FnMut(&str),
) -> Result<Vec<ChurnRun>, String> {
    let mut running = Vec::new();
    for entry in engines {
        let mut bench = Bench::new(entry, config, churn.first.len())?;
        bench.run(&churn.first)?;
        running.push((bench, ChurnRun { entry: *entry, pair_ns: Vec::new(), end: Footprint::default() }));
    }
    let piece = (churn.pairs.len() / 2).div_ceil(PIECES).max(1);
    for (round, pairs) in churn.pairs.chunks(2 * piece).enumerate() {
        tick(&format!("churn up to {}: {} of {PIECES}", churn.most_bytes, round + 1));
        in_turn(round, &mut running, |(bench, run): &mut (Bench, ChurnRun)| {
            run.pair_ns.push(2.0 * bench.run(pairs)?);
            Ok::<(), String>(())
        })?;
    }
    let finish = |(bench, run): (Bench, ChurnRun)| {
        bench.check()?;
        Ok(ChurnRun { end: bench.session.footprint(), ..run })
    };
    running.into_iter().map(finish).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::{Family, Percpu};

    #[test]
    fn engines_of_every_grain_come_through_odd_sizes() {
        let engines = Percpu::engines(&[]).unwrap();
        let config = Config::new(32 << 10, 2);
        let runs = churn(&engines, &config, &Churn::new(64, 1_000, 500), &mut |_| {}).unwrap();
        assert!(runs.iter().all(|run| run.pair_ns.len() == PIECES && run.end.objects == 1_000));
    }
}
