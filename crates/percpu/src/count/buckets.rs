//! The buckets of histograms: which bucket a value belongs to, and which values a bucket has.

/// Number of bits below a value's highest one that select the bucket.
const SUB_BITS: u32 = 3;
const SUBS: usize = 1 << SUB_BITS;
/// Buckets of a histogram.
pub const BUCKETS: usize = (u64::BITS - SUB_BITS + 1) as usize * SUBS;
/// The bucket of a value: a number below [`BUCKETS`].
#[inline]
pub(crate) fn bucket_of(value: u64) -> usize {
    // The `| SUBS` makes each small value its own bucket without a branch.
    let shift = (u64::BITS - SUB_BITS - 1).saturating_sub((value | SUBS as u64).leading_zeros());
    ((shift as usize) << SUB_BITS) + (value >> shift) as usize
}

/// The values of a bucket: the lowest and the highest.
pub(super) fn values_of(bucket: usize) -> (u64, u64) {
    let shift = (bucket / SUBS).saturating_sub(1) as u32;
    let first = ((bucket - ((shift as usize) << SUB_BITS)) as u64) << shift;
    (first, first + ((1 << shift) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_one_another_and_hold_their_values() {
        let mut next = 0_u64;
        for bucket in 0..BUCKETS {
            let (first, last) = values_of(bucket);
            assert_eq!(first, next, "bucket {bucket}");
            assert!(first <= last && last - first <= first / 8);
            for value in [first, first + (last - first) / 2, last] {
                assert_eq!(bucket_of(value), bucket, "{value}");
            }
            next = last.wrapping_add(1);
        }
        assert_eq!(next, 0, "the last bucket ends at the largest value");
    }
}
