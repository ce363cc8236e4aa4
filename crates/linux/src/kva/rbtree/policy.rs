//! The purpose of a tree, and the improvements that the talk wished for. Each can be measured alone (`freehold bench
//! kva --wishes`). None changes an answer or the tree's shape, only the work. The plain tree has none, so its work is
//! that of the kernel's tree.

use core::fmt;

/// The purpose and the improvements of a tree.
pub trait Policy: Copy + fmt::Debug + 'static {
    /// Whether the nodes are free blocks: neighbours never touch, and each node stores the size of the largest block
    /// below it. Neither holds for the tree of areas in use.
    const FREE_BLOCKS: bool = true;
    /// Whether the tree remembers the block that last served a request under `Lowest`, and a size that no block below
    /// it has. A request of that size or more is served from there without a search if it fits.
    const HOT_BLOCK: bool;
    /// Whether the maxima above a block that became smaller stay too high until another block changes. A search may
    /// visit such a node fruitlessly, but it misses no block.
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
    /// With lazy fix-ups.
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
