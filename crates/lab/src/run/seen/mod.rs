//! What is seen of a replay: of each family with recorded files what is noted while answers are judged, what of it are
//! figures, lines over time and pictures.

mod kva;
mod maple;
mod percpu;

pub use kva::Fragmentation;
pub use percpu::record_pages;

use super::{Bucket, EngineRun, Replay};
use crate::family::Family;
use crate::record::{Figures, Results};
use crate::workload::Workload;
use std::fmt::Debug;
use std::path::Path;

/// Calls a function of the family that a workload is for.
macro_rules! of_family {
    ($name:expr, $call:ident($($argument:expr),*)) => {
        match $crate::workload::kind_of($name)?.suite() {
            $crate::kind::Suite::Kva => $call::<$crate::family::Kva>($($argument),*),
            $crate::kind::Suite::Percpu => $call::<$crate::family::Percpu>($($argument),*),
            $crate::kind::Suite::Maple => $call::<$crate::family::Maple>($($argument),*),
        }
    };
}
pub(crate) use of_family;

/// A family with recorded files, which are replayed and looked at.
pub trait Replayable: Family {
    /// What is seen of a run beside its answers.
    type Seen: Clone + Debug + Default;
    /// The state at a time.
    type State: Copy + Debug + Default;

    /// The workload of that name: a file's, or one that is made.
    fn workload(name: &Path) -> anyhow::Result<Workload<Self>>;

    /// Before a run, for pictures of so many points in time.
    fn begin(workload: &Workload<Self>, points: usize) -> Self::Seen {
        let _ = (workload, points);
        Self::Seen::default()
    }

    /// Looks at what the next operation takes away, and no later look shows.
    ///
    /// # Errors
    /// What is wrong with it.
    fn before(judge: &Self::Judge, session: &Self::Session, op: &Self::Op) -> Result<(), String> {
        let _ = (judge, session, op);
        Ok(())
    }

    /// Has an answer judged, to the operation of the workload's set-up or to operation `at` of those measured, and notes what it
    /// leads to.
    fn note(
        seen: &mut Self::Seen,
        judge: &mut Self::Judge,
        session: &Self::Session,
        asked: (&Self::Op, Option<usize>),
        answer: Self::Answer,
    ) -> Result<(), String>;

    /// The state now.
    fn state(workload: &Workload<Self>, judge: &Self::Judge, session: &Self::Session) -> Self::State;

    /// The end of the run.
    fn end(
        seen: Self::Seen,
        workload: &Workload<Self>,
        judge: &Self::Judge,
        session: &Self::Session,
        buckets: &[Bucket<Self>],
    ) -> Self::Seen {
        let _ = (workload, judge, session, buckets);
        seen
    }

    /// Holds the answers of several engines against each other.
    fn agree(runs: &[EngineRun<Self>]) -> Result<(), String> {
        let _ = runs;
        Ok(())
    }

    /// Adds what was seen of an engine's run.
    fn seen(run: &EngineRun<Self>, figures: &mut Figures<'_>);

    /// What steps of work are.
    const STEPS: &'static str;
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

/// A figure of the state over time, by the name of its series.
pub type StateLine<F> = (&'static str, fn(&<F as Replayable>::State) -> f64);
