use super::AddressSpace;
use crate::{AllocError, FreeError, LayoutError, MoveError, Placement, Request};
use freehold_units::{Align, Span, Tally, Work};
use std::string::{String, ToString};
use std::vec::Vec;

const PAGE: u64 = 4096;

fn span(first: u64, last: u64) -> Span {
    Span::new(first, last).unwrap()
}

fn pages(first: u64, pages: u64) -> Span {
    Span::from_size(first * PAGE, pages * PAGE).unwrap()
}

fn space(pages_: u64) -> AddressSpace<u32> {
    AddressSpace::new(pages(0, pages_), Align::PAGE, Placement::Lowest).unwrap()
}

/// A refused operation must leave no trace.
fn unchanged<V>(space: &AddressSpace<V>, stats: crate::Stats) {
    space.validate().unwrap();
    let now = space.stats();
    assert_eq!(
        (now.regions, now.busy_bytes, now.free_blocks, now.free_bytes, now.largest_free_bytes),
        (stats.regions, stats.busy_bytes, stats.free_blocks, stats.free_bytes, stats.largest_free_bytes)
    );
}

#[test]
fn a_free_counts_the_free_blocks_that_it_joins() {
    let mut space = space(4);
    for page in 0..4 {
        space.alloc_at(pages(page, 1), 0).unwrap();
    }
    for (page, kind) in
        [(1, Work::MergedNone), (3, Work::MergedNone), (0, Work::MergedNext), (2, Work::MergedBoth)]
    {
        let mut tally = Tally::default();
        space.free_probed(page * PAGE, &mut tally).unwrap();
        for other in [Work::MergedNone, Work::MergedPrevious, Work::MergedNext, Work::MergedBoth] {
            assert_eq!(tally.of(other), u64::from(other == kind), "page {page}, {other:?}");
        }
    }
    space.alloc_at(pages(2, 2), 0).unwrap();
    let mut tally = Tally::default();
    space.free_probed(2 * PAGE, &mut tally).unwrap();
    assert_eq!(tally.of(Work::MergedPrevious), 1);
}

#[test]
fn each_bad_request_has_its_own_error_and_gives_the_value_back() {
    let mut space = space(16);
    space.alloc(&Request::new(4 * PAGE), 1).unwrap();
    let stats = space.stats();
    let huge = u64::MAX - (PAGE - 1);
    for (request, cause) in [
        (Request::new(0), AllocError::ZeroSize),
        (Request::new(5), AllocError::NotGranular { size_bytes: 5, granule: Align::PAGE }),
        (Request::new(PAGE).guard(7), AllocError::NotGranular { size_bytes: 7, granule: Align::PAGE }),
        (Request::new(huge).guard(PAGE), AllocError::SizeOverflow),
        (Request::new(PAGE).guard(PAGE << 31), AllocError::GuardTooLarge { guard_bytes: PAGE << 31 }),
        (
            Request::new(PAGE).window(pages(16, 2)),
            AllocError::WindowOutside { window: pages(16, 2), space: pages(0, 16) },
        ),
        (
            Request::new(13 * PAGE),
            AllocError::NoSpace {
                size_bytes: 13 * PAGE,
                align: Align::PAGE,
                window: pages(0, 16),
                largest_free_bytes: 12 * PAGE,
            },
        ),
    ] {
        let rejected = space.alloc(&request, 77).unwrap_err();
        assert_eq!((rejected.value, rejected.cause), (77, cause));
        assert!(!rejected.to_string().is_empty() && !rejected.to_string().contains("0xffffffffffffffff"));
        unchanged(&space, stats);
    }
}

#[test]
fn each_bad_free_has_its_own_error() {
    let mut space =
        AddressSpace::with_layout(&[pages(0, 8), pages(10, 8)], Align::PAGE, Placement::Lowest).unwrap();
    let region = space.alloc(&Request::new(2 * PAGE).guard(PAGE), "a").unwrap();
    let stats = space.stats();
    for (address, error) in [
        (PAGE, FreeError::Interior { address: PAGE, region }),
        (2 * PAGE + 5, FreeError::Interior { address: 2 * PAGE + 5, region }),
        (4 * PAGE, FreeError::AlreadyFree { address: 4 * PAGE, block: pages(3, 5) }),
        (9 * PAGE, FreeError::Unknown { address: 9 * PAGE }),
        (u64::MAX, FreeError::Unknown { address: u64::MAX }),
    ] {
        assert_eq!(space.free(address), Err(error));
        unchanged(&space, stats);
    }
    assert_eq!(space.free(0), Ok((region, "a")));
    let twice = FreeError::AlreadyFree { address: 0, block: pages(0, 8) };
    assert_eq!(space.free(0), Err(twice));
    space.validate().unwrap();
}

