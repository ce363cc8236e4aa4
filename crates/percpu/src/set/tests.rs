//! The set as its users see it, for every placement.

use crate::ends::all_of;
use crate::*;
use core::ops::Range;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::string::ToString;
use std::vec::Vec;

/// Runs a check for every placement.
macro_rules! for_every_placement {
    ($check:ident) => {
        $check::<FirstFit>();
        $check::<Linux>();
        $check::<LinuxFixed>();
        $check::<Linux2017>();
    };
}

fn small() -> Config {
    Config::new(MIN_UNIT_BYTES, 2)
}

/// All that can be seen of a set.
fn seen<P: Placement, B: Backing>(set: &ChunkSet<P, B>) -> (Stats, Vec<ChunkView>, Vec<(Offset, u32)>, bool) {
    set.validate().unwrap();
    (set.stats(), all_of(set.chunks()), all_of(set.objects()), set.wants_balance())
}

#[test]
fn a_refusal_tells_sizes_apart() {
    let mut set: ChunkSet = ChunkSet::new(small()).unwrap();
    let refused = set.alloc(&Request::new(32_792)).unwrap_err();
    assert_eq!(refused.to_string(), "32792 B is more than 32768 B, the largest object");
    let refused = set.alloc(&Request::new(65_536)).unwrap_err();
    assert_eq!(refused.to_string(), "64 KiB is more than 32 KiB, the largest object");
}

fn each_refusal_is_its_own_and_changes_nothing<P: Placement>() {
    let mut set: ChunkSet<P> = ChunkSet::new(small()).unwrap();
    let kept = set.alloc(&Request::new(10)).unwrap();
    let gone = set.alloc(&Request::new(4)).unwrap();
    set.free(gone).unwrap();
    let before = seen(&set);
    for (request, error) in [
        (Request::new(0), AllocError::ZeroSize),
        (Request::new(32_769), AllocError::TooLarge { size_bytes: 32_769 }),
        (Request::new(u64::MAX), AllocError::TooLarge { size_bytes: u64::MAX }),
        (Request::new(8).align(0), AllocError::AlignNotPowerOfTwo { align_bytes: 0 }),
        (Request::new(8).align(12), AllocError::AlignNotPowerOfTwo { align_bytes: 12 }),
        (Request::new(8).align(8192), AllocError::AlignTooLarge { align_bytes: 8192 }),
        (Request::new(8).align(1 << 63), AllocError::AlignTooLarge { align_bytes: 1 << 63 }),
    ] {
        assert_eq!(set.alloc(&request), Err(error), "{request:?}");
    }
    let at = |offset_bytes| Offset { offset_bytes, ..kept };
    let unknown = ChunkId::from_parts(7, 0);
    let later = ChunkId::from_parts(kept.chunk.index(), kept.chunk.generation() + 1);
    for (offset, error) in [
        (gone, FreeError::AlreadyFree { offset: gone }),
        (at(4), FreeError::Interior { offset: at(4), object: kept }),
        (at(8), FreeError::Interior { offset: at(8), object: kept }),
        (at(2), FreeError::NoObjectOffset { offset: at(2) }),
        (at(32_768), FreeError::NoObjectOffset { offset: at(32_768) }),
        (at(u32::MAX - 3), FreeError::NoObjectOffset { offset: at(u32::MAX - 3) }),
        (Offset { chunk: unknown, ..kept }, FreeError::UnknownChunk { chunk: unknown }),
        (Offset { chunk: later, ..kept }, FreeError::UnknownChunk { chunk: later }),
    ] {
        assert_eq!(set.free(offset), Err(error), "{offset}");
        assert_eq!(set.taken_bytes(offset), Err(error), "{offset}");
        assert_eq!(set.free_sized(offset, 12), Err(error), "{offset}");
    }
    for size_bytes in [0, 8, 13, 16, u64::MAX] {
        let error = FreeError::WrongSize { offset: kept, size_bytes, taken_bytes: 12 };
        assert_eq!(set.free_sized(kept, size_bytes), Err(error));
    }
    assert_eq!(seen(&set), before);
    assert_eq!(set.free_sized(kept, 10), Ok(()));
    assert!(set.is_empty());
}

