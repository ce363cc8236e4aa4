//! The checker of address ranges.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use crate::model::{ops_from_bytes, tiny_layout};
use freehold::units::{Align, Span};
use freehold_rivals::kva::{Checker, Naive};
use freehold_trace::kva::{Answer, Driver, Engine, Op};
use proptest::prelude::*;

proptest! {
    #[test]
    fn room_and_free_blocks_are_what_brute_force_finds(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let layout = tiny_layout(2);
        let mut driver = Driver::new(Naive::new(&layout, Align::PAGE).unwrap());
        let mut checker = Checker::of(&layout);
        for op in ops_from_bytes(&bytes) {
            if let Op::Alloc { size_bytes, align, window, .. } = &op {
                prop_assert_eq!(checker.room_for(&op), driver.engine().lowest(*size_bytes, *align, *window));
            }
            let answer = driver.run(&op, &mut ());
            prop_assert!(checker.check(&op, answer).is_ok());
            let mut blocks = Vec::new();
            driver.engine().free_blocks(&mut |block| blocks.push(block));
            prop_assert_eq!(checker.check_free(&blocks, true), Ok(()));
            if let Some(block) = blocks.pop() {
                prop_assert!(checker.check_free(&blocks, true).is_err(), "{} is missing", block);
                prop_assert_eq!(checker.check_free(&blocks, false), Ok(()));
                let past = Span::new(block.first(), u64::MAX).unwrap();
                prop_assert!(checker.check_free(&[past], false).is_err(), "not in the space");
            }
        }
    }
}

#[test]
fn free_blocks_that_overlap_an_object_or_each_other_are_wrong() {
    let space = Span::new(0x1000, 0x8fff).unwrap();
    let mut checker = Checker::of(&[space]);
    checker.check(&Op::alloc(1, 0x1000), Answer::At(0x3000)).unwrap();
    let span = |first, last| Span::new(first, last).unwrap();
    let (below, above) = (span(0x1000, 0x2fff), span(0x4000, 0x8fff));
    assert_eq!(checker.check_free(&[below, above], true), Ok(()));
    for wrong in [[below, span(0x3000, 0x8fff)], [above, below], [above, above]] {
        assert!(checker.check_free(&wrong, false).is_err(), "{wrong:?}");
    }
}
