//! The two kinds of node, 256 bytes each, which live in pools.
//!
//! Nodes do not know their parents, and name their children by number: who works on a tree holds its
//! [`Path`](crate::tree). All leaves are at the same height.

mod edit;
mod inner;
mod leaf;

pub(crate) use edit::{Edit, Slots};
pub(crate) use freehold_units::Extent;
pub(crate) use freehold_units::pool::{NO_NODE as NONE, NodeId, NoneInline, Pool, PoolNode, boxed};
pub(crate) use inner::{Child, Inner};
pub(crate) use leaf::Leaf;

/// How much of a node is used: trees of small nodes reach every case of splitting and merging with few entries.
pub trait Shape {
    /// Words of a leaf for pivots and entries together, at most 31.
    const LEAF_WORDS: usize;
    /// Children of an inner node, at most 16.
    const FANOUT: usize;
    /// A leaf with fewer words in use is merged with a neighbour.
    const LEAF_MIN: usize = Self::LEAF_WORDS / 4;
    /// An inner node with fewer children is merged with a neighbour.
    const INNER_MIN: usize = Self::FANOUT / 4;
}

/// Nodes as large as they are: 31 words, 16 children.
#[derive(Clone, Copy, Debug)]
pub struct Full;

impl Shape for Full {
    const LEAF_WORDS: usize = leaf::WORDS;
    const FANOUT: usize = inner::FANOUT;
}

/// Nodes of 11 words and 6 children, for tests.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Tiny;

impl Shape for Tiny {
    const LEAF_WORDS: usize = 11;
    const FANOUT: usize = 6;
    const INNER_MIN: usize = 2;
}

/// Two neighbours that are too many for one node share so that neither is thin, even when one of them then loses a
/// child; and a full leaf that is parted beside any of its slots has room for four words more in either half.
const fn is_sound<S: Shape>() -> bool {
    S::INNER_MIN >= 2
        && S::FANOUT.div_ceil(2) > S::INNER_MIN
        && S::FANOUT <= inner::FANOUT
        && S::LEAF_MIN + 2 <= S::LEAF_WORDS / 2
        && S::LEAF_WORDS >= 10
        && S::LEAF_WORDS <= leaf::WORDS
}

const _: () = assert!(is_sound::<Full>() && is_sound::<Tiny>());