/// Of what chunks took, their maps go with them and nothing else does.
fn memory_still_held_for_chunks_that_are_gone_is_counted<P: Placement>() {
    let mut set: ChunkSet<P> = ChunkSet::new(small()).unwrap();
    let places: Vec<Offset> = (0..8).map(|_| set.alloc(&Request::new(32_768)).unwrap()).collect();
    for offset in places {
        set.free(offset).unwrap();
    }
    let map_bytes: usize = set.chunks.positions().iter().map(|chunk| chunk.map_bytes()).sum();
    let full = set.stats();
    set.balance().unwrap();
    let left = set.stats();
    assert_eq!((full.chunks, left.chunks), (8, 1));
    assert_eq!(full.metadata_bytes - left.metadata_bytes, map_bytes / 8 * 7);
}

#[test]
fn memory_held() {
    for_every_placement!(memory_still_held_for_chunks_that_are_gone_is_counted);
}

#[test]
fn refusals() {
    for_every_placement!(each_refusal_is_its_own_and_changes_nothing);
    for config in [Config::new(4096, 1), Config::new(MAX_UNIT_BYTES + 4096, 1), Config::new(40_000, 1)] {
        let error = ConfigError::UnitBytes { unit_bytes: config.unit_bytes };
        assert_eq!(ChunkSet::<FirstFit>::new(config).unwrap_err(), error);
    }
    assert_eq!(ChunkSet::<FirstFit>::new(Config::new(MIN_UNIT_BYTES, 0)).unwrap_err(), ConfigError::NoCpus);
}

fn a_place_in_a_chunk_that_is_gone_is_unknown<P: Placement>() {
    let mut set: ChunkSet<P> = ChunkSet::new(small()).unwrap();
    let all = Request::new(u64::from(MIN_UNIT_BYTES));
    let places = [set.alloc(&all).unwrap(), set.alloc(&all).unwrap()];
    for offset in places {
        set.free(offset).unwrap();
    }
    set.balance().unwrap();
    assert_eq!(set.stats().chunks, 1, "one free chunk is kept");
    let gone = places.into_iter().filter(|offset| set.chunks().all(|chunk| chunk.id != offset.chunk));
    let gone: Vec<Offset> = gone.collect();
    assert_eq!(gone.len(), 1);
    let again = [set.alloc(&all).unwrap(), set.alloc(&all).unwrap()];
    assert!(again.iter().any(|offset| offset.chunk.index() == gone[0].chunk.index()));
    assert_eq!(set.free(gone[0]), Err(FreeError::UnknownChunk { chunk: gone[0].chunk }));
}

#[test]
fn names_of_chunks_are_not_used_again() {
    for_every_placement!(a_place_in_a_chunk_that_is_gone_is_unknown);
}

fn the_last_name_of_a_position_is_not_used_again<P: Placement>() {
    let mut set: ChunkSet<P> = ChunkSet::new(small()).unwrap();
    let all = Request::new(u64::from(MIN_UNIT_BYTES));
    let first = [set.alloc(&all).unwrap(), set.alloc(&all).unwrap()];
    set.chunks.at_mut(0).generation = u32::MAX;
    set.chunks.at_mut(1).generation = u32::MAX;
    let last = first.map(|offset| Offset { chunk: set.chunks.id(offset.chunk.index()), ..offset });
    last.into_iter().for_each(|offset| assert_eq!(set.free(offset), Ok(MIN_UNIT_BYTES)));
    set.balance().unwrap();
    let again: Vec<Offset> = (0..3).map(|_| set.alloc(&all).unwrap()).collect();
    let gone: Vec<Offset> = last.into_iter().filter(|offset| !again.contains(offset)).collect();
    assert_eq!(gone.len(), 1, "one free chunk was kept");
    assert!(
        again.iter().all(|offset| offset.chunk.index() != gone[0].chunk.index()),
        "its position is retired"
    );
    assert_eq!(set.free(gone[0]), Err(FreeError::UnknownChunk { chunk: gone[0].chunk }));
    set.validate().unwrap();
}

