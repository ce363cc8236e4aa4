//! What is seen of a replay: of each family with recorded files what looks on while answers are judged, what of it are
//! figures, lines over time and pictures.

mod kva;
mod maple;
mod percpu;

pub use kva::{Fragmentation, KvaWatch};
pub use maple::MapleWatch;
pub use percpu::{PercpuState, PercpuWatch, record_pages};

use super::{Bucket, EngineRun, Replay};
use crate::engine::Listed;
use crate::family::Family;
use crate::record::{Figures, Results};
use crate::workload::Workload;
use std::fmt::Debug;

/// Calls a function of the family that a workload is for.
macro_rules! of_family {
    ($name:expr, $call:ident($($argument:expr),*)) => {
        match $crate::workload::suite_of($name)? {
            $crate::kind::Suite::Kva => $call::<$crate::family::Kva>($($argument),*),
            $crate::kind::Suite::Percpu => $call::<$crate::family::Percpu>($($argument),*),
            $crate::kind::Suite::Maple => $call::<$crate::family::Maple>($($argument),*),
        }
    };
}
pub(crate) use of_family;

/// A family with recorded files, which are replayed and looked at.
pub trait Replayable: Family {
    /// What looks on.
    type Watch: Watch<Self>;

    /// The workload of that name: a file's, or one that is made.
    fn workload(name: &str) -> anyhow::Result<Workload<Self>>;

    /// Holds the answers of several engines against each other.
    fn agree(runs: &[EngineRun<Self>]) -> Result<(), String> {
        let _ = runs;
        Ok(())
    }

    /// Adds what was seen of an engine's run.
    fn seen(run: &EngineRun<Self>, figures: &mut Figures<'_>);

    /// Figures of the state over time, by the names of their series.
    const STATE: &'static [StateLine<Self>];

    /// Adds pictures of a replay, and what their words name.
    fn pictures(replay: &Replay<Self>, results: &mut Results) {
        let _ = (replay, results);
    }

    /// Adds what is to be said of a workload of this family beside its sizes and lifetimes.
    fn inspect(workload: &Workload<Self>, results: &mut Results) {
        let _ = (workload, results);
    }
}

/// What a watch saw of a run.
pub type Seen<F> = <<F as Replayable>::Watch as Watch<F>>::Seen;
/// What a watch saw at a time.
pub type State<F> = <<F as Replayable>::Watch as Watch<F>>::State;
/// A figure of the state over time, by the name of its series.
pub type StateLine<F> = (&'static str, fn(&State<F>) -> f64);

/// Judges the answers of a run, and notes what they lead to.
pub trait Watch<F: Replayable>: Sized {
    /// What is left of it when the run has ended, without what judges: that has as much memory as an engine.
    type Seen: Clone + Debug + Default;
    /// The state at a time.
    type State: Copy + Debug + Default;

    /// Of a fresh engine, for pictures of so many points in time.
    fn new(entry: &Listed<F::Facts>, workload: &Workload<F>, points: usize) -> Self;

    /// Checks an answer to the operation of the workload's set-up, or to operation `at` of those measured.
    fn note(
        &mut self,
        session: &F::Session,
        op: &F::Op,
        answer: F::Answer,
        at: Option<usize>,
    ) -> Result<(), String>;

    /// The state now.
    fn state(&self, session: &F::Session) -> Self::State;

    /// The end of the run.
    fn finish(self, session: &F::Session, buckets: &[Bucket<F>]) -> Self::Seen;
}
