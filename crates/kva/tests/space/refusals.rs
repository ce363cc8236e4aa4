//! What cannot be served: each reason has an error of its own, under every placement, the value
//! comes back, and an image taken afterwards has the very bytes of the one before. (Memory that is lacking:
//! `out_of_memory`.)

use crate::image;
use freehold_kva::{AddressSpace, AllocError, FreeError, MoveError, Placement, Request, ResizeError};
use freehold_units::{Align, Span};

const PAGE: u64 = 4096;
const HUGE: u64 = u64::MAX - (PAGE - 1);

fn pages(first: u64, count: u64) -> Span {
    Span::from_size(first * PAGE, count * PAGE).unwrap()
}

fn align(bytes: u64) -> Align {
    Align::new(bytes).unwrap()
}

type Space = AddressSpace<u64>;

/// Pages 16 to 31 and 40 to 47, of which 16 to 19 are taken, 20 is their guard, and 44 to 47 are taken.
fn divided(placement: Placement) -> Space {
    let mut space =
        AddressSpace::with_layout(&[pages(40, 8), pages(16, 16)], Align::PAGE, placement).unwrap();
    space.alloc(&Request::new(4 * PAGE).guard(PAGE).window(pages(16, 5)), 1).unwrap();
    space.alloc_at(pages(44, 4), 2).unwrap();
    space
}

fn hull() -> Span {
    pages(16, 32)
}

fn bytes(space: &Space) -> Vec<u8> {
    space.validate().unwrap();
    image(space)
}

/// `operation` changes nothing.
fn unchanged<T>(space: &mut Space, operation: impl FnOnce(&mut Space) -> T) -> T {
    let before = bytes(space);
    let answer = operation(space);
    assert_eq!(bytes(space), before);
    answer
}

/// The error of a request, the same whichever way it is asked.
fn refused(space: &mut Space, request: &Request) -> AllocError {
    let placement = space.placement();
    unchanged(space, |space| {
        let refused = space.alloc(request, 77).unwrap_err();
        assert_eq!(refused.value, 77);
        assert!(!refused.to_string().is_empty());
        let carved = space.carve::<()>(request, 78, Placement::Lowest).unwrap_err();
        assert_eq!((carved.value, carved.cause), (78, refused.cause));
        assert_eq!(space.find(request, placement), Err(refused.cause));
        refused.cause
    })
}

fn too_large(size_bytes: u64, room_bytes: u64, window: Span) -> AllocError {
    AllocError::TooLarge { size_bytes, room_bytes, window }
}

