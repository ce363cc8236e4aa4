//! The nodes: arrays side by side, shifted as entries come and go.

use crate::OutOfMemory;
use crate::arena::{Chained, Link};
use alloc::vec::Vec;
use freehold_units::Span;

/// Up to `W` regions in address order.
#[derive(Clone, Debug)]
pub(super) struct Leaf<V, const W: usize> {
    pub(super) firsts: [u64; W],
    pub(super) lasts: [u64; W],
    pub(super) guards: [u32; W],
    /// As many as there are regions, with room for `W`.
    pub(super) values: Vec<V>,
    pub(super) previous: Link,
    pub(super) next: Link,
}

impl<V, const W: usize> Leaf<V, W> {
    pub(super) fn empty() -> Self {
        let (firsts, lasts, guards) = ([0; W], [0; W], [0; W]);
        Self { firsts, lasts, guards, values: Vec::new(), previous: Link::NONE, next: Link::NONE }
    }

    pub(super) fn with_room() -> Result<Self, OutOfMemory> {
        let mut leaf = Self::empty();
        leaf.values.try_reserve_exact(W).map_err(|_| OutOfMemory)?;
        Ok(leaf)
    }

    /// Forgets which leaves it stood between; a vacant leaf holds no region.
    pub(super) fn restart(&mut self) {
        self.previous = Link::NONE;
        self.next = Link::NONE;
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    #[inline]
    pub(super) fn starts(&self) -> &[u64] {
        &self.firsts[..self.values.len()]
    }

    pub(super) fn span(&self, at: usize) -> Option<Span> {
        Span::new(*self.starts().get(at)?, *self.lasts.get(at)?)
    }

    pub(super) fn insert(&mut self, at: usize, span: Span, guard_granules: u32, value: V) {
        let len = self.len();
        insert_into(&mut self.firsts, len, at, span.first());
        insert_into(&mut self.lasts, len, at, span.last());
        insert_into(&mut self.guards, len, at, guard_granules);
        self.values.insert(at, value);
    }

    pub(super) fn remove(&mut self, at: usize) -> Option<V> {
        let len = self.len();
        if at >= len {
            return None;
        }
        remove_from(&mut self.firsts, len, at);
        remove_from(&mut self.lasts, len, at);
        remove_from(&mut self.guards, len, at);
        Some(self.values.remove(at))
    }

    /// Moves the entries from `keep` on to the start of `right`, the leaf after this one.
    pub(super) fn move_tail(&mut self, keep: usize, right: &mut Self) {
        let (len, right_len) = (self.len(), right.len());
        prepend(&self.firsts[keep..len], &mut right.firsts, right_len);
        prepend(&self.lasts[keep..len], &mut right.lasts, right_len);
        prepend(&self.guards[keep..len], &mut right.guards, right_len);
        right.values.splice(0..0, self.values.drain(keep..));
    }

    /// Moves the first `count` entries of `right`, the leaf after this one, to the end.
    pub(super) fn move_head(&mut self, count: usize, right: &mut Self) {
        let (len, right_len) = (self.len(), right.len());
        append(&mut self.firsts, len, &mut right.firsts, right_len, count);
        append(&mut self.lasts, len, &mut right.lasts, right_len, count);
        append(&mut self.guards, len, &mut right.guards, right_len, count);
        self.values.extend(right.values.drain(..count));
    }
}

impl<V, const W: usize> Chained for Leaf<V, W> {
    fn chain(&mut self) -> &mut Link {
        &mut self.next
    }
}

/// Up to `W` children and the lowest start that each may hold.
#[derive(Clone, Debug)]
pub(super) struct Inner<const W: usize> {
    /// `lows[0]` is not compared: the first child takes everything below `lows[1]`.
    pub(super) lows: [u64; W],
    pub(super) children: [Link; W],
    pub(super) len: usize,
}

impl<const W: usize> Inner<W> {
    pub(super) const EMPTY: Self = Self { lows: [0; W], children: [Link::NONE; W], len: 0 };

    /// The child that holds the regions starting highest at or below `address`.
    #[inline]
    pub(super) fn child_for(&self, address: u64) -> usize {
        self.lows[1..self.len].partition_point(|&low| low <= address)
    }

    pub(super) fn insert(&mut self, at: usize, low: u64, child: Link) {
        insert_into(&mut self.lows, self.len, at, low);
        insert_into(&mut self.children, self.len, at, child);
        self.len += 1;
    }

    pub(super) fn remove(&mut self, at: usize) {
        remove_from(&mut self.lows, self.len, at);
        remove_from(&mut self.children, self.len, at);
        self.len -= 1;
    }

    pub(super) fn move_tail(&mut self, keep: usize, right: &mut Self) {
        prepend(&self.lows[keep..self.len], &mut right.lows, right.len);
        prepend(&self.children[keep..self.len], &mut right.children, right.len);
        right.len += self.len - keep;
        self.len = keep;
    }

    pub(super) fn move_head(&mut self, count: usize, right: &mut Self) {
        append(&mut self.lows, self.len, &mut right.lows, right.len, count);
        append(&mut self.children, self.len, &mut right.children, right.len, count);
        self.len += count;
        right.len -= count;
    }
}

impl<const W: usize> Chained for Inner<W> {
    fn chain(&mut self) -> &mut Link {
        &mut self.children[0]
    }
}

/// Opens a gap at `at` in the first `len` items and fills it.
fn insert_into<T: Copy>(items: &mut [T], len: usize, at: usize, item: T) {
    items.copy_within(at..len, at + 1);
    items[at] = item;
}

/// Closes the gap that the item at `at` leaves in the first `len`.
fn remove_from<T: Copy>(items: &mut [T], len: usize, at: usize) {
    items.copy_within(at + 1..len, at);
}

/// Puts `tail` before the first `len` of `items`.
fn prepend<T: Copy>(tail: &[T], items: &mut [T], len: usize) {
    items.copy_within(..len, tail.len());
    items[..tail.len()].copy_from_slice(tail);
}

/// Moves the first `count` of the first `right_len` of `right` behind the first `len` of `items`.
fn append<T: Copy>(items: &mut [T], len: usize, right: &mut [T], right_len: usize, count: usize) {
    items[len..len + count].copy_from_slice(&right[..count]);
    right.copy_within(count..right_len, 0);
}
