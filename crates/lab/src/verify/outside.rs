//! Engines from outside against a file: each operation judged as any engine's, and held against what is recorded where that binds it.
//!
//! | File | What binds |
//! |---|---|
//! | kva vectors | the column of the addresses that it takes, if it says which; always a place that is free, aligned, in the window, and no refusal of what fits |
//! | percpu placements | a place that is free and aligned in its unit, and no refusal, as a chunk could be made |
//! | address spaces (`*.vma`) | what a sorted list of areas says of every call |
//! | op logs of one tree | every answer and content; there are no cursors, and the first call of one is where it ends |

use super::Checked;
use super::maple::logs::content_text;
use crate::engine::maple::EngineEntry as TreeEntry;
use crate::engine::outside::Library;
use crate::engine::percpu::Scene;
use crate::engine::{EngineEntry, Facts, Listed, Takes};
use crate::family::{Family, Judge, Kva, Life, Maple, Outcome, Percpu};
use crate::kind::{Kind, Suite};
use crate::record::counted;
use crate::workload::percpu::config;
use crate::workload::vma::from_file;
use freehold::units::Align;
use freehold_trace::kva::{self, Column, Expected, Space};
use freehold_trace::vma::Call;
use freehold_trace::{Driven, TraceError, maple, percpu};
use std::collections::HashSet;
use std::path::Path;

/// Operations that cross to the engine at once.
const BATCH: usize = 1024;

