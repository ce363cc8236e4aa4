//! The shared space: against an `AddressSpace` of its own, beside readers on threads, with values that use the space when dropped.

use freehold_kva::image::Writer;
use freehold_kva::{
    AddressSpace, AllocError, FreeError, FreeRangeError, MergeError, MoveError, PendingMove, Placement,
    Request, SharedError, SharedSpace,
};
use freehold_units::{Align, Span};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

const PAGE: u64 = 0x1000;

fn pages(first: u64, pages: u64) -> Span {
    Span::from_size(first * PAGE, pages * PAGE).unwrap()
}

fn space<V>(count: u64) -> SharedSpace<V> {
    SharedSpace::new(pages(0x100, count), Align::PAGE, Placement::Lowest).unwrap()
}

/// Random numbers, the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// The value of a second part: no other region has it, and below bit 20 it is that of the first.
fn second_value(number: u64, first: u64) -> u64 {
    first & 0xf_ffff | number << 24
}

/// Both spaces, and the moves that are pending in each.
struct Two {
    shared: SharedSpace<u64>,
    alone: AddressSpace<u64>,
    moves: Vec<(PendingMove, PendingMove)>,
    /// Moves that ended.
    ended: u32,
    /// Changes with code of the caller that were made: cuts, merges, ranges with a cut.
    with_code: [u32; 3],
}