#[test]
fn guards_are_taken_but_belong_to_nobody() {
    let mut space = space(16);
    let first = space.alloc(&Request::new(2 * PAGE).guard(PAGE), 1).unwrap();
    let second = space.alloc(&Request::new(PAGE), 2).unwrap();
    assert_eq!((first, second), (pages(0, 2), pages(3, 1)));
    assert_eq!(space.region_at(2 * PAGE - 1).unwrap().span(), first);
    assert!(space.region_at(2 * PAGE).is_none());
    assert_eq!(*space.guard_at(2 * PAGE).unwrap().value(), 1);
    assert!(space.guard_at(3 * PAGE).is_none());
    assert_eq!(space.region_at(0).unwrap().guard(), Some(pages(2, 1)));
    *space.value_at_mut(3 * PAGE + 9).unwrap() = 5;
    assert_eq!(space.free(3 * PAGE), Ok((second, 5)));
    space.free(0).unwrap();
    assert_eq!(space.free_blocks().collect::<Vec<_>>(), [pages(0, 16)]);
}

#[test]
fn both_ends_of_the_whole_space_work() {
    let mut space = AddressSpace::<u32>::new(Span::ALL, Align::ONE, Placement::Lowest).unwrap();
    assert_eq!(space.stats().free_bytes, 1 << 64);
    assert_eq!(space.stats().largest_free_bytes, u64::MAX);
    let top = Request::new(1).window(span(u64::MAX, u64::MAX));
    assert_eq!(space.alloc(&top, 1).unwrap(), span(u64::MAX, u64::MAX));
    assert_eq!(space.alloc(&Request::new(1), 2).unwrap(), span(0, 0));
    let rest = space.alloc(&Request::new(u64::MAX - 1), 3).unwrap();
    assert_eq!(rest, span(1, u64::MAX - 1));
    assert_eq!(space.stats().free_blocks, 0);
    assert!(matches!(space.alloc(&Request::new(1), 4).unwrap_err().cause, AllocError::NoSpace { .. }));
    space.validate().unwrap();
    assert_eq!(*space.region_at(u64::MAX).unwrap().value(), 1);
    for first in [1, u64::MAX, 0] {
        space.free(first).unwrap();
        space.validate().unwrap();
    }
    let high = Align::new(1 << 63).unwrap();
    assert_eq!(
        space.alloc(&Request::new(1 << 63).align(high).window(span(1, u64::MAX)), 5).unwrap().first(),
        1 << 63
    );
}

#[test]
fn nested_windows_compete_for_low_addresses() {
    let mut space = space(64);
    let zone = |first, count| Request::new(PAGE).window(pages(first, count));
    assert_eq!(space.alloc(&zone(0, 64), 0).unwrap(), pages(0, 1));
    assert_eq!(space.alloc(&zone(8, 4), 0).unwrap(), pages(8, 1));
    assert_eq!(space.alloc(&zone(8, 4), 0).unwrap(), pages(9, 1));
    assert_eq!(space.alloc(&Request::new(9 * PAGE), 0).unwrap(), pages(10, 9));
    assert!(space.alloc(&zone(8, 4), 0).is_err());
    assert_eq!(space.alloc(&Request::new(7 * PAGE).window(pages(0, 8)), 0).unwrap(), pages(1, 7));
}

#[test]
fn layouts_are_checked() {
    let new = |spans: &[Span]| AddressSpace::<u32>::with_layout(spans, Align::PAGE, Placement::Lowest).err();
    assert_eq!(new(&[]), Some(LayoutError::Empty));
    let odd = span(0, 17);
    assert_eq!(new(&[odd]), Some(LayoutError::NotGranular { span: odd, granule: Align::PAGE }));
    let overlap = LayoutError::Overlap { span: pages(1, 2), block: pages(0, 2) };
    assert_eq!(new(&[pages(0, 2), pages(1, 2)]), Some(overlap));
    assert_eq!(new(&[pages(2, 2), pages(0, 2)]), None);
}

