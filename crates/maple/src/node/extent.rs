//! The length of a gap. A parent keeps the longest below each child.

/// The number of indexes of a gap; 0 for no gap. Exact: a subtree whose extent is at least the length that a search
/// needs has such a gap. (Only the length of all indexes does not fit: it occurs only in a tree without nodes.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Extent(u64);

impl Extent {
    /// No gap.
    pub(crate) const NONE: Self = Self(0);

    /// The extent of a gap whose last index is `reach` above its first.
    #[inline]
    pub(crate) const fn of_reach(reach: u64) -> Self {
        Self(reach.saturating_add(1))
    }
}
