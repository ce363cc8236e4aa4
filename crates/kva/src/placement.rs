//! Which of the addresses that can serve a request is taken.

use crate::regions::Order;

/// Which of the addresses that can serve a request is taken. All are exact for every alignment and window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Placement {
    /// The lowest address.
    #[default]
    Lowest,
    /// The highest address.
    Highest,
    /// The lowest place in the smallest free block that has one, in the lowest of equals. Less is left over and fewer blocks
    /// come about than with the lowest address first, at the price of a second tree.
    ///
    /// The first allocation under it makes that tree, which has the free blocks by size, and which the space keeps from then
    /// on: about 24 bytes a free block, and every operation is O(log n) longer. A free, and what else makes blocks, may then
    /// be refused for want of memory.
    ///
    /// Cost: as for the others, if the window covers the space. In a window, also the lesser of two numbers: the regions in
    /// it; and the blocks outside it that have a place and are not larger than the one taken.
    BestFit,
}

impl Placement {
    /// From which end of the addresses its search begins; of best fit, the one by address that it has.
    #[inline]
    pub(crate) fn order(self) -> Order {
        match self {
            Self::Highest => Order::HighestFirst,
            Self::Lowest | Self::BestFit => Order::LowestFirst,
        }
    }
}
