//! Kinds of work that only engines outside the library do: rivals, and address spaces over their maps.

use freehold_units::{Probe, Tally};

/// A kind of work, beside those of [`freehold_units::Work`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RivalWork {
    /// A step along an ordered list.
    ListStepped,
    /// A search that started at a remembered node.
    StartedCached,
    /// A search that found its start by descending a tree.
    StartedDescended,
    /// A search that had nothing at or after its start.
    StartedBeyond,
    /// A remembered node replaced by its predecessor.
    CacheMoved,
    /// A remembered node forgotten.
    CacheDropped,
    /// An entry of a list of areas looked at.
    EntryScanned,
    /// A step of a binary search of such a list.
    EntryProbed,
    /// An integer moved to make or close a gap in an array.
    IntMoved,
    /// An integer copied to a larger array.
    IntCopied,
}

impl RivalWork {
    const ALL: [Self; 10] = [
        Self::ListStepped,
        Self::StartedCached,
        Self::StartedDescended,
        Self::StartedBeyond,
        Self::CacheMoved,
        Self::CacheDropped,
        Self::EntryScanned,
        Self::EntryProbed,
        Self::IntMoved,
        Self::IntCopied,
    ];

    /// `amount` more was done.
    #[inline]
    pub fn count(self, amount: u64, probe: &mut impl Probe) {
        probe.count_other(self as u8, amount);
    }

    /// How much was counted.
    #[must_use]
    pub fn of(self, tally: &Tally) -> u64 {
        tally.of_other(self as u8)
    }

    /// The kind with this number.
    #[must_use]
    pub fn from_number(kind: u8) -> Option<Self> {
        Self::ALL.get(usize::from(kind)).copied()
    }
}

const _: () = {
    assert!(
        RivalWork::ALL.len() <= Tally::OTHERS && RivalWork::ALL.len() == RivalWork::IntCopied as usize + 1
    );
    let mut kind = 0;
    while kind < RivalWork::ALL.len() {
        assert!(RivalWork::ALL[kind] as usize == kind);
        kind += 1;
    }
};
