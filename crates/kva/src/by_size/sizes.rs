//! The ordered set of free blocks by size and address: a B+tree of keys.

use crate::OutOfMemory;
use crate::bplus::Tree;
use freehold_units::pool::{NO_NODE, NodeId, PoolNode};
use freehold_units::{Broken, Span, check};

/// Keys of a leaf.
const WIDTH: usize = 31;
/// A leaf with fewer keys is joined with a neighbour, if both together have at most [`JOINED`].
const FEW: usize = WIDTH / 4;
const JOINED: usize = WIDTH * 3 / 4;

/// Keys in order.
#[derive(Clone, Debug)]
struct SizeLeaf {
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
    fn keys(&self) -> &[u128] {
        &self.keys[..self.len]
    }

    fn insert(&mut self, key: u128) {
        let at = self.keys().partition_point(|&known| known < key);
        self.keys.copy_within(at..self.len, at + 1);
        self.keys[at] = key;
        self.len += 1;
    }

    /// Moves the keys from `keep` on to the end of `right`.
    fn move_tail(&mut self, keep: usize, right: &mut Self) {
        let moved = &self.keys[keep..self.len];
        right.keys[right.len..][..moved.len()].copy_from_slice(moved);
        right.len += moved.len();
        self.len = keep;
    }
}

/// Size less one, so that 2^64 fits, above the address.
fn key(block: Span) -> u128 {
    u128::from(block.last() - block.first()) << 64 | u128::from(block.first())
}

fn block(key: u128) -> Span {
    let (reach, first) = ((key >> 64) as u64, key as u64);
    Span::new(first, first + reach).expect("K11: a key is that of a block")
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    tree: Tree<SizeLeaf, u128, ()>,
    len: usize,
}

impl Sizes {
    pub(super) fn empty() -> Self {
        Self { tree: Tree::empty(()), len: 0 }
    }

    /// Makes sure that so many keys can be inserted without asking for memory.
    pub(super) fn reserve(&mut self, keys: usize) -> Result<(), OutOfMemory> {
        self.tree.reserve(keys)
    }

    pub(super) fn bytes(&self) -> usize {
        self.tree.bytes()
    }

    pub(super) fn holds(&self, block: Span) -> bool {
        self.tree.root != NO_NODE && {
            let leaf = &self.tree.leaves[self.tree.path_to(key(block)).leaf];
            leaf.keys().binary_search(&key(block)).is_ok()
        }
    }

    /// The largest block.
    pub(super) fn largest(&self) -> Option<Span> {
        let leaf = (self.tree.root != NO_NODE).then(|| &self.tree.leaves[self.tree.path_to(u128::MAX).leaf]);
        leaf?.keys().last().copied().map(block)
    }

    /// The blocks of `size_bytes` and more: the smallest first, of equals the lowest.
    pub(super) fn of_size_and_more(&self, size_bytes: u64) -> impl Iterator<Item = Span> {
        let smallest = u128::from(size_bytes - 1) << 64;
        let mut at = (self.tree.root != NO_NODE).then(|| {
            let path = self.tree.path_to(smallest);
            (path, self.tree.leaves[path.leaf].keys().partition_point(|&known| known < smallest))
        });
        core::iter::from_fn(move || {
            let (path, passed) = at.as_mut()?;
            if *passed == self.tree.leaves[path.leaf].len {
                if !self.tree.next(path) {
                    return None;
                }
                *passed = 0;
            }
            *passed += 1;
            self.tree.leaves[path.leaf].keys().get(*passed - 1).copied().map(block)
        })
    }

    /// Adds a block; a key was reserved.
    pub(super) fn insert(&mut self, block: Span) {
        let key = key(block);
        self.len += 1;
        if self.tree.root == NO_NODE {
            self.tree.root = self.tree.take_leaf();
        }
        let path = self.tree.path_to(key);
        if self.tree.leaves[path.leaf].len < WIDTH {
            return self.tree.leaves[path.leaf].insert(key);
        }
        let id = self.tree.take_leaf();
        let mut right = SizeLeaf::VACANT;
        let left = &mut self.tree.leaves[path.leaf];
        left.move_tail(WIDTH / 2, &mut right);
        if key < right.keys[0] {
            left.insert(key)
        } else {
            right.insert(key)
        };
        let low = right.keys[0];
        self.tree.leaves[id] = right;
        self.tree.insert_leaf(&path, low, id);
    }

    /// Removes a block.
    pub(super) fn remove(&mut self, block: Span) {
        let path = self.tree.path_to(key(block));
        let leaf = &mut self.tree.leaves[path.leaf];
        let at = leaf.keys().binary_search(&key(block)).expect("K11: every block has its key");
        leaf.keys.copy_within(at + 1..leaf.len, at);
        leaf.len -= 1;
        self.len -= 1;
        if leaf.len >= FEW || self.tree.height == 0 {
            return;
        }
        if leaf.len == 0 {
            return self.tree.remove_leaf(&path);
        }
        self.tree.join_leaf(&path, |left, right| {
            let few = left.len + right.len <= JOINED;
            if few {
                right.move_tail(0, left);
            }
            few
        });
    }

    /// Checks that keys ascend and lie where separators say. Returns how many there are. Cost: linear.
    pub(super) fn validate(&self) -> Result<usize, Broken> {
        if self.tree.root == NO_NODE {
            return Ok(self.len);
        }
        let (mut before, mut count) = (None, 0);
        self.tree.validate(|key| key as u64, &mut |whole| {
            for &key in self.tree.leaves[whole.leaf].keys() {
                let inside = whole.low.is_none_or(|low| low <= key) && whole.end.is_none_or(|end| key < end);
                check(inside && before < Some(key), "K8", "keys ascend, between separators", key as u64)?;
                before = Some(key);
                count += 1;
            }
            Ok(())
        })?;
        check(count == self.len, "K11", "there are as many keys as are counted", 0)?;
        Ok(count)
    }
}