impl Two {
    fn step(&mut self, random: &mut Random, number: u64) {
        let Self { shared, alone, moves, ended, with_code } = self;
        let starts: Vec<u64> = alone.regions().map(|region| region.span().first()).collect();
        let any = |random: &mut Random| match random.below(8) {
            0 => (0x100 + random.below(300)) * PAGE,
            _ => starts.get(random.below(starts.len().max(1) as u64) as usize).copied().unwrap_or(0),
        };
        match random.below(18) {
            10 => {
                let (first, size) = (any(random), random.below(8) * PAGE);
                let one = shared.resize(first, size);
                assert_eq!(one, alone.resize(first, size).map_err(SharedError::Refused));
            }
            11 => {
                let address = (0x100 + random.below(300)) * PAGE + random.below(6).saturating_sub(4);
                let one = shared.split_at(address);
                assert_eq!(one, alone.split_at(address).map_err(SharedError::Refused));
            }
            12 => {
                let first = any(random);
                let one = shared.merge(first).map(|(span, value)| (span, *value));
                assert_eq!(one, alone.merge(first).map_err(SharedError::Refused));
            }
            13 => {
                let range = pages(0x100 + random.below(300), 1 + random.below(12));
                let one = shared.free_range(range);
                let one = one.map(|all| all.map(|(span, value)| (span, *value)).collect::<Vec<_>>());
                let other = alone.free_range(range).map(|all| all.collect());
                assert_eq!(one, other.map_err(SharedError::Refused));
            }
            15 => {
                let address = (0x100 + random.below(300)) * PAGE;
                let one = shared.split_at_with(address, |_, second, old| {
                    assert!(second.first() == address);
                    Arc::new(second_value(number, **old))
                });
                let other = alone.split_at_with(address, |_, _, &old| second_value(number, old));
                with_code[0] += u32::from(other.is_ok());
                assert_eq!(one, other.map_err(SharedError::Refused));
            }
            16 => {
                let spans: Vec<Span> = alone.regions().map(|region| region.span()).collect();
                let touching = spans.windows(2).filter(|two| two[0].touches(two[1]));
                let touching: Vec<u64> = touching.map(|two| two[0].first()).collect();
                let first = touching.get(random.below(1 + touching.len() as u64) as usize).copied();
                let first = first.unwrap_or_else(|| any(random));
                // The parts of a region that was cut agree, and others by chance.
                let agree = |one: u64, other: u64| (one ^ other) & 3 == 0;
                let one = shared.merge_with(first, |(one, value), (other, next)| {
                    assert!(one.first() == first && one.touches(other));
                    agree(**value, **next)
                });
                let other = alone.merge_with(first, |one, other| agree(*one.value(), *other.value()));
                with_code[1] += u32::from(other.is_ok());
                let one = one.map(|(span, value)| (span, *value));
                assert_eq!(one, other.map_err(SharedError::Refused));
            }
            17 => {
                let range = pages(0x100 + random.below(300), 1 + random.below(12));
                let (mut cuts, mut known) = (Vec::new(), Vec::new());
                let one = shared.free_range_with(range, |first, second, old| {
                    cuts.push((first, second, **old));
                    Arc::new(second_value(number, **old) + cuts.len() as u64)
                });
                let mut freed = Vec::new();
                let split = |first, second, &old: &u64| {
                    known.push((first, second, old));
                    second_value(number, old) + known.len() as u64
                };
                let other = alone.free_range_with(range, split, |span, value| freed.push((span, value)));
                let one = one.map(|all| all.map(|(span, value)| (span, *value)).collect::<Vec<_>>());
                assert_eq!(one, other.map(|()| freed).map_err(SharedError::Refused));
                assert_eq!(cuts, known);
                with_code[2] += u32::from(!cuts.is_empty());
            }
            14 => {
                let moved: Vec<(u64, Span)> = (0..1 + random.below(3))
                    .map(|_| (any(random), pages(0x100 + random.below(300), 1 + random.below(5))))
                    .map(|(first, place)| {
                        let size =
                            alone.region_at(first).map_or(PAGE, |region| region.span().size_saturating());
                        (first, Span::from_size(place.first(), size).unwrap())
                    })
                    .collect();
                assert_eq!(shared.rearrange(&moved), alone.rearrange(&moved).map_err(SharedError::Refused));
            }
            0..3 => {
                let request = Request::new((1 + random.below(9)) * PAGE).guard(random.below(3) * PAGE);
                let request = request.align(Align::new(PAGE << random.below(3)).unwrap());
                let one = shared.alloc(&request, Arc::new(number)).map_err(|rejected| rejected.cause);
                let other = alone.alloc(&request, number);
                assert_eq!(one, other.map_err(|rejected| SharedError::Refused(rejected.cause)));
            }
            3 => {
                let place = pages(0x100 + random.below(300), 1 + random.below(5));
                let one = shared.alloc_at(place, Arc::new(number)).map_err(|rejected| rejected.cause);
                let other = alone.alloc_at(place, number);
                assert_eq!(one, other.map_err(|rejected| SharedError::Refused(rejected.cause)));
            }
            4 => {
                let span = pages(any(random) / PAGE, 1 + random.below(4));
                let one = shared.free_exact(span).map(|value| *value);
                assert_eq!(one, alone.free_exact(span).map_err(SharedError::Refused));
            }
            5..7 => {
                let first = any(random);
                let one = shared.free(first).map(|(span, value)| (span, *value));
                assert_eq!(one, alone.free(first).map_err(SharedError::Refused));
            }
            7 | 8 => {
                let first = any(random);
                // Near, so that both places overlap, or anywhere.
                let off = (random.below(9) * PAGE).wrapping_sub(4 * PAGE);
                let to = if random.below(2) == 0 {
                    first.wrapping_add(off)
                } else {
                    (0x100 + random.below(300)) * PAGE
                };
                match (shared.begin_move(first, to), alone.begin_move(first, to)) {
                    (Ok(one), Ok(other)) => moves.push((one, other)),
                    (one, other) => assert_eq!(one.err(), other.err().map(SharedError::Refused)),
                }
            }
            _ if moves.is_empty() => {}
            _ => {
                let (one, other) = moves[random.below(moves.len() as u64) as usize];
                if random.below(3) == 0 {
                    assert_eq!(
                        shared.cancel_move(one),
                        alone.cancel_move(other).map_err(SharedError::Refused)
                    );
                } else {
                    assert_eq!(
                        shared.commit_move(one),
                        alone.commit_move(other).map_err(SharedError::Refused)
                    );
                }
                *ended += 1;
                if random.below(4) > 0 {
                    moves.retain(|(known, _)| *known != one);
                }
            }
        }
    }

