//! Engines from outside: `so:PATH`, a shared object with the functions of `include/freehold_engine.h`, each engine of which runs in a
//! process of its own. Operations cross in batches; one that dies or hangs is an error with its name, and never ends the lab.

mod kva;
mod maple;
mod percpu;
mod spaces;

use super::Takes;
use crate::failure::Failure;
use freehold_harness::outside::{About, Answer, Op, Process, Scene};
use std::cell::RefCell;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What the names of engines from outside begin with.
pub const PREFIX: &str = "so:";
/// What is said wherever figures of such engines stand.
pub const NOTE: &str = "`so:` engines are from outside: each runs in a process of its own, where the clock is read around run_batch. Neither the \
                        way between processes nor the lab's own share, which `floor` shows of the others, is in their times. Operations \
                        that are timed singly are batches of one. Their work is not counted, and their memory is what they say.";
/// The command of the program that runs one.
pub const SERVE: &str = "serve-engine";
/// Seconds that an engine has for a batch if nobody says.
pub const TIMEOUT_S: u64 = 10;

/// Numbers of the families in the header.
const KVA: u32 = 1;
const PERCPU: u32 = 2;
const MAPLE: u32 = 3;

/// Seconds that an engine has for whatever it is asked.
static TIMEOUT: AtomicU64 = AtomicU64::new(TIMEOUT_S);
/// Those that were named, each loaded once to hear what it is.
static NAMED: Mutex<Vec<&'static Library>> = Mutex::new(Vec::new());

/// Gives engines so many seconds for a batch, from those on that are started next.
pub fn set_timeout(seconds: u64) {
    // Relaxed: it is set before anything starts.
    TIMEOUT.store(seconds, Ordering::Relaxed);
}

/// A shared object that has an engine.
#[derive(Debug)]
pub struct Library {
    /// Its name, `so:PATH`.
    pub name: &'static str,
    path: PathBuf,
    about: About,
}

/// The objects that names are of, each `so:PATH`.
///
/// # Errors
/// One is the name of another engine, or cannot be loaded.
pub fn named(names: &[String]) -> Result<Vec<&'static Library>, Failure> {
    let object = |name: &String| {
        let other = || Failure::Usage(format!("engine {name:?}: one from outside is wanted, so:PATH"));
        Library::named(name)?.ok_or_else(other)
    };
    names.iter().map(object).collect()
}

impl Library {
    /// The object that a name is of; `None` for other engines. It is kept for the life of the program: there are as many as names.
    ///
    /// # Errors
    /// It cannot be loaded, and why.
    pub fn named(name: &str) -> Result<Option<&'static Self>, Failure> {
        let Some(path) = name.strip_prefix(PREFIX) else { return Ok(None) };
        let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = named.iter().find(|known| known.name == name) {
            return Ok(Some(known));
        }
        let path = PathBuf::from(path);
        let (_, about) =
            process(&path).map_err(|reason| Failure::Usage(format!("engine {name}: {reason}")))?;
        let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
        let library: &'static Self = Box::leak(Box::new(Self { name, path, about }));
        named.push(library);
        Ok(Some(library))
    }

    /// Which addresses it takes, if it is one of kva.
    pub(super) fn takes(&self) -> Option<Takes> {
        let takes = [Takes::Any, Takes::Lowest, Takes::Highest, Takes::BestFit];
        (self.about.family == KVA).then(|| takes.get(self.about.takes as usize).copied()).flatten()
    }

    /// What it rounds sizes up to, if it is one of percpu.
    pub(super) fn grain_bytes(&self) -> Option<u64> {
        (self.about.family == PERCPU).then_some(u64::from(self.about.grain.max(1)))
    }

    /// Whether it is one of maple.
    pub(super) fn is_maple(&self) -> bool {
        self.about.family == MAPLE
    }

    /// An engine in a process of its own.
    fn start(&self, scene: &Scene) -> Result<Wire, String> {
        let told = |how| format!("engine {} {how}", self.name);
        let (mut process, _) = process(&self.path).map_err(told)?;
        process.create(scene).map_err(told)?;
        Ok(Wire { name: self.name, process: RefCell::new(process) })
    }
}