fn requests_without_a_place(placement: Placement) {
    let mut space = divided(placement);
    let granule = Align::PAGE;
    let page = Request::new(PAGE);
    let no_multiple = |size_bytes, align, window| AllocError::NoMultiple { size_bytes, align, window };
    let no_space = |size_bytes, align, window| AllocError::NoSpace {
        size_bytes,
        align,
        window,
        largest_free_bytes: 11 * PAGE,
    };
    let outside = |window| AllocError::WindowOutside { window, space: hull() };
    let (large, half) = (align(64 * PAGE), align(1 << 63));
    let almost = Span::new(22 * PAGE, 23 * PAGE - 2).unwrap();
    for (request, cause) in [
        // Size 0, whatever else.
        (Request::new(0), AllocError::ZeroSize),
        (Request::new(0).guard(PAGE), AllocError::ZeroSize),
        (Request::new(5), AllocError::NotGranular { size_bytes: 5, granule }),
        (page.guard(7), AllocError::NotGranular { size_bytes: 7, granule }),
        (Request::new(HUGE).guard(PAGE), AllocError::SizeOverflow),
        (page.guard(PAGE << 31), AllocError::GuardTooLarge { guard_bytes: PAGE << 31 }),
        // Windows outside, below, above and at both ends of the addresses.
        (page.window(pages(0, 16)), outside(pages(0, 16))),
        (page.window(pages(48, 16)), outside(pages(48, 16))),
        (page.window(Span::new(0, 0).unwrap()), outside(Span::new(0, 0).unwrap())),
        (
            page.window(Span::new(u64::MAX, u64::MAX).unwrap()),
            outside(Span::new(u64::MAX, u64::MAX).unwrap()),
        ),
        // Larger than the space, than all that is between its holes, than the window within it.
        (Request::new(HUGE), too_large(HUGE, 24 * PAGE, hull())),
        (Request::new(25 * PAGE), too_large(25 * PAGE, 24 * PAGE, hull())),
        (Request::new(24 * PAGE).guard(PAGE), too_large(25 * PAGE, 24 * PAGE, hull())),
        (Request::new(3 * PAGE).window(pages(22, 2)), too_large(3 * PAGE, 2 * PAGE, pages(22, 2))),
        // The part of the window that lies in the space.
        (Request::new(3 * PAGE).window(pages(46, 9)), too_large(3 * PAGE, 2 * PAGE, pages(46, 2))),
        (page.window(almost), too_large(PAGE, 4095, almost)),
        // Alignments larger than the space; without a multiple in the window; with too little behind it.
        (page.align(large), no_multiple(PAGE, large, hull())),
        (page.align(half), no_multiple(PAGE, half, hull())),
        // The window reaches beyond the space.
        (
            page.align(align(16 * PAGE)).window(pages(33, 90)),
            no_multiple(PAGE, align(16 * PAGE), pages(33, 15)),
        ),
        (
            page.align(align(16 * PAGE)).window(pages(17, 15)),
            no_multiple(PAGE, align(16 * PAGE), pages(17, 15)),
        ),
        (Request::new(20 * PAGE).align(align(32 * PAGE)), no_multiple(20 * PAGE, align(32 * PAGE), hull())),
        (
            page.window(Span::new(22 * PAGE + 1, 24 * PAGE - 2).unwrap()),
            no_multiple(PAGE, granule, Span::new(22 * PAGE + 1, 24 * PAGE - 2).unwrap()),
        ),
        // Possible, but taken, or a hole.
        (Request::new(12 * PAGE), no_space(12 * PAGE, granule, hull())),
        (Request::new(11 * PAGE).guard(PAGE), no_space(12 * PAGE, granule, hull())),
        (page.align(align(16 * PAGE)), no_space(PAGE, align(16 * PAGE), hull())),
        (page.window(pages(19, 2)), no_space(PAGE, granule, pages(19, 2))),
        (page.window(pages(34, 2)), no_space(PAGE, granule, pages(34, 2))),
        // Without choice, by a guard of either side, in a hole.
        (page.window(pages(20, 1)), AllocError::Occupied { region: pages(16, 4) }),
        (page.guard(PAGE).window(pages(43, 2)), AllocError::Occupied { region: pages(44, 4) }),
        (page.window(pages(34, 1)), AllocError::PlaceOutside { place: pages(34, 1), space: hull() }),
        (page.align(large).window(pages(20, 1)), no_multiple(PAGE, large, pages(20, 1))),
    ] {
        assert_eq!(refused(&mut space, &request), cause, "{request:?}");
    }
}

