//! The one list of engines. A new engine is a file with its [`Engine`](freehold_trace::kva::Engine) and a line
//! here.

use super::{Session, SpaceEngine};
use freehold::kva::{Placement, RbTree};
use freehold::units::{Align, Span};
use freehold_rivals::kva::{BTreeMapFirstFit, GapList, Naive};
use freehold_trace::kva::{Driver, Engine};

type Make = fn(&[Span], Align) -> Result<Box<dyn Session>, String>;

/// When an engine's answers are the exact lowest addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExactLowest {
    /// For every request.
    Always,
    /// For alignments up to a page.
    UpToPageAlignment,
    /// Not in general.
    Never,
}

/// An engine that the lab can drive.
#[derive(Clone, Copy, Debug)]
pub struct EngineEntry {
    /// The engine's name.
    pub engine: &'static str,
    /// Its placement, where it has several.
    pub placement: Option<&'static str>,
    /// When its answers are the exact lowest addresses.
    pub exact_lowest: ExactLowest,
    /// Whether an allocation's work grows with the number of blocks or regions, not with its logarithm.
    pub linear: bool,
    /// Whether it is compared when nobody says which; the others are too slow, or only models.
    pub compared: bool,
    /// Makes one for a layout and a granule.
    pub make: Make,
}

/// Every engine; the first is the default one, and what ratios are to.
pub const ENGINES: &[EngineEntry] = &[
    EngineEntry {
        engine: "rbtree",
        placement: Some("lowest"),
        exact_lowest: ExactLowest::Always,
        linear: false,
        compared: true,
        make: |layout, granule| boxed(SpaceEngine::<RbTree>::new(layout, granule, Placement::Lowest)),
    },
    EngineEntry {
        engine: "rbtree",
        placement: Some("linux"),
        exact_lowest: ExactLowest::UpToPageAlignment,
        linear: false,
        compared: true,
        make: |layout, granule| boxed(SpaceEngine::<RbTree>::new(layout, granule, Placement::Linux)),
    },
    EngineEntry {
        engine: "gap-list",
        placement: None,
        exact_lowest: ExactLowest::Never,
        linear: true,
        compared: true,
        make: |layout, granule| boxed(GapList::new(layout, granule)),
    },
    EngineEntry {
        engine: "btreemap-first-fit",
        placement: None,
        exact_lowest: ExactLowest::Always,
        linear: true,
        compared: true,
        make: |layout, granule| boxed(Ok(BTreeMapFirstFit::new(layout, granule))),
    },
    EngineEntry {
        engine: "naive",
        placement: None,
        exact_lowest: ExactLowest::Always,
        linear: true,
        compared: false,
        make: |layout, granule| boxed(Naive::new(layout, granule)),
    },
];

fn boxed<E: Engine + Clone + 'static>(engine: Result<E, String>) -> Result<Box<dyn Session>, String> {
    Ok(Box::new(Driver::new(engine?)))
}

impl EngineEntry {
    /// Name and placement, as users write them.
    #[must_use]
    pub fn label(&self) -> String {
        match self.placement {
            Some(placement) => format!("{}:{placement}", self.engine),
            None => self.engine.to_owned(),
        }
    }

    /// Whether it is the one that users get.
    #[must_use]
    pub fn is_default(&self) -> bool {
        ENGINES.first().is_some_and(|first| first.label() == self.label())
    }
}

/// The engines that `names` ask for, in the order of the list: `rbtree` for every placement of an engine,
/// `rbtree:linux` for one. No names: those that are compared by default.
///
/// # Errors
/// A name that is no engine's.
pub fn find_engines(names: &[String]) -> Result<Vec<EngineEntry>, String> {
    let known = |name: &String| ENGINES.iter().any(|entry| entry.engine == name || entry.label() == *name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        let all: Vec<String> = ENGINES.iter().map(EngineEntry::label).collect();
        return Err(format!("no engine {unknown:?}; there are {}", all.join(", ")));
    }
    let wanted = |entry: &&EngineEntry| {
        let named = names.iter().any(|name| entry.engine == name || entry.label() == *name);
        named || (names.is_empty() && entry.compared)
    };
    Ok(ENGINES.iter().filter(wanted).copied().collect())
}
