//! An address space as the kernel keeps it, over any map of ranges: what a call does to the areas.
//!
//! ```text
//!   before    [ r-- ][    rw-     ]   [ rw- ]
//!   mprotect         |======| r--
//!   after     [     r--     ][rw- ]   [ rw- ]      cut at both ends, one area with an equal neighbour
//! ```
//!
//! # Invariants
//! No two areas that touch are of one kind, but for those that a fork without some of its parent's areas leaves.
//!
//! # Cost
//! A walk over the areas that the call meets and their neighbours, and a store for each area that comes out of it.

use super::kind::{Change, Kinds};
use super::op::{Answer, Fault};
use crate::RivalWork;
use crate::maple::{End, Ranges};
use freehold_units::{Align, Probe, Span, Work};

/// What an address space asks of a map.
pub trait AreaMap: Ranges {
    /// First address, last address and value of every area that overlaps the span, ascending.
    fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, u64, u64)>;

    /// Areas.
    fn areas(&self) -> u64 {
        self.iter().count() as u64
    }

    /// Its nodes, if it tells.
    fn nodes(&self) -> Option<Nodes> {
        None
    }
}

/// The nodes of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nodes {
    /// In use.
    pub in_use: u64,
    /// Taken since the tree was made.
    pub taken: u64,
    /// Levels.
    pub height: u64,
}

/// An address space.
#[derive(Clone, Debug)]
pub struct AddressSpace<M> {
    areas: M,
    /// What a call is about, cut at its ends, with the neighbours: kept for its memory alone.
    pieces: Vec<Piece>,
}

/// A piece of an area.
#[derive(Clone, Copy, Debug)]
struct Piece {
    span: Span,
    kind: u64,
    /// Whether it was of another kind before.
    changed: bool,
}

impl<M: AreaMap> Default for AddressSpace<M> {
    fn default() -> Self {
        Self { areas: M::new(), pieces: Vec::new() }
    }
}

impl<M: AreaMap> AddressSpace<M> {
    /// The areas.
    pub fn areas(&self) -> &M {
        &self.areas
    }

    /// The same, to play with.
    pub fn areas_mut(&mut self) -> &mut M {
        &mut self.areas
    }

    /// An area comes, at the expense of what is there.
    pub fn map(&mut self, span: Span, kind: u64, replaces: bool, probe: &mut impl Probe) -> Answer {
        let mut whole = span;
        let mut answer = self.meet(with_neighbours(span), span, probe, |area, other| {
            // What is left of it outside, or beside it, continues the new area.
            if other == kind {
                whole = whole.hull(area);
            }
        });
        if !replaces && answer.met > 0 {
            answer.fault = Some(Fault::Occupied);
        }
        self.store(whole, kind, probe);
        answer
    }

    /// Whatever is in the span goes.
    pub fn unmap(&mut self, span: Span, probe: &mut impl Probe) -> Answer {
        let mut answer = self.meet(span, span, probe, |_, _| {});
        if answer.met == 0 {
            answer.fault = Some(Fault::Nothing);
        } else {
            self.clear(span, probe);
        }
        answer
    }

    /// The areas in the span become others. If they were not `whole`, the change ends at the first hole.
    pub fn change(
        &mut self,
        span: Span,
        change: Change,
        whole: bool,
        kinds: &mut Kinds,
        probe: &mut impl Probe,
    ) -> Answer {
        let (mut expected, mut hole) = (Some(span.first()), false);
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        let mut answer = self.meet(with_neighbours(span), span, probe, |area, kind| {
            let same = |span| Piece { span, kind, changed: false };
            let Some(inside) = area.intersection(span) else { return pieces.push(same(area)) };
            hole |= expected != Some(inside.first());
            expected = inside.last().checked_add(1);
            let becomes = if hole && !whole { kind } else { kinds.changed(kind, change) };
            pieces.extend(area.below(span).map(same));
            pieces.push(Piece { span: inside, kind: becomes, changed: becomes != kind });
            pieces.extend(area.above(span).map(same));
        });
        hole |= expected.is_some_and(|expected| expected <= span.last());
        answer.fault = match (hole, whole) {
            (true, true) => Some(Fault::Hole),
            (false, false) => Some(Fault::NoHole),
            _ => None,
        };
        self.put_back(&pieces, probe);
        self.pieces = pieces;
        answer
    }

    /// Stores the pieces that have changed, neighbours of one kind as one area; they come in ascending order.
    fn put_back(&mut self, pieces: &[Piece], probe: &mut impl Probe) {
        let mut run: Option<Piece> = None;
        for &piece in pieces {
            run = match run {
                Some(run) if run.kind == piece.kind && run.span.touches(piece.span) => Some(Piece {
                    span: run.span.hull(piece.span),
                    changed: run.changed || piece.changed,
                    ..run
                }),
                ended => {
                    self.put_run(ended, probe);
                    Some(piece)
                }
            };
        }
        self.put_run(run, probe);
    }