fn moves_without_a_place(placement: Placement) {
    let mut space = divided(placement);
    let sixteen = align(16 * PAGE);
    space.free(16 * PAGE).unwrap();
    let aligned = Request::new(2 * PAGE).guard(PAGE).align(sixteen).window(pages(16, 3));
    assert_eq!(space.alloc(&aligned, 3).unwrap(), pages(16, 2));
    // Pages 16 to 18 and 44 to 47 are taken now, and 18 is a guard.
    let occupied = |region| MoveError::Place(AllocError::Occupied { region });
    let outside = |place| MoveError::Place(AllocError::PlaceOutside { place, space: hull() });
    for (first, to, error) in [
        (44, 0, outside(pages(0, 4))),
        (44, 30, outside(pages(30, 4))),
        (44, 46, outside(pages(48, 2))),
        (44, 15, occupied(pages(16, 2))),
        // By its guard alone.
        (44, 18, occupied(pages(16, 2))),
        (44, 44, MoveError::SamePlace { region: pages(44, 4) }),
        (16, 32, outside(pages(32, 3))),
        (16, 17, MoveError::Misaligned { region: pages(16, 2), place: pages(17, 3), align: sixteen }),
        (
            44,
            u64::MAX / PAGE - 2,
            MoveError::PastTheEnd { region: pages(44, 4), first: (u64::MAX / PAGE - 2) * PAGE },
        ),
    ] {
        let moved = unchanged(&mut space, |space| space.begin_move(first * PAGE, to * PAGE));
        assert_eq!(moved, Err(error), "{first} {to}");
    }
    for (first, error) in [
        (17 * PAGE, FreeError::Interior { address: 17 * PAGE, region: pages(16, 2) }),
        (22 * PAGE, FreeError::AlreadyFree { address: 22 * PAGE, block: pages(19, 13) }),
        (33 * PAGE, FreeError::Unknown { address: 33 * PAGE }),
    ] {
        let moved = unchanged(&mut space, |space| space.begin_move(first, 20 * PAGE));
        assert_eq!(moved, Err(MoveError::Address(error)), "{first:#x}");
    }
    let mut full = Space::new(Span::ALL, Align::ONE, placement).unwrap();
    full.alloc_at(Span::ALL, 1).unwrap();
    let moved = unchanged(&mut full, |space| space.begin_move(0, 1));
    assert_eq!(moved, Err(MoveError::PastTheEnd { region: Span::ALL, first: 1 }));
}

fn fixed_places(placement: Placement) {
    let mut space = divided(placement);
    let (first, second) = (pages(16, 4), pages(44, 4));
    let outside = |place| AllocError::PlaceOutside { place, space: hull() };
    let occupied = |region| AllocError::Occupied { region };
    for (place, cause) in [
        (Span::new(21 * PAGE, 22 * PAGE).unwrap(), None),
        (Span::new(21 * PAGE + 1, 22 * PAGE - 1).unwrap(), None),
        // The region itself, its last page and more, its guard alone, its guard and more.
        (first, Some(occupied(first))),
        (pages(19, 4), Some(occupied(first))),
        (pages(20, 1), Some(occupied(first))),
        (pages(20, 4), Some(occupied(first))),
        // The highest of two; one that is in the way beyond a hole, or beyond the space.
        (pages(16, 32), Some(occupied(second))),
        (pages(30, 15), Some(occupied(second))),
        (pages(47, 9), Some(occupied(second))),
        // A hole, partly a hole, beyond either end, everything that is higher.
        (pages(33, 2), Some(outside(pages(33, 2)))),
        (pages(31, 2), Some(outside(pages(31, 2)))),
        (pages(38, 3), Some(outside(pages(38, 3)))),
        (pages(0, 2), Some(outside(pages(0, 2)))),
        (pages(48, 2), Some(outside(pages(48, 2)))),
        (Span::new(48 * PAGE, u64::MAX).unwrap(), Some(outside(Span::new(48 * PAGE, u64::MAX).unwrap()))),
    ] {
        let cause = cause.unwrap_or(AllocError::PlaceNotGranular { place, granule: Align::PAGE });
        let refused = unchanged(&mut space, |space| space.alloc_at(place, 77).unwrap_err());
        assert_eq!((refused.value, refused.cause), (77, cause), "{place}");
        assert!(!refused.to_string().is_empty());
        // Who is in the way can be asked.
        if let AllocError::Occupied { region } = cause {
            let owner = space.region_at(region.first()).unwrap();
            assert_eq!((owner.span(), *owner.value()), (region, if region == first { 1 } else { 2 }));
        }
    }
}

