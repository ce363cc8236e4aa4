//! The one list of engines of the maple family. A new engine is a file with its
//! [`Engine`](freehold_trace::maple::Engine), its [`Ranges`](freehold_trace::maple::Ranges) or both, and a line here.

use super::{AnyMapRanges, LinuxTree, Map, Trees, WordMapRanges};
use crate::failure::Failure;
use freehold_rivals::maple::{BTreeMapRanges, Naive, NoditRanges, RangemapRanges};
use freehold_trace::maple::{Driver, Engine, RangeDriver, Ranges, TreeFlags};

/// Makes trees with the kernel's calls.
pub type MakeTrees = fn(TreeFlags) -> Box<dyn Trees>;
/// Makes a plain map of ranges.
pub type MakeMap = fn() -> Box<dyn Map>;

/// An engine that the lab can drive.
#[derive(Clone, Copy, Debug)]
pub struct EngineEntry {
    /// The engine's name.
    pub engine: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// Makes its trees, if it has the kernel's calls; such an engine is verified.
    pub trees: Option<MakeTrees>,
    /// Makes a map, if it is one to compare with; such an engine is benched.
    pub map: Option<MakeMap>,
    /// It makes equal neighbours one range, which the kernel does not, and is judged by a model that does.
    pub merges: bool,
}

/// Every engine; the first that is benched is what ratios are to.
pub const ENGINES: &[EngineEntry] = &[
    EngineEntry {
        engine: "range-map",
        about: "WordMap, a B-tree that knows its gaps; verified through the kernel's calls",
        trees: Some(trees_of::<LinuxTree>),
        map: Some(map::<WordMapRanges>),
        merges: false,
    },
    EngineEntry {
        engine: "range-map-any",
        about: "RangeMap of any value: a WordMap of numbers, and the values beside it",
        trees: None,
        map: Some(map::<AnyMapRanges>),
        merges: false,
    },
    EngineEntry {
        engine: "std-btreemap",
        about: "a std BTreeMap from first index to last index and value: what one writes without a special structure",
        trees: None,
        map: Some(map::<BTreeMapRanges<u64>>),
        merges: false,
    },
    EngineEntry {
        engine: "rangemap",
        about: "the crate rangemap: inclusive ranges in a std BTreeMap, equal neighbours merged",
        trees: None,
        map: Some(map::<RangemapRanges>),
        merges: true,
    },
    EngineEntry {
        engine: "nodit",
        about: "the crate nodit: intervals in a B-tree of its own",
        trees: None,
        map: Some(map::<NoditRanges>),
        merges: false,
    },
    EngineEntry {
        engine: "naive",
        about: "a model that keeps a sorted list and follows the recorded rules to the letter",
        trees: Some(trees_of::<Naive>),
        map: None,
        merges: false,
    },
];

fn map<R: Ranges + 'static>() -> Box<dyn Map> {
    Box::new(RangeDriver::new(R::new()))
}

fn trees_of<E: Engine + 'static>(flags: TreeFlags) -> Box<dyn Trees> {
    Box::new(Driver::<E>::new(flags))
}

/// Trees of every engine that has the kernel's calls, with the engine's name.
#[must_use]
pub fn trees(flags: TreeFlags) -> Vec<(&'static str, Box<dyn Trees>)> {
    ENGINES.iter().filter_map(|entry| Some((entry.engine, (entry.trees?)(flags)))).collect()
}

/// The maps that `names` ask for, in that order; all, in the order of the list, if there are no names.
///
/// # Errors
/// A name that is no map's.
pub fn find_maps(names: &[String]) -> Result<Vec<(EngineEntry, MakeMap)>, Failure> {
    let maps = || ENGINES.iter().filter_map(|entry| Some((*entry, entry.map?)));
    if names.is_empty() {
        return Ok(maps().collect());
    }
    let find = |name: &String| {
        maps().find(|(entry, _)| entry.engine == name).ok_or_else(|| {
            let all: Vec<&str> = maps().map(|(entry, _)| entry.engine).collect();
            Failure::Usage(format!("no map {name:?}; there are {}", all.join(", ")))
        })
    };
    names.iter().map(find).collect()
}
