//! Our red-black tree with the talk's wishes: for `freehold bench kva --wishes`, and by their full names.

use super::list::boxed;
use super::{Compared, EngineEntry, Session, SpaceEngine, Takes};
use freehold::kva::RbTree;
use freehold::kva::rbtree::{HotAndLazy, HotBlock, LazyFixups, Placement, Policy};
use freehold::units::{Align, Span};

/// Every variant.
pub const VARIANTS: &[EngineEntry] = &[
    EngineEntry {
        placement: Some("lowest+hot"),
        about: "the red-black tree, starting at the block that served last",
        make: red_black::<HotBlock>,
        ..RBTREE
    },
    EngineEntry {
        placement: Some("lowest+lazy"),
        about: "the red-black tree, its maxima put right once the search leaves the block",
        make: red_black::<LazyFixups>,
        ..RBTREE
    },
    EngineEntry {
        placement: Some("lowest+hot+lazy"),
        about: "the red-black tree with both",
        make: red_black::<HotAndLazy>,
        ..RBTREE
    },
];

/// What the variants have in common.
const RBTREE: EngineEntry = EngineEntry {
    engine: "rbtree",
    placement: None,
    about: "",
    takes: Takes::Lowest,
    linear: false,
    compared: Compared::IfNamed,
    make: red_black::<HotBlock>,
};

fn red_black<P: Policy>(layout: &[Span], granule: Align) -> Result<Box<dyn Session>, String> {
    boxed(SpaceEngine::<RbTree<P>>::new(layout, granule, Placement::Lowest))
}