    fn compare(&self, random: &mut Random) {
        self.shared.validate().unwrap();
        assert_eq!(self.shared.len(), self.alone.len());
        assert_eq!((self.shared.span(), self.shared.granule()), (self.alone.span(), self.alone.granule()));
        assert_eq!(self.shared.free_sizes(), self.alone.free_sizes());
        assert_eq!(self.shared.stats().fragmentation(), self.alone.stats().fragmentation());
        let bytes = |value: &u64, to: &mut Writer| to.put(&value.to_le_bytes());
        assert_eq!(self.shared.to_bytes(bytes), self.alone.to_bytes(bytes));
        assert_eq!(self.shared.pending_moves().unwrap().len(), self.alone.pending_moves().count());
        let reading = self.shared.read();
        for _ in 0..40 {
            let address = 0xff * PAGE + random.below(303 * PAGE);
            let known = self.alone.region_at(address);
            let value = known.as_ref().map(|region| *region.value());
            assert_eq!(reading.get(address).copied(), value, "at {address:#x}");
            let found = self.shared.region_at(address).map(|(span, value)| (span, *value));
            assert_eq!(found.map(|(_, value)| value), value);
            if let Some(region) = known.filter(|region| region.moving_to().is_none()) {
                assert_eq!(found.unwrap().0, region.span());
            }
        }
    }
}

#[test]
fn what_an_address_space_answers() {
    let shared = space::<u64>(300);
    let alone = AddressSpace::new(pages(0x100, 300), Align::PAGE, Placement::Lowest).unwrap();
    let mut two = Two { shared, alone, moves: Vec::new(), ended: 0, with_code: [0; 3] };
    let mut random = Random(11);
    for number in 0..if cfg!(miri) { 100 } else { 6000 } {
        two.step(&mut random, number);
        if number % 10 == 0 {
            two.compare(&mut random);
        }
    }
    assert!(cfg!(miri) || two.ended > 100, "{} moves ended", two.ended);
    assert!(cfg!(miri) || two.with_code.iter().all(|&made| made > 20), "{:?}", two.with_code);
}

#[test]
fn each_question_has_its_error() {
    let space = space::<u64>(16);
    let nic = space.alloc(&Request::new(4 * PAGE), Arc::new(1)).unwrap();
    let refused = space.alloc(&Request::new(20 * PAGE), Arc::new(2)).unwrap_err();
    assert!(matches!(refused.cause, SharedError::Refused(AllocError::TooLarge { .. })));
    assert_eq!(*refused.value, 2);
    let interior = FreeError::Interior { address: nic.first() + PAGE, region: nic };
    assert_eq!(space.free(nic.first() + PAGE), Err(SharedError::Refused(interior)));
    let to = nic.first() + 2 * PAGE;
    let pending = space.begin_move(nic.first(), to).unwrap();
    assert_eq!(space.free(nic.first()), Err(SharedError::Refused(FreeError::Moving { region: nic })));
    assert_eq!(space.region_at(to + 3 * PAGE).map(|(_, value)| *value), Some(1));
    space.cancel_move(pending).unwrap();
    assert_eq!(
        space.commit_move(pending),
        Err(SharedError::Refused(MoveError::Ended { first: nic.first() }))
    );
    assert_eq!(space.region_at(to + 3 * PAGE), None);
    let again = space.begin_move(nic.first(), to).unwrap();
    assert_eq!(
        space.commit_move(pending),
        Err(SharedError::Refused(MoveError::Ended { first: nic.first() }))
    );
    assert_eq!(space.commit_move(again), Ok(Span::from_size(to, 4 * PAGE).unwrap()));
    assert_eq!(space.region_at(nic.first()), None);
    space.validate().unwrap();
    assert_eq!(
        SharedError::<AllocError>::Readers { held: 5, limit: 6, oldest: None }.to_string(),
        "readers hold back 5 of at most 6 nodes and values"
    );
}

