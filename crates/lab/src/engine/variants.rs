//! Our red-black tree with the talk's wishes: for `freehold bench kva --wishes`, and by their full names.

use super::list::{boxed, engine};
use super::{Compared, EngineEntry, Make, Session, SpaceEngine, Takes};
use freehold::kva::RbTree;
use freehold::kva::rbtree::{HotAndLazy, HotBlock, LazyFixups, Placement, Policy};
use freehold::units::{Align, Span};

/// Every variant.
pub const VARIANTS: &[EngineEntry] = &[
    variant(
        "lowest+hot",
        "the red-black tree, starting at the block that served last",
        red_black::<HotBlock>,
    ),
    variant(
        "lowest+lazy",
        "the red-black tree, its maxima put right once the search leaves the block",
        red_black::<LazyFixups>,
    ),
    variant("lowest+hot+lazy", "the red-black tree with both", red_black::<HotAndLazy>),
];

const fn variant(placement: &'static str, about: &'static str, make: Make) -> EngineEntry {
    engine("rbtree", about, Takes::Lowest, make).placed(placement).ours().compared(Compared::IfNamed)
}

fn red_black<P: Policy>(layout: &[Span], granule: Align) -> Result<Box<dyn Session>, String> {
    boxed(SpaceEngine::<RbTree<P>>::new(layout, granule, Placement::Lowest))
}
