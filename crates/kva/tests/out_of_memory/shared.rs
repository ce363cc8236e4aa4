//! The shared space: every request for memory of its changes refused in turn, those of the space and those of the tree of
//! readers. A refused change is in neither of the two.

#![allow(clippy::result_large_err, reason = "what is refused comes back whole")]

use super::moves::above;
use super::refusing::{NONE_REFUSED, watched};
use super::{PAGE, pages};
use freehold_kva::{
    AddressSpace, AdoptError, AllocError, FreeError, FreeRangeError, MoveError, Placement, Request,
    ResizeError, ReturnError, SharedError, SharedSpace, SplitError,
};
use freehold_maple::maple_tree::WriteError;
use freehold_units::{Align, Span};
use std::fmt::Debug;
use std::sync::Arc;

type Space = SharedSpace<u64>;

/// Single pages that are taken, each with a free one behind it: few, as many as fill a leaf or two, and many.
const SIZES: [u64; 5] = [0, 24, 60, 84, 290];
/// Regions that are allocated then, so that memory is asked for where those before have used up what was in reserve.
const MORE: u64 = 14;

/// Where memory was refused.
#[derive(Debug, PartialEq, Eq)]
enum Lacking {
    Space,
    Tree,
}

fn lacking<C: PartialEq + Debug>(of_space: C) -> impl Fn(SharedError<C>) -> Lacking {
    move |error| match error {
        SharedError::OutOfMemory => Lacking::Tree,
        SharedError::Refused(cause) if cause == of_space => Lacking::Space,
        error => panic!("{error:?}"),
    }
}

fn value(number: u64) -> Arc<u64> {
    Arc::new(number)
}

/// Such a space, with three regions above its single pages: 8 pages, 4 pages with a guard, 8 pages; and more of them.
fn filled(placement: Placement, taken: u64, more: u64) -> Space {
    let whole = pages(0, above(taken) + 512);
    let mut alone = AddressSpace::new(whole, Align::PAGE, placement).unwrap();
    for at in 0..taken {
        alone.alloc_at(pages(at * 67 % taken * 2, 1), value(at)).unwrap();
    }
    let space = SharedSpace::share(alone, Space::readers()).unwrap();
    space.alloc_at(pages(above(taken), 8), value(1)).unwrap();
    space.alloc_at_guarded(pages(above(taken) + 8, 4), PAGE, value(2)).unwrap();
    space.alloc_at(pages(above(taken) + 13, 8), value(3)).unwrap();
    // A request under the space's placement: the first for best fit makes the blocks by size.
    space.alloc(&Request::new(PAGE).window(pages(above(taken) + 100, 1)), value(4)).unwrap();
    for at in 0..more {
        space.alloc_at(pages(above(taken) + 200 + 2 * at, 1), value(at)).unwrap();
    }
    space
}

/// What its owner and what its readers see of a space.
fn seen(space: &Space) -> (Vec<u8>, Vec<(Span, u64)>) {
    space.validate().unwrap();
    let bytes = space.to_bytes(|value, to| to.put(&value.to_le_bytes())).unwrap();
    (bytes, space.read().iter().map(|(span, &value)| (span, value)).collect())
}

/// A change is given the space, the first page of the three regions, what `start` has made and a value.
struct Change<S, O> {
    start: S,
    change: O,
}

impl<T, S, O> Change<S, O>
where
    S: Fn(&Space, u64) -> T,
    O: Fn(&Space, u64, T, &Arc<u64>) -> Result<(), (Lacking, T)>,
{
    /// Refuses every request for memory of a change in turn: it says so, nothing has changed on either side, and the
    /// second attempt does what the first would have. Returns how many requests of the space and of the tree there were.
    fn survives(&self, placement: Placement) -> (u64, u64) {
        let mut hits = (0, 0);
        for (taken, more) in SIZES.into_iter().flat_map(|taken| (0..MORE).map(move |more| (taken, more))) {
            self.refuse_each(placement, taken, more, &mut hits);
        }
        hits
    }

    fn refuse_each(&self, placement: Placement, taken: u64, more: u64, hits: &mut (u64, u64)) {
        let (new, at) = (value(1000), above(taken));
        let ready = filled(placement, taken, more);
        let started = (self.start)(&ready, at);
        let before = seen(&ready);
        assert!((self.change)(&ready, at, started, &new).is_ok());
        let wanted = seen(&ready);
        drop(ready);
        for refused in 0.. {
            let space = filled(placement, taken, more);
            let started = (self.start)(&space, at);
            let (answer, requests) = watched(refused, || (self.change)(&space, at, started, &new));
            match answer {
                Ok(()) => {
                    assert!(seen(&space) == wanted);
                    if requests <= refused {
                        break;
                    }
                    // What was refused makes something faster alone.
                }
                Err((lacking, started)) => {
                    assert!(seen(&space) == before, "changed something though it was refused");
                    assert_eq!(Arc::strong_count(&new), 1, "the value is kept though it was refused");
                    assert!((self.change)(&space, at, started, &new).is_ok());
                    assert!(seen(&space) == wanted);
                    match lacking {
                        Lacking::Space => hits.0 += 1,
                        Lacking::Tree => hits.1 += 1,
                    }
                }
            }
        }
        assert_eq!(Arc::strong_count(&new), 1);
    }
}

