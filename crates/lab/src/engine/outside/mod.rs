//! Engines from outside: `so:PATH`, a shared object with the functions of `include/freehold_engine.h`, each engine of which runs in a
//! process of its own. Operations cross in batches; one that dies or hangs is an error with its name, and never ends the lab.
//!
//! A program that has the lab as a library may also register guests: allocators of address ranges that it makes itself, in this
//! process. The Python package does so with classes, under the names `py:CLASS`.

mod kva;
mod maple;
mod percpu;
mod ranges;
mod spaces;

use super::Takes;
use crate::failure::{Failure, usage};
use crate::itself;
use freehold::units::Tally;
use freehold_harness::outside::{About, Answer, Op, Process, Scene};
use freehold_trace::Driven;
use freehold_trace::kva::{Session, Space};
use std::cell::RefCell;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What the names of engines from outside begin with.
pub const PREFIX: &str = "so:";
/// What is said wherever figures of such engines stand.
const NOTE: &str = "`so:` engines are from outside: each runs in a process of its own, where the clock is read around run_batch. Neither the \
                        way between processes nor the lab's own share, which `floor` shows of the others, is in their times. Operations \
                        that are timed singly are batches of one. Their work is not counted, and their memory is what they say.";
/// What the names of guests begin with.
pub const GUEST: &str = "py:";
/// What is said wherever figures of guests stand.
const GUEST_NOTE: &str = "`py:` engines are classes of the program that called the lab: their times are mostly the interpreter's, and are not \
                          compared. Their work and their memory are what they count themselves.";
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
/// The objects that were named, each loaded once to hear what it is.
static NAMED: Mutex<Vec<&'static Library>> = Mutex::new(Vec::new());

thread_local! {
    /// The guests of the run on this thread.
    static GUESTS: RefCell<Vec<&'static Library>> = const { RefCell::new(Vec::new()) };
}

/// Gives engines so many seconds for a batch, from those on that are started next.
pub fn set_timeout(seconds: u64) {
    // Relaxed: it is set before anything starts.
    TIMEOUT.store(seconds, Ordering::Relaxed);
}

/// Makes a guest for a space.
pub type MakeGuest = Box<dyn Fn(&Space) -> Result<Box<dyn Session>, String> + Send + Sync>;

/// Where an engine from outside is.
enum Source {
    Object(PathBuf),
    Guest(MakeGuest),
}

/// A shared object that has an engine, or a guest.
pub struct Library {
    /// Its name, `so:PATH` or `py:CLASS`.
    pub name: &'static str,
    source: Source,
    about: About,
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Library").field(&self.name).finish()
    }
}

/// Which address an engine says that it takes, by the numbers of the header.
const TAKES: [Takes; 4] = [Takes::Any, Takes::Lowest, Takes::Highest, Takes::BestFit];

/// Registers a guest under its name, which begins with [`GUEST`], for runs on this thread: those of other threads may have others
/// of that name. One that was registered here under the same name is found no more.
///
/// # Errors
/// The name begins otherwise, or guests cannot say that they take such addresses.
pub fn register(name: &str, takes: Takes, make: MakeGuest) -> Result<(), Failure> {
    let takes = TAKES.iter().position(|known| *known == takes).and_then(|at| u32::try_from(at).ok());
    let Some(takes) = takes.filter(|_| name.starts_with(GUEST)) else {
        return usage(format!(
            "{name}: no guest, whose name is {GUEST} and more, and takes any, the lowest, the highest or the best address"
        ));
    };
    let about = About { family: KVA, takes, ..About::default() };
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    let library: &'static Library = Box::leak(Box::new(Library { name, source: Source::Guest(make), about }));
    GUESTS.with_borrow_mut(|guests| {
        guests.retain(|known| known.name != name);
        guests.push(library);
    });
    Ok(())
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
    /// The object or the guest that a name is of; `None` for other engines. It is kept for the life of the program: there are as many
    /// as names.
    ///
    /// # Errors
    /// It cannot be loaded, and why.
    pub fn named(name: &str) -> Result<Option<&'static Self>, Failure> {
        let guest = GUESTS.with_borrow(|guests| guests.iter().copied().find(|guest| guest.name == name));
        if guest.is_some() {
            return Ok(guest);
        }
        let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = named.iter().find(|known| known.name == name) {
            return Ok(Some(known));
        }
        let Some(path) = name.strip_prefix(PREFIX) else { return Ok(None) };
        let path = PathBuf::from(path);
        if path.as_os_str().is_empty() {
            return usage(format!("engine {name}: the path of a shared object is missing"));
        }
        let (_, about) =
            process(&path).map_err(|reason| Failure::Usage(format!("engine {name}: {reason}")))?;
        let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
        let library: &'static Self = Box::leak(Box::new(Self { name, source: Source::Object(path), about }));
        named.push(library);
        Ok(Some(library))
    }

    /// What is said wherever its figures stand.
    pub fn note(&self) -> &'static str {
        match self.source {
            Source::Object(_) => NOTE,
            Source::Guest(_) => GUEST_NOTE,
        }
    }

    /// What it is, in a line.
    pub(super) fn about(&self) -> &'static str {
        match self.source {
            Source::Object(_) => {
                "an engine from outside, in a process of its own; its times are read there, its memory is what it says"
            }
            Source::Guest(_) => "a class of the program that called the lab; its times are not compared",
        }
    }

    /// Which addresses it takes, if it is one of kva.
    pub(super) fn takes(&self) -> Option<Takes> {
        (self.about.family == KVA).then(|| TAKES.get(self.about.takes as usize).copied()).flatten()
    }

    /// What it rounds sizes up to, if it is one of percpu.
    pub(super) fn grain_bytes(&self) -> Option<u64> {
        (self.about.family == PERCPU).then_some(u64::from(self.about.grain.max(1)))
    }

    /// Whether it is one of maple.
    pub(super) fn is_maple(&self) -> bool {
        self.about.family == MAPLE
    }

    /// An engine in a process of its own. It is there also if its process has ended: only one that cannot manage the scene is left out.
    fn start(&self, scene: &Scene) -> Result<Wire, String> {
        let told = |how| format!("engine {} {how}", self.name);
        let Source::Object(path) = &self.source else { return Err(told("is no shared object".to_owned())) };
        let mut process = process(path).map(|(process, _)| process);
        if let Ok(started) = &mut process
            && let Err(how) = started.create(scene)
        {
            if started.ended().is_none() {
                return Err(told(how));
            }
            process = Err(format!("{how} in create"));
        }
        Ok(Wire { name: self.name, process: RefCell::new(process) })
    }
}

