//! Regions that are cut, merged and freed in part: every request for memory of theirs refused in turn, in trees of every
//! height up to two inner levels; and what asks for none.

use super::moves::{Space, above, filled, refuse_each};
use super::refusing::{NONE_REFUSED, watched};
use super::{PAGE, pages};
use freehold_kva::{AllocError, FreeRangeError, OutOfMemory, Placement, Request, SplitError};
use freehold_units::Span;

/// Three regions above the rest: 8 pages, 4 pages with a guard, 8 pages; and a page far above.
fn three(space: &mut Space, taken: u64) {
    space.alloc_at(pages(above(taken), 8), 1).unwrap();
    space.alloc_at_guarded(pages(above(taken) + 8, 4), PAGE, 2).unwrap();
    space.alloc_at(pages(above(taken) + 13, 8), 3).unwrap();
    // A request under the space's placement: the first for best fit makes the blocks by size.
    space.alloc(&Request::new(PAGE).window(pages(above(taken) + 100, 1)), 4).unwrap();
}

/// [`refuse_each`] after [`three`] and a few more regions: memory is asked for where those before have used up what was in
/// reserve.
fn refuse_after(
    placement: Placement,
    start: impl Fn(&mut Space, u64),
    operation: impl Fn(&mut Space, u64) -> Result<(), OutOfMemory>,
) -> u64 {
    let after = |more: u64| {
        let started = |space: &mut Space, taken: u64| {
            three(space, taken);
            for at in 0..more {
                space.alloc_at(pages(above(taken) + 200 + 2 * at, 1), at).unwrap();
            }
            start(space, taken);
        };
        refuse_each(placement, started, &operation)
    };
    (0..24).map(after).sum()
}

fn range(taken: u64, first: u64, count: u64) -> Span {
    pages(above(taken) + first, count)
}

fn lacking(error: FreeRangeError) -> OutOfMemory {
    assert_eq!(error, FreeRangeError::OutOfMemory);
    OutOfMemory
}

/// The sum of requests of ranges freed with a list of what was freed, and without one.
fn ranges_survive(placement: Placement, span: impl Fn(u64) -> Span) -> (u64, u64) {
    let listed = refuse_after(
        placement,
        |_, _| (),
        |space, taken| space.free_range(span(taken)).map(|freed| assert!(freed.len() > 0)).map_err(lacking),
    );
    let unlisted = refuse_after(
        placement,
        |_, _| (),
        |space, taken| space.free_range_with(span(taken), |_, _, &value| value, |_, _| {}).map_err(lacking),
    );
    (listed, unlisted)
}

fn splits_survive(placement: Placement) {
    let requests = refuse_after(
        placement,
        |_, _| (),
        |space, taken| {
            let answer = space.split_at(range(taken, 3, 1).first());
            answer.map(|_| ()).map_err(|error| {
                assert_eq!(error, SplitError::OutOfMemory);
                OutOfMemory
            })
        },
    );
    assert!(requests > 0);
}

fn merges_ask_for_nothing(placement: Placement) {
    let cut = |space: &mut Space, taken| {
        space.split_at(range(taken, 3, 1).first()).unwrap();
    };
    let requests = refuse_after(placement, cut, |space, taken| {
        assert_eq!(space.merge(range(taken, 0, 1).first()), Ok((range(taken, 0, 8), 1)));
        Ok(())
    });
    assert_eq!(requests, 0);
}

/// What is left out for want of memory only makes searches faster: no space is refused.
fn retaining_and_clearing_are_never_refused(placement: Placement) {
    let retained = refuse_after(
        placement,
        |_, _| (),
        |space, _| {
            space.retain(|_, value| *value % 3 == 0);
            Ok(())
        },
    );
    let cleared = refuse_after(
        placement,
        |_, _| (),
        |space, _| {
            space.clear().unwrap();
            Ok(())
        },
    );
    assert_eq!((retained, cleared), (0, 0));
}

fn guarded_places_survive(placement: Placement) {
    let requests = refuse_after(
        placement,
        |_, _| (),
        |space, taken| {
            let answer = space.alloc_at_guarded(range(taken, 30, 2), PAGE, 9).map(|_| ());
            answer.map_err(|rejected| {
                assert_eq!((rejected.cause, rejected.value), (AllocError::OutOfMemory, 9));
                OutOfMemory
            })
        },
    );
    assert!(requests > 0);
}

