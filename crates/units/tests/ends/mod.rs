//! Checks of any iterator, for the tests of all crates: each item comes once and in order, from whichever end it is asked for,
//! and after the last one every call answers `None`.

#![allow(dead_code, clippy::panic, reason = "not every test uses all of it; a test that cannot go on fails")]

use std::fmt::Debug;
use std::iter::FusedIterator;
use std::vec::Vec;

/// Calls after the last item, at either end: a bit for each, set for the back.
const CALLS: u32 = 8;

/// From which end each item of an iteration is taken, and which ends are asked after the last one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    items: Items,
    after: u32,
}

#[derive(Clone, Copy, Debug)]
enum Items {
    /// So many from the front, then the others from the back.
    FrontThenBack(usize),
    BackThenFront(usize),
    InTurn,
    /// A seed.
    Random(u64),
}

/// Every place to go over from one end to the other, and some other orders; each with several orders of the calls after the
/// last item. Under Miri, few of them.
pub(crate) fn orders(len: usize) -> Vec<Order> {
    if cfg!(miri) { few_orders(len) } else { stepped(len, 1) }
}

/// The same with a few of the places to go over.
pub(crate) fn few_orders(len: usize) -> Vec<Order> {
    stepped(len, (len / if cfg!(miri) { 2 } else { 4 }).max(1))
}

fn stepped(len: usize, step: usize) -> Vec<Order> {
    let places = (0..=len).step_by(step).flat_map(|at| [Items::FrontThenBack(at), Items::BackThenFront(at)]);
    let others =
        [Items::FrontThenBack(len.saturating_sub(1)), Items::InTurn, Items::Random(1), Items::Random(2)];
    let after: &[u32] = if cfg!(miri) { &[0b0101_0101] } else { &[0b0101_0101, 0b1010_1010, 0b0110_0011] };
    places.chain(others).flat_map(|items| after.iter().map(move |&after| Order { items, after })).collect()
}

impl Order {
    fn is_back(self, step: usize) -> bool {
        match self.items {
            Items::FrontThenBack(front) => step >= front,
            Items::BackThenFront(back) => step < back,
            Items::InTurn => step % 2 == 1,
            Items::Random(seed) => (seed + step as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 1,
        }
    }

    /// The items of an iterator that has `len`, from its first to its last. None is dropped before all were given.
    pub(crate) fn take<I>(self, iter: I, len: usize) -> Vec<I::Item>
    where
        I: DoubleEndedIterator + FusedIterator,
    {
        self.take_with(iter, len, |_, _| {})
    }

    /// The same of an iterator that says exactly how many items are left.
    pub(crate) fn take_exact<I>(self, iter: I, len: usize) -> Vec<I::Item>
    where
        I: DoubleEndedIterator + FusedIterator + ExactSizeIterator,
    {
        self.take_with(iter, len, |iter, left| assert_eq!(iter.len(), left, "{self:?}"))
    }

    /// The same with a check of the iterator before each call, given how many items are left.
    pub(crate) fn take_with<I>(self, mut iter: I, len: usize, check: impl Fn(&I, usize)) -> Vec<I::Item>
    where
        I: DoubleEndedIterator + FusedIterator,
    {
        let (mut front, mut back) = (Vec::new(), Vec::new());
        for step in 0..len {
            check(&iter, len - step);
            assert_hint(&iter, len - step);
            let is_back = self.is_back(step);
            let item = if is_back { iter.next_back() } else { iter.next() };
            let item = item.unwrap_or_else(|| panic!("{self:?}: item {step} of {len} is missing"));
            if is_back { back.push(item) } else { front.push(item) }
        }
        for call in 0..CALLS {
            check(&iter, 0);
            assert_hint(&iter, 0);
            let item = if self.after >> call & 1 == 1 { iter.next_back() } else { iter.next() };
            assert!(item.is_none(), "{self:?}: call {call} after the last of {len} items gives another");
        }
        front.extend(back.into_iter().rev());
        front
    }

    /// The first items that come in this order, so many.
    pub(crate) fn begin<T>(self, iter: &mut dyn DoubleEndedIterator<Item = T>, count: usize) -> Vec<T> {
        (0..count)
            .filter_map(|step| if self.is_back(step) { iter.next_back() } else { iter.next() })
            .collect()
    }

    /// Holds the items of an iterator against those that it has.
    pub(crate) fn check<I>(self, iter: I, wanted: &[I::Item])
    where
        I: DoubleEndedIterator + FusedIterator,
        I::Item: Debug + PartialEq,
    {
        assert_eq!(self.take(iter, wanted.len()), wanted, "{self:?}");
    }
}

/// All items of an iterator that has a front alone.
pub(crate) fn all_of<I: FusedIterator>(mut iter: I) -> Vec<I::Item> {
    let mut items = Vec::new();
    items.extend(iter.by_ref());
    for _ in 0..CALLS {
        assert_hint(&iter, 0);
        assert!(iter.next().is_none(), "a call after the last of {} items gives another", items.len());
    }
    items
}

fn assert_hint(iter: &impl Iterator, left: usize) {
    let (least, most) = iter.size_hint();
    assert!(
        least <= left && most.is_none_or(|most| left <= most),
        "{left} are left, not {least} to {most:?}"
    );
}
