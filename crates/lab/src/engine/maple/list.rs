//! The one list of engines of the maple family. A new engine is a file with its
//! [`Engine`](freehold_trace::maple::Engine), its [`Ranges`](freehold_trace::maple::Ranges) or both, and a line here.

use super::{AnyMapRanges, LinuxTree, Map, SharedTree, WordMapRanges};
use crate::engine::Compared;
use crate::engine::listed::{engines, facts};
use crate::engine::outside::Library;
use crate::failure::{Failure, usage};
use freehold_rivals::maple::{BTreeMapRanges, Naive, NoditRanges, RangemapRanges, Second};
use freehold_trace::maple::{Answer, Driver, Engine, RangeDriver, TreeFlags, Trees};

/// Makes trees with the kernel's calls.
pub type MakeTrees = fn(TreeFlags) -> Box<dyn Trees>;
/// Makes a plain map of ranges.
pub type MakeMap = fn() -> Box<dyn Map>;

/// What is said of a map of ranges.
#[derive(Clone, Copy, Debug)]
pub struct TreeFacts {
    /// Makes its trees, if it has the kernel's calls; such an engine is verified.
    pub trees: Option<MakeTrees>,
    /// Makes a map, if it is one to compare with; such an engine is benched.
    pub map: Option<MakeMap>,
    /// It makes equal neighbours one range, which the kernel does not, and is judged by a model that does.
    pub merges: bool,
}

facts! { TreeFacts, Maple: TreeFlags => dyn Trees, Answer, |facts, flags| match (facts.trees, facts.map) {
    // With the kernel's calls, if it has them; otherwise with those of a plain map.
    (Some(make), _) => Ok(make(*flags)),
    (None, Some(make)) => Ok(make()),
    (None, None) => Err("it makes nothing".to_owned()),
};
    fn outside(library: &Library) -> Option<Self> {
        library.is_maple().then_some(Self { trees: None, map: None, merges: false })
    }

    fn start_outside(library: &'static Library, _: &TreeFlags) -> Result<Box<dyn Trees>, String> {
        Ok(library.map()?)
    }
}

/// Every engine; the first that is benched is what ratios are to.
pub const ENGINES: &[EngineEntry] = engines! {
    "range-map" (Always ours) "WordMap, a B-tree that knows its gaps; verified through the kernel's calls"
        TreeFacts { trees: Some(trees_of::<LinuxTree>), ..a_map(map::<WordMapRanges>) };
    "range-map-any" (Always ours) "RangeMap of any value: a WordMap of numbers, and the values beside it"
        a_map(map::<AnyMapRanges>);
    "maple-tree" (IfNamed ours)
        "MapleTree, every value read under a guard; cursors and gaps are of a WordMap beside it"
        verified(trees_of::<SharedTree>);
    "std-btreemap" (Always estimated)
        "a std BTreeMap from first index to last index and value: what one writes without a special structure"
        a_map(map::<BTreeMapRanges<u64>>);
    "rangemap" (Always estimated) "the crate rangemap: inclusive ranges in a std BTreeMap, equal neighbours merged"
        TreeFacts { merges: true, ..a_map(map::<RangemapRanges>) };
    "nodit" (Always estimated) "the crate nodit: intervals in a B-tree of its own" a_map(map::<NoditRanges>);
    "naive" (IfNamed) "a model that keeps a sorted list and follows the recorded rules to the letter"
        verified(trees_of::<Naive>);
};

const fn a_map(map: MakeMap) -> TreeFacts {
    TreeFacts { trees: None, map: Some(map), merges: false }
}

const fn verified(trees: MakeTrees) -> TreeFacts {
    TreeFacts { trees: Some(trees), map: None, merges: false }
}

fn map<R: Second + 'static>() -> Box<dyn Map> {
    Box::new(RangeDriver::new(R::new()))
}

fn trees_of<E: Engine + 'static>(flags: TreeFlags) -> Box<dyn Trees> {
    Box::new(Driver::<E>::new(flags))
}

/// Trees of every engine that has the kernel's calls, with the engine's name.
pub fn trees(flags: TreeFlags) -> Vec<(&'static str, Box<dyn Trees>)> {
    ENGINES.iter().filter_map(|entry| Some((entry.engine, (entry.trees?)(flags)))).collect()
}

impl EngineEntry {
    /// An empty map, if it has one.
    ///
    /// # Errors
    /// One from outside cannot be started.
    pub fn new_map(&self) -> Result<Option<Box<dyn Map>>, String> {
        match self.outside {
            Some(library) => library.map().map(Some),
            None => Ok(self.map.map(|make| make())),
        }
    }
}

/// The maps that are benched under `names`: those of [`find_maps`], and those from outside.
///
/// # Errors
/// A name that is no map's.
pub fn find_benched(names: &[String]) -> Result<Vec<EngineEntry>, Failure> {
    let engines = EngineEntry::find(names, Compared::InBench)?;
    match engines.iter().find(|entry| entry.map.is_none() && entry.outside.is_none()) {
        None => Ok(engines),
        Some(entry) => usage(format!("{}: it is verified, and no map to compare with", entry.engine)),
    }
}

/// The maps that `names` ask for, in that order; all, in the order of the list, if there are no names.
///
/// # Errors
/// A name that is no map's.
pub fn find_maps(names: &[String]) -> Result<Vec<EngineEntry>, Failure> {
    let engines = find_benched(names)?;
    match engines.iter().find(|entry| entry.outside.is_some()) {
        None => Ok(engines),
        Some(entry) => usage(format!("{}: of engines from outside times alone are benched", entry.engine)),
    }
}
