//! The two kinds of node, which live in pools: leaves of 256 bytes, inner nodes of 320.
//!
//! Nodes do not know their parents, and refer to their children by number. An operation on a tree therefore carries its
//! [`Path`](crate::tree). All leaves are at the same height.

mod edit;
mod extent;
mod inner;
mod leaf;
mod pivots;
mod shape;

pub(crate) use edit::{Edit, Fill, Replace};
pub(crate) use extent::Extent;
pub(crate) use freehold_units::pool::{NO_NODE as NONE, NodeId, NoneInline, Pool, PoolNode, boxed};
pub(crate) use inner::{Child, FANOUT, Inner};
pub(crate) use leaf::Leaf;
#[cfg(feature = "std")]
pub(crate) use pivots::Pivots;
pub(crate) use pivots::SLOTS;
pub(crate) use shape::Shape;

/// How many slots of its nodes a tree uses. Tests use small nodes, which reach every case of splitting and merging with
/// few entries. Every other tree uses [`FULL`](Self::FULL).
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeLimits {
    /// Slots of a leaf.
    pub(crate) leaf_slots: usize,
    /// A leaf with fewer slots is underfull.
    pub(crate) leaf_min: usize,
    /// Children of an inner node.
    pub(crate) fanout: usize,
    /// An inner node with at most this many children is underfull if one of them may go.
    pub(crate) inner_min: usize,
}

/// How many slots of its nodes a tree uses, for tests.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nodes {
    /// All: 16 slots, 16 children.
    Full,
    /// 8 slots, 6 children.
    Small,
}

impl NodeLimits {
    pub(crate) const fn of(nodes: Nodes) -> Self {
        match nodes {
            Nodes::Full => Self::FULL,
            Nodes::Small => Self::SMALL,
        }
    }

    /// All slots of a node.
    pub(crate) const FULL: Self = Self::new(SLOTS, FANOUT);
    const SMALL: Self = Self::new(8, 6);

    const fn new(leaf_slots: usize, fanout: usize) -> Self {
        let inner_min = if fanout < 8 { 2 } else { fanout / 4 };
        // At least three, so that tests of small nodes have leaves that are underfull without a change.
        let leaf_min = if leaf_slots < 12 { 3 } else { leaf_slots / 4 };
        let limits = Self { leaf_slots, leaf_min, fanout, inner_min };
        // - Two neighbours that are too many for one node can share so that neither is underfull, even when one then
        //   loses a child.
        // - Wherever a full leaf takes two more slots, it can be split so that both halves fit.
        assert!(limits.fanout <= FANOUT && limits.fanout.div_ceil(2) > limits.inner_min);
        assert!(limits.leaf_slots <= SLOTS && limits.leaf_slots.div_ceil(2) > limits.leaf_min);
        limits
    }

    /// Whether a leaf is underfull after it lost slots.
    #[inline]
    pub(crate) fn underfills(&self, before: usize, after: usize) -> bool {
        after < before && after < self.leaf_min
    }
}
