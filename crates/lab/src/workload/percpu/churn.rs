//! A steady state of random sizes.

use crate::workload::SplitMix;

/// Objects that are live.
pub const LIVE: u32 = 200_000;

/// Sizes to begin with, and replacements: which object goes, and the size of the one in its stead.
#[derive(Clone, Debug)]
pub struct Churn {
    /// The largest size, in bytes; the least is 4.
    pub most_bytes: u32,
    /// Sizes of the objects that are live at first.
    pub first: Vec<u32>,
    /// Positions of the objects that go.
    pub victims: Vec<u32>,
    /// Sizes of those in their stead.
    pub sizes: Vec<u32>,
}

impl Churn {
    /// `live` objects of 4 to `most_bytes` bytes, and so many replacements.
    #[must_use]
    pub fn new(most_bytes: u32, live: u32, replacements: u32) -> Self {
        let mut random = SplitMix::new(20_190_301);
        let size = |random: &mut SplitMix| 4 + random.uniform(u64::from(most_bytes - 3)) as u32;
        let first = (0..live).map(|_| size(&mut random)).collect();
        let (mut victims, mut sizes) = (Vec::new(), Vec::new());
        for _ in 0..replacements {
            victims.push(random.uniform(u64::from(live)) as u32);
            sizes.push(size(&mut random));
        }
        Self { most_bytes, first, victims, sizes }
    }

    /// Pages that the live objects would fill at the end without any gap.
    #[must_use]
    pub fn ideal_pages(&self) -> u64 {
        let mut live = self.first.clone();
        for (&victim, &size) in self.victims.iter().zip(&self.sizes) {
            if let Some(slot) = live.get_mut(victim as usize) {
                *slot = size;
            }
        }
        live.iter().map(|&size| u64::from(size.next_multiple_of(4))).sum::<u64>().div_ceil(4096)
    }
}