fn process(path: &std::path::Path) -> Result<(Process, About), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let timeout = Duration::from_secs(TIMEOUT.load(Ordering::Relaxed));
    Process::start(Command::new(program).arg(SERVE).arg(path), timeout)
}

/// The way to an engine. Once its process has ended every operation is unsupported, and [`Wire::valid`] says how it ended.
#[derive(Debug)]
struct Wire {
    name: &'static str,
    process: RefCell<Process>,
}

impl Wire {
    /// Runs operations; nanoseconds.
    fn run(&self, ops: &[Op], answers: &mut [Answer]) -> u64 {
        self.process.borrow_mut().run(ops, answers).unwrap_or_else(|_| {
            answers.fill(Answer::default());
            0
        })
    }

    /// Runs operations one by one; the nanoseconds of each.
    fn run_each(&self, ops: &[Op], answers: &mut [Answer], took: &mut [u64]) {
        if self.process.borrow_mut().run_each(ops, answers, took).is_err() {
            answers.fill(Answer::default());
        }
    }

    fn bytes(&self) -> usize {
        self.process.borrow_mut().bytes().map_or(0, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    /// Whether the process is there; else how it ended.
    fn valid(&self) -> Result<(), String> {
        self.process.borrow().ended().map_or(Ok(()), |how| Err(format!("engine {} {how}", self.name)))
    }
}

/// The engine's operations and answers on the wire, one for each of the family's.
trait Spoken {
    type Op;
    type Answer: Copy;

    fn ask(op: &Self::Op) -> Op;
    fn told(&mut self, op: &Self::Op, answer: &Answer) -> Self::Answer;
}

/// An engine of a family at work, which speaks as the family does.
struct Outside<S> {
    wire: Wire,
    spoken: S,
}

impl<S: Spoken> Outside<S> {
    fn translated(
        &mut self,
        ops: &[S::Op],
        answers: &mut [S::Answer],
        run: impl FnOnce(&Wire, &[Op], &mut [Answer]) -> u64,
    ) -> u64 {
        let asked: Vec<Op> = ops.iter().map(S::ask).collect();
        let mut told = vec![Answer::default(); asked.len()];
        let took = run(&self.wire, &asked, &mut told);
        for ((op, told), answer) in ops.iter().zip(&told).zip(answers) {
            *answer = self.spoken.told(op, told);
        }
        took
    }
}

/// What is alike in families that speak operation by operation.
macro_rules! driven {
    ($spoken:ty, $op:ty, $answer:ty) => {
        impl freehold_trace::Driven<$op, $answer> for $crate::engine::outside::Outside<$spoken> {
            fn run(&mut self, ops: &[$op], answers: &mut [$answer]) {
                self.run_clocked(ops, answers);
            }

            fn run_clocked(&mut self, ops: &[$op], answers: &mut [$answer]) -> u64 {
                self.translated(ops, answers, $crate::engine::outside::Wire::run)
            }

            fn run_timed(&mut self, ops: &[$op], answers: &mut [$answer], nanoseconds: &mut [u64]) {
                self.translated(ops, answers, |wire, asked, told| {
                    wire.run_each(asked, told, nanoseconds);
                    0
                });
            }

            fn run_one(&mut self, op: &$op) -> $answer {
                let mut answer = [<$answer>::default()];
                self.run_clocked(std::slice::from_ref(op), &mut answer);
                answer[0]
            }

            fn run_counted(&mut self, op: &$op) -> ($answer, freehold::units::Tally) {
                (self.run_one(op), freehold::units::Tally::default())
            }

            /// The engine makes room for names itself.
            fn expect_objects(&mut self, _: u32) {}

            fn metadata_bytes(&self) -> usize {
                self.wire.bytes()
            }

            fn validate(&self) -> Result<(), String> {
                self.wire.valid()
            }
        }
    };
}
use driven;
