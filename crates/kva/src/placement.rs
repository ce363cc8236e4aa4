//! Placement policies: the choice between the addresses that can serve a request.

use crate::regions::Order;

/// A placement policy: the choice between the addresses that can serve a request. Every policy is exact for every
/// alignment and window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Placement {
    /// The lowest address.
    #[default]
    Lowest,
    /// The highest address.
    Highest,
    /// The lowest place in the smallest free block that has one; of equally small blocks, in the lowest. It leaves less
    /// space over and creates fewer blocks than the lowest address first, at the price of a second tree.
    ///
    /// The first allocation under it builds that tree, which has the free blocks by size. The space keeps the tree from
    /// then on: about 24 bytes for each free block, and every operation takes O(log n) longer. A free, and any other
    /// operation that creates blocks, may then fail with `OutOfMemory`.
    ///
    /// Cost: as for the others, if the window covers the space. Otherwise also the lesser of two numbers: the regions
    /// in the window, and the blocks outside it that have a place and are not larger than the block taken.
    BestFit,
}

impl Placement {
    /// The end of the addresses at which a search begins; for best fit, that of its search by address.
    #[inline]
    pub(crate) fn order(self) -> Order {
        match self {
            Self::Highest => Order::HighestFirst,
            Self::Lowest | Self::BestFit => Order::LowestFirst,
        }
    }
}
