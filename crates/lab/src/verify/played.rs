//! An engine on which a recipe is played, with what it answered and did.

use super::{PAGE, pages};
use crate::record::Counts;
use crate::workload::{END_PAGE, LOW_PAGE};
use freehold::units::{Align, Tally};
use freehold_rivals::RivalWork;
use freehold_trace::Fnv;
use freehold_trace::kva::Engine;

/// What is counted of an operation.
pub(super) type Count = fn(&Tally) -> u64;

/// One request, in pages; the window is half open.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageRequest {
    pub(super) size: u64,
    pub(super) align: u64,
    pub(super) low: u64,
    pub(super) end: u64,
}

impl PageRequest {
    pub(super) fn anywhere(size: u64, align: u64) -> Self {
        Self { size, align, low: LOW_PAGE, end: END_PAGE }
    }
}

/// An engine on which a recipe is played, with what it answered and did.
pub(super) struct Played<E> {
    pub(super) engine: E,
    pub(super) answers: Fnv,
    /// Whether what is played now counts.
    pub(super) measured: bool,
    pub(super) allocs: u64,
    pub(super) allocs_measured: u64,
    pub(super) frees: u64,
    pub(super) fails: u64,
    pub(super) cached: u64,
    pub(super) columns: &'static [(&'static str, bool, Count)],
    pub(super) counts: Vec<Counts>,
}

impl<E: Engine> Played<E> {
    pub(super) fn of(engine: E, columns: &'static [(&'static str, bool, Count)]) -> Self {
        let (answers, counts) = (Fnv::default(), vec![Counts::default(); columns.len()]);
        let (measured, allocs, allocs_measured, frees, fails, cached) = (false, 0, 0, 0, 0, 0);
        Self { engine, answers, measured, allocs, allocs_measured, frees, fails, cached, columns, counts }
    }

    fn note(&mut self, is_alloc: bool, tally: &Tally) {
        let columns = self.columns.iter().zip(&mut self.counts);
        let of_kind = columns.filter(|((_, of_allocs, _), _)| *of_allocs == is_alloc);
        of_kind.for_each(|((.., count), counts)| counts.add(count(tally)));
    }

    /// Allocates; the first page.
    pub(super) fn alloc(&mut self, request: PageRequest) -> Option<u64> {
        let mut tally = Tally::default();
        let window = pages(request.low, request.end - request.low)?;
        let align = Align::new(request.align.checked_mul(PAGE)?)?;
        let size_bytes = request.size.checked_mul(PAGE)?;
        let start = self.engine.alloc(size_bytes, align, window, &mut tally).map(|start| start / PAGE);
        self.answers.word(start.unwrap_or(u64::MAX));
        self.allocs += 1;
        self.fails += u64::from(start.is_none());
        if self.measured {
            self.allocs_measured += 1;
            self.cached += RivalWork::StartedCached.of(&tally);
            self.note(true, &tally);
        }
        start
    }

    /// Frees what starts at this page.
    pub(super) fn free(&mut self, start: u64) {
        let mut tally = Tally::default();
        self.frees += u64::from(self.engine.free(start * PAGE, &mut tally));
        if self.measured {
            self.note(false, &tally);
        }
    }
}
