//! What rooms are counted in, and which classes of alignment are kept up.
//!
//! ```text
//!   granules   1, 2, 3 ..            2^26   2^26 + 1 .. 2^26 + 256   .. + 512   ..
//!   short      as they are                  2^26 + 1                 2^26 + 2   ..
//! ```

use freehold_units::Align;

/// Classes of alignment: 1, 2, 4 and so on to 1024 granules, which is 4 MiB of pages.
pub(super) const CLASSES: usize = 11;

/// Rooms of up to so many granules are stored as they are, larger ones to so many bits after the first. A large block that
/// is cut a little is then as large as it was, and nobody above need be told.
const EXACT_GRANULES: u32 = 1 << EXACT_BITS;
const EXACT_BITS: u32 = 26;
const MANTISSA_BITS: u32 = 18;
/// What exponents are stored with, so that the least of those sizes comes out as it is.
const BIAS: u32 = (1 << (EXACT_BITS - MANTISSA_BITS)) - EXACT_BITS;

/// What rooms are counted in, and for which classes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    /// The alignment of each class; the first is the granule.
    aligns: [Align; CLASSES],
    granule_bits: u32,
    /// The classes that are kept up, a bit for each. The first always is.
    kept: u32,
}

impl Kept {
    /// For blocks that are made of granules.
    pub(super) fn new(granule: Align) -> Self {
        let mut aligns = [granule; CLASSES];
        for class in 1..CLASSES {
            // Where granule and class pass 2^63 the class is as the one before: no request is aligned to more.
            let twice = aligns[class - 1].bytes().checked_mul(2).and_then(Align::new);
            aligns[class] = twice.unwrap_or(aligns[class - 1]);
        }
        Self { aligns, granule_bits: granule.bytes().trailing_zeros(), kept: 1 }
    }

    /// The classes that are kept up, in rising order.
    #[inline]
    pub(super) fn classes(self) -> impl Iterator<Item = usize> {
        let mut rest = self.kept;
        core::iter::from_fn(move || {
            let class = rest.trailing_zeros() as usize;
            // Of nothing there are as many zeros as bits.
            rest &= rest.wrapping_sub(1);
            (class < CLASSES).then_some(class)
        })
    }

    /// Whether nothing but the size of blocks is kept up.
    #[inline]
    pub(super) fn only_sizes(&self) -> bool {
        self.kept == 1
    }

    #[inline]
    pub(super) fn keeps(&self, class: usize) -> bool {
        self.kept >> class & 1 == 1
    }

    pub(super) fn keep(&mut self, class: usize) {
        self.kept |= 1 << class;
    }

    /// Keeps a class up no longer, unless it is the first.
    pub(super) fn drop(&mut self, class: usize) {
        self.kept &= !(1 << class) | 1;
    }

    /// The highest class that is kept up and not above this one: what has no room there has none here.
    #[inline]
    pub(super) fn nearest(&self, class: usize) -> usize {
        (self.kept & ((2 << class) - 1) | 1).ilog2() as usize
    }

    /// The class to ask for a request of that alignment: the largest that is not above it, kept or not.
    #[inline]
    pub(super) fn class_of(&self, align: Align) -> usize {
        let shift = align.bytes().trailing_zeros().saturating_sub(self.granule_bits);
        (shift as usize).min(CLASSES - 1)
    }

    pub(super) fn granule(&self) -> Align {
        self.aligns[0]
    }

    /// A size in half a word, so that rooms take few cache lines; it is given less one, so that 2^64 fits. Sizes keep
    /// their order, but above 2^26 granules, 256 GiB of pages, they may come out equal if they differ by less than
    /// one part in 2^18.
    #[inline]
    pub(super) fn short(&self, reach: u64) -> u32 {
        let reach = reach >> self.granule_bits;
        if reach < u64::from(EXACT_GRANULES) {
            return reach as u32 + 1;
        }
        let exponent = reach.ilog2();
        // The first of the bits that are left counts one exponent more.
        ((exponent + BIAS - 1) << MANTISSA_BITS) + (reach >> (exponent - MANTISSA_BITS)) as u32 + 1
    }

    /// The size, less one, that a short size stands for, if it stands for one size alone.
    #[inline]
    pub(super) fn long(&self, short: u32) -> Option<u64> {
        let exact = short > 0 && short <= EXACT_GRANULES;
        // 2^64 wraps to 0, and 0 to the last address.
        exact.then(|| (u64::from(short) << self.granule_bits).wrapping_sub(1))
    }

    /// The largest size, less one, with that short size, which is not 0.
    fn most(&self, short: u32) -> u64 {
        self.long(short).unwrap_or_else(|| {
            let rounded = short - 1;
            let exponent = (rounded >> MANTISSA_BITS) - BIAS;
            let mantissa = u128::from(rounded & ((1 << MANTISSA_BITS) - 1)) + (1 << MANTISSA_BITS);
            let granules = (mantissa + 1) << (exponent - MANTISSA_BITS);
            u64::try_from((granules << self.granule_bits) - 1).unwrap_or(u64::MAX)
        })
    }

    /// The room in one class of a block with that start and size. Of a block whose size is rounded it may be more
    /// than there is, never less.
    #[inline]
    pub(super) fn room_in(&self, first: u64, room: u32, class: usize) -> u32 {
        if class == 0 {
            // Blocks are made of granules, so this is the whole block.
            return room;
        }
        let skipped = self.aligns[class].up(first).map(|aligned| aligned - first);
        let rest = skipped.and_then(|skipped| self.most(room).checked_sub(skipped));
        rest.map_or(0, |reach| self.short(reach))
    }
}
