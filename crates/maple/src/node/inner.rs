//! An inner node: up to 16 children, the indexes that separate them, and the longest gap below each.
//!
//! ```text
//!  byte 0        120   128          192          320
//!  | 15 pivots   | len | 16 numbers | 16 extents |
//! ```
//!
//! Child `i` has the indexes after pivot `i - 1` up to and including pivot `i`. The first child starts, and the last
//! ends, where the node does.
//!
//! The kernel's node with gaps has ten children in 256 bytes: its children and its gaps take eight bytes each. Gaps of
//! four bytes would be rounded: a search for 2^40 indexes would then enter every leaf that has a gap of 2^40 - 1.

use super::pivots::{Pivots, SLOTS};
use super::{Extent, NONE, NodeId, PoolNode};

/// Children of a full node.
pub(crate) const FANOUT: usize = SLOTS;

#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Inner {
    /// The pivots' own word is the number of children.
    pub(crate) pivots: Pivots,
    pub(crate) children: [NodeId; FANOUT],
    /// Longest gap below each child.
    pub(crate) gaps: [Extent; FANOUT],
}

const _: () = assert!(size_of::<Inner>() == 320);

impl PoolNode for Inner {
    const VACANT: Self =
        Self { pivots: Pivots::new(0), children: [NONE; FANOUT], gaps: [Extent::NONE; FANOUT] };

    fn link(&self) -> NodeId {
        self.children[0]
    }

    fn set_link(&mut self, next: NodeId) {
        self.children[0] = next;
    }
}

/// A child that is being moved from one node to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Child {
    pub(crate) id: NodeId,
    pub(crate) gap: Extent,
    /// Its last index. Meaningless for a node's last child.
    pub(crate) last: u64,
}

impl Inner {
    /// A node of these children, at most 16.
    pub(crate) fn from_children(children: &[Child]) -> Self {
        let mut node = Self::VACANT;
        for (slot, child) in children.iter().enumerate() {
            node.children[slot] = child.id;
            node.gaps[slot] = child.gap;
            if slot + 1 < children.len() {
                node.pivots.set(slot, child.last);
            }
        }
        node.set_len(children.len());
        node
    }

    /// Child `slot`, with its pivot as the last index.
    pub(crate) fn at(&self, slot: usize) -> Child {
        Child { id: self.children[slot], gap: self.gaps[slot], last: self.pivot(slot) }
    }

    /// All children, the last with `last` as its last index.
    pub(crate) fn to_children(&self, last: u64) -> impl Iterator<Item = Child> {
        let len = self.len();
        (0..len).map(move |slot| Child {
            last: if slot + 1 == len { last } else { self.pivot(slot) },
            ..self.at(slot)
        })
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.pivots.own() as usize
    }

    fn set_len(&mut self, len: usize) {
        self.pivots.set_own(len as u64);
    }

    /// The child that has the index.
    #[inline]
    pub(crate) fn slot_of(&self, index: u64) -> usize {
        self.pivots.slot_of(index)
    }

    #[inline]
    pub(crate) fn child(&self, slot: usize) -> NodeId {
        self.children[slot % FANOUT]
    }

    pub(crate) fn set_child(&mut self, slot: usize, id: NodeId) {
        self.children[slot] = id;
    }

    #[inline]
    pub(crate) fn gap(&self, slot: usize) -> Extent {
        self.gaps[slot % FANOUT]
    }

    /// The last index of child `slot`. `u64::MAX` for the last child, whatever the node's own last index is.
    #[inline]
    pub(crate) fn pivot(&self, slot: usize) -> u64 {
        self.pivots.last_of(slot)
    }

    /// The first index of child `slot`; `first` is the node's.
    #[inline]
    pub(crate) fn start(&self, slot: usize, first: u64) -> u64 {
        self.pivots.start_of(slot, first)
    }

    #[inline]
    pub(crate) fn set_gap(&mut self, slot: usize, gap: Extent) {
        self.gaps[slot % FANOUT] = gap;
    }

    pub(crate) fn set_pivot(&mut self, slot: usize, last: u64) {
        if slot + 1 < self.len() {
            self.pivots.set(slot, last);
        }
    }

    /// The longest gap below any child.
    #[inline]
    pub(crate) fn largest_gap(&self) -> Extent {
        self.gaps.iter().copied().max().unwrap_or_default()
    }

    /// Inserts a child after child `slot`, which now ends at `last`. There is room.
    pub(crate) fn insert_after(&mut self, slot: usize, last: u64, id: NodeId, gap: Extent) {
        let len = self.len();
        self.children.copy_within(slot + 1..len, slot + 2);
        self.gaps.copy_within(slot + 1..len, slot + 2);
        self.pivots.shift(slot..len - 1, slot + 1);
        self.pivots.set(slot, last);
        self.children[slot + 1] = id;
        self.gaps[slot + 1] = gap;
        self.set_len(len + 1);
    }

    /// Removes children `from..to`. The child before them keeps its last index, unless it is now the node's last. The
    /// child after them now starts where the child before ends.
    pub(crate) fn remove(&mut self, from: usize, to: usize) {
        let len = self.len();
        let gone = to - from;
        self.children.copy_within(to..len, from);
        self.gaps.copy_within(to..len, from);
        self.pivots.shift(to.min(len - 1)..len - 1, from);
        let left = len - gone;
        self.set_len(left);
        self.pivots.cut(left.saturating_sub(1));
        self.children[left..].fill(NONE);
        self.gaps[left..].fill(Extent::NONE);
    }
}
