//! What must hold of a history for it to be shrunk further, and how that is found out.

use super::History;
use crate::engine::{Compared, Listed};
use crate::failure::{Failure, usage};
use crate::family::Family;
use crate::run::instructions::{self, Instructions, UNDER_CALLGRIND, can_count};
use crate::run::median;
use anyhow::Context;
use freehold_trace::Driven;
use std::ffi::OsStr;
use std::str::FromStr;

/// Operations that cross to an engine from outside at once. Those of the others are judged one by one.
const BATCH: usize = 256;
/// Operations before the engine itself is looked at for the first time; the next times after twice as many.
const LOOK: usize = 64;
/// Rounds in which engines take turns where times are compared.
const ROUNDS: usize = 7;

/// What is asked for by `--while`.
#[derive(Clone, Debug, PartialEq)]
pub enum While {
    /// The engine's answers are wrong, or not those of the model.
    Differs,
    /// It takes so many times what another does.
    Slower(String, f64),
    /// At its peak more of its pages have memory than of another's.
    MorePages(String),
}

impl FromStr for While {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["differs"] => Ok(Self::Differs),
            ["more", "pages", "than", other] => Ok(Self::MorePages(other.to_owned())),
            ["slower", "than", other, "by", times] => {
                let times = times.parse().ok().filter(|times: &f64| times.is_finite() && *times >= 1.0);
                let times = times.ok_or("slower by how many times? A number of at least 1 is wanted")?;
                Ok(Self::Slower(other.to_owned(), times))
            }
            _ => Err("write 'differs', 'slower than ENGINE by 2' or 'more pages than ENGINE'".to_owned()),
        }
    }
}

/// The condition held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Operations from the first on that are enough for it.
    pub enough: usize,
    /// What was seen.
    pub told: String,
}

/// What is said of an engine's answers, operation by operation.
pub trait Referee<F: Family> {
    /// Hears an answer; what is wrong with it.
    fn hear(&mut self, op: &F::Op, answer: F::Answer, session: &F::Session) -> Result<(), String>;

    /// Whether no file could have had these operations.
    fn is_void(&self) -> bool {
        false
    }

    /// Looks at the engine itself; what is wrong with it.
    fn look(&mut self, session: &F::Session) -> Result<(), String> {
        let _ = session;
        Ok(())
    }
}

/// An engine under a condition.
pub struct Condition<F: Family> {
    /// The engine.
    pub entry: Listed<F::Facts>,
    what: What<F>,
}

enum What<F: Family> {
    Differs,
    Instructions(Listed<F::Facts>, f64),
    Time(Listed<F::Facts>, f64),
    MorePages(Listed<F::Facts>),
}

/// The one engine of that name.
fn one<F: Family>(name: &str) -> Result<Listed<F::Facts>, Failure> {
    match Listed::find(&[name.to_owned()], Compared::IfNamed)?[..] {
        [entry] => Ok(entry),
        _ => usage(format!("engine {name:?} has several placements: name one")),
    }
}

impl<F: History> Condition<F> {
    /// Of an engine by name.
    ///
    /// # Errors
    /// There is no such engine, or it cannot be asked for that.
    pub fn new(engine: &str, asked: &While) -> Result<Self, Failure> {
        let entry = one::<F>(engine)?;
        let what = match asked {
            While::Differs => What::Differs,
            While::Slower(other, times) => {
                let other = one::<F>(other)?;
                let inside = entry.outside.is_none() && other.outside.is_none();
                let counted = F::COUNTED && inside && can_count();
                if counted { What::Instructions(other, *times) } else { What::Time(other, *times) }
            }
            While::MorePages(other) => What::MorePages(one::<F>(other)?),
        };
        Ok(Self { entry, what })
    }

    /// What is compared, for people.
    pub fn told(&self) -> String {
        let label = self.entry.label();
        match &self.what {
            What::Differs => format!("the answers of {label} differ"),
            What::Instructions(other, times) => format!(
                "{label} takes {times} times the instructions of {}, counted by valgrind, the lab's own share included",
                other.label()
            ),
            What::Time(other, times) => format!(
                "{label} takes {times} times as long as {}, by the medians of {ROUNDS} rounds of the clock: a noisy machine can bend that",
                other.label()
            ),
            What::MorePages(other) => {
                format!("at its peak {label} has memory in more pages than {}", other.label())
            }
        }
    }

