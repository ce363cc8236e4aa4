//! A list of slabs that no lock protects: last in, first out, linked through the records.
//!
//! A slab is in one list at most, since only its owner puts it there. The head has a tag that grows with every change, so
//! that a head which was taken and came back meanwhile is not mistaken for the one that was seen.

use super::records::Records;
use crate::atomic::{AtomicU64, Ordering};

/// See the [module](self).
#[derive(Debug)]
pub(super) struct List {
    /// The tag in the high half, the first slab's number plus 1 or 0 in the low one.
    head: AtomicU64,
}

/// The tag behind that of `head`, with another first.
fn head_with(head: u64, first: u32) -> u64 {
    ((head >> 32) + 1) << 32 | u64::from(first)
}

impl List {
    pub(super) fn new() -> Self {
        Self { head: AtomicU64::new(0) }
    }

    /// Puts a slab in front. The caller owned it; now the list does.
    pub(super) fn push(&self, records: &Records, id: u32) {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            records.at(id).next.store(head as u32, Ordering::Relaxed);
            // Release: pairs with the Acquire of who takes it.
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

    /// Takes the slab in front. The caller owns it.
    pub(super) fn pop(&self, records: &Records) -> Option<u32> {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            let id = (head as u32).checked_sub(1)?;
            // If another took it meanwhile, the tag is another, and what was read here is not used.
            let next = records.at(id).next.load(Ordering::Relaxed);
            match self.head.compare_exchange(head, head_with(head, next), Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return Some(id),
                Err(now) => head = now,
            }
        }
    }

    /// Takes all slabs. The caller owns them, and may put each into a list once it has the next.
    pub(super) fn take_all<'a>(&self, records: &'a Records) -> impl Iterator<Item = u32> + use<'a> {
        let mut head = self.head.load(Ordering::Acquire);
        while let Err(now) =
            self.head.compare_exchange(head, head_with(head, 0), Ordering::AcqRel, Ordering::Acquire)
        {
            head = now;
        }
        walk(records, head as u32)
    }

    /// The slabs in it, front to back, while nobody changes it.
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
