//! Single cases: errors, exhaustion, extents, purges.

use super::super::PooledSpace;
use crate::atomic::Ordering;
use crate::{AllocError, FreeError, LayoutError, Request};
use freehold_units::{Align, Span};
use std::vec::Vec;

const CELL: u64 = 0x1_0000;
const BASE: u64 = 0x7000_0000_0000;

fn space(cells: u64) -> PooledSpace {
    PooledSpace::new(Span::from_size(BASE, cells * CELL).unwrap(), Align::PAGE).unwrap()
}

pub(super) fn memory(cells: u64) -> PooledSpace {
    PooledSpace::for_memory(Span::from_size(BASE, cells * CELL).unwrap(), Align::PAGE).unwrap()
}

pub(super) fn free_blocks(space: &PooledSpace) -> Vec<Span> {
    space.lock().space.free_blocks().collect()
}

#[test]
fn layouts_that_are_refused() {
    let refused = |first, size, granule| {
        let span = Span::from_size(first, size).unwrap();
        PooledSpace::new(span, Align::new(granule).unwrap()).unwrap_err()
    };
    assert!(matches!(refused(0, CELL / 2, 4096), LayoutError::TooSmall { .. }));
    // There are enough granules, but no cell.
    assert!(matches!(refused(4096, CELL, 4096), LayoutError::TooSmall { .. }));
    assert!(matches!(refused(0, 1 << 62, 1 << 62), LayoutError::TooSmall { .. }));
    assert!(matches!(refused(1, 2 * CELL, 4096), LayoutError::NotGranular { .. }));
    assert!(matches!(refused(0, 2 * CELL + 1, 4096), LayoutError::NotGranular { .. }));
    let most_bytes = 1 << 48;
    let error = refused(0, (1 << 48) + CELL, 4096);
    assert!(matches!(error, LayoutError::TooLarge { most_bytes: most, .. } if most == most_bytes), "{error}");
    let whole = PooledSpace::new(Span::ALL, Align::new(1 << 28).unwrap()).unwrap();
    let block = whole.alloc(1 << 63).unwrap();
    assert_eq!(whole.locate(1 << 62), Some(block));
    whole.validate().unwrap();
}

/// A slab of slots of 10 granules has 20 cells.
#[test]
fn a_block_is_as_long_as_asked_for_where_no_slab_fits() {
    for (cells, granules) in [(2, 9), (20, 10)] {
        let space = space(cells);
        let block = space.alloc(9 * 4096).unwrap();
        assert_eq!((block.len(), space.block_bytes(9 * 4096)), (Some(granules * 4096), 10 * 4096));
    }
}

/// Rounded up to cells, a size may be that of all addresses, which no request can have.
#[test]
fn a_block_of_all_cells_is_handed_out() {
    for shift in [58, 59] {
        let granule = 1 << shift;
        let space = PooledSpace::new(Span::ALL, Align::new(granule).unwrap()).unwrap();
        let guarded = Request::new(granule).guard(granule.wrapping_neg() - granule);
        for request in [Request::new(granule.wrapping_neg()), guarded] {
            let block = space.alloc_request(&request).unwrap();
            assert_eq!((block.first(), Some(request.size_bytes)), (0, block.len()));
            assert_eq!(space.locate(block.last()), Some(block));
            space.validate().unwrap();
            assert!(matches!(space.alloc(granule), Err(AllocError::NoSpace { .. })));
            assert!(space.set_aside(&request).is_err());
            assert_eq!(space.free(0), Ok(block));

            let other = space.alloc(granule).unwrap();
            assert!(matches!(space.alloc_request(&request), Err(AllocError::Occupied { .. })));
            space.free(other.first()).unwrap();
            // An empty slab makes way.
            assert_eq!(space.alloc_request(&request), Ok(block));
            space.free(0).unwrap();
            assert_eq!(space.set_aside(&request), Ok(Span::ALL));
            assert!(space.return_aside(0));
            space.validate().unwrap();
        }
        let window = Request::new(granule.wrapping_neg()).window(Span::new(granule, u64::MAX).unwrap());
        assert!(matches!(space.alloc_request(&window), Err(AllocError::NoMultiple { .. })));
        assert_eq!(
            space.alloc_request(&Request::new(granule).guard(granule.wrapping_neg())),
            Err(AllocError::SizeOverflow)
        );
        let half = Span::new(1 << 63, u64::MAX).unwrap();
        let half = PooledSpace::new(half, Align::new(granule).unwrap()).unwrap();
        assert!(matches!(half.alloc(granule.wrapping_neg()), Err(AllocError::TooLarge { .. })));
    }
}

