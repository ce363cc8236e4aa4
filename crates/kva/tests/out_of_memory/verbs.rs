//! Fixed places, resized and moved regions, sub-spaces and images: every request for memory of theirs refused in
//! turn, after histories of every length, so that each structure is met with room to spare and at its limit.

use super::refusing::watched;
use super::{PAGE, pages};
use freehold_kva::image::RestoreError;
use freehold_kva::{
    AddressSpace, AdoptError, AllocError, MoveError, OutOfMemory, Placement, Request, ResizeError,
    ReturnError,
};
use freehold_units::Align;

type Space = AddressSpace<u64>;

/// Histories of every length below that: of single pages, which are at most so many.
const HISTORIES: u64 = 250;
const SPACE_PAGES: u64 = 1024;
/// Where the operations under test find room: pages that no history touches.
const LOW: u64 = 512;

/// A space and the sub-spaces that are out.
struct World {
    space: Space,
    out: Vec<Space>,
}

/// A world with a history of that length: single pages taken apart from each other, some carved, some freed again.
fn after(placement: Placement, history: u64) -> World {
    let space = AddressSpace::new(pages(0, SPACE_PAGES), Align::PAGE, placement).unwrap();
    // Room for all, since what a test asks for cannot be refused.
    let mut world = World { space, out: Vec::with_capacity(256) };
    for at in 0..history {
        let page = at * 67 % 251 * 2 + 1;
        let request = Request::new(PAGE).window(pages(page, 1));
        match at % 5 {
            0 => world.out.push(world.space.carve(&request, at, placement).unwrap()),
            _ => assert_eq!(world.space.alloc(&request, at).unwrap(), pages(page, 1)),
        }
        if at % 7 == 6 {
            world.space.free(page * PAGE).ok();
        }
    }
    world
}

impl World {
    /// Everything there is to see.
    fn bytes(&self) -> Vec<Vec<u8>> {
        let bytes = |space: &Space| {
            space.validate().unwrap();
            space.to_bytes(|value, to| to.put(&value.to_le_bytes())).unwrap()
        };
        [&self.space].into_iter().chain(&self.out).map(bytes).collect()
    }
}

/// Refuses every request for memory of `operation` in turn: it says so, nothing has changed, and the second
/// attempt does what the first would have. Returns how many there were, over all histories.
fn refuse_each(
    placement: Placement,
    start: impl Fn(&mut World),
    operation: impl Fn(&mut World) -> Result<(), OutOfMemory>,
) -> u64 {
    let mut refusals = 0;
    for history in 0..HISTORIES {
        let world = || {
            let mut world = after(placement, history);
            start(&mut world);
            world
        };
        let mut wanted = world();
        let before = wanted.bytes();
        operation(&mut wanted).unwrap();
        let wanted = wanted.bytes();
        for refused in 0.. {
            let mut tried = world();
            let (answer, requests) = watched(refused, || operation(&mut tried));
            if answer.is_ok() {
                assert!(requests <= refused);
                assert_eq!(tried.bytes(), wanted);
                break;
            }
            assert_eq!(tried.bytes(), before, "changed something though it was refused");
            operation(&mut tried).unwrap();
            assert_eq!(tried.bytes(), wanted);
            refusals += 1;
        }
    }
    refusals
}

fn lacking(cause: AllocError) -> OutOfMemory {
    assert_eq!(cause, AllocError::OutOfMemory);
    OutOfMemory
}

fn lacking_to_change(cause: ResizeError) -> OutOfMemory {
    assert_eq!(cause, ResizeError::Size(AllocError::OutOfMemory));
    OutOfMemory
}

fn lacking_to_move(cause: MoveError) -> OutOfMemory {
    assert_eq!(cause, MoveError::OutOfMemory);
    OutOfMemory
}

fn region(world: &mut World) {
    world.space.alloc_at(pages(LOW, 8), 1000).unwrap();
}

fn guarded_region(world: &mut World) {
    let request = Request::new(40 * PAGE).guard(PAGE).window(pages(LOW, 41));
    world.space.alloc(&request, 1000).unwrap();
}

