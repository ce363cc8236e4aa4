use super::{Found, ObjectMap};
use crate::geometry::{BLOCK_BITS, base_of, block_of};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::vec::Vec;

const BITS: u32 = 2 * BLOCK_BITS;

proptest! {
    #[test]
    fn objects_are_found_as_they_were_noted(
        steps in prop::collection::vec((0u32..BITS, prop_oneof![1u32..40, 1u32..700]), 0..120),
    ) {
        let mut map = ObjectMap::new(BITS).unwrap();
        let mut model: BTreeMap<u32, u32> = BTreeMap::new();
        for (start, len) in steps {
            let end = (start + len).min(BITS);
            if let Some(end) = model.remove(&start) {
                prop_assert_eq!(map.give(start), Some(end));
            } else if map.next_set(start..end) == end {
                map.take(&(start..end));
                model.insert(start, end);
            }
        }
        let all: Vec<_> = map.objects().map(|object| (object.start, object.end)).collect();
        prop_assert_eq!(all, model.iter().map(|(&start, &end)| (start, end)).collect::<Vec<_>>());
        for block in 0..block_of(BITS) {
            let bits = base_of(block)..base_of(block + 1);
            let used = bits.clone().filter(|&bit| map.find(bit) != Found::Free).count();
            prop_assert_eq!(map.count(bits) as usize, used);
        }
        for bit in 0..BITS {
            let around = model.range(..=bit).next_back().filter(|(_, end)| bit < **end);
            let wanted = match around {
                None => Found::Free,
                Some((&start, &end)) if start == bit => Found::Object(end),
                Some((&start, _)) => {
                    prop_assert_eq!(map.start_of(bit), start);
                    prop_assert_eq!(map.clone().give(bit), None);
                    Found::Interior
                }
            };
            prop_assert_eq!(map.find(bit), wanted);
        }
    }

    #[test]
    fn a_run_is_split_at_every_start(first in 0u32..300, spacing in 1u32..200, count in 1u32..40) {
        let mut map = ObjectMap::new(16 * BLOCK_BITS).unwrap();
        let end = first + spacing * count;
        map.take(&(first..end));
        map.start_each(first + spacing, end, spacing);
        let starts: Vec<_> = map.objects().map(|object| object.start).collect();
        prop_assert_eq!(starts, (first..end).step_by(spacing as usize).collect::<Vec<_>>());
    }
}