/// How often the space and the tree refused a change that needs nothing to start from.
fn of_change(
    placement: Placement,
    change: impl Fn(&Space, u64, &Arc<u64>) -> Result<(), Lacking>,
) -> (u64, u64) {
    let change = |space: &Space, at: u64, (): (), new: &Arc<u64>| {
        change(space, at, new).map_err(|lacking| (lacking, ()))
    };
    Change { start: |_: &Space, _| (), change }.survives(placement)
}

fn allocations_survive(placement: Placement) {
    let lack = || lacking(AllocError::OutOfMemory);
    let request = |at| Request::new(8 * PAGE).guard(PAGE).window(pages(at + 40, 20));
    let hits = [
        of_change(placement, |space, at, new| {
            let answer = space.alloc(&request(at), Arc::clone(new));
            answer.map(drop).map_err(|rejected| lack()(rejected.cause))
        }),
        of_change(placement, |space, at, new| {
            let answer = space.alloc_at_guarded(pages(at + 40, 8), PAGE, Arc::clone(new));
            answer.map(drop).map_err(|rejected| lack()(rejected.cause))
        }),
        of_change(placement, |space, at, new| {
            let answer = space.carve::<u8>(&request(at), Arc::clone(new), placement);
            answer.map(drop).map_err(|rejected| lack()(rejected.cause))
        }),
    ];
    assert!(hits.iter().all(|&(space, tree)| space > 0 && tree > 0), "{hits:?}");
}

/// Returns how often the space refused.
fn frees_survive(placement: Placement) -> u64 {
    let of_range = |first: u64, count: u64| {
        of_change(placement, move |space, at, _| {
            let freed = space.free_range(pages(at + first, count));
            freed.map(drop).map_err(lacking(FreeRangeError::OutOfMemory))
        })
    };
    let with_code = of_change(placement, |space, at, new| {
        let freed = space.free_range_with(pages(at + 4, 12), |_, _, _| Arc::clone(new));
        freed.map(drop).map_err(lacking(FreeRangeError::OutOfMemory))
    });
    let free = of_change(placement, |space, at, _| {
        space.free((at + 8) * PAGE).map(drop).map_err(lacking(FreeError::OutOfMemory))
    });
    // The middle of a region, the ends of two with one between them, and whole ones.
    let hits = [free, of_range(2, 3), of_range(4, 12), of_range(0, 21), with_code];
    assert!(hits.iter().all(|&(_, tree)| tree > 0), "{hits:?}");
    assert!(hits[2].0 > 0 && hits[4].0 > 0, "a list of what was freed: {hits:?}");
    hits[0].0
}

fn parts_survive(placement: Placement) {
    let split = of_change(placement, |space, at, _| {
        space.split_at((at + 3) * PAGE).map(drop).map_err(lacking(SplitError::OutOfMemory))
    });
    let split_with = of_change(placement, |space, at, new| {
        let parts = space.split_at_with((at + 3) * PAGE, |_, _, _| Arc::clone(new));
        parts.map(drop).map_err(lacking(SplitError::OutOfMemory))
    });
    assert!(
        [split, split_with].iter().all(|&(space, tree)| space > 0 && tree > 0),
        "{split:?} {split_with:?}"
    );
    let cut = |space: &Space, at: u64| _ = space.split_at((at + 3) * PAGE).unwrap();
    // The space itself needs no memory.
    let only_tree = |error| match error {
        SharedError::OutOfMemory => Lacking::Tree,
        error => panic!("{error:?}"),
    };
    let merge = Change {
        start: cut,
        change: |space: &Space, at: u64, (), _: &Arc<u64>| {
            space.merge(at * PAGE).map(drop).map_err(|error| (only_tree(error), ()))
        },
    };
    let merge_with = Change {
        start: cut,
        change: |space: &Space, at: u64, (), _: &Arc<u64>| {
            space.merge_with(at * PAGE, |_, _| true).map(drop).map_err(|error| (only_tree(error), ()))
        },
    };
    assert!(merge.survives(placement).1 > 0 && merge_with.survives(placement).1 > 0);
    for size in [3, 5] {
        let resize = of_change(placement, |space, at, _| {
            let answer = space.resize((at + 13) * PAGE, size * 3 * PAGE);
            answer.map(drop).map_err(lacking(ResizeError::Size(AllocError::OutOfMemory)))
        });
        assert!(resize.1 > 0, "{resize:?}");
    }
    let shrink = of_change(placement, |space, at, _| {
        let answer = space.resize((at + 13) * PAGE, PAGE);
        answer.map(drop).map_err(lacking(ResizeError::Size(AllocError::OutOfMemory)))
    });
    assert!(shrink.1 > 0, "{shrink:?}");
}