/// A place that is reserved has all the memory that it takes.
fn a_reserved_place_is_taken_without_memory(placement: Placement) {
    let request = |taken| Request::new(2 * PAGE).guard(PAGE).window(range(taken, 24, 3));
    let requests = refuse_after(
        placement,
        |_, _| (),
        |space, taken| {
            let pending = space.reserve(&request(taken)).map_err(|error| {
                assert_eq!(error, AllocError::OutOfMemory);
                OutOfMemory
            })?;
            let span = pending.span();
            assert_eq!(pending.commit(9), span);
            Ok(())
        },
    );
    assert!(requests > 0);
    for taken in [1, 15, 16, 17, 290] {
        let mut space: Space = filled(placement, taken);
        three(&mut space, taken);
        for at in 0..40 {
            let request = Request::new(PAGE).window(range(taken, 200 + 2 * at, 1));
            let pending = space.reserve(&request).unwrap();
            assert_eq!(watched(NONE_REFUSED, || pending.commit(9)).1, 0);
        }
        space.validate().unwrap();
    }
}

fn survive(placement: Placement) {
    let by_size = placement == Placement::BestFit;
    // One region cut in the middle; the ends of two; a whole one and its guard.
    let (in_one, without_list) = ranges_survive(placement, |taken| range(taken, 2, 3));
    assert!(in_one == without_list && without_list > 0, "{in_one} {without_list}");
    let (over_three, without_list) = ranges_survive(placement, |taken| range(taken, 4, 12));
    assert!(over_three > without_list && without_list > 0);
    let (whole, without_list) = ranges_survive(placement, |taken| range(taken, 4, 8));
    assert!(whole > without_list && (without_list > 0) == by_size, "{without_list}");
    let (_, everything) = ranges_survive(placement, |_| Span::ALL);
    assert_eq!(everything > 0, by_size, "{everything}");
    splits_survive(placement);
    merges_ask_for_nothing(placement);
    retaining_and_clearing_are_never_refused(placement);
    guarded_places_survive(placement);
    a_reserved_place_is_taken_without_memory(placement);
}

#[test]
fn parts() {
    survive(Placement::Lowest);
}

#[test]
fn parts_from_above() {
    survive(Placement::Highest);
}

#[test]
fn parts_with_blocks_by_size() {
    survive(Placement::BestFit);
}

/// Many holes in the layout: with blocks by size, each has a block of its own, and memory for all is set aside.
#[test]
fn a_range_over_holes() {
    let spans: Vec<Span> = (0..300).map(|at| pages(at * 4, 3)).collect();
    let new = || {
        let mut space = Space::with_layout(&spans, freehold_units::Align::PAGE, Placement::BestFit).unwrap();
        for at in 0..300 {
            space.alloc(&Request::new(3 * PAGE), at).unwrap();
        }
        space.clone()
    };
    for refused in 0.. {
        let mut space = new();
        let (answer, requests) =
            watched(refused, || space.free_range_with(.., |_, _, &value| value, |_, _| {}));
        space.validate().unwrap();
        if answer.is_ok() {
            assert!(requests > 3 && requests <= refused);
            assert_eq!((space.len(), space.stats().free_blocks), (0, 300));
            return;
        }
        assert_eq!((answer, space.len()), (Err(FreeRangeError::OutOfMemory), 300));
    }
}

/// Of two regions side by side, both cut, nothing is freed whole: there is no list to take memory for.
#[test]
fn cuts_at_both_ends_take_no_memory() {
    for placement in [Placement::Lowest, Placement::Highest] {
        let mut space =
            freehold_kva::AddressSpace::new(pages(0, 64), freehold_units::Align::PAGE, placement).unwrap();
        [pages(8, 4), pages(12, 4)].into_iter().for_each(|span| _ = space.alloc_at(span, 7u64).unwrap());
        let (freed, requests) = watched(0, || space.free_range(pages(10, 4)));
        assert_eq!((freed.map(|freed| freed.len()), requests), (Ok(2), 0));
        space.validate().unwrap();
    }
}
