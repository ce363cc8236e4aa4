//! A leaf of keys: the size of a free block, then its address.

use crate::bplus::{LeafNode, usable_gap};
use freehold_units::Span;
use freehold_units::pool::{NO_NODE, NodeId, PoolNode};

/// The most keys of a leaf.
pub(super) const WIDTH: usize = 31;

/// A leaf of keys in ascending order.
#[derive(Clone, Debug)]
pub(super) struct SizeLeaf {
    keys: [u128; WIDTH],
    len: usize,
    link: NodeId,
}

impl PoolNode for SizeLeaf {
    const VACANT: Self = Self { keys: [0; WIDTH], len: 0, link: NO_NODE };

    fn link(&self) -> NodeId {
        self.link
    }

    fn set_link(&mut self, next: NodeId) {
        self.link = next;
    }
}

impl SizeLeaf {
    pub(super) fn keys(&self) -> &[u128] {
        &self.keys[..self.len]
    }

    pub(super) fn insert(&mut self, key: u128) {
        let at = self.keys().partition_point(|&known| known < key);
        self.keys.copy_within(at..self.len, at + 1);
        self.keys[at] = key;
        self.len += 1;
    }

    /// Removes a key, which must be present.
    pub(super) fn remove(&mut self, key: u128) {
        let at = self.keys().binary_search(&key).expect("K11: every block has its key");
        self.keys.copy_within(at + 1..self.len, at);
        self.len -= 1;
    }

    /// Moves the keys from `keep` on to the end of `right`.
    pub(super) fn move_tail(&mut self, keep: usize, right: &mut Self) {
        let moved = &self.keys[keep..self.len];
        right.keys[right.len..][..moved.len()].copy_from_slice(moved);
        right.len += moved.len();
        self.len = keep;
    }
}

impl LeafNode for SizeLeaf {
    fn largest_usable_gap(&self, mask: u64) -> u64 {
        self.keys().iter().map(|&key| usable_gap_of(block(key), mask)).max().unwrap_or(0)
    }
}

/// The key of a block. High half: its size minus one, so that 2^64 fits. Low half: its address.
pub(super) fn key(block: Span) -> u128 {
    smallest_of(block.last() - block.first()) | u128::from(block.first())
}

/// The lowest key of blocks of `reach + 1` bytes.
pub(super) fn smallest_of(reach: u64) -> u128 {
    u128::from(reach) << 64
}

/// The block of a key.
pub(super) fn block(key: u128) -> Span {
    let (reach, first) = ((key >> 64) as u64, key as u64);
    Span::new(first, first + reach).expect("K11: a key is that of a block")
}

/// The usable bytes of a block: from its first multiple of the alignment `mask + 1` on.
pub(super) fn usable_gap_of(block: Span, mask: u64) -> u64 {
    usable_gap(block.first(), block.size_saturating(), mask)
}
