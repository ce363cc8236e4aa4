//! One column of a vector file, held against an engine that should answer like it.

use super::Checked;
use super::events::Events;
use super::state::{free_digest, gap_digest};
use crate::engine::{OneTree, SpaceEngine};
use freehold::kva::{BTree, BySize, FreeIndex, RbTree, Request, btree, by_size, rbtree};
use freehold::units::{Align, Span};
use freehold_rivals::RivalWork;
use freehold_rivals::kva::{GapList, Splay, lowest_fit};
use freehold_trace::kva::{Answer, Column, Digest, Driver, Engine, Expected, ExpectedAlloc, FreeDigest, Op};

/// An engine of which nothing is known but its answers and its free blocks.
trait Exact {
    fn run(&mut self, op: &Op, events: &mut Events) -> Answer;
    fn digest(&self, unit: u64) -> FreeDigest;
    fn validate(&self) -> Result<(), String>;
}

impl<E: Engine> Exact for Driver<E> {
    fn run(&mut self, op: &Op, events: &mut Events) -> Answer {
        self.run(op, events)
    }

    fn digest(&self, unit: u64) -> FreeDigest {
        free_digest(self.engine(), None, unit)
    }

    fn validate(&self) -> Result<(), String> {
        self.engine().validate()
    }
}

/// The engine that answers for a column.
enum Held {
    /// The kernel's placement: its tree's shape is checked too.
    Linux(Box<Driver<SpaceEngine<RbTree>>>),
    /// The gap allocator: its cached values are checked too.
    Gap(Driver<GapList>),
    /// A placement that says all by itself.
    Exact(Box<dyn Exact>),
}

/// An engine and its placement by name.
type Named = (&'static str, Option<&'static str>, Held);

/// A column and an engine that should answer like it.
pub(super) struct ColumnCheck {
    pub(super) column: Column,
    /// Which of the answers on a line are the column's.
    at: usize,
    held: Held,
    unit: u64,
    pub(super) checked: Checked,
}

impl ColumnCheck {
    /// The checks of the column that stands at `at`, one for each engine that has its placement.
    pub(super) fn all(column: Column, at: usize, layout: &[Span], unit: u64) -> Result<Vec<Self>, String> {
        let granule = Align::new(unit).ok_or_else(|| format!("unit {unit} is not a power of two"))?;
        let check = |(engine, placement, held): Named| {
            let what = column.letter().to_string();
            Self {
                column,
                at,
                held,
                unit,
                checked: Checked { what, engine, placement, ..Checked::default() },
            }
        };
        Ok(engines_for(column, layout, granule)?.into_iter().map(check).collect())
    }

    /// Runs an operation and compares with the column's part of the answers.
    pub(super) fn op(&mut self, line: u64, op: &Op, answers: &[Expected]) {
        let Some(expected) = answers.get(self.at) else { return };
        self.checked.operations += 1;
        if let (Op::Alloc { size_bytes, align, window, .. }, Expected::Alloc(expected)) = (op, expected)
            && let Some(lowest) = self.held.lowest(*size_bytes, *align, *window)
        {
            let (expected, got) = (lowest_text(expected.lowest, self.unit), lowest_text(lowest, self.unit));
            self.checked.compare(line, expected, got);
        }
        let mut events = Events::default();
        let got = match self.held.run(op, &mut events) {
            Answer::At(start) => self.answer_text(Some(start), &events),
            Answer::NoRoom => self.answer_text(None, &events),
            Answer::Freed if events.letters.is_empty() => "-".to_owned(),
            Answer::Freed => events.letters,
            Answer::NotLive => ".".to_owned(),
            Answer::Unsupported => "unsupported".to_owned(),
        };
        let expected = match expected {
            Expected::Alloc(expected) => self.expected_text(expected),
            Expected::Free(free) => free.letters.clone().unwrap_or_else(|| ".".to_owned()),
        };
        self.checked.compare(line, expected, got);
    }

