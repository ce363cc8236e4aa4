//! One operation on an engine and on the brute-force model, and what may differ: nothing, or, for placements
//! that are not exact, where in the free space an object goes and whether a tight fit is found.

use super::tiny::{TINY_LAYOUT, listing, ops_from_bytes, tiny_layout};
use crate::engine::{ENGINES, EngineEntry, Session, Takes, VARIANTS};
use freehold::units::{Align, Span};
use freehold_rivals::kva::Naive;
use freehold_trace::kva::{Answer, Engine, Op};
use std::collections::HashMap;

/// What is free and what is live, known by brute force.
#[derive(Clone, Debug)]
pub struct Model {
    space: Naive,
    live: HashMap<u32, Vec<Span>>,
    hull: Span,
    granule: Align,
}

impl Model {
    /// Nothing is live.
    ///
    /// # Errors
    /// The layout's spans overlap, or there are none.
    pub fn new(layout: &[Span], granule: Align) -> Result<Self, String> {
        let first = layout.iter().map(|span| span.first()).min();
        let last = layout.iter().map(|span| span.last()).max();
        let hull = first.zip(last).and_then(|(first, last)| Span::new(first, last)).ok_or("no layout")?;
        Ok(Self { space: Naive::new(layout, granule)?, live: HashMap::new(), hull, granule })
    }

    /// Runs an operation on both, compares the answer and every free block, and has the engine validate itself.
    ///
    /// # Errors
    /// What differs, or which invariant is broken.
    pub fn step(&mut self, session: &mut dyn Session, takes: Takes, op: &Op) -> Result<(), String> {
        let (answer, _) = session.run_counted(op);
        match op {
            Op::Free { object } => self.freed(*object, answer)?,
            Op::Alloc { object, size_bytes, align, window } => {
                let (space, size, align, window) = (&self.space, *size_bytes, *align, *window);
                let best = match takes {
                    Takes::Highest => space.highest(size, align, window),
                    Takes::BestFit => space.best_fit(size, align, window),
                    _ => space.lowest(size, align, window),
                };
                let must = match takes {
                    Takes::Lowest | Takes::Highest | Takes::BestFit => true,
                    Takes::LowestUpToPageAlignment => align <= Align::PAGE.max(self.granule),
                    Takes::Any | Takes::KernelsChoice => false,
                };
                self.placed(*object, answer, best.map(Span::first), must, &[(size, 0)], align, window)?;
            }
            Op::Congruent { object, areas, align, window } => {
                let base = self.highest_base(areas, *align, *window);
                let areas: Vec<(u64, u64)> =
                    areas.iter().map(|area| (area.size_saturating(), area.first())).collect();
                self.placed(*object, answer, base, true, &areas, *align, *window)?;
            }
        }
        session.validate()?;
        self.compare_blocks(session)
    }

    fn freed(&mut self, object: u32, answer: Answer) -> Result<(), String> {
        match (self.live.remove(&object), answer) {
            (Some(spans), Answer::Freed) => {
                for span in spans {
                    self.space.free(span.first(), &mut ());
                }
                Ok(())
            }
            (None, Answer::NotLive) => Ok(()),
            (Some(_), _) => Err(format!("{answer:?} to the free of a live object")),
            (None, _) => Err(format!("{answer:?} to the free of an object that is not live")),
        }
    }

    /// `best` is the one right answer if it `must` be; any other must still be a proper one.
    #[allow(clippy::too_many_arguments, reason = "what was asked, what was answered and what is right")]
    fn placed(
        &mut self,
        object: u32,
        answer: Answer,
        best: Option<u64>,
        must: bool,
        areas: &[(u64, u64)],
        align: Align,
        window: Span,
    ) -> Result<(), String> {
        let start = match answer {
            Answer::At(start) => start,
            Answer::NoRoom if best.is_none() || !must => return Ok(()),
            Answer::Unsupported => return Ok(()),
            other => return Err(format!("{other:?}, but {best:x?} fits")),
        };
        if must && Some(start) != best {
            return Err(format!("{start:#x}, but {best:x?} is right"));
        }
        if !align.max(self.granule).divides(start) {
            return Err(format!("{start:#x} is not aligned to {align}"));
        }
        let spans = areas.iter().map(|&(size, offset)| Span::from_size(start.checked_add(offset)?, size));
        let spans: Option<Vec<Span>> = spans.collect();
        let spans = spans.ok_or_else(|| format!("{start:#x} passes the last address"))?;
        for &span in &spans {
            if !window.covers(span) || !self.space.take(span) {
                return Err(format!("{span} is not free or not in {window}"));
            }
        }
        self.live.insert(object, spans);
        Ok(())
    }

    /// The highest base for congruent areas, one candidate after the other.
    fn highest_base(&self, areas: &[Span], align: Align, window: Span) -> Option<u64> {
        let align = align.max(self.granule);
        let mut base = align.down(self.hull.last());
        loop {
            let fits = |area: &Span| {
                let area = area.shifted(base);
                area.is_some_and(|area| window.covers(area) && self.space.is_free(area))
            };
            if areas.iter().all(fits) {
                return Some(base);
            }
            base = base.checked_sub(align.bytes())?;
        }
    }

    fn compare_blocks(&self, session: &dyn Session) -> Result<(), String> {
        let (mut ours, mut model) = (Vec::new(), Vec::new());
        session.free_blocks(&mut |block| ours.push(block));
        self.space.free_blocks(&mut |block| model.push(block));
        if ours == model { Ok(()) } else { Err(format!("free blocks are {ours:?}, should be {model:?}")) }
    }
}

/// Runs operations on a fresh engine beside the model.
///
/// # Errors
/// The first step that goes wrong, with the operations up to it as a list to replay.
pub fn run_ops(entry: &EngineEntry, layout: &[Span], granule: Align, ops: &[Op]) -> Result<(), String> {
    let mut session = (entry.make)(layout, granule)?;
    let mut model = Model::new(layout, granule)?;
    for (at, op) in ops.iter().enumerate() {
        model.step(session.as_mut(), entry.takes, op).map_err(|reason| {
            let list = ops.get(..=at).map(listing).unwrap_or_default();
            format!("{}: {reason}\nat the end of:\n{list}", entry.label())
        })?;
    }
    Ok(())
}

/// The engines and variants that the model can follow, all but one: what the kernel gives lies outside of any space that is made
/// for a test, and is another each time. `mmap` has tests of its own beside its adapter.
pub fn followed() -> impl Iterator<Item = &'static EngineEntry> {
    ENGINES.iter().chain(VARIANTS).filter(|entry| entry.takes != Takes::KernelsChoice)
}

/// The fuzz target's body: any bytes as operations on every engine that the model can follow, over as many spans of
/// the tiny space as the engine manages.
///
/// # Panics
/// On the first step that goes wrong: that is how a fuzzer hears of it.
pub fn fuzz_kva(bytes: &[u8]) {
    let ops = ops_from_bytes(bytes);
    for entry in followed() {
        let result = run_ops(entry, &tiny_layout(spans_managed(entry)), Align::PAGE, &ops);
        assert!(result.is_ok(), "{}", result.err().unwrap_or_default());
    }
}

/// How many spans of the tiny layout an engine can manage: all, or one.
pub fn spans_managed(entry: &EngineEntry) -> usize {
    let all = TINY_LAYOUT.len();
    if (entry.make)(&tiny_layout(all), Align::PAGE).is_ok() { all } else { 1 }
}
