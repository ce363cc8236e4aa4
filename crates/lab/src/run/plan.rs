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
pub(crate) trait Plan<F: Family> {
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
pub(crate) enum Stop {
    /// The engine cannot do it, or not in time.
    LeftOut(String),
    /// It answers wrong.
    Wrong(String),
}

/// The runs, and the engines that have none with the reason.
pub(crate) type Ran<F, R> = (Vec<R>, Vec<(Listed<<F as Family>::Facts>, String)>);

/// Runs a plan. `tick` hears what is being done.
///
/// # Errors
/// An engine answers wrong.
pub(crate) fn run<F: Family, P: Plan<F>>(
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::Kva;
    use std::cell::RefCell;

    /// Notes who is asked for what.
    #[derive(Default)]
    struct Noted(RefCell<Vec<String>>);

    impl Plan<Kva> for Noted {
        type Run = String;

        fn name(&self) -> String {
            "noted".to_owned()
        }

        fn rounds(&self) -> [usize; 2] {
            [2, 2]
        }

        fn prepare(&self, entry: &crate::engine::EngineEntry) -> Result<String, Stop> {
            match entry.engine {
                "splay" => Err(Stop::LeftOut("slow".to_owned())),
                "naive" => Err(Stop::Wrong("lies".to_owned())),
                name => Ok(name.to_owned()),
            }
        }

        fn turn(&self, run: &mut String, [round, turn]: [usize; 2]) -> Result<(), String> {
            self.0.borrow_mut().push(format!("{round}{turn} {run}"));
            Ok(())
        }
    }

    #[test]
    fn engines_take_turns_and_who_cannot_is_left_out() {
        let find = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            crate::engine::EngineEntry::find(&names, crate::engine::Compared::IfNamed).unwrap()
        };
        let noted = Noted::default();
        let (runs, left_out) = run(&noted, &find(&["gap-list", "splay", "mmap"]), &mut |_| ()).unwrap();
        assert_eq!((runs.len(), left_out[0].1.as_str()), (2, "slow"));
        let [a, b] = ["gap-list", "mmap"];
        let order = [["00", a], ["00", b], ["01", b], ["01", a], ["10", b], ["10", a], ["11", a], ["11", b]];
        assert_eq!(*noted.0.borrow(), order.map(|[at, who]| format!("{at} {who}")));
        let error = run(&noted, &find(&["naive"]), &mut |_| ()).unwrap_err();
        assert_eq!(error.to_string(), "noted: naive: lies");
    }
}
