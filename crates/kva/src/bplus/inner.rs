//! An inner node: separators, children, and bounds of what is below each child.

use freehold_units::pool::{NO_NODE, NodeId, PoolNode};

/// Children of an inner node. Inner nodes are few and stay in the cache, so they are wide.
pub(crate) const FANOUT: usize = 64;

/// Children whose bounds a search compares together.
const LANES: usize = 16;

/// What leaves are ordered by.
pub(crate) trait Key: Copy + Ord {
    /// The largest, which is the separator of slots without child.
    const MAX: Self;
}

impl Key for u64 {
    const MAX: Self = u64::MAX;
}

impl Key for u128 {
    const MAX: Self = u128::MAX;
}

/// A child as its parent knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Child<K, const ROWS: usize> {
    pub(crate) low: K,
    pub(crate) id: NodeId,
    pub(crate) bounds: [i32; ROWS],
}

/// Up to [`FANOUT`] children in the order of their keys.
#[derive(Clone, Debug)]
pub(crate) struct Inner<K, const ROWS: usize> {
    len: usize,
    /// No key of a child is below its separator, and all of the child before are. In the tree of regions it is the
    /// child's first key, but for the tree's first leaf (K8). [`Key::MAX`] behind the last child.
    lows: [K; FANOUT],
    children: [NodeId; FANOUT],
    /// `rows[measure][child]`: no leaf below the child has more.
    rows: [[i32; FANOUT]; ROWS],
}

impl<K: Key, const ROWS: usize> PoolNode for Inner<K, ROWS> {
    const VACANT: Self =
        Self { len: 0, lows: [K::MAX; FANOUT], children: [NO_NODE; FANOUT], rows: [[0; FANOUT]; ROWS] };

    fn link(&self) -> NodeId {
        self.children[0]
    }

    fn set_link(&mut self, next: NodeId) {
        self.len = 0;
        self.children[0] = next;
    }
}

impl<K: Key, const ROWS: usize> Inner<K, ROWS> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn child(&self, slot: usize) -> NodeId {
        self.children[slot]
    }

    #[inline]
    pub(crate) fn low(&self, slot: usize) -> K {
        self.lows[slot]
    }

    pub(super) fn set_low(&mut self, slot: usize, low: K) {
        self.lows[slot] = low;
    }

    /// The child whose keys `key` lies among. What is below all keys belongs to the first.
    #[inline]
    pub(crate) fn child_for(&self, key: K) -> usize {
        // A binary search of as many steps for every node: the compiler unrolls it without a branch.
        let (mut slot, mut half) = (0, FANOUT / 2);
        while half > 0 {
            slot += if self.lows[slot + half] <= key { half } else { 0 };
            half /= 2;
        }
        // `Key::MAX` equals the separators of vacant slots, so it may lead behind the last child.
        slot.min(self.len - 1)
    }

    #[inline]
    pub(crate) fn bound(&self, row: usize, slot: usize) -> i32 {
        self.rows[row][slot]
    }

    #[inline]
    pub(crate) fn set_bound(&mut self, row: usize, slot: usize, bound: i32) {
        self.rows[row][slot] = bound;
    }

    pub(crate) fn set_bounds(&mut self, slot: usize, bounds: [i32; ROWS]) {
        for (row, bound) in self.rows.iter_mut().zip(bounds) {
            row[slot] = bound;
        }
    }

    /// The bounds of a row from those of another, for all children.
    pub(crate) fn copy_row(&mut self, from: usize, to: usize) {
        self.rows[to] = self.rows[from];
    }

    /// What nothing below the node exceeds, in one row.
    pub(crate) fn most(&self, row: usize) -> i32 {
        self.rows[row][..self.len].iter().copied().fold(0, i32::max)
    }

    /// What nothing below the node exceeds, in each row.
    pub(crate) fn total(&self) -> [i32; ROWS] {
        core::array::from_fn(|row| self.most(row))
    }

    /// The first child from `from` on with a bound of `least` or more in a row.
    #[inline]
    pub(crate) fn first_with(&self, row: usize, least: i32, from: usize) -> Option<usize> {
        let (groups, _) = self.rows[row].as_chunks::<LANES>();
        let mut from = from;
        while from < self.len {
            let (group, passed) = (from / LANES, from % LANES);
            let hits = u128::from_le_bytes(hits(&groups[group], least)) >> (8 * passed);
            if hits != 0 {
                return Some(from + hits.trailing_zeros() as usize / 8).filter(|&slot| slot < self.len);
            }
            from += LANES - passed;
        }
        None
    }

    /// The last of the first `end` children with a bound of `least` or more in a row.
    pub(crate) fn last_with(&self, row: usize, least: i32, end: usize) -> Option<usize> {
        self.rows[row][..end].iter().rposition(|&bound| bound >= least)
    }

    pub(super) fn push(&mut self, child: Child<K, ROWS>) {
        self.insert(self.len, child);
    }

    /// Puts a child before the one at `slot`.
    pub(super) fn insert(&mut self, slot: usize, child: Child<K, ROWS>) {
        self.shift(slot, slot + 1);
        self.len += 1;
        self.lows[slot] = child.low;
        self.children[slot] = child.id;
        self.set_bounds(slot, child.bounds);
    }

    pub(super) fn remove(&mut self, slot: usize) {
        self.shift(slot + 1, slot);
        self.len -= 1;
        self.lows[self.len] = K::MAX;
    }

    /// Moves the children from `from` on to `to` and the slots behind it.
    fn shift(&mut self, from: usize, to: usize) {
        self.lows.copy_within(from..self.len, to);
        self.children.copy_within(from..self.len, to);
        self.rows.iter_mut().for_each(|row| row.copy_within(from..self.len, to));
    }

    /// Moves the children from `keep` on to the end of `right`.
    pub(super) fn move_tail(&mut self, keep: usize, right: &mut Self) {
        for slot in keep..self.len {
            let bounds = core::array::from_fn(|row| self.rows[row][slot]);
            right.push(Child { low: self.lows[slot], id: self.children[slot], bounds });
        }
        self.lows[keep..].fill(K::MAX);
        self.len = keep;
    }
}

/// A byte for each of some children, which is not 0 if its bound is `least` or more. Out of line the compiler
/// packs vectors of comparisons into it, inlined it compares one by one.
#[inline(never)]
fn hits(bounds: &[i32; LANES], least: i32) -> [u8; LANES] {
    core::array::from_fn(|lane| u8::from(bounds[lane] >= least))
}