pub(super) fn verify(
    file: &Path,
    kind: Kind,
    libraries: &[&'static Library],
    tick: &mut dyn FnMut(),
) -> Result<Vec<Checked>, TraceError> {
    let each = libraries.iter().map(|library| match kind {
        Kind::Columns => columns(file, library, tick),
        Kind::Placements => placements(file, library, tick),
        Kind::Trace(Suite::Maple) => calls(file, library, tick),
        Kind::TreeLog => log(file, library, tick),
        _ => Err(TraceError::at(file, 1, "not for engines from outside; see `replay` and `stress`")),
    });
    each.collect()
}

/// The engine of a library in a family.
fn entry<T: Facts>(file: &Path, library: &'static Library) -> Result<Listed<T>, TraceError> {
    Listed::of_library(library).map_err(|error| TraceError::at(file, 1, error.to_string()))
}

/// An engine of a family, its judge, and the operations that it was not asked yet, each with its line and what is recorded of it.
struct Asked<F: Family, E> {
    session: Box<F::Session>,
    judge: F::Judge,
    waiting: Vec<(u64, F::Op, E)>,
    /// Requests that it does not have, and what these would have been about.
    lacks: u64,
    lacking: HashSet<u32>,
    /// Its process has ended, and nothing more is asked.
    ended: bool,
    checked: Checked,
}

impl<F: Family, E> Asked<F, E> {
    fn new(file: &Path, library: &'static Library, scene: &F::Scene, what: &str) -> Result<Self, TraceError> {
        let entry: Listed<F::Facts> = entry(file, library)?;
        let session = entry.start(scene).map_err(|reason| TraceError::at(file, 1, reason))?;
        let (judge, checked) = (Judge::new(&entry, scene), Checked::new(what, library.name));
        let (waiting, lacking) = (Vec::new(), HashSet::new());
        Ok(Self { session, judge, waiting, lacks: 0, lacking, ended: false, checked })
    }

    /// Whether the engine does not have a request, or it is about what such a request would have made.
    fn is_lacking(&mut self, op: &F::Op, answer: F::Answer) -> bool {
        let lacks = F::outcome(answer) == Outcome::Unsupported;
        self.lacks += u64::from(lacks);
        match F::life(op) {
            Life::Begins(object, _) if lacks => self.lacking.insert(object),
            Life::Ends(object) => self.lacking.remove(&object),
            _ => lacks,
        }
    }

    /// What was checked, and what could not be.
    fn end(self) -> Checked {
        let lacks = counted(self.lacks, "request");
        let note = (self.lacks > 0).then(|| format!("{lacks} that it does not have, not checked"));
        Checked { note, ..self.checked }
    }

    /// Adds an operation to those that wait, which are asked once they are enough.
    fn add(&mut self, asked: (u64, F::Op, E), right: impl Fn(&E, F::Answer) -> Option<[String; 2]>) {
        self.waiting.push(asked);
        if self.waiting.len() == BATCH {
            self.ask(right);
        }
    }

    /// Asks what waits. `right` says what is recorded and given, if they must be the same. That the engine's process has ended is its
    /// only failure from there on.
    fn ask(&mut self, right: impl Fn(&E, F::Answer) -> Option<[String; 2]>) {
        let waiting = std::mem::take(&mut self.waiting);
        let Some(&(first, ..)) = waiting.first().filter(|_| !self.ended) else { return };
        let ops: Vec<F::Op> = waiting.iter().map(|(_, op, _)| op.clone()).collect();
        let mut answers = vec![F::Answer::default(); ops.len()];
        self.session.run(&ops, &mut answers);
        let valid = self.session.validate();
        if valid.is_err() {
            self.ended = true;
            return self.checked.valid(first, valid);
        }
        for ((line, op, recorded), answer) in waiting.iter().zip(answers) {
            if self.is_lacking(op, answer) {
                continue;
            }
            self.checked.operations += 1;
            let judged = self.judge.check(op, answer);
            let judged = judged.and_then(|()| self.judge.check_refusal(op, answer, &self.session));
            match (judged, right(recorded, answer)) {
                (Ok(()), Some([expected, got])) => self.checked.compare(*line, expected, got),
                (Ok(()), None) => self.checked.compare(*line, "right", "right"),
                (Err(wrong), recorded) => {
                    let expected =
                        recorded.map_or_else(|| "a right answer".to_owned(), |[expected, _]| expected);
                    self.checked.compare(*line, expected, wrong);
                }
            }
        }
    }
}

fn columns(file: &Path, library: &'static Library, tick: &mut dyn FnMut()) -> Result<Checked, TraceError> {
    let mut vectors = kva::Vectors::open(file)?;
    let granule =
        Align::new(vectors.unit_bytes()).ok_or_else(|| vectors.error("the unit is no power of two"))?;
    let scene = Space { layout: vectors.layout().to_vec(), granule };
    let takes = entry::<<Kva as Family>::Facts>(file, library).map(|entry: EngineEntry| entry.takes)?;
    let column = match takes {
        Takes::Lowest => Some(Column::Lowest),
        Takes::Highest => Some(Column::Highest),
        Takes::BestFit => Some(Column::BestFit),
        _ => None,
    };
    let at = column.and_then(|column| vectors.columns().iter().position(|of| *of == column));
    let what =
        at.and(column).map_or_else(|| "any address".to_owned(), |column| format!("column {}", column.name()));
    let mut asked = Asked::<Kva, Option<Option<u64>>>::new(file, library, &scene, &what)?;
    let right = |recorded: &Option<Option<u64>>, answer: kva::Answer| {
        let start =
            |start: Option<u64>| start.map_or_else(|| "no room".to_owned(), |start| format!("{start:#x}"));
        let expected = start((*recorded)?);
        Some([expected, answer.to_string()])
    };
    while let Some(record) = vectors.next().transpose()? {
        let line = vectors.line();
        let kva::Record::Op(op, answers) = record else { continue };
        let recorded = at.and_then(|at| answers.get(at)).and_then(|answer| match answer {
            Expected::Alloc(alloc) => Some(alloc.start),
            Expected::Free(_) => None,
        });
        asked.add((line, op, recorded), right);
        tick();
    }
    asked.ask(right);
    Ok(asked.end())
}

fn placements(file: &Path, library: &'static Library, tick: &mut dyn FnMut()) -> Result<Checked, TraceError> {
    let mut vectors = percpu::Vectors::open(file)?;
    let config = config(vectors.setup()).map_err(|reason| TraceError::at(file, 1, reason))?;
    let scene = Scene { config, balances: vectors.setup().balance };
    let mut asked = Asked::<Percpu, ()>::new(file, library, &scene, "any place")?;
    while let Some(record) = vectors.next().transpose()? {
        let line = vectors.line();
        let percpu::Record::Op(op, _) = record else { continue };
        asked.add((line, op, ()), |(), _| None);
        tick();
    }
    asked.ask(|(), _| None);
    Ok(asked.end())
}

/// The calls of a recorded program, held against a sorted list of areas; whole spaces are looked at in between, and before one goes.
fn calls(file: &Path, library: &'static Library, tick: &mut dyn FnMut()) -> Result<Checked, TraceError> {
    let workload = from_file(file)?;
    let mut asked = Asked::<Maple, ()>::new(file, library, &workload.scene, "calls")?;
    let mut line = 0;
    for ops in workload.ops.chunk_by(|_, next| next.call != Call::Destroy).flat_map(|ops| ops.chunks(BATCH)) {
        asked.waiting.extend((line + 1..).zip(ops).map(|(line, op)| (line, *op, ())));
        line += ops.len() as u64;
        asked.ask(|(), _| None);
        if asked.ended {
            break;
        }
        let state = asked.judge.check_state(&*asked.session);
        asked.checked.valid(line, state);
        tick();
    }
    Ok(asked.checked)
}

fn log(file: &Path, library: &'static Library, tick: &mut dyn FnMut()) -> Result<Checked, TraceError> {
    let mut log = maple::Vectors::open(file)?;
    let entry: TreeEntry = entry(file, library)?;
    let flags = maple::TreeFlags { alloc: log.header().alloc_tree, rcu: log.header().rcu };
    let mut session = entry.start(&flags).map_err(|reason| TraceError::at(file, 1, reason))?;
    let mut checked = Checked::new("operations", library.name);
    while let Some(record) = log.next().transpose()? {
        let line = log.line();
        match record {
            maple::Record::Op(op, expected) => {
                let answer = session.run_one(&op);
                checked.operations += 1;
                if answer == maple::Answer::Unsupported {
                    let valid = session.validate();
                    if valid.is_ok() {
                        return Err(log.error("engines from outside have no cursors, nor other trees"));
                    }
                    checked.valid(line, valid);
                    return Ok(checked);
                }
                let texts = || [format!("{:?} to {op:?}", expected.answer), format!("{answer:?}")];
                checked.right(line, expected.accepts(&answer), texts);
            }
            maple::Record::Content { count, digest, .. } => {
                checked.compare(line, content_text((count, digest)), content_text(session.content(0, true)));
            }
            maple::Record::Shape(_) => {}
        }
        tick();
    }
    Ok(checked)
}