#[test]
fn names_of_chunks_do_not_wrap() {
    for_every_placement!(the_last_name_of_a_position_is_not_used_again);
}

/// Whatever is broken, there is an answer, and it is no.
fn broken_sets_are_told<P: Placement + Clone>() {
    let mut set: ChunkSet<P> = ChunkSet::new(small()).unwrap();
    for bytes in [4, 3000, 8, 32_768, 12, 9000] {
        set.alloc(&Request::new(bytes)).unwrap();
    }
    set.validate().unwrap();
    let is_seen = |change: &dyn Fn(&mut ChunkSet<P>)| {
        let mut broken = set.clone();
        change(&mut broken);
        broken.validate().unwrap_err()
    };
    assert_eq!(is_seen(&|set| set.objects += 1).chunk, None, "a count of the set's");
    assert_eq!(is_seen(&|set| set.chunks.at_mut(1).objects += 1).chunk, Some(1));
    is_seen(&|set| set.chunks.empty_pages += 1);
    is_seen(&|set| set.chunks.at_mut(0).free_bits -= 1);
    is_seen(&|set| set.chunks.at_mut(0).used.flip(0, false));
    is_seen(&|set| set.chunks.at_mut(0).used.flip(5000, true));
    is_seen(&|set| set.chunks.at_mut(0).used.flip(8191, false));
    is_seen(&|set| set.chunks.at_mut(0).pages.set_populated(0..1, false));
    let links = set.chunks.slots.links();
    for from in 0..links {
        for to in (0..links).chain([links, u32::MAX]).filter(|&to| to != set.chunks.slots.leads_to(from)) {
            let mut broken = set.clone();
            broken.chunks.slots.set_link(from, to);
            // A link of a list of positions without a chunk is no chunk's.
            assert!(broken.validate().is_err() || from >= set.chunks.slots.vacant(), "{from} to {to}");
        }
    }
}

#[test]
fn validate_answers_for_broken_sets() {
    for_every_placement!(broken_sets_are_told);
}

/// Memory that notes what it is asked for, and that may refuse to give any.
#[derive(Clone, Debug, Default)]
struct Noted {
    /// Whether each page of each chunk has memory.
    pages: BTreeMap<ChunkId, Vec<bool>>,
    refuses: bool,
}

impl Noted {
    fn change(&mut self, chunk: ChunkId, range: Range<u32>, to: bool) {
        for page in &mut self.pages.get_mut(&chunk).unwrap()[range.start as usize..range.end as usize] {
            assert_ne!(*page, to, "a page is populated twice, or given back twice");
            *page = to;
        }
    }
}

impl Backing for Noted {
    fn create(&mut self, chunk: ChunkId) -> Result<(), OutOfMemory> {
        if self.refuses {
            return Err(OutOfMemory);
        }
        let pages = (MIN_UNIT_BYTES / PAGE_BYTES) as usize;
        assert!(self.pages.insert(chunk, std::vec![false; pages]).is_none());
        Ok(())
    }

    fn destroy(&mut self, chunk: ChunkId) {
        assert!(self.pages.remove(&chunk).unwrap().iter().all(|page| !page), "all pages were given back");
    }

    fn populate(&mut self, chunk: ChunkId, pages: Range<u32>) -> Result<(), OutOfMemory> {
        if self.refuses {
            return Err(OutOfMemory);
        }
        self.change(chunk, pages, true);
        Ok(())
    }

    fn depopulate(&mut self, chunk: ChunkId, pages: Range<u32>) {
        self.change(chunk, pages, false);
    }
}

