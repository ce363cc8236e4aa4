//! What an inner node knows of each child: enough for a search not to enter it in vain.

use super::columns::{Columns, Key};
use core::marker::PhantomData;

/// The summaries of an inner node's children, as columns of their own.
pub(crate) trait Summaries<C: Columns>: Columns<Key = C::Key, Item = Self::One> {
    /// The summary of one child.
    type One: Copy + PartialEq;
    /// What summing up depends on, the same for the whole tree.
    type Context: Copy;

    /// The summary of a leaf.
    fn of_leaf(context: Self::Context, keys: &[C::Key], columns: &C) -> Self::One;

    /// The summary of child `at`.
    fn get(&self, context: Self::Context, at: usize) -> Self::One;

    /// Stores the summary of child `at`.
    fn set(&mut self, context: Self::Context, at: usize, one: Self::One);

    /// The summary of the first `len` children together.
    fn total(&self, context: Self::Context, len: usize) -> Self::One;
}

/// Nothing beside the keys, nothing known of children.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nothing<K>(PhantomData<K>);

impl<K: Key> Columns for Nothing<K> {
    type Key = K;
    type Item = ();
    fn empty() -> Self {
        Self(PhantomData)
    }
    fn insert(&mut self, _: usize, _: usize, (): ()) {}
    fn remove(&mut self, _: usize, _: usize) {}
    fn move_tail(&mut self, _: usize, _: usize, _: &mut Self, _: usize) {}
    fn move_head(&mut self, _: usize, _: usize, _: &mut Self, _: usize) {}
}

impl<C: Columns> Summaries<C> for Nothing<C::Key> {
    type One = ();
    type Context = ();
    fn of_leaf((): (), _: &[C::Key], _: &C) {}
    fn get(&self, (): (), _: usize) {}
    fn set(&mut self, (): (), _: usize, (): ()) {}
    fn total(&self, (): (), _: usize) {}
}