    pub(super) fn digest(&mut self, line: u64, expected: &Digest) {
        let (got, valid) = match &self.held {
            Held::Linux(driver) => {
                let tree = driver.engine().space.free_index();
                let digest = free_digest(driver.engine(), Some(tree), self.unit);
                (Digest::Free(digest), driver.engine().validate())
            }
            Held::Gap(driver) => {
                (Digest::Gap(gap_digest(driver.engine(), self.unit)), driver.engine().validate())
            }
            Held::Exact(engine) => (Digest::Free(engine.digest(self.unit)), engine.validate()),
        };
        self.checked.compare(line, format!("{expected:x?}"), format!("{got:x?}"));
        self.checked.compare(
            line,
            "a valid state",
            valid.err().unwrap_or_else(|| "a valid state".to_owned()),
        );
    }

    fn expected_text(&self, expected: &ExpectedAlloc) -> String {
        text(&expected.letters, expected.start, expected.steps, self.unit)
    }

    fn answer_text(&self, start: Option<u64>, events: &Events) -> String {
        let steps = matches!(self.held, Held::Gap(_)).then(|| RivalWork::ListStepped.of(&events.tally));
        text(&events.letters, start, steps, self.unit)
    }
}

fn engines_for(column: Column, layout: &[Span], granule: Align) -> Result<Vec<Named>, String> {
    Ok(match column {
        Column::Linux => {
            let engine = SpaceEngine::new(layout, granule, rbtree::Placement::Linux)?;
            vec![("rbtree", Some("linux"), Held::Linux(Box::new(Driver::new(engine))))]
        }
        Column::Gap => vec![("gap-list", None, Held::Gap(Driver::new(GapList::new(layout, granule)?)))],
        Column::Lowest => vec![
            ("rbtree", Some("lowest"), exact::<RbTree>(layout, granule, rbtree::Placement::Lowest)?),
            ("btree", Some("lowest"), exact::<BTree>(layout, granule, btree::Placement::Lowest)?),
            ("range-map", None, Held::Exact(Box::new(Driver::new(OneTree::new(layout, granule)?)))),
            ("splay", None, Held::Exact(Box::new(Driver::new(Splay::new(layout, granule)?)))),
        ],
        Column::Highest => vec![
            ("rbtree", Some("highest"), exact::<RbTree>(layout, granule, rbtree::Placement::Highest)?),
            ("btree", Some("highest"), exact::<BTree>(layout, granule, btree::Placement::Highest)?),
        ],
        Column::BestFit => vec![
            (
                "rbtree",
                Some("best-fit"),
                exact::<BySize<RbTree>>(layout, granule, by_size::Placement::BestFit)?,
            ),
            (
                "btree",
                Some("best-fit"),
                exact::<BySize<BTree>>(layout, granule, by_size::Placement::BestFit)?,
            ),
        ],
    })
}

fn exact<I: FreeIndex + Clone + 'static>(
    layout: &[Span],
    granule: Align,
    placement: I::Placement,
) -> Result<Held, String> {
    let engine = SpaceEngine::<I>::new(layout, granule, placement)?;
    Ok(Held::Exact(Box::new(Driver::new(engine))))
}

impl Held {
    fn run(&mut self, op: &Op, events: &mut Events) -> Answer {
        match self {
            Self::Linux(driver) => driver.run(op, events),
            Self::Gap(driver) => driver.run(op, events),
            Self::Exact(engine) => engine.run(op, events),
        }
    }

    /// The exact lowest address on the present state, which the kernel's and the gap allocator's columns tell
    /// beside their own answer; `None` for the others.
    fn lowest(&self, size_bytes: u64, align: Align, window: Span) -> Option<Option<u64>> {
        let found = match self {
            Self::Linux(driver) => {
                let request = Request::new(size_bytes).align(align).window(window);
                driver.engine().space.find(&request, rbtree::Placement::Lowest).ok()
            }
            Self::Gap(driver) => {
                let mut blocks = Vec::new();
                driver.engine().free_blocks(&mut |block| blocks.push(block));
                lowest_fit(blocks, size_bytes, align, window)
            }
            Self::Exact(_) => return None,
        };
        Some(found.map(Span::first))
    }
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
