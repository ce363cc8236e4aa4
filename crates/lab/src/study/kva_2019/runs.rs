//! The kernel's test on all engines: all cases together as on the talk's four CPUs, and each after the other.

use crate::engine::EngineEntry;
use crate::run::{Replay, measure};
use crate::study::Options;
use crate::workload::suite::{CASES, Case, CaseInfo, Interleaved, Kind, Params, Phase};
use crate::workload::{Batches, Piece, SplitMix};
use std::time::Duration;

/// Samples of each of the talk's plots, one a second.
pub(super) const SAMPLES: usize = 120;
/// Workers: as many as the machine of its plots had CPUs.
const WORKERS: usize = 4;
/// `test_loop_count` of the kernel's test.
pub const KERNEL_LOOPS: u64 = 1_000_000;
/// Operations of a CPU in a row, within a body.
const TURN: usize = 2;
/// Pairs of the case `fix_size` by itself.
const PAIRS: u64 = 20_000;
const SEED: u64 = 20_190_909;

/// How much is done.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    /// Loops of each case.
    pub(super) loops: u64,
    /// How often the CPUs start again, with their cases in another order.
    pub(super) shuffles: u64,
    /// Samples at most.
    pub(super) samples: usize,
    /// Timed rounds.
    pub(super) rounds: usize,
    /// How long an engine may take for the checked run of the test.
    pub(super) limit: Duration,
}

impl Scale {
    /// What is asked for.
    pub(super) fn of(options: &Options) -> anyhow::Result<Self> {
        let samples = options.samples(SAMPLES)?;
        let (loops, seconds) = if options.full { (80_000, 600) } else { (2_000, 10) };
        Ok(Self { loops, shuffles: 3, samples, rounds: 2, limit: Duration::from_secs(seconds) })
    }
}

/// All CPUs at once, then again in another order.
pub fn together(mut runs: Vec<Interleaved>) -> Batches {
    let most = |phase| if phase == Phase::Body { TURN } else { usize::MAX };
    let mut batches = Batches::default();
    while let Some(run) = runs.last_mut() {
        match run.next_batch(&mut batches.ops, most) {
            Some(turn) => batches.end(piece(turn.case, turn.batch.phase)),
            None => drop(runs.pop()),
        }
    }
    batches
}

fn piece(case: &'static CaseInfo, phase: Phase) -> Piece {
    if phase == Phase::Body { Piece::Part(case.name) } else { Piece::Around }
}

/// The cases of the kernel's test that every engine has the requests of.
pub fn cases() -> Vec<&'static CaseInfo> {
    CASES.iter().filter(|case| case.mask.is_some() && case.kind != Kind::PcpuAlloc).collect()
}

/// The test in both ways.
pub(super) struct SuiteRuns {
    /// All cases in one space, on as many CPUs as the talk's machine had.
    pub(super) together: Replay,
    /// Each case by itself.
    pub(super) in_turn: Replay,
    /// One page, allocated and freed, beside nothing.
    pub(super) pairs: Replay,
}

impl SuiteRuns {
    /// Runs it.
    pub(super) fn measure(
        scale: &Scale,
        engines: &[EngineEntry],
        tick: &mut dyn FnMut(&str),
    ) -> anyhow::Result<Self> {
        let params = Params { loops: scale.loops, cpus: WORKERS as u32, seed: SEED, ..Params::default() };
        let mut seeds = SplitMix::new(SEED);
        let mut runs = Vec::new();
        for _ in 0..scale.shuffles {
            runs.push(Interleaved::new(&cases(), &Params { seed: seeds.next_u64(), ..params })?);
        }
        let mut sampled = |name, runs: Vec<Interleaved>| {
            let objects = runs.iter().map(Interleaved::objects).max().unwrap_or(0);
            let mut workload = together(runs).sampled(name, objects, SAMPLES, scale.samples);
            workload.cut.limit = Some(scale.limit);
            measure(workload, engines, scale.rounds, tick)
        };
        let together = sampled("all cases together", runs)?;
        let mut one_by_one = |cases: &[&'static CaseInfo], params: &Params| {
            let cases = cases.iter().map(|case| Case::new(case, params, 0)).collect();
            sampled("each case by itself", vec![Interleaved::one(cases)])
        };
        let in_turn = one_by_one(&cases(), &params)?;
        let fix_size: Vec<_> = cases().into_iter().filter(|case| case.kind == Kind::FixSize).collect();
        let pairs = one_by_one(&fix_size, &Params { loops: PAIRS, ..params })?;
        Ok(Self { together, in_turn, pairs })
    }
}
