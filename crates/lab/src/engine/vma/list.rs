//! The one list of maps that hold address spaces. A new one is an [`AreaMap`](crate::workload::vma::AreaMap) and a line
//! here.

use super::{Session, Spaces};
use crate::engine::maple::RangeMapRanges;
use crate::failure::Failure;
use crate::workload::vma::Kinds;
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
        make: |kinds| Box::new(Spaces::<RangeMapRanges>::new(kinds)),
    },
    EngineEntry {
        engine: "std-btreemap",
        about: "a std BTreeMap from first address to last address and kind; a gap is looked for one by one",
        make: |kinds| Box::new(Spaces::<BTreeMapRanges<u64>>::new(kinds)),
    },
];

impl EngineEntry {
    /// Whether it is the one that users get.
    #[must_use]
    pub fn is_default(&self) -> bool {
        ENGINES.first().is_some_and(|first| first.engine == self.engine)
    }
}

/// The engines that `names` ask for, in the order of the list; all if there are no names.
///
/// # Errors
/// A name that is no engine's.
pub fn find_engines(names: &[String]) -> Result<Vec<EngineEntry>, Failure> {
    if let Some(unknown) = names.iter().find(|name| ENGINES.iter().all(|entry| entry.engine != **name)) {
        let all: Vec<&str> = ENGINES.iter().map(|entry| entry.engine).collect();
        return Err(Failure::Usage(format!("no engine {unknown:?}; there are {}", all.join(", "))));
    }
    let wanted = |entry: &&EngineEntry| names.is_empty() || names.iter().any(|name| entry.engine == name);
    Ok(ENGINES.iter().filter(wanted).copied().collect())
}
