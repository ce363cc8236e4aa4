//! Random strings of operations, each answer held against a list that is gone through, every invariant checked after
//! each and every value's holders counted; on nodes as small as can be and on those that ship.

use crate::common::ops::ops_from_bytes;
use crate::common::world::run;
use freehold_maple::Nodes;
use proptest::prelude::*;

/// Under Miri, which is slow, a few.
const CASES: u32 = if cfg!(miri) { 2 } else { 500 };
/// How many times shorter its strings are.
const SHORTER: usize = if cfg!(miri) { 16 } else { 1 };

proptest! {
    #![proptest_config(ProptestConfig {
        cases: CASES,
        failure_persistence: if cfg!(miri) { None } else { ProptestConfig::default().failure_persistence },
        ..ProptestConfig::default()
    })]

    #[test]
    fn small_nodes(bytes in prop::collection::vec(any::<u8>(), 0..600 / SHORTER)) {
        run(Nodes::Small, &ops_from_bytes(&bytes, 40), 40);
    }

    #[test]
    fn full_nodes(bytes in prop::collection::vec(any::<u8>(), 0..1600 / SHORTER)) {
        run(Nodes::Full, &ops_from_bytes(&bytes, 200), 200);
    }
}
