//! What a tree is for, and the talk's wishes for it, each to be measured alone (`freehold bench kva --wishes`): none changes an answer or
//! the tree's shape, all that changes is the work. The plain tree has none, so its work is that of the kernel's tree.

use core::fmt;

/// What a tree is for.
pub trait Policy: Copy + fmt::Debug + 'static {
    /// The nodes are free blocks: neighbours never touch, and each node has the size of the largest block below it. The
    /// tree of areas in use has neither.
    const FREE_BLOCKS: bool = true;
    /// Remembers the block that served last under `Lowest`, and the size that no block below it has: a request of
    /// that size or more is served from there without a search if it fits.
    const HOT_BLOCK: bool;
    /// Leaves the maxima above a block that became smaller too high until another block changes. A search may pass
    /// such a node in vain; it misses nothing.
    const LAZY_FIXUPS: bool;
}

macro_rules! policy {
    ($(#[$about:meta])* $name:ident, $hot:literal, $lazy:literal) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Policy for $name {
            const HOT_BLOCK: bool = $hot;
            const LAZY_FIXUPS: bool = $lazy;
        }
    };
}

policy!(
    /// The kernel's tree.
    Plain, false, false
);
policy!(
    /// With the hot block.
    HotBlock, true, false
);
policy!(
    /// With fix-ups put off.
    LazyFixups, false, true
);
policy!(
    /// With both.
    HotAndLazy, true, true
);

/// The kernel's tree of areas in use.
#[derive(Clone, Copy, Debug)]
pub(in crate::kva) struct Areas;

impl Policy for Areas {
    const FREE_BLOCKS: bool = false;
    const HOT_BLOCK: bool = false;
    const LAZY_FIXUPS: bool = false;
}