fn sizes_in_place(placement: Placement) {
    let mut space = divided(placement);
    space.alloc_at(pages(40, 2), 3).unwrap();
    let granule = Align::PAGE;
    let more_outside = AllocError::PlaceOutside { place: pages(48, 1), space: hull() };
    for (first, size_bytes, error) in [
        (16 * PAGE, 0, AllocError::ZeroSize.into()),
        (16 * PAGE, 1, AllocError::NotGranular { size_bytes: 1, granule }.into()),
        (16 * PAGE, HUGE, AllocError::SizeOverflow.into()),
        // The guard would pass the last address; it would be the last.
        (16 * PAGE, HUGE - 15 * PAGE, AllocError::SizeOverflow.into()),
        (16 * PAGE, HUGE - 16 * PAGE, AllocError::Occupied { region: pages(44, 4) }.into()),
        (44 * PAGE, HUGE - 16 * PAGE, AllocError::SizeOverflow.into()),
        (44 * PAGE, 5 * PAGE, more_outside.into()),
        (40 * PAGE, 5 * PAGE, AllocError::Occupied { region: pages(44, 4) }.into()),
        (16 * PAGE, 16 * PAGE, AllocError::PlaceOutside { place: pages(21, 12), space: hull() }.into()),
        (17 * PAGE, PAGE, FreeError::Interior { address: 17 * PAGE, region: pages(16, 4) }.into()),
        (22 * PAGE, PAGE, FreeError::AlreadyFree { address: 22 * PAGE, block: pages(21, 11) }.into()),
        (33 * PAGE, PAGE, FreeError::Unknown { address: 33 * PAGE }.into()),
    ] {
        let error: ResizeError = error;
        let answer = unchanged(&mut space, |space| space.resize(first, size_bytes));
        assert_eq!(answer, Err(error), "{first:#x} {size_bytes:#x}");
        assert!(!error.to_string().is_empty());
    }
}

fn congruent_areas(placement: Placement) {
    let mut space = divided(placement);
    let granule = Align::PAGE;
    let odd = Span::new(1, PAGE).unwrap();
    let (whole, one) = (Span::ALL, align(1));
    let large = align(1 << 40);
    let too_large = |size: u64, room: u64, window| too_large(size * PAGE, room * PAGE, window);
    let outside = |window| AllocError::WindowOutside { window, space: hull() };
    for (areas, align, window, cause) in [
        (&[][..], one, whole, AllocError::ZeroSize),
        (&[odd], one, whole, AllocError::AreaNotGranular { area: 0, granule }),
        (&[pages(0, 1), odd], one, whole, AllocError::AreaNotGranular { area: 1, granule }),
        (
            &[pages(0, 2), pages(4, 1), pages(1, 1)],
            one,
            whole,
            AllocError::AreasOverlap { area: 0, other: 2 },
        ),
        (&[pages(0, 1)], one, pages(0, 16), outside(pages(0, 16))),
        (&[pages(0, 25)], one, whole, too_large(25, 24, hull())),
        (&[pages(0, 1), pages(32, 1)], one, whole, too_large(33, 24, hull())),
        (&[pages(3, 1), pages(6, 1)], one, pages(21, 3), too_large(4, 3, pages(21, 3))),
        (
            &[pages(0, 1), pages(2, 1)],
            large,
            whole,
            AllocError::NoMultiple { size_bytes: 2 * PAGE, align: large, window: hull() },
        ),
        (
            &[pages(0, 6), pages(7, 6)],
            one,
            whole,
            AllocError::NoSpace {
                size_bytes: 12 * PAGE,
                align: granule,
                window: hull(),
                largest_free_bytes: 11 * PAGE,
            },
        ),
    ] {
        let asked: Vec<(Span, u64)> = areas.iter().map(|&area| (area, 9)).collect();
        let refused =
            unchanged(&mut space, |space| space.alloc_congruent(asked.clone(), align, window).unwrap_err());
        assert_eq!((refused.value, refused.cause), (asked, cause));
    }
    // A base may lie below the space: only the areas need not.
    let high = vec![(pages(30, 1), 5)];
    assert_eq!(space.alloc_congruent(high, large, whole).unwrap(), 0);
}

