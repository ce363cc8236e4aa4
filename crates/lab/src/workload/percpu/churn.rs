//! A steady state of random sizes.

use crate::workload::SplitMix;
use freehold::units::Align;
use freehold_trace::percpu::Op;

/// Objects that are live.
pub const LIVE: u32 = 200_000;

/// Operations to begin with, and replacements.
#[derive(Clone, Debug)]
pub struct Churn {
    /// The largest size, in bytes; the least is 4.
    pub most_bytes: u32,
    /// Requests for the objects that are live at first.
    pub first: Vec<Op>,
    /// A random object's free and a request for another in its stead, in turn.
    pub pairs: Vec<Op>,
    /// Pages that the live objects would fill at the end without any gap.
    pub ideal_pages: u64,
}

impl Churn {
    /// `live` objects of 4 to `most_bytes` bytes, and so many replacements.
    #[must_use]
    pub fn new(most_bytes: u32, live: u32, replacements: u32) -> Self {
        let mut random = SplitMix::new(20_190_301);
        let mut sizes = vec![0; live as usize];
        let mut alloc = |random: &mut SplitMix, object: u32| {
            let size_bytes = 4 + random.uniform(u64::from(most_bytes - 3));
            sizes[object as usize] = size_bytes;
            Op::Alloc { object, size_bytes, align: Align::ONE, atomic: false }
        };
        let first = (0..live).map(|object| alloc(&mut random, object)).collect();
        let mut pairs = Vec::new();
        for _ in 0..replacements {
            let object = random.uniform(u64::from(live)) as u32;
            pairs.extend([Op::Free { object }, alloc(&mut random, object)]);
        }
        let live_bytes: u64 = sizes.iter().map(|size| size.next_multiple_of(4)).sum();
        Self { most_bytes, first, pairs, ideal_pages: live_bytes.div_ceil(4096) }
    }
}