/// Ends that are no multiples of a cell, at both ends of the addresses, with the smallest granule and others.
#[test]
fn the_whole_cells_of_any_span_are_handed_out() {
    let span = |first, last| Span::new(first, last).unwrap();
    for (granule, all, whole) in [
        (1, span(1, u64::from(u32::MAX)), span(16, u64::from(u32::MAX))),
        (1, span(1, 500), span(16, 495)),
        (1, span(0, 15), span(0, 15)),
        (1, span(u64::MAX - 40, u64::MAX), span(u64::MAX - 31, u64::MAX)),
        (8, span(8, 8 * 50 - 1), span(128, 383)),
        (4096, span(4096, 40 * 4096 - 1), span(16 * 4096, 32 * 4096 - 1)),
    ] {
        for make in [PooledSpace::new, PooledSpace::for_memory] {
            let space = make(all, Align::new(granule).unwrap()).unwrap();
            assert_eq!(space.span(), whole);
            let mut blocks = Vec::new();
            while blocks.len() < 600
                && let Ok(block) = space.alloc(granule)
            {
                assert!(whole.covers(block) && block.size_bytes() == granule.into());
                assert_eq!(space.locate(block.last()), Some(block));
                blocks.push(block);
            }
            let (all, cells) = (blocks.len(), whole.size_bytes() / u128::from(granule) / 16);
            assert!(all as u128 >= cells.min(600), "{all} blocks of {cells} cells");
            blocks.sort_unstable();
            blocks.dedup();
            assert_eq!(blocks.len(), all);
            for block in blocks {
                assert_eq!(space.free(block.first()), Ok(block));
            }
            space.validate().unwrap();
        }
    }
}

#[test]
fn sizes_that_are_refused() {
    let space = space(64);
    assert_eq!(space.alloc(0), Err(AllocError::ZeroSize));
    assert_eq!(space.alloc(100), Err(AllocError::NotGranular { size_bytes: 100, granule: Align::PAGE }));
    let request = Request::new(4096);
    let not_granular = AllocError::NotGranular { size_bytes: 1, granule: Align::PAGE };
    assert_eq!(space.alloc_request(&request.guard(1)), Err(not_granular));
    let not_power = AllocError::NotPowerOfTwo { align_bytes: 3 };
    assert_eq!(space.alloc_request(&request.align_bytes(3)), Err(not_power));
    let outside = Span::new(0, 0xffff).unwrap();
    assert!(matches!(
        space.alloc_request(&request.window(outside)),
        Err(AllocError::WindowOutside { window, .. }) if window == outside
    ));
    let end = !0xfff;
    assert_eq!(space.alloc_request(&Request::new(end).guard(end)), Err(AllocError::SizeOverflow));
    assert!(matches!(space.alloc(end), Err(AllocError::TooLarge { size_bytes, .. }) if size_bytes == end));
    assert!(matches!(space.alloc(65 * CELL), Err(AllocError::TooLarge { .. })));
    // A window in which no cell starts.
    let sliver = Span::from_size(BASE + 4096, 8192).unwrap();
    assert!(matches!(space.alloc_request(&request.window(sliver)), Err(AllocError::NoMultiple { .. })));
    assert_eq!(free_blocks(&space), [space.span()]);
}