/// At granule 1 over all addresses nothing is out of reach but what is taken, at either end.
fn both_ends(placement: Placement) {
    let mut space = Space::new(Span::ALL, Align::ONE, placement).unwrap();
    let at = |address| Span::new(address, address).unwrap();
    for address in [0, u64::MAX] {
        assert_eq!(space.alloc(&Request::new(1).window(at(address)), 1).unwrap(), at(address));
        let cause = AllocError::Occupied { region: at(address) };
        assert_eq!(refused(&mut space, &Request::new(1).window(at(address))), cause);
        let taken = unchanged(&mut space, |space| space.alloc_at(at(address), 2).unwrap_err());
        assert_eq!(taken.cause, AllocError::Occupied { region: at(address) });
    }
    let half = align(1 << 63);
    let above = Span::new((1 << 63) + 1, u64::MAX).unwrap();
    let cause = AllocError::NoMultiple { size_bytes: 1, align: half, window: above };
    assert_eq!(refused(&mut space, &Request::new(1).align(half).window(above)), cause);
    let cause = too_large(u64::MAX, (1 << 63) - 1, above);
    assert_eq!(refused(&mut space, &Request::new(u64::MAX).window(above)), cause);
    let cause = AllocError::NoSpace {
        size_bytes: u64::MAX,
        align: Align::ONE,
        window: Span::ALL,
        largest_free_bytes: u64::MAX - 1,
    };
    assert_eq!(refused(&mut space, &Request::new(u64::MAX)), cause);
    let beyond = unchanged(&mut space, |space| space.resize(u64::MAX, 2));
    assert_eq!(beyond, Err(AllocError::SizeOverflow.into()));
    assert_eq!(space.resize(0, u64::MAX - 1), Ok(Span::new(0, u64::MAX - 2).unwrap()));
}

/// A message names the part of the window that lies in the space, and sizes that differ.
#[test]
fn messages_name_what_counted() {
    let span = Span::from_size(0x10_0000, 1 << 20).unwrap();
    let mut space: AddressSpace<u64> = AddressSpace::new(span, Align::PAGE, Default::default()).unwrap();
    let message = |refused: AllocError| refused.to_string();
    let too_large = space.alloc(&Request::new((1 << 20) + PAGE), 1).unwrap_err();
    assert_eq!(
        message(too_large.cause),
        "1052672 B is more than the 1048576 B there are in 0x100000..=0x1fffff"
    );
    space.alloc_at(span, 1).unwrap();
    let full = "no room for 4 KiB aligned to 4 KiB in 0x100000..=0x1fffff; the largest free block has 0 B";
    let refused = space.alloc(&Request::new(PAGE), 1).unwrap_err();
    assert_eq!(message(refused.cause), full);
    let congruent = space.alloc_congruent(vec![(pages(0, 1), 1)], Align::PAGE, Span::ALL).unwrap_err();
    assert_eq!(message(congruent.cause), full);
    space.free(span.first()).unwrap();
    let mut bridge: AddressSpace<u64> = space.carve(&Request::new(64 * PAGE), 1, Default::default()).unwrap();
    bridge.alloc_at(pages(256, 64), 2).unwrap();
    let refused = bridge.alloc(&Request::new(PAGE), 3).unwrap_err();
    assert!(message(refused.cause).contains(" in 0x100000..=0x13ffff;"), "{refused}");
}

#[test]
fn an_empty_window_cannot_be_asked_for() {
    assert_eq!(Span::new(0x2000, 0x1fff), None);
    let page = Request::new(PAGE);
    let empty = AllocError::WindowEmpty { first: 0x2000, last: 0x1fff };
    assert_eq!(page.within(0x2000, 0x1fff), Err(empty));
    assert_eq!(empty.to_string(), "a window from 0x2000 to 0x1fff is empty");
    assert_eq!(page.within(u64::MAX, 0), Err(AllocError::WindowEmpty { first: u64::MAX, last: 0 }));
    assert_eq!(page.within(0, u64::MAX), Ok(page));
    assert_eq!(page.within(7, 7), Ok(page.window(Span::new(7, 7).unwrap())));
}

each_placement!(
    { lowest: Lowest, highest: Highest, best_fit: BestFit },
    requests_without_a_place,
    moves_without_a_place,
    fixed_places,
    sizes_in_place,
    congruent_areas,
    both_ends,
);
