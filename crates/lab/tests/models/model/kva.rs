//! One operation on an engine and on the brute-force model, and what may differ: nothing, or, for placements
//! that are not exact, where in the free space an object goes and whether a tight fit is found.

use super::tiny::{TINY_LAYOUT, listing, tiny_layout};
use super::{Looks, replayed};
use freehold::units::{Align, Span};
use freehold_lab::engine::{ENGINES, EngineEntry, Takes, VARIANTS};
use freehold_rivals::kva::{Checker, Naive};
use freehold_trace::kva::{Answer, Engine, Op, Session};
use std::collections::HashMap;

/// What is free and what is live, known by brute force.
#[derive(Clone, Debug)]
pub struct Model {
    space: Naive,
    live: HashMap<u32, Vec<Span>>,
    /// Knows what any answer must be.
    checker: Checker,
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
        let (space, checker) = (Naive::new(layout, granule)?, Checker::of(layout));
        Ok(Self { space, live: HashMap::new(), checker, hull, granule })
    }

    /// Runs an operation on both and compares the answer.
    ///
    /// # Errors
    /// What differs.
    pub fn step(&mut self, session: &mut dyn Session, takes: Takes, op: &Op) -> Result<(), String> {
        let (answer, _) = session.run_counted(op);
        let right = self.right(takes, op);
        let spans = self.checker.check(op, answer)?;
        match (answer, right) {
            (Answer::At(start), Some(right)) if Some(start) != right => {
                return Err(format!("{start:#x}, but {right:x?} is right"));
            }
            (Answer::At(start), _) if !self.granule.divides(start) => {
                return Err(format!("{start:#x} is not made of granules"));
            }
            (Answer::NoRoom, Some(Some(right))) => return Err(format!("no room, but {right:#x} fits")),
            _ => {}
        }
        for &span in &spans {
            if !self.space.take(span) {
                return Err(format!("{span} is not free"));
            }
        }
        let gone = if op.is_free() { self.live.remove(&op.object()) } else { None };
        gone.into_iter().flatten().for_each(|span| _ = self.space.free(span.first(), &mut ()));
        if !spans.is_empty() {
            self.live.insert(op.object(), spans);
        }
        Ok(())
    }

    /// Compares every free block, and has the engine validate itself.
    ///
    /// # Errors
    /// What differs, or which invariant is broken.
    pub fn look(&self, session: &dyn Session) -> Result<(), String> {
        session.validate()?;
        self.compare_blocks(session)
    }

    /// The one right answer to a request, if there is but one.
    fn right(&self, takes: Takes, op: &Op) -> Option<Option<u64>> {
        let place = match op {
            Op::Free { .. } => return None,
            Op::Congruent { areas, align, window, .. } => {
                return Some(self.highest_base(areas, *align, *window));
            }
            Op::Alloc { size_bytes, align, window, .. } => match takes {
                Takes::Any | Takes::KernelsChoice => return None,
                Takes::LowestUpToPageAlignment if *align > Align::PAGE.max(self.granule) => return None,
                Takes::Highest => self.space.highest(*size_bytes, *align, *window),
                Takes::BestFit => self.space.best_fit(*size_bytes, *align, *window),
                Takes::Lowest | Takes::LowestUpToPageAlignment => {
                    self.space.lowest(*size_bytes, *align, *window)
                }
            },
        };
        Some(place.map(Span::first))
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
pub fn run_ops(
    entry: &EngineEntry,
    layout: &[Span],
    granule: Align,
    ops: &[Op],
    looks: Looks,
) -> Result<(), String> {
    let mut session = (entry.make)(layout, granule)?;
    let mut model = Model::new(layout, granule)?;
    replayed(&entry.label(), ops, looks, listing, |op, look| {
        model.step(session.as_mut(), entry.takes, op)?;
        if look { model.look(session.as_ref()) } else { Ok(()) }
    })
}

/// The engines and variants that the model can follow, all but one: what the kernel gives lies outside of any space that is made
/// for a test, and is another each time. `mmap` has tests of its own beside its adapter.
pub fn followed() -> impl Iterator<Item = &'static EngineEntry> {
    ENGINES.iter().chain(VARIANTS).filter(|entry| entry.takes != Takes::KernelsChoice)
}

/// How many spans of the tiny layout an engine can manage: all, or one.
pub fn spans_managed(entry: &EngineEntry) -> usize {
    let all = TINY_LAYOUT.len();
    if (entry.make)(&tiny_layout(all), Align::PAGE).is_ok() { all } else { 1 }
}