/// Returns how many times a region could not become shorter.
fn places_survive(placement: Placement) -> u64 {
    let hits = refuse_each(
        placement,
        |_| (),
        |world| match world.space.alloc_at(pages(LOW, 8), 1000) {
            Ok(span) => {
                assert_eq!(span, pages(LOW, 8));
                Ok(())
            }
            Err(rejected) => Err(lacking(rejected.cause)),
        },
    );
    assert!(hits > 0);
    let [longer, shorter] = [(12, LOW + 11), (3, LOW + 2)].map(|(size, new_last)| {
        refuse_each(placement, region, |world| {
            let span = world.space.resize(LOW * PAGE, size * PAGE).map_err(lacking_to_change)?;
            assert_eq!(span.last() / PAGE, new_last);
            Ok(())
        })
    });
    assert!(longer > 0);
    for to in [LOW + 60, LOW - 2] {
        let begun = refuse_each(placement, guarded_region, |world| {
            let _token = world.space.begin_move(LOW * PAGE, to * PAGE).map_err(lacking_to_move)?;
            Ok(())
        });
        assert!(begun > 0);
        let rearranged = refuse_each(placement, guarded_region, |world| {
            world.space.rearrange(&[(LOW * PAGE, pages(to, 40))]).map_err(lacking_to_move)
        });
        assert!(rearranged > 0);
        // What it takes to end a move was set aside when it began.
        let moving = |world: &mut World| {
            guarded_region(world);
            let _token = world.space.begin_move(LOW * PAGE, to * PAGE).unwrap();
        };
        let ended = refuse_each(placement, moving, |world| {
            let token = world.space.pending_moves().next().unwrap();
            world.space.commit_move(token).map_err(lacking_to_move)?;
            Ok(())
        });
        let cancelled = refuse_each(placement, moving, |world| {
            let token = world.space.pending_moves().next().unwrap();
            world.space.cancel_move(token).map_err(lacking_to_move)
        });
        assert_eq!((ended, cancelled), (0, 0));
    }
    shorter
}

/// Returns how many times a sub-space was not taken back.
fn sub_spaces_survive(placement: Placement) -> u64 {
    let request = Request::new(8 * PAGE).guard(PAGE).window(pages(LOW, 9));
    let carve = |world: &mut World| match world.space.carve(&request, 1000, placement) {
        Ok(sub_space) => {
            world.out.push(sub_space);
            Ok(())
        }
        Err(rejected) => {
            assert_eq!(rejected.value, 1000);
            Err(lacking(rejected.cause))
        }
    };
    let hits = refuse_each(placement, |_| (), carve);
    assert!(hits >= HISTORIES, "{hits}: no sub-space is made without memory");

    let take_back = |world: &mut World| {
        let Some(sub_space) = world.out.pop() else { return Ok(()) };
        let Err(refused) = world.space.take_back(sub_space) else { return Ok(()) };
        assert_eq!(refused.cause, ReturnError::OutOfMemory);
        world.out.push(refused.value);
        Err(OutOfMemory)
    };
    let not_taken_back = refuse_each(placement, |world| carve(world).unwrap(), take_back);

    let alone = |world: &mut World| {
        region(world);
        let alone = AddressSpace::new(pages(LOW, 8), Align::PAGE, placement);
        world.out.push(alone.unwrap());
    };
    let hits = refuse_each(placement, alone, |world| {
        let Some(mut alone) = world.out.pop() else { return Ok(()) };
        let answer = world.space.adopt(LOW * PAGE, &mut alone);
        assert_eq!(alone.is_sub_space(), answer.is_ok());
        world.out.push(alone);
        answer.map(|span| assert_eq!(span, pages(LOW, 8))).map_err(|error| {
            assert_eq!(error, AdoptError::OutOfMemory);
            OutOfMemory
        })
    });
    assert!(hits > 0, "no sub-space is known without memory");
    not_taken_back
}

fn images_survive(placement: Placement) {
    let world: World = after(placement, HISTORIES);
    let bytes = world.bytes().remove(0);
    let mut refusals = 0;
    for refused in 0.. {
        let (answer, _) = watched(refused, || world.space.to_bytes(|value, to| to.put(&value.to_le_bytes())));
        match answer {
            Ok(again) => {
                assert_eq!(again, bytes);
                break;
            }
            Err(OutOfMemory) => refusals += 1,
        }
    }
    assert!(refusals > 4, "{refusals}");
    let decode = |value: &[u8]| value.try_into().map(u64::from_le_bytes);
    let mut refusals = 0;
    for refused in 0.. {
        let (answer, _) = watched(refused, || Space::from_bytes(&bytes, placement, decode));
        match answer {
            Ok(space) => {
                assert_eq!(World { space, out: Vec::new() }.bytes(), [bytes]);
                break;
            }
            Err(error) => assert!(matches!(error, RestoreError::OutOfMemory), "{error}"),
        }
        refusals += 1;
    }
    assert!(refusals >= 10, "{refusals}");
}

#[test]
fn verbs() {
    assert_eq!(places_survive(Placement::Lowest), 0, "a part becomes free where it lies");
    assert_eq!(sub_spaces_survive(Placement::Lowest), 0, "a region becomes a block where it lies");
    images_survive(Placement::Lowest);
}

#[test]
fn verbs_with_blocks_by_size() {
    assert!(places_survive(Placement::BestFit) > 0, "a part that comes back takes a key");
    assert!(sub_spaces_survive(Placement::BestFit) > 0, "a block that comes back takes a key");
    images_survive(Placement::BestFit);
}
