//! The stated rules one by one: ends of the addresses, guards, alignments, owners, panics of the caller's code.

use crate::{PLACEMENTS, image, restored};
use freehold_kva::{
    AddressSpace, AllocError, FreeError, FreeRangeError, MergeError, Placement, Request, SplitError,
};
use freehold_units::{Align, Span};
use std::cell::Cell;
use std::ops::RangeBounds;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

const PAGE: u64 = 4096;

fn pages(first: u64, count: u64) -> Span {
    Span::from_size(first * PAGE, count * PAGE).unwrap()
}

/// 64 pages of which a region with a guard has 4 to 12 and 12 to 14, and another 14 to 18.
fn space(placement: Placement) -> AddressSpace<u64> {
    let mut space = AddressSpace::new(pages(0, 64), Align::PAGE, placement).unwrap();
    // Under best fit, there are blocks by size.
    let first = space.alloc(&Request::new(PAGE), 9).unwrap();
    space.free(first.first()).unwrap();
    space.alloc_at_guarded(pages(4, 8), 2 * PAGE, 1).unwrap();
    space.alloc_at(pages(14, 4), 2).unwrap();
    space
}

/// Runs something that must change nothing.
fn unchanged<T>(space: &mut AddressSpace<u64>, refused: impl FnOnce(&mut AddressSpace<u64>) -> T) -> T {
    let before = image(space);
    let answer = refused(space);
    space.validate().unwrap();
    assert_eq!(image(space), before);
    answer
}

fn regions(space: &AddressSpace<u64>) -> Vec<(Span, Option<Span>, u64)> {
    space.validate().unwrap();
    space.regions().map(|region| (region.span(), region.guard(), *region.value())).collect()
}

/// What a range had, from both ends.
fn freed(space: &mut AddressSpace<u64>, range: impl RangeBounds<u64>) -> Vec<(Span, u64)> {
    let mut freed = space.free_range(range).unwrap();
    let len = freed.len();
    let last = freed.next_back();
    let all: Vec<_> = freed.chain(last).collect();
    assert_eq!(all.len(), len);
    all
}

fn guards_stay_with_the_end(placement: Placement) {
    let guard = Some(pages(12, 2));
    let mut cut = space(placement);
    assert_eq!(cut.split_at(6 * PAGE), Ok((pages(4, 2), pages(6, 6))));
    let all = [(pages(4, 2), None, 1), (pages(6, 6), guard, 1), (pages(14, 4), None, 2)];
    assert_eq!(regions(&cut), all);
    let guarded = MergeError::Guarded { region: pages(6, 6), guard: pages(12, 2) };
    assert_eq!(unchanged(&mut cut, |space| space.merge(6 * PAGE)), Err(guarded));
    assert_eq!(cut.merge(4 * PAGE), Ok((pages(4, 8), 1)));
    assert_eq!(cut, space(placement));

    // A range that has only addresses of a guard, or begins in one.
    let nothing = unchanged(&mut cut, |space| freed(space, pages(12, 2)));
    assert_eq!(nothing, []);
    assert_eq!(freed(&mut cut, pages(13, 2)), [(pages(14, 1), 2)]);
    assert_eq!(regions(&cut), [(pages(4, 8), guard, 1), (pages(15, 3), None, 2)]);
    // One that ends in a guard, or before it, has the region's end and so the guard.
    for count in [2, 3, 4] {
        let mut cut = space(placement);
        assert_eq!(freed(&mut cut, pages(10, count)), [(pages(10, 2), 1)]);
        assert_eq!(regions(&cut), [(pages(4, 6), None, 1), (pages(14, 4), None, 2)]);
        assert!(cut.free_blocks().eq([pages(0, 4), pages(10, 4), pages(18, 46)]));
    }
    // A hole in the middle: the upper part has the guard.
    let mut cut = space(placement);
    assert_eq!(freed(&mut cut, pages(6, 2)), [(pages(6, 2), 1)]);
    let all = [(pages(4, 2), None, 1), (pages(8, 4), guard, 1), (pages(14, 4), None, 2)];
    assert_eq!(regions(&cut), all);
    // And a restored one is the same.
    let again: AddressSpace<u64> = restored(&image(&cut), placement);
    assert_eq!((&again, regions(&again)), (&cut, regions(&cut)));
}