#[test]
fn congruent_areas_are_checked_and_given_back() {
    let mut space = space(16);
    let mut ask = |areas: &[Span]| {
        let areas = areas.iter().map(|&area| (area, 0)).collect();
        space.alloc_congruent(areas, Align::ONE, Span::ALL).map_err(|r| (r.value.len(), r.cause))
    };
    assert_eq!(ask(&[]), Err((0, AllocError::ZeroSize)));
    let odd = span(5, PAGE + 4);
    assert_eq!(ask(&[odd]), Err((1, AllocError::AreaNotGranular { area: 0, granule: Align::PAGE })));
    let clash = AllocError::AreasOverlap { area: 0, other: 1 };
    assert_eq!(ask(&[pages(0, 2), pages(1, 2)]), Err((2, clash)));
    assert!(matches!(ask(&[pages(0, 17)]), Err((1, AllocError::TooLarge { .. }))));
    assert_eq!(ask(&[pages(0, 1), pages(4, 2)]), Ok(10 * PAGE));
    assert_eq!(space.regions().map(|region| region.span()).collect::<Vec<_>>(), [pages(10, 1), pages(14, 2)]);
    space.validate().unwrap();
}

#[test]
fn one_area_may_be_the_whole_space() {
    let mut space = AddressSpace::<u32>::new(Span::ALL, Align::PAGE, Placement::Lowest).unwrap();
    let areas = [(Span::ALL, 1)].to_vec();
    assert_eq!(space.alloc_congruent(areas, Align::ONE, Span::ALL).unwrap(), 0);
    assert_eq!(space.stats().free_blocks, 0);
    space.validate().unwrap();
    assert_eq!(space.free(0), Ok((Span::ALL, 1)));
    assert_eq!(space.stats().free_bytes, 1 << 64);
}

#[test]
fn a_clone_lives_its_own_life() {
    let mut space = AddressSpace::<String>::new(pages(0, 8), Align::PAGE, Placement::Lowest).unwrap();
    space.alloc(&Request::new(PAGE), "disk".to_string()).unwrap();
    let mut copy = space.clone();
    copy.alloc(&Request::new(PAGE), "nic".to_string()).unwrap();
    assert_eq!((space.len(), copy.len()), (1, 2));
    assert_eq!(copy.regions().map(|region| region.value().clone()).collect::<Vec<_>>(), ["disk", "nic"]);
    copy.free(0).unwrap();
    assert_eq!(space.region_at(0).unwrap().value(), "disk");
    space.validate().unwrap();
    copy.validate().unwrap();
}

#[test]
fn a_space_grows_by_what_it_is_given() {
    let mut space = space(4);
    space.alloc(&Request::new(2 * PAGE), 1).unwrap();
    assert_eq!(space.add(pages(4, 4)), Ok(()));
    assert_eq!(space.free_blocks().collect::<Vec<_>>(), [pages(2, 6)]);
    let taken = LayoutError::Overlap { span: pages(1, 1), block: pages(0, 2) };
    assert_eq!(space.add(pages(1, 1)), Err(taken));
    let free = LayoutError::Overlap { span: pages(7, 2), block: pages(2, 6) };
    assert_eq!(space.add(pages(7, 2)), Err(free));
    let stats = space.stats();
    assert_eq!((stats.regions, stats.busy_bytes, stats.free_bytes), (1, 2 * 4096, 6 * 4096));
    assert_eq!((stats.free_blocks, stats.largest_free_bytes), (1, 6 * PAGE));
    space.validate().unwrap();
}

#[test]
fn a_fixed_place_is_taken_or_its_owner_named() {
    let mut space = AddressSpace::<&str>::new(pages(0, 16), Align::PAGE, Placement::Lowest).unwrap();
    assert_eq!(space.alloc_at(pages(4, 4), "disk").unwrap(), pages(4, 4));
    for (place, cause) in [
        (pages(6, 4), AllocError::Occupied { region: pages(4, 4) }),
        (pages(14, 4), AllocError::PlaceOutside { place: pages(14, 4), space: pages(0, 16) }),
        (span(1, PAGE), AllocError::PlaceNotGranular { place: span(1, PAGE), granule: Align::PAGE }),
    ] {
        let rejected = space.alloc_at(place, "nic").unwrap_err();
        assert_eq!((rejected.value, rejected.cause), ("nic", cause));
        space.validate().unwrap();
    }
    let Err(rejected) = space.alloc_at(pages(3, 2), "nic") else { panic!("taken twice") };
    let AllocError::Occupied { region } = rejected.cause else { panic!("{rejected:?}") };
    assert_eq!(*space.region_at(region.first()).unwrap().value(), "disk");
}

