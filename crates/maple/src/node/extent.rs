//! The length of a gap, in which a parent keeps the longest gap below each child.

/// The indexes of a gap; 0 of no gap. Exact, so that a subtree with the length that a search needs has a gap as long. (The only
/// length that does not fit is that of all indexes: of a tree without nodes.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Extent(u64);

impl Extent {
    /// No gap.
    pub(crate) const NONE: Self = Self(0);

    /// Of a gap whose last index is `reach` above its first.
    #[inline]
    pub(crate) const fn of_reach(reach: u64) -> Self {
        Self(reach.saturating_add(1))
    }
}
