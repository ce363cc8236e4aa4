//! The one list of maps that hold address spaces of processes. A new one is an [`AreaMap`] and a line here.

use super::listed::{engines, facts};
use super::maple::{Ask, WordMapRanges};
use super::outside::Library;
use freehold::units::Span;
use freehold_rivals::maple::BTreeMapRanges;
use freehold_trace::vma::{Answer, AreaMap, Kinds, Nodes, Session, Spaces};

/// Makes spaces whose areas are of these kinds.
pub type Make = fn(Kinds) -> Box<dyn Session>;

/// What is said of a map that address spaces are kept in.
#[derive(Clone, Copy, Debug)]
pub struct SpacesFacts {
    /// Makes spaces.
    pub make: Make,
}

facts! { SpacesFacts, Maple: Kinds => dyn Session, Answer, |facts, scene| Ok((facts.make)(scene.clone()));
    fn outside(library: &Library) -> Option<Self> {
        // What it makes itself is asked of the library.
        library.is_maple().then_some(Self { make: spaces::<BTreeMapRanges<u64>> })
    }

    fn start_outside(library: &'static Library, scene: &Kinds) -> Result<Box<dyn Session>, String> {
        library.spaces(scene.clone())
    }
}

/// Every engine; the first is the default one, and what ratios are to.
pub const ENGINES: &[EngineEntry] = engines! {
    "range-map" (Always ours) "WordMap, a B-tree of words whose nodes know the gaps below them"
        SpacesFacts { make: spaces::<WordMapRanges> };
    "std-btreemap" (Always estimated)
        "a std BTreeMap from first address to last address and kind; a gap is looked for one by one"
        SpacesFacts { make: spaces::<BTreeMapRanges<u64>> };
};

fn spaces<M: AreaMap + 'static>(kinds: Kinds) -> Box<dyn Session> {
    Box::new(Spaces::<M>::new(kinds))
}

impl<A: Ask> AreaMap for WordMapRanges<A> {
    fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, u64, u64)> {
        let areas = self.map.range(span.first()..=span.last());
        areas.map(|(area, kind)| (area.first(), area.last(), kind))
    }

    fn areas(&self) -> u64 {
        self.map.len()
    }

    fn nodes(&self) -> Option<Nodes> {
        let map = &self.map;
        Some(Nodes { in_use: map.nodes() as u64, taken: map.nodes_taken(), height: map.height() as u64 })
    }
}