/// A step of a random run.
#[derive(Clone, Debug)]
enum Step {
    Alloc { size: u64, align_shift: u32, atomic: bool },
    Free(usize),
    Balance,
    Refuse(bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size = prop_oneof![4 => 1u64..64, 2 => 64u64..2000, 1 => 2000u64..=32_768];
    let step = prop_oneof![
        8 => (size, 0u32..13, 0u8..8).prop_map(|(size, align_shift, kind)| Step::Alloc {
            size,
            align_shift: if kind < 5 { 2 } else { align_shift },
            atomic: kind == 7,
        }),
        7 => any::<usize>().prop_map(Step::Free),
        1 => Just(Step::Balance),
        1 => any::<bool>().prop_map(Step::Refuse),
    ];
    prop::collection::vec(step, 0..400)
}

fn play<P: Placement>(steps: &[Step], population: Population) {
    let config = small().population(population);
    let mut set: ChunkSet<P, Noted> = ChunkSet::with_backing(config, Noted::default()).unwrap();
    let mut live: Vec<(Offset, u64)> = Vec::new();
    for step in steps {
        match *step {
            Step::Alloc { size, align_shift, atomic } => {
                let request = Request { size_bytes: size, align_bytes: 1 << align_shift, atomic };
                let before: Vec<_> = set.objects().collect();
                match set.alloc(&request) {
                    Ok(offset) => {
                        let pages = &set.backing().pages[&offset.chunk];
                        let end = u64::from(offset.offset_bytes) + size;
                        let first = (offset.offset_bytes / PAGE_BYTES) as usize;
                        assert!(
                            pages[first..end.div_ceil(u64::from(PAGE_BYTES)) as usize]
                                .iter()
                                .all(|page| *page)
                        );
                        assert!(u64::from(offset.offset_bytes).is_multiple_of(request.align_bytes));
                        live.push((offset, size));
                    }
                    Err(error) => {
                        let out_of_memory = error == AllocError::OutOfMemory && set.backing().refuses;
                        let cannot_wait = atomic && error == AllocError::NoPopulatedRoom { size_bytes: size };
                        assert!(out_of_memory || cannot_wait, "{error}");
                        assert_eq!(set.objects().collect::<Vec<_>>(), before);
                    }
                }
            }
            Step::Free(_) if live.is_empty() => {}
            Step::Free(at) => {
                let (offset, size) = live.swap_remove(at % live.len());
                set.free_sized(offset, size).unwrap();
            }
            Step::Balance => assert!(set.balance().is_ok() || set.backing().refuses),
            Step::Refuse(refuses) => set.backing.refuses = refuses,
        }
        set.validate().unwrap();
        let pages: usize = set.backing().pages.values().flatten().filter(|page| **page).count();
        assert_eq!(pages as u64, set.populated_pages());
    }
    let mut objects: Vec<_> = set.objects().map(|(offset, bytes)| (offset, u64::from(bytes))).collect();
    objects.sort_unstable();
    live.iter_mut().for_each(|(_, size)| *size = size.next_multiple_of(4));
    live.sort_unstable();
    assert_eq!(objects, live);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn memory_is_asked_for_once_and_given_back(steps in steps()) {
        for population in [Population::OnDemand, Population::Whole] {
            play::<FirstFit>(&steps, population);
            play::<Linux>(&steps, population);
            play::<LinuxFixed>(&steps, population);
            play::<Linux2017>(&steps, population);
        }
    }
}

/// Many small objects come and go, so that blocks are made of fragments.
fn fragments<P: Placement>() {
    let mut set: ChunkSet<P> = ChunkSet::new(small()).unwrap();
    let mut state = 7u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut live = Vec::new();
    for round in 0..40_000 {
        let most = [20, 6000, 2000][round / 5000 % 3];
        if live.len() < most || draw(2) == 0 {
            let request = Request::new(4 + 4 * draw(3)).align(4 << draw(4));
            live.push(set.alloc(&request).unwrap());
        } else {
            let at = draw(live.len() as u64) as usize;
            set.free(live.swap_remove(at)).unwrap();
        }
        if set.wants_balance() && draw(4) == 0 {
            set.balance().unwrap();
        }
        if round % 64 == 0 {
            set.validate().unwrap();
        }
    }
    for offset in live {
        set.free(offset).unwrap();
    }
    // A chunk that was set aside becomes a free one in the first of these.
    set.balance().unwrap();
    set.balance().unwrap();
    set.validate().unwrap();
    assert_eq!((set.stats().objects, set.stats().chunks), (0, 1));
}

#[test]
fn blocks_of_fragments() {
    for_every_placement!(fragments);
}
