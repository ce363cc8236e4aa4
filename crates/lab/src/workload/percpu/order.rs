//! The orders in which objects are freed.

use crate::named::named;
use crate::workload::SplitMix;

named! {
    /// An order of freeing.
    Order {
        InOrder "in-order" "As allocated."
        Alternating "alternating"
            "Every even object, then every odd one: the posting does not say what its alternating order was."
        Reverse "reverse" "The last one first."
        Random "random" "Shuffled; the posting has no such column."
    }
}

impl Order {
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
