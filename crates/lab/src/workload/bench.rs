//! The workloads of `freehold bench kva`: cases of the suite in their steady state, their operations written out
//! beforehand so that every engine and every round gets the same.
//!
//! Sized workloads allocate and free in batches, so that each kind can be timed in a loop of its own. The others
//! alternate, and are timed as pairs.

use super::suite::{self, Case, CaseInfo, Params};
use super::synthetic::{Settled, settle};
use super::{Workload, whole_scene};
use freehold_trace::kva::Op;

/// The suite's cases that are benched: those whose bodies run more than once.
pub fn cases() -> impl Iterator<Item = &'static CaseInfo> {
    suite::CASES.iter().filter(|case| suite::BENCHED.iter().any(|benched| benched.kind == case.kind))
}

/// Where the random numbers of sized workloads start; those of the others start where the suite's do.
const SIZED_SEED: u64 = 107_000;

/// A workload to run round after round.
#[derive(Clone, Debug)]
pub struct BenchWorkload {
    /// Which it is.
    pub case: &'static CaseInfo,
    /// Live objects, holes, or pages to fill; `None` where nothing is live.
    pub n: Option<u64>,
    /// Sets the state up by placing each object at its address.
    pub placed: Vec<Op>,
    /// Sets up a like state without fixed addresses.
    pub natural: Vec<Op>,
    /// The operations; when they are through, they start again.
    pub ops: Vec<Op>,
    /// After so many operations nothing is half done.
    pub period: usize,
    /// Operations in a round, a multiple of the period.
    pub round: usize,
    /// Objects are named below this.
    pub objects: u32,
}

impl BenchWorkload {
    /// Makes it: `n` counts for sized cases only; `operations` in a round, about, and `rounds` of them.
    ///
    /// # Errors
    /// It does not fit in the space.
    pub fn new(info: &'static CaseInfo, n: u32, operations: usize, rounds: usize) -> anyhow::Result<Self> {
        let defaults = Params::default();
        let seed = if info.sized { SIZED_SEED } else { defaults.seed };
        let mut case = Case::new(info, &Params { n, seed, loops: u64::MAX, ..defaults }, 0);
        let Settled { placed, natural } = settle(&mut case, true)?;
        let mut ops = Vec::new();
        case.next_batch(&mut ops, 1);
        let period = ops.len();
        let round = (operations / period.max(1)).max(1) * period;
        // What leaves nothing behind is the same in every round; what does must go on.
        let wanted = if info.churns() { round * rounds } else { round };
        while ops.len() < wanted && case.next_batch(&mut ops, 1).is_some() {}
        let standing = if info.sized { u64::from(n) } else { placed.len() as u64 };
        Ok(Self {
            case: info,
            n: Some(standing).filter(|&n| n > 0),
            placed,
            natural,
            ops,
            period,
            round,
            objects: case.objects(),
        })
    }

    /// The pieces of `ops` that are the `count` operations from the `from`th on.
    pub fn pieces(&self, from: usize, count: usize) -> Vec<&[Op]> {
        let mut pieces = Vec::new();
        let (mut at, mut left) = (from % self.ops.len().max(1), count);
        while left > 0 {
            let end = self.ops.len().min(at + left);
            let Some(piece) = self.ops.get(at..end).filter(|piece| !piece.is_empty()) else { break };
            left -= piece.len();
            pieces.push(piece);
            at = 0;
        }
        pieces
    }

    /// The same as any workload is: placed objects, then the operations.
    pub fn into_workload(self) -> Workload {
        let Self { case, placed: setup, ops, objects, n, .. } = self;
        Workload { setup, n, ..Workload::new(case.name, "", whole_scene(), ops, objects) }
    }
}
