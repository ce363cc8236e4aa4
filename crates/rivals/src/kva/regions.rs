//! What an adapter remembers of each region where its peer's free wants more than an address: a hash table of
//! lengths and handles. Its time is the adapter's, not the peer's: a caller that keeps the handle beside its own
//! data does not pay for it.

use freehold_units::Span;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Live regions by their first address, each with what its peer needs to free it.
#[derive(Clone, Debug)]
pub(super) struct Regions<H> {
    space: Span,
    live: HashMap<u64, (u64, H), BuildHasherDefault<AddressHasher>>,
}

impl<H> Regions<H> {
    /// No region in this space.
    pub(super) fn new(space: Span) -> Self {
        Self { space, live: HashMap::default() }
    }

    /// The whole space.
    pub(super) fn space(&self) -> Span {
        self.space
    }

    /// Remembers a region.
    #[inline]
    pub(super) fn insert(&mut self, span: Span, handle: H) {
        self.live.insert(span.first(), (span.last(), handle));
    }

    /// Forgets the region that starts at `first`.
    #[inline]
    pub(super) fn remove(&mut self, first: u64) -> Option<(Span, H)> {
        let (last, handle) = self.live.remove(&first)?;
        Some((Span::new(first, last)?, handle))
    }

    /// The number of regions.
    pub(super) fn len(&self) -> usize {
        self.live.len()
    }

    /// Shows what no region covers, in address order.
    pub(super) fn gaps(&self, visit: &mut dyn FnMut(Span)) {
        let mut regions: Vec<(u64, u64)> =
            self.live.iter().map(|(&first, &(last, _))| (first, last)).collect();
        regions.sort_unstable();
        gaps_between(self.space, regions, visit);
    }

    /// How many gaps there are.
    pub(super) fn count_gaps(&self) -> usize {
        let mut gaps = 0;
        self.gaps(&mut |_| gaps += 1);
        gaps
    }

    /// Whether no two regions overlap.
    ///
    /// # Errors
    /// Which do.
    pub(super) fn validate(&self) -> Result<(), String> {
        check_apart(self.live.iter().map(|(&first, &(last, _))| (first, last)))
    }
}

/// Whether no two of the ranges, in any order, share an address.
///
/// # Errors
/// Which do.
pub(super) fn check_apart(ranges: impl Iterator<Item = (u64, u64)>) -> Result<(), String> {
    let mut ranges: Vec<(u64, u64)> = ranges.collect();
    ranges.sort_unstable();
    let overlap = ranges.windows(2).find(|pair| matches!(pair, [(_, last), (next, _)] if last >= next));
    overlap.map_or(Ok(()), |pair| Err(format!("ranges overlap: {pair:x?}")))
}

/// Shows what of `space` none of the `busy` ranges, which ascend, covers.
pub(super) fn gaps_between(
    space: Span,
    busy: impl IntoIterator<Item = (u64, u64)>,
    visit: &mut dyn FnMut(Span),
) {
    let mut next = Some(space.first());
    for (first, last) in busy {
        let before = next.zip(first.checked_sub(1)).and_then(|(next, end)| Span::new(next, end));
        before.into_iter().for_each(&mut *visit);
        next = last.checked_add(1);
    }
    next.and_then(|next| Span::new(next, space.last())).into_iter().for_each(visit);
}

/// Spreads addresses, whose low bits are zero, over all bits: one multiplication, folded.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        let product = u128::from(self.0 ^ value) * u128::from(0x9E37_79B9_7F4A_7C15_u64);
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}
