//! A steady state of random sizes: time of a free and an allocation, and how dense the objects lie.

use super::Objects;
use crate::engine::percpu::{EngineEntry, Session};
use crate::family::Entry;
use crate::measure::figures::turns;
use crate::workload::percpu::Churn;
use freehold::percpu::Config;
use freehold::units::Align;
use freehold_trace::percpu::{Footprint, Location};
use std::time::Instant;

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
        let mut session = (entry.make)(config, false)?;
        let mut places = Vec::with_capacity(churn.first.len());
        session.fill(&churn.first, Align::ONE, &mut places);
        if places.len() < churn.first.len() {
            return Err(format!("{}: only {} objects were placed", entry.engine, places.len()));
        }
        let run = ChurnRun { entry: *entry, pair_ns: Vec::new(), end: Footprint::default() };
        running.push((session, places, run));
    }
    let piece = churn.victims.len().div_ceil(PIECES).max(1);
    for (round, (victims, sizes)) in churn.victims.chunks(piece).zip(churn.sizes.chunks(piece)).enumerate() {
        tick(&format!("churn up to {}: {} of {PIECES}", churn.most_bytes, round + 1));
        for engine in turns(running.len(), round) {
            let Some((session, places, run)) = running.get_mut(engine) else { continue };
            let before = Instant::now();
            let failed = session.churn(victims, sizes, places);
            run.pair_ns.push(before.elapsed().as_nanos() as f64 / victims.len().max(1) as f64);
            if failed > 0 {
                return Err(format!("{}: {failed} operations failed", run.entry.engine));
            }
        }
    }
    running
        .into_iter()
        .map(|(session, places, run)| finish(session.as_ref(), &places, run, config, churn))
        .collect()
}

fn finish(
    session: &dyn Session,
    places: &[Location],
    mut run: ChurnRun,
    config: &Config,
    churn: &Churn,
) -> Result<ChurnRun, String> {
    let mut sizes = churn.first.clone();
    for (&victim, &size) in churn.victims.iter().zip(&churn.sizes) {
        if let Some(slot) = sizes.get_mut(victim as usize) {
            *slot = size;
        }
    }
    if run.entry.is_floor() {
        return Ok(run);
    }
    let mut objects = Objects::new(run.entry.grain_bytes);
    objects.add(places, sizes);
    let checked = objects.check(Align::ONE, config.unit_bytes).and_then(|()| session.validate());
    checked.map_err(|reason| format!("{}: {reason}", run.entry.engine))?;
    run.end = session.footprint();
    Ok(run)
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
