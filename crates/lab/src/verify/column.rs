//! One column of a vector file, held against the engine that should answer like it.

use super::Checked;
use super::events::Events;
use super::state::{free_digest, gap_digest};
use crate::engine::SpaceEngine;
use freehold::kva::{Placement, RbTree, Request};
use freehold::units::{Align, Span, Work};
use freehold_rivals::kva::{GapList, lowest_fit};
use freehold_trace::kva::{Answer, Column, Digest, Driver, Engine, Expected, ExpectedAlloc, Op};

/// The engine that answers for a column.
enum Held {
    Tree(Driver<SpaceEngine<RbTree>>, Placement),
    Gap(Driver<GapList>),
}

/// A column and its engine.
pub(super) struct ColumnCheck {
    held: Option<Held>,
    unit: u64,
    pub(super) checked: Checked,
}

impl ColumnCheck {
    pub(super) fn new(column: Column, layout: &[Span], unit: u64) -> Result<Self, String> {
        let granule = Align::new(unit).ok_or_else(|| format!("unit {unit} is not a power of two"))?;
        let tree = |placement| {
            SpaceEngine::new(layout, granule, placement)
                .map(|engine| Held::Tree(Driver::new(engine), placement))
        };
        let (held, engine, placement) = match column {
            Column::Linux => (Some(tree(Placement::Linux)?), "rbtree", Some("linux")),
            Column::Lowest => (Some(tree(Placement::Lowest)?), "rbtree", Some("lowest")),
            Column::Gap => (Some(Held::Gap(Driver::new(GapList::new(layout, granule)?))), "gap-list", None),
            Column::Highest | Column::BestFit => (None, "", None),
        };
        let note = held.is_none().then(|| "not checked: no engine has this placement".to_owned());
        let what = column.letter().to_string();
        Ok(Self { held, unit, checked: Checked { what, engine, placement, note, ..Checked::default() } })
    }

    pub(super) fn op(&mut self, line: u64, op: &Op, expected: &Expected) {
        let Some(held) = &mut self.held else { return };
        self.checked.operations += 1;
        if let (Op::Alloc { size_bytes, align, window, .. }, Expected::Alloc(expected)) = (op, expected) {
            let lowest = held.lowest(*size_bytes, *align, *window);
            self.checked.compare(
                line,
                lowest_text(expected.lowest, self.unit),
                lowest_text(lowest, self.unit),
            );
        }
        let mut events = Events::default();
        let answer = held.run(op, &mut events);
        let got = match answer {
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
        let got = match (&self.held, expected) {
            (Some(Held::Tree(driver, placement)), Digest::Free(_)) => {
                let tree = driver.engine().space.free_index();
                let tree = (*placement == Placement::Linux).then_some(tree);
                Digest::Free(free_digest(driver.engine(), tree, self.unit))
            }
            (Some(Held::Gap(driver)), Digest::Gap(_)) => Digest::Gap(gap_digest(driver.engine(), self.unit)),
            _ => return,
        };
        self.checked.compare(line, format!("{expected:x?}"), format!("{got:x?}"));
        let valid = match &self.held {
            Some(Held::Tree(driver, _)) => driver.engine().validate(),
            Some(Held::Gap(driver)) => driver.engine().validate(),
            None => Ok(()),
        };
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
        let steps = matches!(self.held, Some(Held::Gap(_))).then(|| events.tally.of(Work::ListStepped));
        text(&events.letters, start, steps, self.unit)
    }
}

impl Held {
    fn run(&mut self, op: &Op, events: &mut Events) -> Answer {
        match self {
            Self::Tree(driver, _) => driver.run(op, events),
            Self::Gap(driver) => driver.run(op, events),
        }
    }

    /// The exact lowest address on the present state.
    fn lowest(&self, size_bytes: u64, align: Align, window: Span) -> Option<u64> {
        match self {
            Self::Tree(driver, _) => {
                let request = Request::new(size_bytes).align(align).window(window);
                Some(driver.engine().space.find(&request, Placement::Lowest).ok()?.first())
            }
            Self::Gap(driver) => {
                let mut blocks = Vec::new();
                driver.engine().free_blocks(&mut |block| blocks.push(block));
                Some(lowest_fit(blocks, size_bytes, align, window)?.first())
            }
        }
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