#[test]
fn a_region_grows_and_shrinks_where_it_is() {
    let mut space = space(16);
    let first = space.alloc(&Request::new(2 * PAGE).guard(PAGE), 1).unwrap().first();
    let second = space.alloc_at(pages(8, 2), 2).unwrap();
    assert_eq!(space.resize(first, 6 * PAGE), Ok(pages(0, 6)));
    assert_eq!(space.region_at(0).unwrap().guard(), Some(pages(6, 1)));
    assert_eq!(space.free_blocks().collect::<Vec<_>>(), [pages(7, 1), pages(10, 6)]);
    assert_eq!(space.resize(first, 7 * PAGE), Ok(pages(0, 7)));
    let stats = space.stats();
    let blocked = crate::ResizeError::Size(AllocError::Occupied { region: second });
    assert_eq!(space.resize(first, 8 * PAGE), Err(blocked));
    assert_eq!(space.resize(first, 0), Err(AllocError::ZeroSize.into()));
    assert!(matches!(space.resize(PAGE, PAGE), Err(crate::ResizeError::Address(FreeError::Interior { .. }))));
    unchanged(&space, stats);
    assert_eq!(space.resize(first, PAGE), Ok(pages(0, 1)));
    assert_eq!(space.free_blocks().collect::<Vec<_>>(), [pages(2, 6), pages(10, 6)]);
    assert!(space.resize(pages(8, 1).first(), u64::MAX - PAGE + 1).is_err());
    space.validate().unwrap();
}

/// Both steps of a move at once.
fn moved(space: &mut AddressSpace<u32>, first: u64, to: u64) -> Result<Span, MoveError> {
    let pending = space.begin_move(first, to)?;
    space.commit_move(pending)
}

