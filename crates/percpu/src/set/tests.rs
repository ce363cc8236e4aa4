//! Tests that need the set's private state.

use crate::*;
use std::string::ToString;
use std::vec::Vec;

fn small() -> Config {
    Config::new(MIN_UNIT_BYTES, 2)
}

#[test]
fn a_refusal_tells_sizes_apart() {
    let mut set: ChunkSet = ChunkSet::new(small()).unwrap();
    let refused = set.alloc(&Request::new(32_792)).unwrap_err();
    assert_eq!(refused.to_string(), "32792 B is more than 32768 B, the largest object");
    let refused = set.alloc(&Request::new(65_536)).unwrap_err();
    assert_eq!(refused.to_string(), "64 KiB is more than 32 KiB, the largest object");
}

#[test]
fn an_object_takes_its_own_bytes_wherever_it_is() {
    let mut set: ChunkSet = ChunkSet::new(small()).unwrap();
    let sizes = [100, 12, 5000, 8];
    let objects = sizes.map(|size| set.alloc(&Request::new(size)).unwrap());
    assert_eq!(objects.map(|object| set.taken_bytes(object)), sizes.map(|size| Ok(size as u32)));
}

/// Without a demand, all pages of a chunk are there at once.
#[test]
fn the_policy_that_was_chosen_populates() {
    for (population, bytes) in [(Population::OnDemand, PAGE_BYTES), (Population::Whole, MIN_UNIT_BYTES)] {
        let mut set: ChunkSet = ChunkSet::new(small().population(population)).unwrap();
        set.alloc(&Request::new(8)).unwrap();
        assert_eq!(set.populated_pages(), u64::from(bytes / PAGE_BYTES), "{population:?}");
    }
}