    fn put_run(&mut self, run: Option<Piece>, probe: &mut impl Probe) {
        if let Some(run) = run.filter(|run| run.changed) {
            self.store(run.span, run.kind, probe);
        }
    }

    /// Areas move, shrink or grow.
    pub fn remap(
        &mut self,
        from: Span,
        to: Span,
        [replaces, keeps]: [bool; 2],
        kinds: &mut Kinds,
        probe: &mut impl Probe,
    ) -> Answer {
        let mut moved = Vec::new();
        let mut answer = self.meet(from, from, probe, |area, kind| {
            moved.extend(area.intersection(from).map(|area| (area, kind)));
        });
        if u128::from(answer.met_bytes) != from.size_bytes() {
            answer.fault = Some(Fault::Hole);
        }
        let stays = from.first() == to.first();
        match (stays, keeps) {
            (true, _) => {
                if let Some(tail) = from.above(to) {
                    self.clear(tail, probe);
                }
            }
            (false, false) => self.clear(from, probe),
            (false, true) => {}
        }
        let by = to.first().wrapping_sub(from.first());
        let last = moved.len().saturating_sub(1);
        for (at, &(piece, kind)) in moved.iter().enumerate() {
            // The last one has what is new.
            let end = if at == last { to.last() } else { piece.last().wrapping_add(by).min(to.last()) };
            let place = Span::new(piece.first().wrapping_add(by), end);
            let place = place.filter(|_| !stays || to.last() > from.last());
            let Some(place) = place.filter(|place| place.intersection(to) == Some(*place)) else { continue };
            let new = if stays { place.above(from) } else { Some(place) };
            let Some(new) = new else { continue };
            let kind = kinds.changed(kind, Change::Move(by));
            let placed = self.map(new, kind, replaces, probe);
            answer.fault = answer.fault.or(placed.fault);
        }
        answer
    }

    /// Looks for a gap, as the kernel did.
    pub fn search(&self, size: u64, window: Span, highest: bool, found: Option<u64>) -> Answer {
        let end = if highest { End::Highest } else { End::Lowest };
        let gap = self.areas.gap(end, size, Align::PAGE, window).map(|gap| gap.first());
        Answer { found: gap, fault: (gap != found).then_some(Fault::OtherGap), ..Answer::default() }
    }

    /// The tree's own store, which joins nothing.
    pub fn put(&mut self, span: Span, value: Option<u64>, probe: &mut impl Probe) -> Answer {
        match value {
            Some(value) => self.store(span, value, probe),
            None => self.clear(span, probe),
        }
        Answer::default()
    }

    /// The word at an index.
    pub fn load(&self, index: u64) -> Answer {
        let found = self.areas.get(index);
        Answer { met: found.is_some().into(), found, ..Answer::default() }
    }

    /// The first area that ends at an index or above.
    pub fn find(&self, index: u64, probe: &mut impl Probe) -> Answer {
        let above = Span::new(index, u64::MAX).unwrap_or(Span::ALL);
        let found = self.areas.overlapping(above).next().map(|(first, ..)| first);
        RivalWork::EntryScanned.count(found.is_some().into(), probe);
        Answer { met: found.is_some().into(), found, ..Answer::default() }
    }

    /// The child's space, and how many areas were copied.
    pub fn fork(&self, kinds: &Kinds, probe: &mut impl Probe) -> (Self, u64) {
        let mut child = Self { areas: self.areas.duplicate(), pieces: Vec::new() };
        let mut copied = 0;
        let inherited = |kind| kinds.get(kind).is_none_or(|kind| kind.is_inherited());
        for (first, last, kind) in self.areas.iter() {
            RivalWork::EntryScanned.count(1, probe);
            copied += 1;
            if let Some(own) = Span::new(first, last).filter(|_| !inherited(kind)) {
                child.clear(own, probe);
            }
        }
        (child, copied)
    }

    /// Shows the areas that overlap `around`; the answer has those of them within a span.
    fn meet(
        &self,
        around: Span,
        span: Span,
        probe: &mut impl Probe,
        mut see: impl FnMut(Span, u64),
    ) -> Answer {
        let mut answer = Answer::default();
        for (first, last, kind) in self.areas.overlapping(around) {
            RivalWork::EntryScanned.count(1, probe);
            let Some(area) = Span::new(first, last) else { continue };
            if let Some(inside) = area.intersection(span) {
                answer.met = answer.met.saturating_add(1);
                answer.met_bytes = answer.met_bytes.saturating_add(inside.size_saturating());
            }
            see(area, kind);
        }
        answer
    }

    fn store(&mut self, span: Span, kind: u64, probe: &mut impl Probe) {
        probe.count(Work::EntryStored, 1);
        self.areas.store(span, kind);
    }

    fn clear(&mut self, span: Span, probe: &mut impl Probe) {
        probe.count(Work::EntryStored, 1);
        self.areas.clear(span);
    }
}

/// The span with the addresses beside it.
fn with_neighbours(span: Span) -> Span {
    Span::new(span.first().saturating_sub(1), span.last().saturating_add(1)).unwrap_or(span)
}
