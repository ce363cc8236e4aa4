//! What a key must be, so that the tree of words can hold it.

use core::ops::Sub;

/// A key and its word. Words have the order of the keys; the next key has the next word.
pub trait Key: Ord + Clone {
    /// The word of a key.
    fn to_word(&self) -> u64;

    /// The key of a word, which is that of a key or of the one behind it.
    fn from_word(word: u64) -> Self;
}

/// Integers, and types of a program's own that are made of integers and have a difference, as addresses have. They are
/// one implementation: a second one for integers would be in the way of the first, as the standard library might make
/// them of other integers one day.
///
/// The difference to 0 is the key, but for an address above the largest `i64` whose difference is an `i64`: that one is
/// negative, and has the bits of the address.
impl<K> Key for K
where
    K: Ord + Clone + TryFrom<u64> + TryFrom<i64> + Sub<Output: TryInto<i128>>,
{
    #[inline]
    fn to_word(&self) -> u64 {
        let zero = from_unsigned::<K>(0);
        let wide: i128 = (self.clone() - zero).try_into().ok().expect("a key has at most 64 bits");
        let bits = if wide < 0 { i64::try_from(wide).map(i64::cast_unsigned) } else { u64::try_from(wide) };
        let bits = bits.expect("a key has at most 64 bits");
        if is_signed::<K>() { bits ^ SIGN } else { bits }
    }

    #[inline]
    fn from_word(word: u64) -> Self {
        if !is_signed::<K>() {
            return from_unsigned(word);
        }
        Self::try_from((word ^ SIGN).cast_signed()).ok().expect("a word is that of a key")
    }
}

/// The bit that makes the words of negative keys the lower ones.
const SIGN: u64 = 1 << 63;

#[inline]
fn from_unsigned<K: TryFrom<u64>>(word: u64) -> K {
    K::try_from(word).ok().expect("a word is that of a key")
}

/// Whether a type has keys below 0. An address that is made of -1 is the highest one.
#[inline]
fn is_signed<K: Ord + TryFrom<u64> + TryFrom<i64>>() -> bool {
    K::try_from(-1_i64).is_ok_and(|below| below < from_unsigned(0))
}