#[test]
fn wrong_frees_are_told() {
    let space = space(1024);
    let small = space.alloc(0x2000).unwrap();
    let large = space.alloc_request(&Request::new(300 << 12).guard(0x1000)).unwrap();
    assert_eq!(
        space.free(small.first() + 0x1000),
        Err(FreeError::Interior { address: small.first() + 0x1000, region: small })
    );
    for address in [large.first() + 0x5000, large.last() + 1] {
        assert_eq!(space.free(address), Err(FreeError::Interior { address, region: large }));
    }
    for address in [BASE - 1, 0, u64::MAX, space.span().last() + 1] {
        assert_eq!(space.free(address), Err(FreeError::Unknown { address }));
    }
    for block in [small, large] {
        assert_eq!(space.free(block.first()), Ok(block));
        let address = block.first();
        let again = space.free(address).unwrap_err();
        assert!(
            matches!(again, FreeError::AlreadyFree { address: at, block: free } if at == address && free.contains(at))
        );
    }
    // After the slab, where no block ever was.
    let address = space.span().last();
    let block = *free_blocks(&space).last().unwrap();
    assert_eq!(space.free(address), Err(FreeError::AlreadyFree { address, block }));
}

/// A free that met no slab, where there is one by the time that it has the lock.
#[test]
fn an_address_whose_slab_came_meanwhile_is_free_with_its_granule() {
    let space = space(64);
    let block = Span::from_size(space.alloc(0x2000).unwrap().first() + 0x1000, 0x1000).unwrap();
    for address in [block.first(), block.first() + 8, block.last()] {
        assert_eq!(space.why_not(address), FreeError::AlreadyFree { address, block });
    }
}

#[test]
fn exhausted_and_freed_one_block_remains() {
    for granules in [1, 3, 10, 16, 100, 256, 400] {
        let space = space(1024);
        let mut blocks = Vec::new();
        while let Ok(block) = space.alloc(granules << 12) {
            blocks.push(block);
        }
        let held: u128 = blocks.iter().map(|block| block.size_bytes()).sum();
        // Slabs, and then extents where no slab fits.
        let slot = blocks[0].size_bytes().next_multiple_of(CELL.into());
        assert!(space.span().size_bytes() - held.next_multiple_of(slot) < slot * 32, "{granules}");
        assert!(free_blocks(&space).iter().all(|block| block.size_bytes() < slot));
        space.validate().unwrap();
        assert!(matches!(space.alloc(granules << 12), Err(AllocError::NoSpace { .. })));
        // Every other one first, so that no slab is empty for long.
        let (even, odd): (Vec<Span>, Vec<Span>) =
            blocks.into_iter().partition(|block| block.first() / (granules << 12) % 2 == 0);
        for block in even.into_iter().chain(odd) {
            assert_eq!(space.free(block.first()), Ok(block));
        }
        space.trim();
        assert_eq!(free_blocks(&space), [space.span()], "{granules}");
        space.validate().unwrap();
    }
}

#[test]
fn slabs_without_a_block_make_room_for_other_sizes() {
    let space = space(32);
    let fill = |granules: u64| {
        let mut blocks = Vec::new();
        while let Ok(block) = space.alloc(granules << 12) {
            blocks.push(block);
        }
        blocks
    };
    for granules in [1, 8, 2, 16, 512, 1] {
        let blocks = fill(granules);
        let held: u128 = blocks.iter().map(|block| block.size_bytes()).sum();
        assert_eq!(held, space.span().size_bytes(), "{granules}");
        blocks.iter().for_each(|block| assert_eq!(space.free(block.first()), Ok(*block)));
    }
}

#[test]
fn the_last_free_slots_are_found() {
    let space = space(64);
    let mut blocks: Vec<Span> = std::iter::from_fn(|| space.alloc(4096).ok()).collect();
    assert_eq!(blocks.len(), 64 * 16);
    // A few slabs with one free slot each, which are in no list.
    for place in [5, 100, 777] {
        let block = blocks[place];
        space.free(block.first()).unwrap();
        assert_eq!(space.alloc(4096), Ok(block));
    }
    blocks.drain(..).for_each(|block| assert_eq!(space.free(block.first()), Ok(block)));
    space.trim();
    assert_eq!(free_blocks(&space), [space.span()]);
}