fn moves_survive(placement: Placement) {
    let lack = || lacking(MoveError::OutOfMemory);
    // Onto itself, and far away.
    for by in [2, 60] {
        let begin = of_change(placement, |space, at, _| {
            space.begin_move((at + 13) * PAGE, (at + 13 + by) * PAGE).map(drop).map_err(lack())
        });
        let rearrange = of_change(placement, |space, at, _| {
            space.rearrange(&[((at + 13) * PAGE, pages(at + 13 + by, 8))]).map_err(lack())
        });
        assert!(
            [begin, rearrange].iter().all(|&(space, tree)| space > 0 && tree > 0),
            "{begin:?} {rearrange:?}"
        );
        let start =
            |space: &Space, at: u64| space.begin_move((at + 13) * PAGE, (at + 13 + by) * PAGE).unwrap();
        let commit = Change {
            start,
            change: |space: &Space, _, token, _: &Arc<u64>| {
                space.commit_move(token).map(drop).map_err(|error| (lack()(error), token))
            },
        };
        let cancel = Change {
            start,
            change: |space: &Space, _, token, _: &Arc<u64>| {
                space.cancel_move(token).map_err(|error| (lack()(error), token))
            },
        };
        for (space, tree) in [commit.survives(placement), cancel.survives(placement)] {
            assert!(space == 0 && tree > 0, "what ends a move was reserved when it began: {space} {tree}");
        }
    }
}

fn sub_spaces_survive(placement: Placement) {
    let request = |at| Request::new(8 * PAGE).guard(PAGE).window(pages(at + 40, 20));
    let take_back = Change {
        start: |space: &Space, at| space.carve::<u8>(&request(at), value(5), placement).unwrap(),
        change: |space: &Space, _, child, _: &Arc<u64>| {
            let answer = space.take_back(child).map(drop);
            answer.map_err(|rejected| (lacking(ReturnError::OutOfMemory)(rejected.cause), rejected.value))
        },
    };
    assert!(take_back.survives(placement).1 > 0);
    let adopt = Change {
        start: |_: &Space, at| AddressSpace::<u8>::new(pages(at, 8), Align::PAGE, placement).unwrap(),
        change: |space: &Space, at, mut child, _: &Arc<u64>| match space.adopt(at * PAGE, &mut child) {
            Ok(_) => Ok(()),
            Err(error) => {
                assert_eq!(error, AdoptError::OutOfMemory);
                Err((Lacking::Space, child))
            }
        },
    };
    assert!(adopt.survives(placement).0 > 0);
}

/// Of sharing a space, all that comes after the tree is made, which cannot be refused.
fn sharing_survives(placement: Placement) {
    let readers = Space::readers();
    let (_, of_tree) = watched(NONE_REFUSED, || drop(readers.build()));
    let mut hits = 0;
    for refused in of_tree.. {
        let alone = filled(placement, 290, 0).into_space();
        let regions = alone.len();
        let readers = Space::readers();
        match watched(refused, || SharedSpace::share(alone, readers)) {
            (Ok(space), requests) => {
                space.validate().unwrap();
                assert!(requests <= refused && space.len() == regions);
                break;
            }
            (Err(rejected), _) => {
                assert_eq!((rejected.cause, rejected.value.len()), (WriteError::OutOfMemory, regions));
                rejected.value.validate().unwrap();
                assert!(rejected.value.regions().all(|region| Arc::strong_count(region.value()) == 1));
                hits += 1;
            }
        }
    }
    assert!(hits > 3, "{hits}");
}

fn survive(placement: Placement) -> u64 {
    allocations_survive(placement);
    parts_survive(placement);
    moves_survive(placement);
    sub_spaces_survive(placement);
    sharing_survives(placement);
    frees_survive(placement)
}

#[test]
fn shared() {
    assert_eq!(survive(Placement::Lowest), 0, "a region becomes a block where it lies");
}

#[test]
fn shared_with_blocks_by_size() {
    assert!(survive(Placement::BestFit) > 0, "a block that comes back alone takes a key");
}