fn parts_have_what_their_start_has_of_the_alignment(placement: Placement) {
    let mut space = AddressSpace::new(pages(0, 64), Align::PAGE, placement).unwrap();
    let request = Request::new(16 * PAGE).align_bytes(16 * PAGE).window(pages(16, 32));
    let region = space.alloc_with(&request, Placement::Lowest, 1).unwrap();
    assert_eq!(region, pages(16, 16));
    space.split_at(20 * PAGE).unwrap();
    let misaligned = |space: &mut AddressSpace<u64>, first: u64, to: u64| {
        let answer = space.begin_move(first * PAGE, to * PAGE);
        answer.map(|token| space.cancel_move(token).unwrap()).is_err()
    };
    assert_eq!([32, 40].map(|to| misaligned(&mut space, 16, to)), [false, true]);
    assert_eq!([36, 38].map(|to| misaligned(&mut space, 20, to)), [false, true]);
    // Merged again, it has the first one's.
    space.merge(16 * PAGE).unwrap();
    assert_eq!([32, 40].map(|to| misaligned(&mut space, 16, to)), [false, true]);
    // A part that stays above a range begins at its own start.
    space.free_range(pages(16, 2)).unwrap();
    assert_eq!([34, 33].map(|to| misaligned(&mut space, 18, to)), [false, true]);
}

fn refusals_name_the_owner(placement: Placement) {
    let mut space = space(placement);
    let (one, two) = (pages(4, 8), pages(14, 4));
    for (address, error) in [
        (5 * PAGE + 1, SplitError::NotGranular { address: 5 * PAGE + 1, granule: Align::PAGE }),
        (4 * PAGE, SplitError::AtStart { region: one }),
        (12 * PAGE, SplitError::InGuard { address: 12 * PAGE, region: one }),
        (0, SplitError::Address(FreeError::AlreadyFree { address: 0, block: pages(0, 4) })),
        (64 * PAGE, SplitError::Address(FreeError::Unknown { address: 64 * PAGE })),
    ] {
        assert_eq!(unchanged(&mut space, |space| space.split_at(address)), Err(error));
    }
    for (first, error) in [
        (14, MergeError::NoNeighbour { region: two }),
        (5, MergeError::Address(FreeError::Interior { address: 5 * PAGE, region: one })),
    ] {
        assert_eq!(unchanged(&mut space, |space| space.merge(first * PAGE)), Err(error));
    }
    for span in [Span::new(5, 2 * PAGE - 1).unwrap(), Span::new(0, PAGE).unwrap()] {
        let error = FreeRangeError::NotGranular { span, granule: Align::PAGE };
        assert_eq!(unchanged(&mut space, |space| space.free_range(span).map(|_| ())), Err(error));
    }
    for (span, error) in [
        (pages(4, 7), FreeError::OtherSpan { span: pages(4, 7), region: one }),
        // With its guard, it is another span.
        (pages(4, 10), FreeError::OtherSpan { span: pages(4, 10), region: one }),
        (pages(5, 7), FreeError::Interior { address: 5 * PAGE, region: one }),
        (pages(0, 4), FreeError::AlreadyFree { address: 0, block: pages(0, 4) }),
    ] {
        assert_eq!(unchanged(&mut space, |space| space.free_exact(span)), Err(error));
    }
    assert_eq!(space.free_exact(one), Ok(1));
    assert_eq!(regions(&space), [(two, None, 2)]);
}

fn what_a_move_or_a_sub_space_has_is_left_alone(placement: Placement) {
    let mut space = space(placement);
    let (one, two) = (pages(4, 8), pages(14, 4));
    let token = space.begin_move(14 * PAGE, 24 * PAGE).unwrap();
    let moving = FreeError::Moving { region: two };
    for page in [14, 15, 24, 25] {
        let split = unchanged(&mut space, |space| space.split_at(page * PAGE));
        assert_eq!(split, Err(SplitError::Address(moving)));
        let freed = unchanged(&mut space, |space| space.free_range(pages(page, 1)).map(|_| ()));
        assert_eq!(freed, Err(FreeRangeError::Moving { region: two }));
    }
    // Regions below come first, and are not freed.
    for range in [pages(0, 15), pages(0, 64), pages(20, 5)] {
        let freed = unchanged(&mut space, |space| space.free_range(range).map(|_| ()));
        assert_eq!(freed, Err(FreeRangeError::Moving { region: two }));
    }
    assert_eq!(unchanged(&mut space, |space| space.clear()), Err(FreeRangeError::Moving { region: two }));
    assert_eq!(unchanged(&mut space, |space| space.free_exact(two)), Err(moving));
    space.alloc_at(pages(28, 1), 3).unwrap();
    space.alloc_at(pages(23, 1), 3).unwrap();
    assert_eq!(unchanged(&mut space, |space| space.merge(23 * PAGE)), Err(MergeError::Address(moving)));
    assert_eq!(unchanged(&mut space, |space| space.merge(14 * PAGE)), Err(MergeError::Address(moving)));
    space.cancel_move(token).unwrap();

    let child: AddressSpace<u64> =
        space.carve(&Request::new(2 * PAGE).window(pages(18, 2)), 2, placement).unwrap();
    let carved = FreeError::Carved { region: child.span() };
    assert_eq!(unchanged(&mut space, |space| space.merge(14 * PAGE)), Err(MergeError::Address(carved)));
    let split = unchanged(&mut space, |space| space.split_at(19 * PAGE));
    assert_eq!(split, Err(SplitError::Address(carved)));
    for range in [pages(0, 19), pages(19, 1), pages(0, 64)] {
        let freed = unchanged(&mut space, |space| space.free_range(range).map(|_| ()));
        assert_eq!(freed, Err(FreeRangeError::Carved { region: child.span() }));
    }
    let mut asked = Vec::new();
    space.retain(|span, _| {
        asked.push(span);
        false
    });
    assert_eq!(asked, [one, two, pages(23, 1), pages(28, 1)]);
    assert_eq!(regions(&space), [(child.span(), None, 2)]);
    assert_eq!(space.take_back(child).unwrap(), (pages(18, 2), 2));
}

