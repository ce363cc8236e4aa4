//! A fixed place in the crate `vm-allocator`, 0.1.4, beside ours. It does not look whether the place of its `ExactMatch` is
//! free, so it hands out live ranges, and what is freed then is lost or free while it is used.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use freehold::kva::{AddressSpace, AllocError, FreeError, Placement};
use freehold::units::{Align, Span};
use vm_allocator::{AddressAllocator, AllocPolicy};

const PAGE: u64 = 0x1000;

fn pages(first: u64, count: u64) -> Span {
    Span::from_size(first * PAGE, count * PAGE).unwrap()
}

/// A range of a live one is handed out once more by theirs; ours says who is in the way. This test fails when the crate
/// is mended: then say so where we say otherwise.
#[test]
fn a_live_range_is_handed_out_again_by_theirs_alone() {
    for (live, wanted) in [((0, 2), (0, 1)), ((2, 4), (2, 2)), ((4, 4), (4, 1))] {
        let (live, wanted) = (pages(live.0, live.1), pages(wanted.0, wanted.1));

        let mut theirs = AddressAllocator::new(0, 16 * PAGE).unwrap();
        let exact = |span: Span| (span.size_saturating(), PAGE, AllocPolicy::ExactMatch(span.first()));
        let mut take = |span: Span| {
            let (size, align, policy) = exact(span);
            theirs.allocate(size, align, policy)
        };
        let first = take(live).unwrap();
        let second = take(wanted).unwrap();
        assert!(first.overlaps(&second), "{first:?} {second:?}");

        let mut ours = AddressSpace::new(pages(0, 16), Align::PAGE, Placement::Lowest).unwrap();
        ours.alloc_at(live, "first").unwrap();
        let refused = ours.alloc_at(wanted, "second").unwrap_err();
        assert_eq!((refused.value, refused.cause), ("second", AllocError::Occupied { region: live }));
        assert_eq!(*ours.region_at(wanted.last()).unwrap().value(), "first");
        // Nor is a part of it freed.
        let inside = wanted.last() - (PAGE - 1) + 1;
        let refused = ours.free(inside);
        assert_eq!(refused, Err(FreeError::Interior { address: inside, region: live }));
        assert_eq!(ours.free(live.first()), Ok((live, "first")));
        assert!(ours.validate().is_ok());
    }
}
