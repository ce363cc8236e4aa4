//! Moves, rearrangements, addresses taken away and placements of a request's own: every request for memory of theirs
//! refused in turn, in trees of every height up to two inner levels; and ends of moves, which ask for none, however many
//! are pending and whatever was done since they began.

use super::refusing::{NONE_REFUSED, watched};
use super::{PAGE, pages};
use freehold_kva::{
    AddressSpace, AllocError, LayoutError, MoveError, OutOfMemory, PendingMove, Placement, Request,
};
use freehold_units::{Align, Span};

pub(super) type Space = AddressSpace<u64>;

/// Single pages that are taken, each with a free one behind it: none, one leaf of them, many leaves, and more leaves than
/// an inner node has children.
const SIZES: [u64; 12] = [0, 1, 7, 14, 15, 16, 17, 40, 150, 290, 700, 2200];
/// Pages above them that are free.
const ABOVE: u64 = 512;

pub(super) fn above(taken: u64) -> u64 {
    2 * taken + 16
}

/// So many single pages, taken in an order that neither rises nor falls.
pub(super) fn filled(placement: Placement, taken: u64) -> Space {
    let whole = pages(0, above(taken) + ABOVE);
    let mut space = Space::new(whole, Align::PAGE, placement).unwrap();
    let stride = if taken.is_multiple_of(67) { 71 } else { 67 };
    for at in 0..taken {
        space.alloc_at(pages(at * stride % taken * 2, 1), at).unwrap();
    }
    assert_eq!(space.len() as u64, taken);
    space
}

fn bytes(space: &Space) -> Vec<u8> {
    space.validate().unwrap();
    space.to_bytes(|value, to| to.put(&value.to_le_bytes())).unwrap()
}

/// Refuses every request for memory of `operation` in turn: it says so, nothing has changed, and the second attempt does
/// what the first would have. Returns how many requests there were, over all sizes.
pub(super) fn refuse_each(
    placement: Placement,
    start: impl Fn(&mut Space, u64),
    operation: impl Fn(&mut Space, u64) -> Result<(), OutOfMemory>,
) -> u64 {
    let mut refusals = 0;
    for taken in SIZES {
        let mut ready: Space = filled(placement, taken);
        start(&mut ready, taken);
        let before = bytes(&ready);
        operation(&mut ready, taken).unwrap();
        let wanted = bytes(&ready);
        for refused in 0.. {
            let mut space: Space = filled(placement, taken);
            start(&mut space, taken);
            let (answer, requests) = watched(refused, || operation(&mut space, taken));
            if answer.is_ok() {
                assert!(bytes(&space) == wanted);
                if requests <= refused {
                    break;
                }
                // What was refused makes later searches faster alone.
                continue;
            }
            assert!(bytes(&space) == before, "changed something though it was refused");
            operation(&mut space, taken).unwrap();
            assert!(bytes(&space) == wanted);
            refusals += 1;
        }
    }
    refusals
}

fn lacking_to_move(error: MoveError) -> OutOfMemory {
    assert_eq!(error, MoveError::OutOfMemory);
    OutOfMemory
}

/// Three guarded regions of different sizes side by side above the rest.
fn three(space: &mut Space, taken: u64) {
    for (at, size) in [(0, 3), (4, 5), (10, 2)] {
        let place = pages(above(taken) + at, size + 1);
        let request = Request::new(size * PAGE).guard(PAGE).window(place);
        space.alloc(&request, 1000 + at).unwrap();
    }
}

/// The sum of requests of many moves, each begun with memory refused first.
fn begin_survives(placement: Placement) -> u64 {
    let to = |taken: u64, at: u64| above(taken) + 64 + at;
    let many = |space: &mut Space, taken: u64| {
        for at in 0..taken.min(100) {
            // Between others, where there is one page.
            let _token = space.begin_move(at * 2 * PAGE, (at * 2 + 1) * PAGE).unwrap();
        }
        three(space, taken);
    };
    let far = refuse_each(placement, many, |space, taken| {
        let _token = space.begin_move(above(taken) * PAGE, to(taken, 0) * PAGE).map_err(lacking_to_move)?;
        Ok(())
    });
    let overlapping = refuse_each(placement, many, |space, taken| {
        let _token = space
            .begin_move((above(taken) + 10) * PAGE, (above(taken) + 11) * PAGE)
            .map_err(lacking_to_move)?;
        Ok(())
    });
    assert!(far > 0 && overlapping > 0, "{far} {overlapping}");
    far + overlapping
}

