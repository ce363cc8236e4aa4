//! What every placement keeps to, seen from outside. The crate that has a placement says for which, by `for_placements!`.

use super::watched;
use freehold_percpu::*;
use proptest::prelude::*;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

/// Runs every check for each of the placements.
macro_rules! for_placements {
    ($($placement:ty),+) => {
        #[test]
        fn refusals() {
            $(laws::each_refusal_is_its_own_and_changes_nothing::<$placement>();)+
        }

        #[test]
        fn names_of_chunks_are_not_used_again() {
            $(laws::a_place_in_a_chunk_that_is_gone_is_unknown::<$placement>();)+
        }

        #[test]
        fn runs_are_objects() {
            $(laws::a_run_is_objects::<$placement>();)+
        }

        #[test]
        fn trimming_leaves_what_objects_need() {
            $(laws::trimmed::<$placement>();)+
        }

        #[test]
        fn trimming_releases_chunks_as_a_whole() {
            $(laws::trimmed_whole::<$placement>();)+
        }

        #[test]
        fn blocks_of_fragments() {
            $(laws::fragments::<$placement>();)+
        }

        #[test]
        fn every_refusal_of_memory_is_survived() {
            $(laws::survives::<$placement>();)+
        }

        proptest! {
            #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

            #[test]
            fn memory_is_asked_for_once_and_given_back(steps in laws::steps()) {
                for population in [Population::OnDemand, Population::Whole] {
                    $(laws::play::<$placement>(&steps, population);)+
                }
            }
        }
    };
}
pub(crate) use for_placements;

fn small() -> Config {
    Config::new(MIN_UNIT_BYTES, 2)
}

/// All that can be seen of a set.
fn seen<P: Placement, B: Backing>(set: &ChunkSet<P, B>) -> (Stats, Vec<ChunkView>, Vec<(Offset, u32)>, bool) {
    set.validate().unwrap();
    (set.stats(), set.chunks().collect(), set.objects().collect(), set.wants_balance())
}

