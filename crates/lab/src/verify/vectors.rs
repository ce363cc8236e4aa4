//! A vector file: each column that an engine can answer for, held against it.

use super::Checked;
use super::state::{free_digest, gap_digest};
use crate::engine::{BySizeEngine, KernelEngine, OneTree, SpaceEngine};
use freehold::kva::{Placement as B, Request};
use freehold::units::{Align, Span};
use freehold_linux::kva::Placement as Rb;
use freehold_linux::kva::rbtree::Plain;
use freehold_rivals::RivalWork;
use freehold_rivals::kva::{GapList, Splay, lowest_fit};
use freehold_trace::TraceError;
use freehold_trace::kva::{Answer, Column, Digest, Driver, Engine, Expected, Letters, Op, Record, Vectors};
use std::path::Path;

pub(super) fn verify(file: &Path, tick: &mut dyn FnMut()) -> Result<Vec<Checked>, TraceError> {
    let mut vectors = Vectors::open(file)?;
    let columns = vectors.columns().iter().enumerate();
    let make = |(at, &column)| ColumnCheck::all(column, at, vectors.layout(), vectors.unit_bytes());
    let checks: Result<Vec<Vec<ColumnCheck>>, String> = columns.map(make).collect();
    let checks = checks.map_err(|reason| TraceError::at(file, vectors.line(), reason))?;
    let mut checks: Vec<ColumnCheck> = checks.into_iter().flatten().collect();
    while let Some(record) = vectors.next().transpose()? {
        let line = vectors.line();
        match record {
            Record::Op(op, answers) => checks.iter_mut().for_each(|check| check.op(line, &op, &answers)),
            Record::Digest(column, digest) => {
                if !vectors.columns().contains(&column) {
                    return Err(TraceError::at(file, line, "a digest of a column that is not here"));
                }
                let of_column = checks.iter_mut().filter(|check| check.column == column);
                of_column.for_each(|check| check.digest(line, &digest));
            }
        }
        tick();
    }
    Ok(checks.into_iter().map(|check| check.checked).collect())
}

/// Size, alignment and window of a request.
type Asked = (u64, Align, Span);

/// The engine that answers for a column.
trait Held {
    fn run(&mut self, op: &Op, events: &mut Letters) -> Answer;
    fn digest(&self, unit: u64) -> Digest;
    fn validate(&self) -> Result<(), String>;

    /// The exact lowest address on the present state, where the column tells it beside its own answer.
    fn lowest(&self, asked: Asked) -> Option<Option<u64>>;
}

/// Its digest, and how the lowest address is found, if the column tells it.
struct Told<E> {
    driver: Driver<E>,
    digest: fn(&E, u64) -> Digest,
    lowest: Option<fn(&E, Asked) -> Option<Span>>,
}

impl<E: Engine> Held for Told<E> {
    fn run(&mut self, op: &Op, events: &mut Letters) -> Answer {
        self.driver.run(op, events)
    }

    fn digest(&self, unit: u64) -> Digest {
        (self.digest)(self.driver.engine(), unit)
    }

    fn validate(&self) -> Result<(), String> {
        self.driver.engine().validate()
    }

    fn lowest(&self, asked: Asked) -> Option<Option<u64>> {
        self.lowest.map(|lowest| lowest(self.driver.engine(), asked).map(Span::first))
    }
}

/// An engine and its placement by name.
type Named = (&'static str, Option<&'static str>, Box<dyn Held>);

/// A column and an engine that should answer like it.
struct ColumnCheck {
    column: Column,
    /// Which of the answers on a line are the column's.
    at: usize,
    held: Box<dyn Held>,
    unit: u64,
    checked: Checked,
}

impl ColumnCheck {
    /// The checks of the column that stands at `at`, one for each engine that has its placement.
    fn all(column: Column, at: usize, layout: &[Span], unit: u64) -> Result<Vec<Self>, String> {
        let granule = Align::new(unit).ok_or_else(|| format!("unit {unit} is not a power of two"))?;
        let check = |(engine, placement, held): Named| {
            let checked = Checked { placement, ..Checked::new(column.name(), engine) };
            Self { column, at, held, unit, checked }
        };
        Ok(engines_for(column, layout, granule)?.into_iter().map(check).collect())
    }

