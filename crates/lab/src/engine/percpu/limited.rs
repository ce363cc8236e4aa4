//! The memory behind the lab's chunks: none at all, but counted, so that it can be made to end.

use freehold::percpu::{Backing, ChunkId, OutOfMemory};
use std::cell::Cell;
use std::ops::Range;

/// Refuses what passes a limit that can be moved at any time. Pages are those of one unit.
#[derive(Clone, Debug)]
pub struct Limited {
    pages: u64,
    /// No page more than these; what is there already stays. Set from outside, while the set has the backing.
    most: Cell<Option<u64>>,
}

impl Limited {
    /// Memory without end.
    #[must_use]
    pub fn endless() -> Self {
        Self { pages: 0, most: Cell::new(None) }
    }

    /// From now on.
    pub fn limit(&self, most: Option<u64>) {
        self.most.set(most);
    }

    /// How many more there are; `None` if there is no end.
    #[must_use]
    pub fn left(&self) -> Option<u64> {
        self.most.get().map(|most| most.saturating_sub(self.pages))
    }
}

fn length(pages: &Range<u32>) -> u64 {
    u64::from(pages.end.saturating_sub(pages.start))
}

impl Backing for Limited {
    fn populate(&mut self, _: ChunkId, pages: Range<u32>) -> Result<(), OutOfMemory> {
        if self.left().is_some_and(|left| left < length(&pages)) {
            return Err(OutOfMemory);
        }
        self.pages += length(&pages);
        Ok(())
    }

    fn depopulate(&mut self, _: ChunkId, pages: Range<u32>) {
        self.pages = self.pages.saturating_sub(length(&pages));
    }
}
