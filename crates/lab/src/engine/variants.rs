//! Our engines with other shortcuts than users get: for `freehold bench kva --wishes`, and by their full names.

use super::list::boxed;
use super::{Compared, EngineEntry, SpaceEngine, Takes};
use freehold::kva::{BTree, RbTree, Shortcuts, btree, rbtree};
use freehold::units::{Align, Span};

/// Every variant.
pub const VARIANTS: &[EngineEntry] = &[
    EngineEntry {
        placement: Some("lowest+hot"),
        about: "the red-black tree, starting at the block that served last",
        make: |layout, granule| {
            boxed(red_black(layout, granule, Shortcuts { hot_block: true, lazy_fixups: false }))
        },
        ..RBTREE
    },
    EngineEntry {
        placement: Some("lowest+lazy"),
        about: "the red-black tree, its maxima put right once the search leaves the block",
        make: |layout, granule| {
            boxed(red_black(layout, granule, Shortcuts { hot_block: false, lazy_fixups: true }))
        },
        ..RBTREE
    },
    EngineEntry {
        placement: Some("lowest+hot+lazy"),
        about: "the red-black tree with both",
        make: |layout, granule| {
            boxed(red_black(layout, granule, Shortcuts { hot_block: true, lazy_fixups: true }))
        },
        ..RBTREE
    },
    EngineEntry {
        engine: "btree",
        placement: Some("lowest-hot"),
        about: "the B+tree without its hot block",
        make: |layout, granule| {
            let engine = SpaceEngine::<BTree>::new(layout, granule, btree::Placement::Lowest);
            boxed(engine.map(|engine| engine.with_shortcuts(Shortcuts::NONE)))
        },
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
    make: |layout, granule| boxed(red_black(layout, granule, Shortcuts::NONE)),
};

fn red_black(layout: &[Span], granule: Align, shortcuts: Shortcuts) -> Result<SpaceEngine<RbTree>, String> {
    Ok(SpaceEngine::new(layout, granule, rbtree::Placement::Lowest)?.with_shortcuts(shortcuts))
}