fn both_ends_of_the_addresses(placement: Placement) {
    let mut whole = AddressSpace::new(Span::ALL, Align::ONE, placement).unwrap();
    whole.alloc_at(Span::ALL, 7).unwrap();
    assert!(whole.allocated_ranges().eq([Span::ALL]));
    assert_eq!(
        unchanged(&mut whole, |space| space.merge(0)),
        Err(MergeError::NoNeighbour { region: Span::ALL })
    );
    // No region is behind the last address, although one starts at the first.
    let mut paged = AddressSpace::new(Span::ALL, Align::PAGE, placement).unwrap();
    let top = Span::new(u64::MAX - 4095, u64::MAX).unwrap();
    [pages(0, 1), top].into_iter().for_each(|span| _ = paged.alloc_at(span, 7).unwrap());
    let alone = Err(MergeError::NoNeighbour { region: top });
    assert_eq!(unchanged(&mut paged, |space| space.merge(top.first())), alone);
    let (low, high) = whole.split_at(u64::MAX).unwrap();
    assert_eq!((low.size_bytes(), high), ((1 << 64) - 1, Span::new(u64::MAX, u64::MAX).unwrap()));
    whole.validate().unwrap();
    assert_eq!(whole.merge(0), Ok((Span::ALL, 7)));
    whole.split_at(1).unwrap();
    assert_eq!(freed(&mut whole, 0..1), [(Span::new(0, 0).unwrap(), 7)]);
    assert_eq!(freed(&mut whole, u64::MAX..=u64::MAX), [(high, 7)]);
    assert_eq!((regions(&whole).len(), whole.stats().free_bytes), (1, 2));
    // In the middle, and all.
    assert_eq!(whole.free_range((1 << 63)..=(1 << 63)).unwrap().len(), 1);
    assert_eq!(regions(&whole).len(), 2);
    assert_eq!(whole.free_range(..).unwrap().len(), 2);
    assert_eq!((whole.stats().free_bytes, whole.stats().free_blocks), (1 << 64, 1));
    assert_eq!((whole.stats().fragmentation(), whole.free_sizes().blocks()[64]), (0.0, 1));
    // Ranges without an address, or without one of the space.
    let mut space = space(placement);
    for range in [0..0, 5..5, (1 << 40)..(1 << 41)] {
        assert_eq!(unchanged(&mut space, |space| freed(space, range)), []);
    }
    let mut empty = AddressSpace::<u64>::new(pages(0, 1), Align::PAGE, placement).unwrap();
    assert_eq!(unchanged(&mut empty, |space| freed(space, ..)), []);
    assert_eq!((empty.clear(), empty.allocated_ranges().count()), (Ok(()), 0));
}