#[test]
fn a_move_keeps_the_old_place_until_it_is_committed() {
    let mut space = space(16);
    space.alloc(&Request::new(4 * PAGE), 1).unwrap();
    space.alloc(&Request::new(4 * PAGE), 2).unwrap();
    let stats = space.stats();
    let in_the_way = MoveError::Place(AllocError::Occupied { region: pages(4, 4) });
    assert_eq!(space.begin_move(0, 2 * PAGE), Err(in_the_way));
    unchanged(&space, stats);
    assert_eq!(space.region_at(0).map(|region| *region.value()), Some(1));
    assert_eq!(moved(&mut space, 0, 12 * PAGE), Ok(pages(12, 4)));
    assert_eq!(space.region_at(12 * PAGE).map(|region| *region.value()), Some(1));
    space.validate().unwrap();
    // Over its own old place.
    assert_eq!(moved(&mut space, 4 * PAGE, 2 * PAGE), Ok(pages(2, 4)));
    assert_eq!(space.regions().map(|region| *region.value()).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(space.free_blocks().collect::<Vec<_>>(), [pages(0, 2), pages(6, 6)]);
    space.validate().unwrap();
}

/// It dropped the guard, and took size and alignment of what it was asked with.
#[test]
fn a_move_keeps_size_guard_and_alignment() {
    let mut space = space(64);
    let aligned = Request::new(3 * PAGE).guard(2 * PAGE).align(Align::new(8 * PAGE).unwrap());
    assert_eq!(space.alloc(&aligned, 1).unwrap(), pages(0, 3));
    assert_eq!(moved(&mut space, 0, 16 * PAGE), Ok(pages(16, 3)));
    assert_eq!(space.region_at(16 * PAGE).unwrap().guard(), Some(pages(19, 2)));
    assert_eq!(space.free_blocks().collect::<Vec<_>>(), [pages(0, 16), pages(21, 43)]);
    // Once more, as if it had been allocated there: nothing was lost on the way.
    assert_eq!(moved(&mut space, 16 * PAGE, 40 * PAGE), Ok(pages(40, 3)));
    assert_eq!(space.region_at(40 * PAGE).unwrap().guard(), Some(pages(43, 2)));
    // Not even by a move that fails, or by another size.
    let misaligned = MoveError::Misaligned {
        region: pages(40, 3),
        place: pages(41, 5),
        align: Align::new(8 * PAGE).unwrap(),
    };
    assert_eq!(moved(&mut space, 40 * PAGE, 41 * PAGE), Err(misaligned));
    assert_eq!(space.resize(40 * PAGE, PAGE), Ok(pages(40, 1)));
    assert_eq!(moved(&mut space, 40 * PAGE, 8 * PAGE), Ok(pages(8, 1)));
    assert_eq!(space.region_at(8 * PAGE).unwrap().guard(), Some(pages(9, 2)));
    // A clone keeps them as well.
    let mut copy = space.clone();
    assert_eq!(moved(&mut copy, 8 * PAGE, 24 * PAGE), Ok(pages(24, 1)));
    assert_eq!(copy.region_at(24 * PAGE).unwrap().guard(), Some(pages(25, 2)));
    space.validate().unwrap();
    copy.validate().unwrap();
}

#[test]
fn a_space_grows_below_a_full_leaf_whose_first_region_is_gone() {
    let at = |address| span(address, address);
    let mut space: AddressSpace<()> =
        AddressSpace::new(span(16, (1 << 22) - 1), Align::ONE, Placement::Lowest).unwrap();
    let near = 17..48;
    near.clone().for_each(|address| assert_eq!(space.alloc_at(at(address), ()), Ok(at(address))));
    // Another leaf, whose lanes count from 0 though its first region is gone.
    space.alloc_at(at(500), ()).unwrap();
    (0..31).for_each(|address| assert!(space.alloc_at(at((1 << 20) + address), ()).is_ok()));
    space.free(500).unwrap();
    space.alloc_at(at((1 << 20) + 31), ()).unwrap();
    near.for_each(|address| assert!(space.free(address).is_ok()));
    space.add(span(0, 15)).unwrap();
    space.validate().unwrap();
    assert_eq!(space.span(), span(0, (1 << 22) - 1));
}

/// The rest of a span may begin with a region, which needs a marker before it.
#[test]
fn addresses_before_a_region_are_taken_away() {
    let mut space = space(16);
    space.alloc_at(pages(4, 2), 1).unwrap();
    for gone in [pages(0, 4), pages(8, 2), pages(6, 2), pages(10, 6)] {
        space.remove(gone).unwrap();
        space.validate().unwrap();
    }
    assert_eq!(space.remove(pages(4, 2)), Err(LayoutError::Occupied { region: pages(4, 2) }));
    assert_eq!((space.span(), space.free_blocks().count()), (pages(4, 2), 0));
    space.free(4 * PAGE).unwrap();
    space.validate().unwrap();
    assert_eq!(space.remove(pages(4, 2)), Err(LayoutError::Empty));
    assert_eq!(
        space.remove(pages(5, 2)),
        Err(LayoutError::Outside { span: pages(5, 2), space: pages(4, 2) })
    );
    for back in [pages(0, 4), pages(6, 10)] {
        space.add(back).unwrap();
        space.validate().unwrap();
    }
    assert_eq!(space.free_blocks().collect::<Vec<_>>(), [pages(0, 16)]);
}

/// A guard belongs to no region, at its old place or at its new one, and a walk over regions is past both in one step.
#[test]
fn walks_go_past_guards_and_new_places() {
    let mut space = space(256);
    let guarded = |first| Request::new(PAGE).guard(PAGE).window(pages(first, 2));
    (0..80).for_each(|at| _ = space.alloc(&guarded(2 * u64::from(at)), at).unwrap());
    let token = space.begin_move(0, 200 * PAGE).unwrap();
    space.alloc(&guarded(210), 80).unwrap();
    let mut seen = Vec::new();
    space.clone().into_iter().for_each(|(_, value)| seen.push(value));
    assert_eq!(seen, (0..=80).collect::<Vec<_>>());
    seen.clear();
    space.retain(|_, &mut value| {
        seen.push(value);
        value % 3 == 0
    });
    // The one that moves stays, and is not asked for.
    assert_eq!(seen, (1..=80).collect::<Vec<_>>());
    assert!(space.regions().map(|region| *region.value()).eq((0..80).step_by(3)));
    space.commit_move(token).unwrap();
    space.validate().unwrap();
}

/// Two places of a pending move, and the mark of a carved region.
#[test]
fn moves_and_marks_are_counted() {
    let mut space = space(8);
    space.alloc_at(pages(0, 1), 0).unwrap();
    space.alloc_at(pages(1, 1), 1).unwrap();
    let bytes = |space: &AddressSpace<u32>| space.stats().busy_index_bytes;
    let before = bytes(&space);
    let pending = space.begin_move(0, 4 * PAGE).unwrap();
    let moving = bytes(&space);
    assert!(moving >= before + 4 * size_of::<u64>(), "{moving} bytes, {before} before");
    space.cancel_move(pending).unwrap();
    space.carve::<()>(&Request::new(PAGE), 2, Placement::Lowest).unwrap();
    assert!(bytes(&space) >= moving + 2 * size_of::<u64>());
    space.validate().unwrap();
}
