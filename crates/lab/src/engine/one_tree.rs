//! An address space in one tree: regions are the entries of a [`WordMap`], free space its gaps.
//!
//! ```text
//!   | outside |  gap  | region | region |   gap   | region |  gap  | outside ...
//! ```
//!
//! What is outside of the space is an entry, too, so that a gap is always free space. A request is a search for the lowest
//! gap that fits, and a store at the place found; a free is one way down. Both trees of a space with an index of free blocks
//! and one of regions become one, and neighbours are merged by the map itself, which knows no adjacent gaps.
//!
//! Storing may take nodes, which are counted ([`Work::NodeTaken`]); the map tells nothing of the nodes that its search for
//! a gap visits.
//!
//! Source: the proposal of June 2026 to keep Linux's vmalloc areas in one maple tree.

use freehold::kva::{Fit, Merge};
use freehold::maple::word_map::Entry;
use freehold::maple::{Request, WordMap};
use freehold::units::{Align, Probe, Span, Work};
use freehold_trace::kva::Engine;

/// What an entry is.
const OUTSIDE: u32 = 0;
const REGION: u32 = 1;

/// A space in one tree.
#[derive(Clone)]
pub struct OneTree {
    /// Regions, and what is outside.
    pub map: WordMap<u32>,
    granule: Align,
    /// What is not of the space, in address order.
    outside: Vec<Span>,
}

impl OneTree {
    /// A space of the given spans.
    ///
    /// # Errors
    /// There is no memory for the tree, or a span is not made of granules.
    pub fn new(layout: &[Span], granule: Align) -> Result<Self, String> {
        let mut map = WordMap::new();
        map.store(Span::ALL, OUTSIDE).map_err(|rejected| rejected.cause.to_string())?;
        for &span in layout {
            if !granular(granule, span) {
                return Err(format!("{span} is not made of whole granules of {granule}"));
            }
            map.remove_range(span).map_err(|cause| cause.to_string())?;
        }
        let outside = map.iter().map(|(span, _)| span).collect();
        Ok(Self { map, granule, outside })
    }

    fn regions(&self) -> u64 {
        self.map.len() - self.outside.len() as u64
    }
}

fn granular(granule: Align, span: Span) -> bool {
    granule.divides(span.first()) && granule.divides(span.last().wrapping_add(1))
}

impl Engine for OneTree {
    #[inline]
    fn alloc(&mut self, size_bytes: u64, align: Align, window: Span, probe: &mut impl Probe) -> Option<u64> {
        let request = Request::new(size_bytes).align(align.max(self.granule)).window(window);
        let span = self.map.lowest_gap(&request).ok()?;
        let (before, gap) =
            (self.map.nodes_taken(), probe.counts().then(|| self.map.slot_at(span.first()).0));
        self.map.insert(span, REGION).ok()?;
        if let Some(gap) = gap {
            probe.count(Work::NodeTaken, self.map.nodes_taken() - before);
            probe.count(Fit::of(gap, span).work(), 1);
        }
        Some(span.first())
    }

    #[inline]
    fn free(&mut self, first: u64, probe: &mut impl Probe) -> bool {
        let before = self.map.nodes_taken();
        let Entry::Occupied(entry) = self.map.entry(first) else { return false };
        if entry.span().first() != first || entry.get() != REGION {
            return false;
        }
        let (span, _) = entry.remove();
        if probe.counts() {
            let (gap, _) = self.map.slot_at(first);
            probe.count(Work::NodeTaken, self.map.nodes_taken() - before);
            probe.count(Merge::of(gap.first() < span.first(), gap.last() > span.last()).work(), 1);
        }
        true
    }

    fn free_blocks(&self, visit: &mut dyn FnMut(Span)) {
        self.map.gaps(..).for_each(visit);
    }

    fn metadata_bytes(&self) -> usize {
        self.map.bytes()
    }

    /// Blocks and regions are slots of the same leaves: the memory is divided between them by their numbers.
    fn free_index_bytes(&self) -> Option<usize> {
        let blocks = self.map.gaps(..).count();
        let slots = blocks + usize::try_from(self.regions()).ok()?;
        Some(self.map.bytes() * blocks / slots.max(1))
    }

    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn validate(&self) -> Result<(), String> {
        self.map.validate().map_err(|broken| broken.to_string())?;
        let outside = self.map.iter().filter(|(_, kind)| *kind == OUTSIDE).map(|(span, _)| span);
        if outside.ne(self.outside.iter().copied()) {
            return Err("what is outside of the space is no longer as it was".to_owned());
        }
        match self.map.iter().find(|(span, kind)| *kind == REGION && !granular(self.granule, *span)) {
            Some((span, _)) => Err(format!("the region {span} is not made of granules")),
            None => Ok(()),
        }
    }
}