/// The caller's code runs without a lock, so it may change the space; even the region that it is asked about, and then it is
/// asked again.
#[test]
fn the_code_of_a_caller_may_change_the_space() {
    let space = space::<u64>(300);
    let at = |page: u64| (0x100 + page) * PAGE;
    space.alloc_at(pages(0x100, 8), Arc::new(1)).unwrap();
    let mut asked = Vec::new();
    let parts = space.split_at_with(at(4), |first, second, value| {
        asked.push((first, second, **value));
        if asked.len() == 1 {
            space.resize(at(0), 6 * PAGE).unwrap();
        }
        space.alloc(&Request::new(PAGE), Arc::new(7)).unwrap();
        Arc::new(**value + asked.len() as u64)
    });
    let (low, high) = (pages(0x100, 4), pages(0x104, 2));
    assert_eq!(parts, Ok((low, high)));
    assert_eq!(asked, [(low, pages(0x104, 4), 1), (low, high, 1)]);
    assert_eq!(space.region_at(at(5)).map(|(span, value)| (span, *value)), Some((high, 3)));
    assert_eq!(space.len(), 4);

    // The second region is replaced by one at the same place.
    assert!(matches!(space.merge(at(0)), Err(SharedError::Refused(MergeError::Disagree { .. }))));
    let mut asked = Vec::new();
    let merged = space.merge_with(at(0), |(_, one), (_, other)| {
        asked.push((**one, **other));
        if asked.len() == 1 {
            space.free(at(4)).unwrap();
            space.alloc_at(high, Arc::new(9)).unwrap();
        }
        true
    });
    let (span, second) = merged.unwrap();
    assert_eq!((span, *second), (pages(0x100, 6), 9));
    assert_eq!(asked, [(1, 3), (1, 9)]);

    let mut asked = 0;
    let freed = space.free_range_with(at(1)..at(3), |_, _, _| {
        asked += 1;
        if asked == 2 {
            // What was to be cut is gone, and no more is.
            space.free(at(0)).unwrap();
        }
        Arc::new(0)
    });
    assert_eq!((freed.unwrap().len(), asked), (0, 2));
    space.validate().unwrap();
}

/// The parts of a region have two `Arc`s once they are restored, and are merged by what these say.
#[test]
fn restored_parts_are_merged_again() {
    let old = space::<u64>(16);
    old.alloc_at(pages(0x100, 8), Arc::new(5)).unwrap();
    old.split_at(pages(0x104, 1).first()).unwrap();
    let bytes = old.to_bytes(|value, to| to.put(&value.to_le_bytes())).unwrap();
    let number = |value: &[u8]| value.try_into().map(u64::from_le_bytes).map(Arc::new);
    let new = SharedSpace::from_bytes(&bytes, Placement::Lowest, number).unwrap();
    let first = pages(0x100, 1).first();
    assert!(matches!(new.merge(first), Err(SharedError::Refused(MergeError::Disagree { .. }))));
    assert!(new.merge_with(first, |(_, one), (_, other)| one != other).is_err());
    let (both, _) = new.merge_with(first, |(_, one), (_, other)| one == other).unwrap();
    assert_eq!(both, pages(0x100, 8));
    new.validate().unwrap();
}

