//! The geometric mean over recordings of one figure: the default engine's time by that of the engine that does as Linux
//! does.
//!
//! A recording counts if it has enough operations for its median to say something. Both times are of the same run, in
//! which the engines take turns.

use super::{Replay, Replayable};
use crate::kind::Suite;
use crate::record::{Key, Metric, Results, Stat, count, counted, under};

/// Operations that a recording has at least.
const LEAST_OPERATIONS: usize = 1_000;

/// The engine that the default one is compared with.
fn yardstick(suite: Suite) -> Option<&'static str> {
    match suite {
        Suite::Kva => Some("rbtree:linux"),
        Suite::Percpu => Some("bitmap-linux-fixed"),
        Suite::Maple => None,
    }
}

/// The ratios of the recordings of each family.
#[derive(Debug, Default)]
pub struct Recorded(Vec<(Suite, Vec<f64>)>);

impl Recorded {
    /// Adds a replay, if it is of a trace that is long enough and both engines were timed.
    pub fn add<F: Replayable>(&mut self, replay: &Replay<F>) {
        let workload = &replay.workload;
        let Some(yardstick) = yardstick(F::SUITE).filter(|_| workload.at_ns.is_some()) else { return };
        let time = |is: &dyn Fn(&crate::engine::Listed<F::Facts>) -> bool| {
            let run = replay.runs.iter().find(|run| is(&run.entry))?;
            Some(run.timed.loop_median_ns()).filter(|&ns| ns > 0.0)
        };
        let ours = time(&|entry| entry.is_default());
        let theirs = time(&|entry| entry.label() == yardstick);
        let ratio = ours.zip(theirs).map(|(ours, theirs)| ours / theirs);
        if let Some(ratio) = ratio.filter(|_| workload.ops.len() >= LEAST_OPERATIONS) {
            under(&mut self.0, F::SUITE).push(ratio);
        }
    }

    /// Adds the means to the results, and as the last of their notes.
    pub fn record(&self, results: &mut Results) {
        for (suite, ratios) in &self.0 {
            let Some(yardstick) = yardstick(*suite) else { continue };
            let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
            let recordings = ratios.len() as u64;
            let key = Key::new(suite.name(), "recordings").op(format!("loop, by {yardstick}"));
            results.of(key).put(Metric::Ratio, Stat::Mean, mean, recordings);
            results.note(format!(
                "{} of {} operations and more: {mean:.2} of {yardstick}'s time (geometric mean)",
                counted(recordings, &format!("{} recording", suite.name())),
                count(LEAST_OPERATIONS as u64),
            ));
        }
    }
}