fn a_guard_at_a_fixed_place(placement: Placement) {
    let mut space = space(placement);
    let mut refused = |span, guard_bytes| {
        let rejected =
            unchanged(&mut space, |space| space.alloc_at_guarded(span, guard_bytes, 5)).unwrap_err();
        assert_eq!(rejected.value, 5);
        rejected.cause
    };
    let occupied = AllocError::Occupied { region: pages(4, 8) };
    assert_eq!(refused(pages(2, 2), PAGE), occupied);
    assert_eq!(refused(pages(12, 1), PAGE), occupied);
    assert_eq!(refused(pages(2, 2), 1), AllocError::NotGranular { size_bytes: 1, granule: Align::PAGE });
    let odd = Span::new(0, PAGE).unwrap();
    assert_eq!(refused(odd, PAGE), AllocError::PlaceNotGranular { place: odd, granule: Align::PAGE });
    let outside = AllocError::PlaceOutside { place: pages(62, 3), space: pages(0, 64) };
    assert_eq!(refused(pages(62, 2), PAGE), outside);
    let top = Span::new(u64::MAX - (PAGE - 1), u64::MAX).unwrap();
    assert_eq!(refused(top, PAGE), AllocError::SizeOverflow);
    assert_eq!(refused(pages(2, 1), PAGE << 31), AllocError::GuardTooLarge { guard_bytes: PAGE << 31 });
    assert_eq!(space.alloc_at_guarded(pages(2, 1), PAGE, 5), Ok(pages(2, 1)));
    assert_eq!(space.guard_at(3 * PAGE).unwrap().span(), pages(2, 1));
    assert_eq!(space.alloc_at_guarded(pages(62, 1), PAGE, 6), Ok(pages(62, 1)));
    space.validate().unwrap();
}

/// Counts the values that are alive.
struct Counted {
    alive: Rc<Cell<i64>>,
    panics_when_dropped: bool,
}

impl Counted {
    fn new(alive: &Rc<Cell<i64>>) -> Self {
        alive.set(alive.get() + 1);
        Self { alive: Rc::clone(alive), panics_when_dropped: false }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.alive.set(self.alive.get() - 1);
        assert!(!self.panics_when_dropped, "this drop was to panic");
    }
}

/// 40 regions of two pages side by side.
fn counted(placement: Placement, alive: &Rc<Cell<i64>>) -> AddressSpace<Counted> {
    let mut space = AddressSpace::new(pages(0, 80), Align::PAGE, placement).unwrap();
    for _ in 0..40 {
        space.alloc(&Request::new(2 * PAGE), Counted::new(alive)).unwrap();
    }
    space
}

fn panics_lose_nothing(placement: Placement) {
    let alive = Rc::new(Cell::new(0));
    let mut space: AddressSpace<Counted> = counted(placement, &alive);
    let state = |space: &AddressSpace<Counted>| {
        space.validate().unwrap();
        assert_eq!(space.len() as i64, alive.get());
        space.len()
    };
    // A split that panics: at once, and for the second cut when the first has made a value.
    let split = |_: Span, _: Span, _: &Counted| -> Counted { panic!("this split was to panic") };
    assert!(catch_unwind(AssertUnwindSafe(|| space.split_at_with(PAGE, split))).is_err());
    let calls = Cell::new(0);
    let second = |_: Span, _: Span, _: &Counted| {
        calls.set(calls.get() + 1);
        assert_ne!(calls.get(), 2, "this split was to panic");
        Counted::new(&alive)
    };
    let ranges = || space.free_range_with(PAGE..9 * PAGE, second, |_, _| {});
    assert!(catch_unwind(AssertUnwindSafe(ranges)).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| space.merge_with(0, |_, _| panic!("was to panic")))).is_err());
    assert_eq!(state(&space), 40);

    // What is freed while the caller panics: all the same, the whole range.
    let new = |_: Span, _: Span, _: &Counted| Counted::new(&alive);
    let freed = |span: Span, _: Counted| assert!(span.first() < 4 * PAGE, "this was to panic");
    let ranges = || space.free_range_with(PAGE..9 * PAGE, new, freed);
    assert!(catch_unwind(AssertUnwindSafe(ranges)).is_err());
    assert_eq!(state(&space), 37);
    assert_eq!(space.free_blocks().next(), Some(pages(1, 8)));

    // Drops that panic: the others are dropped, and the space is empty.
    space.value_at_mut(20 * PAGE).unwrap().panics_when_dropped = true;
    assert!(catch_unwind(AssertUnwindSafe(|| space.clear())).is_err());
    assert_eq!((state(&space), space.stats().free_bytes), (0, u128::from(80 * PAGE)));

    let mut space: AddressSpace<Counted> = counted(placement, &alive);
    space.value_at_mut(20 * PAGE).unwrap().panics_when_dropped = true;
    assert!(catch_unwind(AssertUnwindSafe(|| space.retain(|_, _| false))).is_err());
    assert_eq!((state(&space), space.regions().next().unwrap().span()), (29, pages(22, 2)));
    let asked = Cell::new(0);
    let keep = |_: Span, _: &mut Counted| {
        asked.set(asked.get() + 1);
        assert_ne!(asked.get(), 5, "this was to panic");
        false
    };
    assert!(catch_unwind(AssertUnwindSafe(|| space.retain(keep))).is_err());
    assert_eq!(state(&space), 25);
    drop(space);
    assert_eq!(alive.get(), 0);
}