#[test]
fn addresses_that_a_region_moves_to_are_not_freed_where_its_guard_was() {
    let space = space::<u64>(16);
    space.alloc_at_guarded(pages(0x100, 2), 2 * PAGE, Arc::new(1)).unwrap();
    let pending = space.begin_move(0x100 * PAGE, 0x102 * PAGE).unwrap();
    for range in [pages(0x102, 2), pages(0x103, 1), pages(0x103, 9)] {
        let moving = FreeRangeError::Moving { region: pages(0x100, 2) };
        assert_eq!(space.free_range(range).map(drop), Err(SharedError::Refused(moving)));
        space.validate().unwrap();
    }
    space.cancel_move(pending).unwrap();
    // A guard alone is nobody's addresses.
    assert_eq!(space.free_range(pages(0x102, 2)).map(Iterator::count).unwrap(), 0);
    space.validate().unwrap();
}

/// A value that looks its space up, and allocates there, when it is dropped.
struct Busy(&'static OnceLock<SharedSpace<Busy>>, Arc<AtomicU64>);

impl Drop for Busy {
    fn drop(&mut self) {
        let space = self.0.get().unwrap();
        assert!(space.region_at(0).is_none());
        assert!(space.stats().regions <= 3);
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_value_may_use_the_space_while_it_is_dropped() {
    static SPACE: OnceLock<SharedSpace<Busy>> = OnceLock::new();
    let dropped = Arc::new(AtomicU64::new(0));
    let space = SPACE.get_or_init(|| space(64));
    for _ in 0..3000 {
        let value = Arc::new(Busy(&SPACE, Arc::clone(&dropped)));
        let span = granted(|| {
            space.alloc(&Request::new(PAGE), Arc::clone(&value)).map_err(|rejected| rejected.cause)
        });
        let pending = granted(|| space.begin_move(span.first(), span.first() + 8 * PAGE));
        let span = granted(|| space.commit_move(pending));
        drop(granted(|| space.free(span.first())));
    }
    assert!(dropped.load(Ordering::Relaxed) > 100);
}

/// Asks again while readers hold too much back: their threads may not run for a while.
fn granted<T, C: std::fmt::Debug>(attempt: impl Fn() -> Result<T, SharedError<C>>) -> T {
    loop {
        match attempt() {
            Err(SharedError::Readers { .. }) => std::thread::yield_now(),
            answer => return answer.unwrap(),
        }
    }
}

/// Regions are allocated, moved and freed while readers look them up: what is found has the value that was last put there, and a
/// region that moves is found at one of its places at least.
#[test]
fn readers_beside_changes() {
    let (space, done) = (space::<Mutex<u64>>(4096), AtomicBool::new(false));
    let rounds = if cfg!(miri) { 10 } else { 3000 };
    let anchor = space.alloc(&Request::new(4 * PAGE), Arc::new(Mutex::new(7))).unwrap();
    let (low, high) = (anchor.first(), anchor.first() + 2048 * PAGE);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Acquire) {
                    let reading = space.read();
                    // The move goes up and down: who looks there first, and here, and there again, meets it.
                    let found =
                        [low, high, low].map(|at| reading.get(at + PAGE).map(|value| *value.lock().unwrap()));
                    assert!(found.contains(&Some(7)), "{found:?}");
                    for (span, value) in reading.iter() {
                        let value = *value.lock().unwrap();
                        assert!(value == 7 || value == span.first(), "{span} has {value}");
                    }
                }
            });
        }
        let (mut random, mut spans) = (Random(5), Vec::new());
        for round in 0..rounds {
            let (from, to) = if round % 2 == 0 { (low, high) } else { (high, low) };
            let pending = granted(|| space.begin_move(from, to));
            granted(|| space.commit_move(pending));
            // The value of each is its start.
            let place = pages(0xa00 + random.below(50) * 8, 1 + random.below(4));
            if let Ok(span) = space.alloc_at(place, Arc::new(Mutex::new(place.first()))) {
                spans.push(span.first());
            }
            if spans.len() > 20 {
                let first = spans.swap_remove(random.below(20) as usize);
                granted(|| space.free(first));
            }
        }
        done.store(true, Ordering::Release);
    });
    space.validate().unwrap();
}
