//! Engines that are classes in Python: each operation is a call of `alloc` or `free`, judged like any engine's.
//!
//! A class that raises has no answers from then on; the lab reports the exception, and [`raised`] is its cause. The lab keeps what
//! makes an engine for the life of the process, so the class lies beside that, in [`Classes`], until the run ends. Cost: the GIL is
//! taken for each operation, or for a batch where operations come in batches.

use freehold::units::{Probe, Tally, Work};
use freehold_lab::engine::Takes;
use freehold_lab::engine::outside;
use freehold_lab::failure::Failure;
use freehold_trace::Driven;
use freehold_trace::kva::{Answer, Op, Session, Space};
use pyo3::prelude::*;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// A class until the end of the run that it was given to.
type Class = Arc<Mutex<Option<Py<PyAny>>>>;

thread_local! {
    /// What a class raised last in the run on this thread.
    static RAISED: Cell<Option<PyErr>> = const { Cell::new(None) };
    /// The classes of the run on this thread.
    static CLASSES: RefCell<Vec<Class>> = const { RefCell::new(Vec::new()) };
}

/// Gives the classes of the run on this thread back when it is dropped, so that Python can free them.
pub(crate) struct Classes;

impl Drop for Classes {
    fn drop(&mut self) {
        // Without the GIL, as at the end of the process, Python frees them later or never.
        for class in CLASSES.take() {
            drop(class.lock().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

/// What a class raised last in the run on this thread.
pub(crate) fn raised() -> Option<PyErr> {
    RAISED.take()
}

/// An engine that is asked for.
#[derive(FromPyObject)]
pub(crate) enum Engine {
    /// By its name.
    Named(String),
    /// A class, by its name in results, `py:CLASS`, and which addresses it takes.
    Class(String, String, Py<PyAny>),
}

/// The names of engines. Classes are made known to the lab, for a run on this thread.
///
/// # Errors
/// A class takes other addresses than there are names for.
pub(crate) fn names(engines: Vec<Engine>) -> Result<Vec<String>, Failure> {
    let name = |engine| match engine {
        Engine::Named(name) => Ok(name),
        Engine::Class(name, takes, class) => register(&name, &takes, class).map(|()| name),
    };
    engines.into_iter().map(name).collect()
}

/// An instance of the class at work.
struct Guest {
    name: String,
    engine: Py<PyAny>,
    /// Where each live object starts.
    starts: HashMap<u32, u64>,
    /// What the class raised; it is asked no more.
    raised: Option<String>,
}

impl Guest {
    fn new(name: &str, class: &Py<PyAny>, space: &Space) -> Self {
        let spans: Vec<(u64, u64)> = space.layout.iter().map(|span| (span.first(), span.last())).collect();
        let (engine, raised) = Python::attach(|py| match class.call1(py, (spans, space.granule.bytes())) {
            Ok(engine) => (engine, None),
            Err(error) => {
                let told = format!("engine {name} raised {error} in __init__");
                RAISED.set(Some(error));
                (py.None(), Some(told))
            }
        });
        Self { name: name.to_owned(), engine, starts: HashMap::new(), raised }
    }

    fn ask(&mut self, py: Python<'_>, op: &Op) -> Answer {
        if self.raised.is_some() {
            return Answer::Unsupported;
        }
        match self.perform(py, op) {
            Ok(answer) => answer,
            Err(error) => {
                self.raised = Some(format!("engine {} raised {error} at the {op}", self.name));
                RAISED.set(Some(error));
                Answer::Unsupported
            }
        }
    }

    fn perform(&mut self, py: Python<'_>, op: &Op) -> PyResult<Answer> {
        Ok(match op {
            Op::Alloc { object, size_bytes, align, window } => {
                let asked = (*size_bytes, align.bytes(), window.first(), window.last());
                let place: Option<u64> = self.engine.call_method1(py, "alloc", asked)?.extract(py)?;
                match place {
                    Some(first) => {
                        self.starts.insert(*object, first);
                        Answer::At(first)
                    }
                    None => Answer::NoRoom,
                }
            }
            Op::Free { object } => match self.starts.remove(object) {
                Some(first) => {
                    self.engine.call_method1(py, "free", (first,))?;
                    Answer::Freed
                }
                None => Answer::NotLive,
            },
            Op::Congruent { .. } => Answer::Unsupported,
        })
    }

    /// What the class counted; 0 if that is no number.
    fn work(&self, py: Python<'_>) -> u64 {
        self.engine.getattr(py, "work").and_then(|work| work.extract(py)).unwrap_or(0)
    }
}

impl Driven<Op, Answer> for Guest {
    fn run(&mut self, ops: &[Op], answers: &mut [Answer]) {
        Python::attach(|py| {
            for (op, answer) in ops.iter().zip(answers) {
                *answer = self.ask(py, op);
            }
        });
    }

    fn run_timed(&mut self, ops: &[Op], answers: &mut [Answer], nanoseconds: &mut [u64]) {
        Python::attach(|py| {
            for ((op, answer), took) in ops.iter().zip(answers).zip(nanoseconds) {
                let before = Instant::now();
                *answer = self.ask(py, op);
                *took = u64::try_from(before.elapsed().as_nanos()).unwrap_or(u64::MAX);
            }
        });
    }

    fn run_one(&mut self, op: &Op) -> Answer {
        Python::attach(|py| self.ask(py, op))
    }

    fn run_counted(&mut self, op: &Op) -> (Answer, Tally) {
        Python::attach(|py| {
            let before = self.work(py);
            let answer = self.ask(py, op);
            let mut tally = Tally::default();
            tally.count(Work::NodeVisited, self.work(py).saturating_sub(before));
            (answer, tally)
        })
    }

    /// A dictionary grows by itself.
    fn expect_objects(&mut self, _: u32) {}

    fn metadata_bytes(&self) -> usize {
        Python::attach(|py| {
            let bytes = self.engine.call_method0(py, "metadata_bytes");
            bytes.and_then(|bytes| bytes.extract(py)).unwrap_or(0)
        })
    }

    fn validate(&self) -> Result<(), String> {
        self.raised.clone().map_or(Ok(()), Err)
    }
}

impl Session for Guest {}

/// Makes a class known to the lab under a name, for a run on this thread.
fn register(name: &str, takes: &str, class: Py<PyAny>) -> Result<(), Failure> {
    let known = [
        ("any", Takes::Any),
        ("lowest", Takes::Lowest),
        ("highest", Takes::Highest),
        ("best-fit", Takes::BestFit),
    ];
    let found = known.iter().find(|(name, _)| *name == takes);
    let &(_, takes) = found.ok_or_else(|| {
        let names = known.map(|(name, _)| name).join(", ");
        Failure::Usage(format!("{name}.takes is {takes:?}; it is one of {names}"))
    })?;
    let own = name.to_owned();
    let class = Arc::new(Mutex::new(Some(class)));
    CLASSES.with_borrow_mut(|classes| classes.push(Arc::clone(&class)));
    let make = move |space: &Space| -> Result<Box<dyn Session>, String> {
        let held = || class.lock().unwrap_or_else(PoisonError::into_inner);
        let class = Python::attach(|py| held().as_ref().map(|class| class.clone_ref(py)));
        let class = class.ok_or_else(|| format!("engine {own}: its run has ended"))?;
        Ok(Box::new(Guest::new(&own, &class, space)))
    };
    outside::register(name, takes, Box::new(make))
}
