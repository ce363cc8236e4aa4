//! `validate` sees a map that no call makes.

use super::RangeMap;
use core::marker::PhantomData;

#[test]
fn a_word_without_a_key_is_seen() {
    for (last, invariant) in [(255, None), (256, Some("M14"))] {
        let RangeMap { ranges, .. } = RangeMap::from([(200..=last, "value")]);
        let map = RangeMap::<_, u8> { ranges, keys: PhantomData };
        assert_eq!(map.validate().err().map(|broken| broken.invariant), invariant);
    }
}