fn rearrange_survives(placement: Placement) {
    let asked = |taken: u64, places: [(u64, u64, u64); 3]| {
        places.map(|(from, to, size)| ((above(taken) + from) * PAGE, pages(above(taken) + to, size)))
    };
    for places in [
        // A cycle of regions that differ in size; far apart; a little up, onto each other's places.
        [(0, 9, 3), (4, 3, 5), (10, 0, 2)],
        [(0, 100, 3), (4, 200, 5), (10, 300, 2)],
        [(0, 1, 3), (4, 5, 5), (10, 11, 2)],
    ] {
        let refused = refuse_each(placement, three, |space, taken| {
            space.rearrange(&asked(taken, places)).map_err(lacking_to_move)
        });
        assert!(refused > 0);
    }
    // All pages at once, each to the free one behind it, from the first to the last.
    let all = refuse_each(
        placement,
        |_, _| (),
        |space, taken| {
            // No list that takes memory itself.
            let mut moves = [(0, Span::ALL); 300];
            let moves = &mut moves[..taken.min(300) as usize];
            for (at, travel) in (0..).zip(&mut *moves) {
                *travel = (at * 2 * PAGE, pages(at * 2 + 1, 1));
            }
            space.rearrange(moves).map_err(lacking_to_move)
        },
    );
    assert!(all > 0);
}

/// Returns how many requests `remove` made, of which a tree of regions needs some to note where a span starts.
fn remove_survives(placement: Placement) -> u64 {
    let remove = |span: Span| {
        move |space: &mut Space| {
            space.remove(span).map_err(|error| {
                assert_eq!(error, LayoutError::OutOfMemory);
                OutOfMemory
            })
        }
    };
    // In the midst of a free block, just below and behind a region, and where there are many holes already.
    // Memory is asked for where the regions before it have used up what was in reserve.
    let inside: u64 = (0..24)
        .map(|more| {
            let start = |space: &mut Space, taken: u64| {
                for at in 0..more {
                    space.alloc_at(pages(above(taken) + 200 + 2 * at, 1), at).unwrap();
                }
            };
            refuse_each(placement, start, |space, taken| remove(pages(above(taken) + 100, 8))(space))
        })
        .sum();
    let below = refuse_each(placement, three, |space, taken| remove(pages(above(taken) - 4, 4))(space));
    let behind = refuse_each(placement, three, |space, taken| remove(pages(above(taken) + 13, 4))(space));
    let holes = |space: &mut Space, taken: u64| {
        (0..taken).for_each(|at| space.remove(pages(at * 2 + 1, 1)).unwrap());
        (0..20).for_each(|at| space.remove(pages(above(taken) + 9 + at * 16, 2)).unwrap());
    };
    let between =
        refuse_each(placement, holes, |space, taken| remove(pages(above(taken) + 16 * 9, 2))(space));
    // At the very end there is less to note.
    refuse_each(placement, three, |space, taken| remove(pages(above(taken) + ABOVE - 8, 8))(space));
    inside + below + behind + between
}

fn alloc_with_survives(placement: Placement) {
    let request = Request::new(2 * PAGE).guard(PAGE).align_bytes(4 * PAGE);
    let refused = refuse_each(
        placement,
        |_, _| (),
        |space, _| match space.alloc_with(&request, placement, 77) {
            Ok(_) => Ok(()),
            Err(rejected) => {
                assert_eq!((rejected.value, rejected.cause), (77, AllocError::OutOfMemory));
                Err(OutOfMemory)
            }
        },
    );
    assert!(refused > 0);
}

/// Numbers that are as good as random, the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Ends a move without memory.
fn end(space: &mut Space, token: PendingMove, commit: bool) {
    let operation = || match commit {
        true => space.commit_move(token).map(drop),
        false => space.cancel_move(token),
    };
    // Should it ask all the same, it is refused.
    let (answer, requests) = watched(0, operation);
    assert_eq!((answer, requests), (Ok(()), 0), "commit: {commit}");
}