    /// Runs an operation and compares with the column's part of the answers.
    fn op(&mut self, line: u64, op: &Op, answers: &[Expected]) {
        let Some(expected) = answers.get(self.at) else { return };
        self.checked.operations += 1;
        if let (Op::Alloc { size_bytes, align, window, .. }, Expected::Alloc(expected)) = (op, expected)
            && let Some(lowest) = self.held.lowest((*size_bytes, *align, *window))
        {
            let (expected, got) = (lowest_text(expected.lowest, self.unit), lowest_text(lowest, self.unit));
            self.checked.compare(line, expected, got);
        }
        let mut events = Letters::default();
        let got = match self.held.run(op, &mut events) {
            Answer::At(start) => self.answer_text(Some(start), &events),
            Answer::NoRoom => self.answer_text(None, &events),
            Answer::Freed if events.letters.is_empty() => "-".to_owned(),
            Answer::Freed => events.letters,
            Answer::NotLive => ".".to_owned(),
            Answer::Unsupported => "unsupported".to_owned(),
        };
        let expected = match expected {
            Expected::Alloc(expected) => text(&expected.letters, expected.start, expected.steps, self.unit),
            Expected::Free(free) => free.letters.clone().unwrap_or_else(|| ".".to_owned()),
        };
        self.checked.compare(line, expected, got);
    }

    fn digest(&mut self, line: u64, expected: &Digest) {
        let got = self.held.digest(self.unit);
        self.checked.compare(line, expected.to_string(), got.to_string());
        self.checked.valid(line, self.held.validate());
    }

    fn answer_text(&self, start: Option<u64>, events: &Letters) -> String {
        let steps = (self.column == Column::Gap).then(|| RivalWork::ListStepped.of(&events.tally));
        text(&events.letters, start, steps, self.unit)
    }
}

fn engines_for(column: Column, layout: &[Span], granule: Align) -> Result<Vec<Named>, String> {
    let ours = |placement| Ok::<_, String>(exact(SpaceEngine::new(layout, granule, placement)?));
    let kernels = |placement| Ok::<_, String>(exact(KernelEngine::<Plain>::new(layout, granule, placement)?));
    Ok(match column {
        // The tree's shape is checked too.
        Column::Linux => {
            let driver = Driver::new(KernelEngine::<Plain>::new(layout, granule, Rb::Linux)?);
            let digest = |engine: &KernelEngine, unit| {
                Digest::Free(free_digest(engine, Some(engine.space.tree()), unit))
            };
            let lowest = |engine: &KernelEngine, (size_bytes, align, window): Asked| {
                let request = Request::new(size_bytes).align(align).window(window);
                engine.space.find(&request, Rb::Lowest).ok()
            };
            vec![("rbtree", Some("linux"), Box::new(Told { driver, digest, lowest: Some(lowest) }))]
        }
        // Its cached values are checked too.
        Column::Gap => {
            let driver = Driver::new(GapList::new(layout, granule)?);
            let digest = |engine: &GapList, unit| Digest::Gap(gap_digest(engine, unit));
            let lowest = |engine: &GapList, (size_bytes, align, window): Asked| {
                let mut blocks = Vec::new();
                engine.free_blocks(&mut |block| blocks.push(block));
                lowest_fit(blocks, size_bytes, align, window)
            };
            vec![("gap-list", None, Box::new(Told { driver, digest, lowest: Some(lowest) }))]
        }
        Column::Lowest => vec![
            ("rbtree", Some("lowest"), kernels(Rb::Lowest)?),
            ("btree", Some("lowest"), ours(B::Lowest)?),
            ("range-map", None, exact(OneTree::new(layout, granule)?)),
            ("splay", None, exact(Splay::new(layout, granule)?)),
        ],
        Column::Highest => vec![
            ("rbtree", Some("highest"), kernels(Rb::Highest)?),
            ("btree", Some("highest"), ours(B::Highest)?),
        ],
        Column::BestFit => vec![
            ("rbtree", Some("best-fit"), exact(BySizeEngine::new(layout, granule)?)),
            ("btree", Some("best-fit"), ours(B::BestFit)?),
        ],
    })
}

/// Of an engine that says all by its answers and its free blocks.
fn exact<E: Engine + 'static>(engine: E) -> Box<dyn Held> {
    let digest = |engine: &E, unit| Digest::Free(free_digest(engine, None, unit));
    Box::new(Told { driver: Driver::new(engine), digest, lowest: None })
}

/// `letters address /steps`, in units.
fn text(letters: &str, start: Option<u64>, steps: Option<u64>, unit: u64) -> String {
    let start = start.map_or_else(|| "-".to_owned(), |start| (start / unit).to_string());
    let steps = steps.map_or_else(String::new, |steps| format!("/{steps}"));
    format!("{letters}{start}{steps}")
}

fn lowest_text(lowest: Option<u64>, unit: u64) -> String {
    format!("lowest {}", text("", lowest, None, unit))
}