#[test]
fn an_extent_may_be_as_large_as_the_space() {
    let size = 1 << 44;
    let space = PooledSpace::new(Span::from_size(0, size).unwrap(), Align::PAGE).unwrap();
    let before = space.stats().index_bytes;
    let block = space.alloc(size).unwrap();
    assert_eq!((block.first(), space.locate(size / 3)), (0, Some(block)));
    // No cell of the page map was written.
    assert!(space.stats().index_bytes < before + 0x1_0000);
    assert_eq!(space.free(0), Ok(block));
    assert_eq!(space.locate(size / 3), None);
}

#[test]
fn windows_end_within_a_cell() {
    let space = space(16);
    let window = Span::from_size(BASE + 3 * CELL - 0x1000, CELL + 0x3000).unwrap();
    let request = Request::new(0x1000).guard(0x1000).window(window);
    let block = space.alloc_request(&request.align_bytes(CELL)).unwrap();
    assert_eq!(block.first(), BASE + 3 * CELL);
    // The next cell fits exactly the region and its guard.
    assert_eq!(space.alloc_request(&request).map(Span::first), Ok(BASE + 4 * CELL));
    assert!(matches!(space.alloc_request(&request), Err(AllocError::NoSpace { .. })));
    let tighter = Span::new(window.first(), window.last() - 1).unwrap();
    space.free(BASE + 4 * CELL).unwrap();
    assert!(space.alloc_request(&request.window(tighter)).is_err());
}

#[test]
fn a_slab_is_named_by_every_address_of_its_slots() {
    let space = space(64);
    let slot = space.alloc_memory(0x2000).unwrap();
    let name = slot.slab.expect("a small block is in a slab");
    assert_eq!(space.slab_ref(slot.span.first()), Some(name));
    assert_eq!(space.slab_ref(slot.span.last()), Some(name));
    let extent = space.alloc(20 * CELL).unwrap();
    assert_eq!((space.slab_ref(extent.first()), space.extent_name(slot.span.first())), (None, None));
    assert!(space.extent_name(extent.first()).is_some());
    assert_eq!(space.slab_ref(BASE - 1), None);
}

/// All bytes are in slabs, in extents, set aside or unused; each call of `stats` takes the lock.
#[test]
fn figures_of_the_core() {
    let space = space(64);
    let empty = space.stats();
    assert_eq!((empty.unused_bytes, empty.slabs, empty.extents), (space.span().size_bytes(), 0, 0));
    let extent = space.alloc(20 * CELL).unwrap();
    let one = space.stats();
    assert_eq!(one.unused_bytes, empty.unused_bytes - extent.size_bytes());
    let slots: Vec<Span> = (0..33).map(|_| space.alloc(0x1000).unwrap()).collect();
    let all = space.stats();
    let in_slabs = slots.iter().map(|slot| slot.size_bytes()).sum::<u128>() + u128::from(all.ready_bytes);
    assert_eq!(all.unused_bytes, one.unused_bytes - in_slabs);
    assert!(all.index_bytes > empty.index_bytes && empty.index_bytes > 0, "{all:?} after {empty:?}");
    assert_eq!(space.stats().core_locks, all.core_locks + 1);
    assert_eq!(all.core_lock_waits, 0);
}

#[test]
fn a_thread_that_waits_for_the_core_is_counted() {
    let space = space(64);
    let before = space.stats().core_locks;
    let held = space.lock();
    std::thread::scope(|scope| {
        scope.spawn(|| space.alloc(20 * CELL).unwrap());
        while space.lock_waits.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        drop(held);
    });
    let after = space.stats();
    assert_eq!((after.core_lock_waits, after.core_locks), (1, before + 3));
}

