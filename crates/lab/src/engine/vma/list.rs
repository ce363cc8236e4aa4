//! The one list of maps that hold address spaces. A new one is an [`AreaMap`](super::AreaMap) and a line
//! here.

use super::Kinds;
use super::{Session, Spaces};
use crate::engine::maple::WordMapRanges;
use freehold_rivals::maple::BTreeMapRanges;

/// Makes spaces whose areas are of these kinds.
pub type Make = fn(Kinds) -> Box<dyn Session>;

/// A map that the lab keeps address spaces in.
#[derive(Clone, Copy, Debug)]
pub struct EngineEntry {
    /// The engine's name.
    pub engine: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// Makes one.
    pub make: Make,
}

/// Every engine; the first is the default one, and what ratios are to.
pub const ENGINES: &[EngineEntry] = &[
    EngineEntry {
        engine: "range-map",
        about: "the range tree: a B-tree of words whose nodes know the gaps below them",
        make: |kinds| Box::new(Spaces::<WordMapRanges>::new(kinds)),
    },
    EngineEntry {
        engine: "std-btreemap",
        about: "a std BTreeMap from first address to last address and kind; a gap is looked for one by one",
        make: |kinds| Box::new(Spaces::<BTreeMapRanges<u64>>::new(kinds)),
    },
];
