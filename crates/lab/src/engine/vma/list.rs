//! The one list of maps that hold address spaces. A new one is an [`AreaMap`](super::AreaMap) and a line
//! here.

use super::{Answer, AreaMap, Kinds, Scene, Session, Spaces};
use crate::engine::listed::{engines, facts};
use crate::engine::maple::WordMapRanges;
use freehold_rivals::maple::BTreeMapRanges;

/// Makes spaces whose areas are of these kinds.
pub type Make = fn(Kinds) -> Box<dyn Session>;

/// What is said of a map that address spaces are kept in.
#[derive(Clone, Copy, Debug)]
pub struct SpacesFacts {
    /// Makes spaces.
    pub make: Make,
}

facts! { SpacesFacts, Maple: Scene => dyn Session, Answer, |facts, scene| Ok((facts.make)(scene.kinds.clone())); }

/// Every engine; the first is the default one, and what ratios are to.
pub const ENGINES: &[EngineEntry] = engines! {
    "range-map" (Always ours) "the range tree: a B-tree of words whose nodes know the gaps below them"
        SpacesFacts { make: spaces::<WordMapRanges> };
    "std-btreemap" (Always estimated)
        "a std BTreeMap from first address to last address and kind; a gap is looked for one by one"
        SpacesFacts { make: spaces::<BTreeMapRanges<u64>> };
};

fn spaces<M: AreaMap + 'static>(kinds: Kinds) -> Box<dyn Session> {
    Box::new(Spaces::<M>::new(kinds))
}