/// Anything but the start or the end of a move, at some place; most succeed. One in four is refused memory.
fn something(space: &mut Space, numbers: &mut Numbers, all: u64) {
    let page = numbers.below(all);
    let granted = if numbers.below(4) == 0 { numbers.below(3) } else { NONE_REFUSED };
    match numbers.below(12) {
        0..5 => drop(watched(granted, || space.alloc_at(pages(page, 1), page))),
        5 => drop(watched(granted, || space.alloc(&Request::new(PAGE), page))),
        6..9 => {
            let Some(region) = space.regions_in(pages(page, 16)).next() else { return };
            let first = region.span().first();
            _ = watched(granted, || space.free(first));
        }
        9 => {
            let Some(region) = space.regions_in(pages(page, 16)).next() else { return };
            let (first, size) = (region.span().first(), 1 + numbers.below(3));
            _ = watched(granted, || space.resize(first, size * PAGE));
        }
        10 => {
            let areas = [pages(0, 1), pages(2, 1), pages(7, 1)].map(|area| (area, page)).to_vec();
            drop(watched(NONE_REFUSED, || space.alloc_congruent(areas, Align::PAGE, Span::ALL)));
        }
        _ => {
            let Some(region) = space.regions_in(pages(page, 16)).next() else { return };
            let moves = [(region.span().first(), pages(numbers.below(all), 1))];
            _ = watched(granted, || space.rearrange(&moves));
        }
    }
}

/// Fills a space from nothing until its tree has two inner levels, and empties it again, with up to that many moves
/// pending at a time. Returns how many ended.
fn ends_ask_for_nothing(placement: Placement, pending: usize, all: u64, seed: u64) -> u64 {
    let mut numbers = Numbers(seed);
    let mut space = Space::new(pages(0, all), Align::PAGE, placement).unwrap();
    let mut tokens: Vec<PendingMove> = Vec::new();
    let mut ended = 0;
    for round in 0..all * 3 {
        something(&mut space, &mut numbers, all);
        if numbers.below(3) == 0 && tokens.len() < pending {
            let page = numbers.below(all);
            let first = space.regions_in(pages(page, 16)).next().map(|region| region.span().first());
            let to = numbers.below(all) * PAGE;
            tokens.extend(first.and_then(|first| space.begin_move(first, to).ok()));
        }
        let few = numbers.below(5) == 0;
        // All of them at once now and then, whichever order they began in.
        let ends = if numbers.below(97) == 0 { tokens.len() } else { usize::from(few && !tokens.is_empty()) };
        for _ in 0..ends {
            let at = numbers.below(tokens.len() as u64) as usize;
            end(&mut space, tokens.swap_remove(at), numbers.below(2) == 0);
            ended += 1;
        }
        if round.is_multiple_of(331) {
            space.validate().unwrap();
            let mut copy = space.clone();
            let own: Vec<PendingMove> = copy.pending_moves().collect();
            own.into_iter().for_each(|token| end(&mut copy, token, numbers.below(2) == 0));
            copy.validate().unwrap();
            let mut restored = Space::from_bytes(&bytes(&space), placement, |value| {
                value.try_into().map(u64::from_le_bytes)
            })
            .unwrap();
            let own: Vec<PendingMove> = restored.pending_moves().collect();
            own.into_iter().for_each(|token| end(&mut restored, token, numbers.below(2) == 0));
            restored.validate().unwrap();
        }
    }
    for token in tokens {
        end(&mut space, token, numbers.below(2) == 0);
    }
    space.validate().unwrap();
    ended
}

fn all_survive(placement: Placement) {
    begin_survives(placement);
    rearrange_survives(placement);
    alloc_with_survives(placement);
    for seed in 0..3 {
        // One leaf, many, and more than an inner node has.
        for (pending, all) in [(1, 40), (3, 300), (40, 300), (3, 4000), (300, 4000)] {
            let ended = ends_ask_for_nothing(placement, pending, all, seed);
            assert!(ended > all / 20, "{ended}");
        }
    }
}

#[test]
fn moves() {
    all_survive(Placement::Lowest);
    assert!(remove_survives(Placement::Lowest) > 0, "a hole takes an entry");
}

#[test]
fn moves_with_blocks_by_size() {
    all_survive(Placement::BestFit);
    assert!(remove_survives(Placement::BestFit) > 0, "what is left above a hole takes a key");
}