fn a_reserved_place_is_nobodys(placement: Placement) {
    let mut space = space(placement);
    let request = Request::new(2 * PAGE).guard(PAGE);
    let before = image(&space);
    let found = space.find(&request, placement).unwrap();
    // Unless it is committed, it is given up.
    assert_eq!(space.reserve(&request).unwrap().span(), found);
    space.reserve(&request).unwrap().cancel();
    assert_eq!(image(&space), before);
    let pending = space.reserve(&request).unwrap();
    assert_eq!((pending.span(), pending.guard().unwrap().size_bytes()), (found, u128::from(PAGE)));
    assert_eq!(pending.commit(4), found);
    let mut again: AddressSpace<u64> = restored(&before, placement);
    assert_eq!(again.alloc(&request, 4), Ok(found));
    assert_eq!(again, space);
    assert_eq!(space.reserve(&Request::new(0)).unwrap_err(), AllocError::ZeroSize);
    space.validate().unwrap();
}

each_placement!(
    { lowest: Lowest, highest: Highest, best_fit: BestFit },
    guards_stay_with_the_end,
    parts_have_what_their_start_has_of_the_alignment,
    refusals_name_the_owner,
    what_a_move_or_a_sub_space_has_is_left_alone,
    both_ends_of_the_addresses,
    a_guard_at_a_fixed_place,
    panics_lose_nothing,
    a_reserved_place_is_nobodys,
);

/// Areas of a congruent request are regions like others afterwards: only their places were chosen together.
#[test]
fn a_congruent_area_is_cut_for_itself() {
    for placement in PLACEMENTS {
        let mut space = AddressSpace::new(pages(0, 64), Align::PAGE, placement).unwrap();
        let areas = vec![(pages(0, 4), 1), (pages(16, 4), 2)];
        let base = space.alloc_congruent(areas, Align::PAGE, Span::ALL).unwrap() / PAGE;
        space.split_at((base + 2) * PAGE).unwrap();
        space.free_range(pages(base + 17, 1)).unwrap();
        let all = [
            (pages(base, 2), None, 1),
            (pages(base + 2, 2), None, 1),
            (pages(base + 16, 1), None, 2),
            (pages(base + 18, 2), None, 2),
        ];
        assert_eq!(regions(&space), all);
    }
}

#[test]
fn addresses_are_hexadecimal_wherever_they_are_shown() {
    let address = 0xc000;
    let block = Span::new(0x1000, 0x1fff).unwrap();
    let shown = [
        format!("{:?}", FreeError::AlreadyFree { address, block }),
        format!("{:?}", SplitError::Address(FreeError::Unknown { address })),
        format!("{:?}", AllocError::WindowEmpty { first: 16, last: 15 }),
        format!("{:?}", freehold_kva::MoveError::Ended { first: address }),
        format!("{:?}", freehold_kva::image::RestoreError::<()>::Move { address }),
    ];
    let wanted = [
        "AlreadyFree { address: 0xc000, block: 0x1000..=0x1fff }",
        "Address(Unknown { address: 0xc000 })",
        "WindowEmpty { first: 0x10, last: 0xf }",
        "Ended { first: 0xc000 }",
        "Move { address: 0xc000 }",
    ];
    assert_eq!(shown, wanted);
    let mut space = AddressSpace::new(pages(0, 64), Align::PAGE, Placement::Lowest).unwrap();
    space.alloc_at(pages(12, 1), ()).unwrap();
    let token = space.begin_move(12 * PAGE, 16 * PAGE).unwrap();
    assert_eq!(format!("{token:?}"), "PendingMove { from: 0xc000, to: 0x10000, .. }");
    let whole = "AddressSpace { span: 0x0..=0x3ffff, granule: Align(0x1000), placement: Lowest, stats: ";
    assert!(format!("{space:?}").starts_with(whole), "{space:?}");
    space.commit_move(token).unwrap();
    let regions =
        "[Region { span: 0x10000..=0x10fff, guard: None, moving_to: None, value: (), is_carved: false }]";
    assert_eq!(format!("{:?}", space.regions()), regions);
    assert_eq!(format!("{:?}", space.clone().free_range(..).unwrap()), "[(0x10000..=0x10fff, ())]");
    assert_eq!(format!("{:?}", space.into_iter()), format!("IntoRegions({regions})"));
}
