//! The workloads of the percpu family: what the posting of 2017 measured, what its followers did, and churn.

mod churn;
mod files;
mod holes;
mod order;

pub use churn::{Churn, LIVE};
pub use files::{Recorded, config};
pub use holes::{Deletion, StaleHint};
pub use order::{ORDERS, Order};

use freehold::units::Align;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
}

/// Every workload.
pub const CASES: [Case; 9] = [
    Case {
        name: "seed",
        about: "objects of one size, then freed in order, alternating, in reverse and at random",
    },
    Case { name: "second-half", about: "the same in units whose second halves are full of such objects" },
    Case { name: "aligned", about: "4-byte objects aligned to 8 and to 64 bytes" },
    Case { name: "footprint", about: "bytes of metadata for an object, by size" },
    Case {
        name: "churn-4-64",
        about: "200000 live objects of 4..=64 bytes; a random one freed, another placed",
    },
    Case { name: "churn-4-1024", about: "the same with 4..=1024 bytes" },
    Case {
        name: "stale-hint",
        about: "holes everywhere but in the first block of each chunk, then refilled",
    },
    Case {
        name: "mass-free",
        about: "a random half of all objects freed, as many placed again: what the first of them pay",
    },
    Case { name: "deletion", about: "11000 groups of objects, 10 of 11 groups deleted" },
];

/// Objects of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Bytes of each object.
    pub bytes: u32,
    /// What each offset is a multiple of.
    pub align: Align,
    /// Whether the units' second halves are filled before.
    pub second_half: bool,
}

impl Size {
    /// `bytes` at a multiple of `align_bytes`, which is a power of two, in empty units.
    #[must_use]
    pub fn new(bytes: u32, align_bytes: u64) -> Self {
        Self { bytes, align: Align::new(align_bytes).unwrap_or_default(), second_half: false }
    }

    /// As people write it: bytes and alignment.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{}/{}", self.bytes, self.align.bytes())
    }
}

/// The sizes of the seed's table; counters of 4 bytes lie dense, larger objects at multiples of 8.
#[must_use]
pub fn seed_sizes() -> Vec<Size> {
    [(4, 4), (16, 8), (64, 8), (128, 8), (1024, 8)].map(|(bytes, align)| Size::new(bytes, align)).to_vec()
}

/// The sizes of the table with second halves filled.
#[must_use]
pub fn second_half_sizes() -> Vec<Size> {
    let sizes = [(4, 4), (16, 8), (64, 8), (256, 8), (1024, 8)];
    sizes.map(|(bytes, align)| Size { second_half: true, ..Size::new(bytes, align) }).to_vec()
}