fn process(path: &std::path::Path) -> Result<(Process, About), String> {
    let mut program = itself::command().map_err(|error| error.to_string())?;
    let timeout = Duration::from_secs(TIMEOUT.load(Ordering::Relaxed));
    Process::start(program.args([SERVE, "--"]).arg(path), timeout)
}

/// The way to an engine. Once its process has ended every operation is unsupported, and [`Wire::valid`] says how it ended.
#[derive(Debug)]
struct Wire {
    name: &'static str,
    /// How the process ended, if it has made no engine.
    process: RefCell<Result<Process, String>>,
}

impl Wire {
    /// What the process answers, or nothing if it has ended.
    fn ask<T>(&self, asked: impl FnOnce(&mut Process) -> Result<T, String>) -> Option<T> {
        self.process.borrow_mut().as_mut().ok().and_then(|process| asked(process).ok())
    }

    /// Runs operations; nanoseconds.
    fn run(&self, ops: &[Op], answers: &mut [Answer]) -> u64 {
        self.ask(|process| process.run(ops, answers)).unwrap_or_else(|| {
            answers.fill(Answer::default());
            0
        })
    }

    /// Runs operations one by one; the nanoseconds of each.
    fn run_each(&self, ops: &[Op], answers: &mut [Answer], took: &mut [u64]) {
        if self.ask(|process| process.run_each(ops, answers, took)).is_none() {
            answers.fill(Answer::default());
        }
    }

    fn bytes(&self) -> usize {
        self.ask(Process::bytes).map_or(0, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    /// Whether the process is there; else how it ended.
    fn valid(&self) -> Result<(), String> {
        let process = self.process.borrow();
        let how = process.as_ref().map_or_else(|how| Some(how.as_str()), Process::ended);
        how.map_or(Ok(()), |how| Err(format!("engine {} {how}", self.name)))
    }
}

/// The engine's operations and answers on the wire, one for each of the family's.
trait Spoken {
    type Op;
    type Answer: Copy + Default;

    fn ask(op: &Self::Op) -> Op;
    fn told(&mut self, op: &Self::Op, answer: &Answer) -> Self::Answer;
}

/// An engine at work of a family that speaks operation by operation.
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

impl<S: Spoken> Driven<S::Op, S::Answer> for Outside<S> {
    fn run(&mut self, ops: &[S::Op], answers: &mut [S::Answer]) {
        self.run_clocked(ops, answers);
    }

    fn run_clocked(&mut self, ops: &[S::Op], answers: &mut [S::Answer]) -> u64 {
        self.translated(ops, answers, Wire::run)
    }

    fn run_timed(&mut self, ops: &[S::Op], answers: &mut [S::Answer], nanoseconds: &mut [u64]) {
        self.translated(ops, answers, |wire, asked, told| {
            wire.run_each(asked, told, nanoseconds);
            0
        });
    }

    fn run_one(&mut self, op: &S::Op) -> S::Answer {
        let mut answer = [S::Answer::default()];
        self.run_clocked(std::slice::from_ref(op), &mut answer);
        answer[0]
    }

    fn run_counted(&mut self, op: &S::Op) -> (S::Answer, Tally) {
        (self.run_one(op), Tally::default())
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