/// Destroying chunks frees their maps and nothing else.
#[test]
fn memory_still_held_for_chunks_that_are_gone_is_counted() {
    let mut set: ChunkSet = ChunkSet::new(small()).unwrap();
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

/// Each byte is one of an object of 100 bytes, of one of 8, or free.
#[test]
fn the_view_of_a_chunk_is_in_bytes() {
    let mut set: ChunkSet = ChunkSet::new(small().population(Population::Whole)).unwrap();
    set.alloc(&Request::new(100)).unwrap();
    set.alloc(&Request::new(8)).unwrap();
    let views: Vec<ChunkView> = set.chunks().collect();
    let [view] = views[..] else { panic!("{views:?}") };
    assert_eq!((view.objects, view.free_bytes), (2, MIN_UNIT_BYTES - 108));
    assert_eq!(set.stats().free_bytes, u64::from(view.free_bytes));
    assert!(view.contig_start_bytes.is_none() && view.first_free_bytes <= 108, "{view:?}");
    assert!(view.contig_bytes >= view.free_bytes && view.contig_bytes <= MIN_UNIT_BYTES, "{view:?}");
    assert_eq!(view.populated_pages, MIN_UNIT_BYTES / PAGE_BYTES);
    assert_eq!(view.empty_pages, MIN_UNIT_BYTES / PAGE_BYTES - 1);
}

/// Lower pages without memory are passed over where a request cannot wait for any.
#[test]
fn a_wide_request_that_cannot_wait_lies_in_populated_pages() {
    let mut set: ChunkSet = ChunkSet::new(small()).unwrap();
    let pages: Vec<Offset> = (0..8).map(|_| set.alloc(&Request::new(4096)).unwrap()).collect();
    (0..3).for_each(|page| _ = set.free(pages[page]).unwrap());
    set.trim();
    let request = Request::new(8192).atomic();
    assert_eq!(set.alloc(&request), Err(AllocError::NoPopulatedRoom { size_bytes: 8192 }));
    (4..6).for_each(|page| _ = set.free(pages[page]).unwrap());
    assert_eq!(set.alloc(&request), Ok(pages[4]));
    assert_eq!(set.alloc(&Request::new(8192)), Ok(pages[0]));
    set.validate().unwrap();
}

/// Two bytes for each page of a chunk: the placement's bounds are counted.
#[test]
fn bounds_of_pages_are_counted() {
    let bytes = |unit_bytes: u32| {
        let mut set: ChunkSet = ChunkSet::new(Config::new(unit_bytes, 1)).unwrap();
        set.alloc(&Request::new(4)).unwrap();
        let maps: usize = set.chunks.positions().iter().map(|chunk| chunk.map_bytes()).sum();
        let chunk = set.chunks.at(0);
        assert!(chunk.map_bytes() > chunk.used.bytes(), "pages have a map, too");
        set.stats().metadata_bytes - maps
    };
    let more_pages = ((MAX_UNIT_BYTES - MIN_UNIT_BYTES) / 4096) as usize;
    assert_eq!(bytes(MAX_UNIT_BYTES) - bytes(MIN_UNIT_BYTES), 2 * more_pages);
}

/// A chunk is set aside where it has many empty pages and the others have enough of them, and nowhere else.
#[test]
fn a_chunk_with_one_empty_page_is_not_set_aside() {
    let mut set: ChunkSet = ChunkSet::new(small()).unwrap();
    let places: Vec<Offset> = (0..16).map(|_| set.alloc(&Request::new(4096)).unwrap()).collect();
    set.balance().unwrap();
    let aside = |set: &ChunkSet| set.chunks().filter(|chunk| chunk.isolated).count();
    for place in &places[8..14] {
        set.free(*place).unwrap();
    }
    set.free(places[0]).unwrap();
    assert_eq!((aside(&set), set.wants_balance()), (0, false));
    set.free(places[1]).unwrap();
    assert_eq!((aside(&set), set.wants_balance()), (1, true));
}

/// Has memory for the first four pages of a chunk.
struct FourPages;

impl Backing for FourPages {
    fn populate(&mut self, _: ChunkId, pages: core::ops::Range<u32>) -> Result<(), OutOfMemory> {
        if pages.end > 4 { Err(OutOfMemory) } else { Ok(()) }
    }
}

#[test]
fn pages_populated_before_a_refusal_are_used() {
    let mut set: ChunkSet<FirstFit, _> = ChunkSet::with_backing(small(), FourPages).unwrap();
    let places: Vec<Offset> = (0..4).map(|_| set.alloc(&Request::new(4096)).unwrap()).collect();
    places[1..3].iter().for_each(|&place| assert_eq!(set.free(place), Ok(4096)));
    set.trim();
    assert_eq!((set.balance(), set.populated_pages()), (Err(OutOfMemory), 4));
    set.validate().unwrap();
    assert_eq!(set.alloc(&Request::new(8192).atomic()), Ok(places[1]));
}

#[test]
fn refusals() {
    for config in [Config::new(4096, 1), Config::new(MAX_UNIT_BYTES + 4096, 1), Config::new(40_000, 1)] {
        let error = ConfigError::UnitBytes { unit_bytes: config.unit_bytes };
        assert_eq!(ChunkSet::<FirstFit>::new(config).unwrap_err(), error);
    }
    assert_eq!(ChunkSet::<FirstFit>::new(Config::new(MIN_UNIT_BYTES, 0)).unwrap_err(), ConfigError::NoCpus);
}

#[test]
fn the_last_name_of_a_position_is_not_used_again() {
    let mut set: ChunkSet = ChunkSet::new(small()).unwrap();
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

/// `validate` terminates with an error for any broken set.
#[test]
fn broken_sets_are_told() {
    let mut set: ChunkSet = ChunkSet::new(small()).unwrap();
    for bytes in [4, 3000, 8, 32_768, 12, 9000] {
        set.alloc(&Request::new(bytes)).unwrap();
    }
    set.validate().unwrap();
    let is_seen = |change: &dyn Fn(&mut ChunkSet)| {
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
    let links = set.chunks.lists.links();
    for from in 0..links {
        for to in (0..links).chain([links, u32::MAX]).filter(|&to| to != set.chunks.lists.leads_to(from)) {
            let mut broken = set.clone();
            broken.chunks.lists.set_link(from, to);
            // A link of a list of positions without a chunk is no chunk's.
            assert!(broken.validate().is_err() || from >= set.chunks.lists.vacant(), "{from} to {to}");
        }
    }
}
