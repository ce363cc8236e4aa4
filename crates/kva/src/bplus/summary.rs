//! What is known of each child of an inner node: enough for a search not to enter it in vain.
//!
//! It stands beside the nodes, in rows that are numbered as they are, so that a tree has as much of it as it needs.

use super::columns::{Columns, Key};
use crate::OutOfMemory;
use crate::arena::Link;
use core::marker::PhantomData;

/// The summaries of all inner nodes' children, a row for each node. `len` is always the number of children before the
/// change.
pub(crate) trait Summaries<C: Columns> {
    /// The summary of one child.
    type One: Copy + PartialEq;

    /// Makes sure that the nodes of the first `nodes` numbers have rows.
    fn reserve(&mut self, nodes: usize) -> Result<(), OutOfMemory>;

    /// Bytes held, spare room included.
    fn bytes(&self) -> usize;

    /// The summary of a leaf.
    fn of_leaf(&self, keys: &[C::Key], columns: &C) -> Self::One;

    /// The summary of a node's child `at`.
    fn get(&self, node: Link, at: usize) -> Self::One;

    /// Stores the summary of a node's child `at`.
    fn set(&mut self, node: Link, at: usize, one: Self::One);

    /// The summary of a node's first `len` children together.
    fn total(&self, node: Link, len: usize) -> Self::One;

    fn insert(&mut self, node: Link, len: usize, at: usize, one: Self::One);

    fn remove(&mut self, node: Link, len: usize, at: usize);

    /// Moves a node's summaries from `keep` on to the start of the row of `right`, which has `right_len`.
    fn move_tail(&mut self, node: Link, len: usize, keep: usize, right: Link, right_len: usize);

    /// Moves the first `count` summaries of `right`, which has `right_len`, to the end of a node's row.
    fn move_head(&mut self, node: Link, len: usize, count: usize, right: Link, right_len: usize);
}

/// Nothing beside the keys, nothing known of children.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nothing<K>(PhantomData<K>);

impl<K> Nothing<K> {
    pub(crate) const NEW: Self = Self(PhantomData);
}

impl<K: Key> Columns for Nothing<K> {
    type Key = K;
    type Item = ();
    fn empty() -> Self {
        Self::NEW
    }
    fn insert(&mut self, _: usize, _: usize, (): ()) {}
    fn remove(&mut self, _: usize, _: usize) {}
    fn move_tail(&mut self, _: usize, _: usize, _: &mut Self, _: usize) {}
    fn move_head(&mut self, _: usize, _: usize, _: &mut Self, _: usize) {}
}

impl<C: Columns> Summaries<C> for Nothing<C::Key> {
    type One = ();
    fn reserve(&mut self, _: usize) -> Result<(), OutOfMemory> {
        Ok(())
    }
    fn bytes(&self) -> usize {
        0
    }
    fn of_leaf(&self, _: &[C::Key], _: &C) {}
    fn get(&self, _: Link, _: usize) {}
    fn set(&mut self, _: Link, _: usize, (): ()) {}
    fn total(&self, _: Link, _: usize) {}
    fn insert(&mut self, _: Link, _: usize, _: usize, (): ()) {}
    fn remove(&mut self, _: Link, _: usize, _: usize) {}
    fn move_tail(&mut self, _: Link, _: usize, _: usize, _: Link, _: usize) {}
    fn move_head(&mut self, _: Link, _: usize, _: usize, _: Link, _: usize) {}
}
