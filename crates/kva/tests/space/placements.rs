//! The placements of every index, and what each promises: models hold answers against that.

use freehold_kva::rbtree::Policy;
use freehold_kva::{BTree, BySize, FreeIndex, RbTree, btree, by_size, rbtree};

/// What a placement promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    Lowest,
    Highest,
    /// The lowest in the smallest block that has a place, in the lowest of equals.
    Best,
    /// The lowest for alignments up to a page and for windows without choice, else any place or none.
    Linux,
}

pub(crate) trait Index: FreeIndex {
    fn placements() -> Vec<(Self::Placement, Promise)>;
}

impl<P: Policy> Index for RbTree<P> {
    fn placements() -> Vec<(rbtree::Placement, Promise)> {
        use rbtree::Placement::{Highest, Linux, Lowest};
        vec![(Lowest, Promise::Lowest), (Highest, Promise::Highest), (Linux, Promise::Linux)]
    }
}

impl Index for BTree {
    fn placements() -> Vec<(btree::Placement, Promise)> {
        use btree::Placement::{Highest, Lowest};
        vec![(Lowest, Promise::Lowest), (Highest, Promise::Highest)]
    }
}

impl<I: Index> Index for BySize<I> {
    fn placements() -> Vec<(by_size::Placement<I::Placement>, Promise)> {
        use by_size::Placement::{BestFit, ByAddress};
        let (highest, promise) = I::placements()[1];
        vec![(BestFit, Promise::Best), (ByAddress(highest), promise)]
    }
}
