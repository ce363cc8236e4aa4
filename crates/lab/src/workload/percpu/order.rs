//! The orders in which objects are freed.

use crate::workload::SplitMix;

/// An order of freeing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// As allocated.
    InOrder,
    /// Every even object, then every odd one: the posting does not say what its alternating order was.
    Alternating,
    /// The last one first.
    Reverse,
    /// Shuffled; the posting has no such column.
    Random,
}

/// All of them.
pub const ORDERS: [Order; 4] = [Order::InOrder, Order::Alternating, Order::Reverse, Order::Random];

impl Order {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::InOrder => "in-order",
            Self::Alternating => "alternating",
            Self::Reverse => "reverse",
            Self::Random => "random",
        }
    }

    /// What was allocated in the order in which it is freed.
    pub fn arrange<T: Copy>(self, allocated: &[T]) -> Vec<T> {
        let mut order = allocated.to_vec();
        match self {
            Self::InOrder => {}
            Self::Alternating => {
                order =
                    allocated.iter().step_by(2).chain(allocated.iter().skip(1).step_by(2)).copied().collect();
            }
            Self::Reverse => order.reverse(),
            Self::Random => SplitMix::new(20_170_719).shuffle(&mut order),
        }
        order
    }
}