    /// Trials, unless somebody says how many: those under valgrind take seconds.
    pub fn trials(&self) -> u64 {
        match self.what {
            What::Instructions(..) => 200,
            What::Time(..) => 1000,
            What::Differs | What::MorePages(_) => 5000,
        }
    }

    /// Whether it holds.
    ///
    /// # Errors
    /// It cannot be found out.
    pub fn holds(&self, scene: &F::Scene, ops: &[F::Op]) -> anyhow::Result<Option<Held>> {
        let all = |told: String| Held { enough: ops.len(), told };
        match &self.what {
            What::Differs => self.differs(scene, ops),
            What::MorePages(other) => {
                let (enough, mine) = F::pages(&self.entry, scene, ops)?;
                let (_, others) = F::pages(other, scene, ops)?;
                let told = format!("pages with memory: {mine}, against {others}");
                Ok((mine > others).then_some(Held { enough, told }))
            }
            What::Instructions(other, times) => {
                let (mine, others) =
                    (counted::<F>(&self.entry, scene, ops)?, counted::<F>(other, scene, ops)?);
                let told = format!("instructions: {mine}, against {others}");
                Ok((others > 0 && mine as f64 >= times * others as f64).then(|| all(told)))
            }
            What::Time(other, times) => {
                let mut took = [Vec::new(), Vec::new()];
                for _ in 0..ROUNDS {
                    for (entry, took) in [&self.entry, other].into_iter().zip(&mut took) {
                        let mut session = entry.start(scene).map_err(anyhow::Error::msg)?;
                        let mut answers = vec![F::Answer::default(); ops.len()];
                        took.push(session.run_clocked(ops, &mut answers) as f64);
                    }
                }
                let [mine, others] = took.map(|took| median(&took));
                let told = format!("nanoseconds: {mine:.0}, against {others:.0}");
                Ok((others > 0.0 && mine >= times * others).then(|| all(told)))
            }
        }
    }

    fn differs(&self, scene: &F::Scene, ops: &[F::Op]) -> anyhow::Result<Option<Held>> {
        let mut session = self.entry.start(scene).map_err(anyhow::Error::msg)?;
        let mut referee = F::referee(&self.entry, scene).map_err(anyhow::Error::msg)?;
        let batch = if self.entry.outside.is_some() { BATCH } else { 1 };
        let (mut at, mut look) = (0, LOOK);
        let all = ops.len();
        for ops in ops.chunks(batch) {
            let mut answers = vec![F::Answer::default(); ops.len()];
            session.run(ops, &mut answers);
            // One whose process has ended has answered nothing of the batch.
            if self.entry.outside.is_some()
                && let Err(told) = session.validate()
            {
                return Ok(Some(Held { enough: at + ops.len(), told }));
            }
            for (op, answer) in ops.iter().zip(answers) {
                at += 1;
                let heard = referee.hear(op, answer, &session);
                if referee.is_void() {
                    return Ok(None);
                }
                if let Err(wrong) = heard {
                    return Ok(Some(Held { enough: at, told: format!("{}: {wrong}", F::told(op)) }));
                }
            }
            // What no answer shows is found early, so that what comes later is left out.
            if at >= look || at == all {
                look = at * 2;
                let state = session.validate().and_then(|()| referee.look(&session));
                if let Err(told) = state {
                    return Ok(Some(Held { enough: at, told }));
                }
            }
        }
        Ok(None)
    }
}

/// Instructions of all operations on a fresh engine.
fn counted<F: History>(entry: &Listed<F::Facts>, scene: &F::Scene, ops: &[F::Op]) -> anyhow::Result<u64> {
    let file = tempfile::Builder::new().prefix("freehold-shrink-").suffix(".txt").tempfile()?;
    std::fs::write(file.path(), F::text(entry, scene, ops)?).context("a trial cannot be written")?;
    let label = entry.label();
    let arguments = [OsStr::new(UNDER_CALLGRIND), file.path().as_os_str(), OsStr::new(&label)];
    Ok(Instructions::sum(&instructions::count::<F>(&arguments, ops)?).total)
}
