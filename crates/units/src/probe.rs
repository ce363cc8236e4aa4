//! Counting of work: exact figures of an engine's work, which do not vary from run to run as times do.
//!
//! An engine's operations take `&mut impl Probe`. The unit type counts nothing and costs nothing; a [`Tally`] adds up.

/// A kind of work, or a way in which a piece of work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
    /// A node examined by a search, on the way down or back up.
    NodeVisited,
    /// Of the visited nodes, those examined while climbing back.
    NodeClimbed,
    /// A child whose metadata was read from its parent.
    ChildPeeked,
    /// A node passed on the way to the place where another is linked or found.
    LinkVisited,
    /// A stored maximum recomputed, the last one that was already right included.
    MaxRecomputed,
    /// A rotation of a balanced tree.
    Rotated,
    /// A free block used up whole.
    FitFull,
    /// A free block cut at its left edge.
    FitLeftEdge,
    /// A free block cut at its right edge.
    FitRightEdge,
    /// A free block cut in the middle, leaving two.
    FitNoEdge,
    /// A freed span that stays alone.
    MergedNone,
    /// A freed span merged with the block before it.
    MergedPrevious,
    /// A freed span merged with the block after it.
    MergedNext,
    /// A freed span that closed the gap between two blocks.
    MergedBoth,
    /// A chunk searched for a place.
    ChunkVisited,
    /// A chunk whose hints were computed again from those of its blocks.
    ChunkRescanned,
    /// A block whose hints were read.
    BlockVisited,
    /// A block whose hints were computed again from its bits.
    BlockRescanned,
    /// A bit of a map passed by a search.
    BitScanned,
    /// A range of a map stored or emptied.
    EntryStored,
    /// A node taken by a store.
    NodeTaken,
}

impl Work {
    /// The number of kinds.
    pub const COUNT: usize = Self::NodeTaken as usize + 1;
}

/// Receives counts of work.
pub trait Probe {
    /// `amount` more of `work` was done.
    fn count(&mut self, work: Work, amount: u64);

    /// `amount` more was done of a kind of work of an engine outside the library. The engine numbers its kinds below
    /// [`Tally::OTHERS`].
    #[inline]
    fn count_other(&mut self, _kind: u8, _amount: u64) {}

    /// Whether [`Probe::count`] does anything. If not, an engine skips the work that only serves to count.
    #[inline]
    fn counts(&self) -> bool {
        true
    }
}

/// Counts nothing.
impl Probe for () {
    #[inline]
    fn count(&mut self, _: Work, _: u64) {}

    #[inline]
    fn counts(&self) -> bool {
        false
    }
}

/// Adds up every kind of work.
///
/// ```
/// use freehold_units::{Probe, Tally, Work};
/// let mut tally = Tally::default();
/// tally.count(Work::NodeVisited, 2);
/// tally.count(Work::NodeVisited, 1);
/// assert_eq!(tally.of(Work::NodeVisited), 3);
/// assert_eq!(tally.of(Work::Rotated), 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    counts: [u64; Work::COUNT],
    others: [u64; Self::OTHERS],
}

impl Tally {
    /// The most kinds of work that engines outside the library can have.
    pub const OTHERS: usize = 16;

    /// The counted amount of `work`.
    #[must_use]
    pub fn of(&self, work: Work) -> u64 {
        self.counts[work as usize]
    }

    /// The counted amount of a kind of work of an engine outside the library.
    #[must_use]
    pub fn of_other(&self, kind: u8) -> u64 {
        debug_assert!(usize::from(kind) < Self::OTHERS, "{kind} is not the number of a kind");
        self.others.get(usize::from(kind)).copied().unwrap_or(0)
    }

    /// Nodes examined or changed, and rotations: the work whose growth is an engine's cost.
    #[must_use]
    pub fn steps(&self) -> u64 {
        [Work::NodeVisited, Work::LinkVisited, Work::MaxRecomputed, Work::Rotated]
            .iter()
            .fold(0u64, |sum, &work| sum.saturating_add(self.of(work)))
    }
}

impl Probe for Tally {
    #[inline]
    fn count(&mut self, work: Work, amount: u64) {
        let count = &mut self.counts[work as usize];
        *count = count.saturating_add(amount);
    }

    #[inline]
    fn count_other(&mut self, kind: u8, amount: u64) {
        debug_assert!(usize::from(kind) < Self::OTHERS, "{kind} is not the number of a kind");
        if let Some(count) = self.others.get_mut(usize::from(kind)) {
            *count = count.saturating_add(amount);
        }
    }
}
