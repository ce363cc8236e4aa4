//! The one runner. Whatever is measured, each engine is prepared, which checks its answers and counts its work, and is then timed
//! round by round, the engines in turn.
//!
//! ```text
//!   prepared   A B C        who cannot do it, or not in time, is left out, and it is said
//!   round 0    A B C        a turn each; where a round has several turns, every other one is in reverse
//!   round 1    C B A
//! ```

use crate::engine::Listed;
use crate::family::Family;

/// What is measured.
pub trait Plan<F: Family> {
    /// An engine at work, and what was measured of it.
    type Run;

    /// What it is called.
    fn name(&self) -> String;

    /// Rounds, and how many turns each engine has in a round.
    fn rounds(&self) -> [usize; 2];

    /// Makes an engine ready to be timed.
    fn prepare(&self, entry: &Listed<F::Facts>) -> Result<Self::Run, Stop>;

    /// An engine's turn in a round.
    fn turn(&self, run: &mut Self::Run, at: [usize; 2]) -> Result<(), String>;
}

/// Why there is no run.
pub enum Stop {
    /// The engine cannot do it, or not in time.
    LeftOut(String),
    /// It answers wrong.
    Wrong(String),
}

/// Lets so many engines take turns in each of these rounds: forward, then backward.
///
/// # Errors
/// Those of a turn, which ends all.
pub fn in_turn<E>(
    rounds: impl IntoIterator<Item = usize>,
    engines: usize,
    mut turn: impl FnMut(usize, usize) -> Result<(), E>,
) -> Result<(), E> {
    let backward = |at| engines - 1 - at;
    for round in rounds {
        (0..engines).try_for_each(|at| turn(round, if round % 2 == 0 { at } else { backward(at) }))?;
    }
    Ok(())
}

/// The runs, and the engines that have none with the reason.
pub type Ran<F, R> = (Vec<R>, Vec<(Listed<<F as Family>::Facts>, String)>);

/// Runs a plan. `tick` hears what is being done.
///
/// # Errors
/// An engine answers wrong.
pub fn run<F: Family, P: Plan<F>>(
    plan: &P,
    engines: &[Listed<F::Facts>],
    tick: &mut dyn FnMut(&str),
) -> anyhow::Result<Ran<F, P::Run>> {
    let name = plan.name();
    let wrong = |label: String, reason: String| anyhow::anyhow!("{name}: {label}: {reason}");
    let (mut runs, mut left_out) = (Vec::new(), Vec::new());
    for entry in engines {
        tick(&format!("{name}: checking {}", entry.label()));
        match plan.prepare(entry) {
            Ok(run) => runs.push((entry, run)),
            Err(Stop::LeftOut(reason)) => left_out.push((*entry, reason)),
            Err(Stop::Wrong(reason)) => return Err(wrong(entry.label(), reason)),
        }
    }
    let [rounds, turns] = plan.rounds();
    for at in (0..rounds).flat_map(|round| (0..turns).map(move |turn| [round, turn])) {
        tick(&format!("{name}: timing, round {} of {rounds}", at[0] + 1));
        let mut order: Vec<_> = runs.iter_mut().collect();
        if (at[0] + at[1]) % 2 == 1 {
            order.reverse();
        }
        for (entry, run) in order {
            plan.turn(run, at).map_err(|reason| wrong(entry.label(), reason))?;
        }
    }
    Ok((runs.into_iter().map(|(_, run)| run).collect(), left_out))
}
