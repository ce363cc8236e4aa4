//! A lock-free stack of slabs, linked through their records.
//!
//! A slab is in at most one list, since only its owner pushes it. The head has a tag that grows with every change. It
//! protects against ABA: a slab that was popped and pushed again comes with another tag.

use super::records::Records;
use crate::atomic::{AtomicU64, Ordering};

/// See the [module](self).
#[derive(Debug)]
pub(super) struct List {
    /// High half: the tag. Low half: the first slab's number plus 1, or 0 for an empty list.
    head: AtomicU64,
}

/// The head that follows `head`: the next tag, with another first slab.
fn head_with(head: u64, first: u32) -> u64 {
    ((head >> 32) + 1) << 32 | u64::from(first)
}

impl List {
    pub(super) fn new() -> Self {
        Self { head: AtomicU64::new(0) }
    }

    /// Pushes a slab that the caller owns; the list then owns it.
    pub(super) fn push(&self, records: &Records, id: u32) {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            records.at(id).next.store(head as u32, Ordering::Relaxed);
            // Release: pairs with the Acquire in `pop` and `take_all`.
            match self.head.compare_exchange(
                head,
                head_with(head, id + 1),
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Pops a slab, which the caller then owns.
    pub(super) fn pop(&self, records: &Records) -> Option<u32> {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            let id = (head as u32).checked_sub(1)?;
            // If another thread popped the slab meanwhile, the tag differs and `next` is not used.
            let next = records.at(id).next.load(Ordering::Relaxed);
            match self.head.compare_exchange(head, head_with(head, next), Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return Some(id),
                Err(now) => head = now,
            }
        }
    }

    /// Pops all slabs, which the caller then owns. It may push each one after it has the next.
    pub(super) fn take_all<'a>(&self, records: &'a Records) -> impl Iterator<Item = u32> + use<'a> {
        let mut head = self.head.load(Ordering::Acquire);
        while let Err(now) =
            self.head.compare_exchange(head, head_with(head, 0), Ordering::AcqRel, Ordering::Acquire)
        {
            head = now;
        }
        walk(records, head as u32)
    }

    /// The slabs of the list, first to last. The list must not change meanwhile.
    pub(super) fn ids<'a>(&self, records: &'a Records) -> impl Iterator<Item = u32> + use<'a> {
        walk(records, self.head.load(Ordering::Acquire) as u32)
    }
}

fn walk(records: &Records, mut first: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let id = first.checked_sub(1)?;
        first = records.at(id).next.load(Ordering::Relaxed);
        Some(id)
    })
}