#[test]
fn random_replacement_rarely_takes_the_lock() {
    let space = PooledSpace::new(Span::from_size(BASE, 1 << 36).unwrap(), Align::PAGE).unwrap();
    let sizes = [1, 2, 4, 5, 16];
    let mut random = 1u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) as usize % below
    };
    let count = if cfg!(miri) { 200 } else { 10_000 };
    let mut blocks: Vec<Span> = (0..count).map(|at| space.alloc(sizes[at % 5] << 12).unwrap()).collect();
    let before = space.stats();
    let operations = 20 * count;
    for _ in 0..operations {
        let place = next(count);
        space.free(blocks[place].first()).unwrap();
        blocks[place] = space.alloc(sizes[next(5)] << 12).unwrap();
    }
    let locks = space.stats().core_locks - before.core_locks;
    assert!(16 * locks < 2 * operations as u64, "{locks} locks in {operations} pairs");
    space.validate().unwrap();
}

#[test]
fn the_name_of_a_slab_changes_no_answer() {
    let (space, other) = (memory(1024), memory(64));
    let block = space.alloc_memory(0x2000).unwrap();
    let wide = space.alloc_memory(0x8000).unwrap();
    let foreign = other.alloc_memory(0x2000).unwrap().slab.unwrap();
    let gone = {
        let block = other.alloc_memory(0x1_0000).unwrap();
        other.free_decommitted(block.span.first()).unwrap();
        other.trim();
        block.slab.unwrap()
    };
    for slab in [block.slab.unwrap(), wide.slab.unwrap(), foreign, gone] {
        let first = block.span.first();
        assert_eq!(space.free_slot(first, slab), Ok(block.span));
        let again = space.free_slot(first, slab);
        assert!(matches!(again, Err(FreeError::AlreadyFree { block: free, .. }) if free == block.span));
        assert_eq!(space.alloc_resident(0x2000), Some((block.span, block.slab.unwrap())));
        let inside = space.free_slot(first + 0x1000, slab);
        assert!(matches!(inside, Err(FreeError::Interior { region, .. }) if region == block.span));
        let outside = space.free_slot(space.span().last(), slab);
        assert!(
            matches!(outside, Err(FreeError::Unknown { .. } | FreeError::AlreadyFree { .. })),
            "{outside:?}"
        );
        assert_eq!(space.locate(wide.span.first()), Some(wide.span));
    }
    space.validate().unwrap();
}

#[test]
fn a_block_has_as_many_bytes_as_is_said() {
    let space = memory(1 << 20);
    for granules in 1..=300 {
        let size_bytes = granules << 12;
        assert_eq!(u128::from(space.block_bytes(size_bytes)), space.alloc(size_bytes).unwrap().size_bytes());
    }
}

#[test]
fn what_is_set_aside_is_nobodys_until_it_is_returned() {
    let space = memory(64);
    let block = space.alloc(4096).unwrap();
    let aside = space.set_aside(&Request::new(3 * CELL - 4096).align_bytes(2 * CELL)).unwrap();
    assert_eq!((aside.size_bytes(), aside.first()), (3 * u128::from(CELL), BASE + 60 * CELL));
    assert_eq!(space.locate(aside.first()), None);
    assert!(matches!(space.free(aside.first()), Err(FreeError::Unknown { .. })));
    assert!(!space.return_aside(block.first()) && !space.return_aside(aside.first() + CELL));
    space.validate().unwrap();
    // Slabs without a block are retired to free their addresses.
    space.free_decommitted(block.first()).unwrap();
    let rest = space.set_aside(&Request::new(60 * CELL)).unwrap();
    assert!(matches!(space.set_aside(&Request::new(2 * CELL)), Err(AllocError::NoSpace { .. })));
    assert!(space.return_aside(aside.first()) && !space.return_aside(aside.first()));
    assert!(space.return_aside(rest.first()));
    assert_eq!(free_blocks(&space), [space.span()]);
    space.validate().unwrap();
}