pub(crate) fn each_refusal_is_its_own_and_changes_nothing<P: Placement>() {
    let mut set: ChunkSet<P> = ChunkSet::new(small()).unwrap();
    let kept = set.alloc(&Request::new(10)).unwrap();
    let gone = set.alloc(&Request::new(4)).unwrap();
    set.free(gone).unwrap();
    let before = seen(&set);
    for (request, error) in [
        (Request::new(0), AllocError::ZeroSize),
        (Request::new(32_769), AllocError::TooLarge { size_bytes: 32_769 }),
        (Request::new(u64::MAX), AllocError::TooLarge { size_bytes: u64::MAX }),
        (Request::new(8).align(0), AllocError::NotPowerOfTwo { align_bytes: 0 }),
        (Request::new(8).align(12), AllocError::NotPowerOfTwo { align_bytes: 12 }),
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

pub(crate) fn a_place_in_a_chunk_that_is_gone_is_unknown<P: Placement>() {
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

pub(crate) fn a_run_is_objects<P: Placement>() {
    let mut set: ChunkSet<P> = ChunkSet::new(Config::new(MIN_UNIT_BYTES, 2)).unwrap();
    let request = Request::new(8).align(8);
    assert_eq!(set.alloc_run(&request, 64), Ok(None), "no chunk exists");
    let first = set.alloc(&request).unwrap();
    let run = set.alloc_run(&request, 64).unwrap().unwrap();
    set.validate().unwrap();
    assert_eq!((set.len(), set.stats().chunks), (65, 1));
    let at = |nth: u32| Offset { offset_bytes: run.offset_bytes + 8 * nth, ..run };
    assert!((0..64).all(|nth| set.taken_bytes(at(nth)) == Ok(8)));
    for nth in (0..64).step_by(2).chain((1..64).step_by(2)) {
        assert_eq!(set.free(at(nth)), Ok(8));
        set.validate().unwrap();
    }
    set.free(first).unwrap();
    assert!(set.is_empty());
    assert_eq!(set.alloc_run(&request, 0), Err(AllocError::ZeroSize));
    assert_eq!(set.alloc_run(&request, 4097), Err(AllocError::TooLarge { size_bytes: 32_776 }));
    assert!(set.alloc_run(&request, 4096).unwrap().is_some());
    assert_eq!(set.alloc_run(&request, 1), Ok(None), "the chunk is full");
    assert_eq!(Request::new(10).align(8).spacing_bytes(), Ok(16));
}

pub(crate) fn trimmed<P: Placement>() {
    let mut set: ChunkSet<P> = ChunkSet::new(Config::new(MIN_UNIT_BYTES, 2)).unwrap();
    let places: Vec<Offset> = (0..40).map(|_| set.alloc(&Request::new(4096)).unwrap()).collect();
    for &offset in &places[..39] {
        set.free(offset).unwrap();
    }
    set.trim();
    set.validate().unwrap();
    assert_eq!((set.stats().chunks, set.populated_pages()), (1, 1));
    assert!(matches!(
        set.alloc(&Request::new(4096).atomic()),
        Err(AllocError::NoPopulatedRoom { size_bytes: 4096 })
    ));
    set.alloc(&Request::new(4096)).unwrap();
    set.free(places[39]).unwrap();
    set.validate().unwrap();
}

pub(crate) fn trimmed_whole<P: Placement>() {
    let config = small().population(Population::Whole);
    let mut set: ChunkSet<P, Noted> = ChunkSet::with_backing(config, Noted::default()).unwrap();
    let all = Request::new(u64::from(MIN_UNIT_BYTES));
    let gone = set.alloc(&all).unwrap();
    let kept = set.alloc(&Request::new(4)).unwrap();
    set.free(gone).unwrap();
    set.trim();
    set.validate().unwrap();
    let pages = &set.backing().pages;
    assert!(pages.keys().eq([&kept.chunk]) && pages[&kept.chunk].iter().all(|page| *page), "{pages:?}");
    set.alloc(&Request::new(4096).atomic()).unwrap();
}

/// Memory that notes what it is asked for, and that may refuse to give any.
#[derive(Clone, Debug, Default)]
struct Noted {
    /// Whether each page of each chunk has memory.
    pages: BTreeMap<ChunkId, Vec<bool>>,
    refuses: Rc<Cell<bool>>,
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
        if self.refuses.get() {
            return Err(OutOfMemory);
        }
        let pages = (MIN_UNIT_BYTES / PAGE_BYTES) as usize;
        assert!(self.pages.insert(chunk, vec![false; pages]).is_none());
        Ok(())
    }

    fn destroy(&mut self, chunk: ChunkId) {
        assert!(self.pages.remove(&chunk).unwrap().iter().all(|page| !page), "all pages were given back");
    }

    fn populate(&mut self, chunk: ChunkId, pages: Range<u32>) -> Result<(), OutOfMemory> {
        if self.refuses.get() {
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
pub(crate) enum Step {
    Alloc { size: u64, align_shift: u32, atomic: bool },
    Free(usize),
    Balance,
    Refuse(bool),
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
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

pub(crate) fn play<P: Placement>(steps: &[Step], population: Population) {
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
                        let out_of_memory = error == AllocError::OutOfMemory && set.backing().refuses.get();
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
            Step::Balance => assert!(set.balance().is_ok() || set.backing().refuses.get()),
            Step::Refuse(refuses) => set.backing().refuses.set(refuses),
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

/// Many small objects come and go, so that blocks are made of fragments.
pub(crate) fn fragments<P: Placement>() {
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

fn objects<P: Placement>(set: &ChunkSet<P>) -> Vec<(Offset, u32)> {
    set.validate().unwrap();
    set.objects().collect()
}

/// Objects that fill several chunks one after the other.
fn requests() -> impl Iterator<Item = Request> {
    (0..24).map(|at| Request::new(2000 + 900 * (at % 11)))
}

fn creation_survives<P: Placement>(config: Config) {
    for refused in 0.. {
        let (answer, requests) = watched(refused, || ChunkSet::<P>::new(config));
        match answer {
            Ok(set) => {
                assert!(requests <= refused && refused > 0);
                return set.validate().unwrap();
            }
            Err(error) => assert_eq!(error, ConfigError::OutOfMemory),
        }
    }
}

/// Refuses every request for memory of every allocation in turn. Returns how many there were.
fn allocations_survive<P: Placement>(config: Config) -> u64 {
    let mut set: ChunkSet<P> = ChunkSet::new(config).unwrap();
    let mut refusals = 0;
    for request in requests() {
        for refused in 0.. {
            let before = objects(&set);
            let (answer, _) = watched(refused, || set.alloc(&request));
            match answer {
                Ok(_) => break,
                Err(error) => assert_eq!(error, AllocError::OutOfMemory),
            }
            assert_eq!(objects(&set), before);
            refusals += 1;
        }
    }
    refusals
}

/// Frees never ask for memory, and balancing only for a chunk to keep pages ready in.
fn frees_and_balancing_survive<P: Placement>(config: Config) {
    let mut set: ChunkSet<P> = ChunkSet::new(config).unwrap();
    let places: Vec<Offset> = requests().map(|request| set.alloc(&request).unwrap()).collect();
    for place in places {
        let (freed, requests) = watched(0, || set.free(place));
        assert!(freed.is_ok() && requests == 0);
        let refused = watched(0, || set.balance()).0.is_err();
        assert!(!refused || set.wants_balance(), "what was not done is wanted still");
        set.validate().unwrap();
        watched(super::NONE_REFUSED, || set.balance()).0.unwrap();
        set.validate().unwrap();
    }
    assert!(set.is_empty());
}

pub(crate) fn survives<P: Placement>() {
    for population in [Population::OnDemand, Population::Whole] {
        let config = Config::new(MIN_UNIT_BYTES, 2).population(population);
        creation_survives::<P>(config);
        let refusals = allocations_survive::<P>(config);
        assert!(refusals > 12, "only {refusals} requests for memory");
        frees_and_balancing_survive::<P>(config);
    }
}
