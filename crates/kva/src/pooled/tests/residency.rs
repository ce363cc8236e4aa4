//! Spaces for memory: which free blocks are resident or populated, and what a purge takes.

use super::super::PooledSpace;
use super::cases::{free_blocks, memory};
use crate::{FreeError, Request};
use freehold_units::{Align, Span};
use std::vec::Vec;

#[test]
fn a_free_slot_is_resident_until_it_was_purged() {
    let space = memory(1024);
    let blocks: Vec<Span> = (0..40).map(|_| space.alloc(0x4000).unwrap()).collect();
    let large = space.alloc(400 << 12).unwrap();
    assert!(space.take_resident(u64::MAX).unwrap().is_empty());
    for block in &blocks[3..] {
        space.free(block.first()).unwrap();
    }
    space.free(large.first()).unwrap();
    let resident = 37 * 0x4000 + (400 << 12);
    assert_eq!(space.stats().resident_bytes, resident);
    let some = space.take_resident(3 * 0x4000_u64).unwrap();
    assert_eq!(some.bytes(), (3 * 0x4000).into());
    // Runs of slots are one span.
    assert_eq!(some.spans().count(), 1);
    space.give_back(some);
    assert_eq!(space.stats().resident_bytes, resident - 3 * 0x4000);
    // Resident slots before decommitted ones.
    let again = space.alloc(0x4000).unwrap();
    assert_eq!(space.stats().resident_bytes, resident - 4 * 0x4000);
    space.free(again.first()).unwrap();
    // A dropped batch leaves its slots as they were.
    drop(space.take_resident(u64::MAX).unwrap());
    assert_eq!(space.stats().resident_bytes, resident - 3 * 0x4000);
    assert_eq!(space.stats().extents, 1);
    let rest = space.take_resident(u64::MAX).unwrap();
    space.give_back(rest);
    assert_eq!((space.stats().resident_bytes, space.stats().extents), (0, 0));
    blocks[..3].iter().for_each(|block| assert_eq!(space.free(block.first()), Ok(*block)));
    space.trim();
    assert_eq!(space.stats().slabs, 1, "a resident slab stays");
    let last = space.take_resident(u64::MAX).unwrap();
    space.give_back(last);
    space.trim();
    assert_eq!(free_blocks(&space), [space.span()]);
}

#[test]
fn a_forgotten_batch_keeps_its_slots() {
    let space = memory(64);
    let block = space.alloc(0x4000).unwrap();
    space.free(block.first()).unwrap();
    std::mem::forget(space.take_resident(u64::MAX).unwrap());
    space.validate().unwrap();
    let other = space.alloc(0x4000).unwrap();
    assert_ne!(other, block);
    space.free(other.first()).unwrap();
    space.trim();
    space.validate().unwrap();
}

#[test]
fn memory_is_resident_until_its_pages_are_given_back() {
    let space = memory(1024);
    let fresh = space.alloc_memory(0x2000).unwrap();
    assert!(!fresh.is_resident && fresh.slab.is_some());
    space.free(fresh.span.first()).unwrap();
    let again = space.alloc_memory(0x2000).unwrap();
    assert!(again.is_resident && again.span == fresh.span);
    // An interior address changes nothing.
    assert!(space.free_decommitted(again.span.first() + 0x1000).is_err());
    assert_eq!(space.free_decommitted(again.span.first()), Ok(again.span));
    assert!(matches!(space.free_decommitted(again.span.first()), Err(FreeError::AlreadyFree { .. })));
    assert_eq!(space.stats().resident_bytes, 0);
    assert!(!space.alloc_memory(0x2000).unwrap().is_resident);
    // A decommitted extent returns to the core at once, a resident one waits.
    let extent = space.alloc_memory(300 << 12).unwrap();
    assert!(extent.slab.is_none() && !extent.is_resident);
    space.free_decommitted(extent.span.first()).unwrap();
    assert_eq!(space.stats().extents, 0);
    let aligned = Request::new(0x2000).align(Align::new(1 << 20).unwrap());
    let extent = space.alloc_memory_request(&aligned).unwrap();
    assert_eq!(extent.slab, None);
    space.free(extent.span.first()).unwrap();
    assert_eq!(space.stats().extents, 1);
    space.validate().unwrap();
}

#[test]
fn what_is_resident_is_handed_out_in_line() {
    let space = memory(1024);
    assert_eq!(space.alloc_resident(0x2000), None, "no slab");
    let block = space.alloc_memory(0x2000).unwrap();
    assert_eq!(space.alloc_resident(0x2000), None, "no resident slot");
    space.free(block.span.first()).unwrap();
    for none in [0, 0x1fff, 0x1000, 0x3000, 0x101_000, !0xfff] {
        assert_eq!(space.alloc_resident(none), None);
    }
    assert_eq!(space.alloc_resident(0x2000), Some((block.span, block.slab.unwrap())));
    assert_eq!(space.alloc_resident(0x2000), None);
    // Addresses alone are never resident.
    let addresses = PooledSpace::new(space.span(), Align::PAGE).unwrap();
    let block = addresses.alloc(0x2000).unwrap();
    addresses.free(block.first()).unwrap();
    assert_eq!(addresses.alloc_resident(0x2000), None);
}

#[test]
fn a_slot_that_is_ready_is_found_in_any_slab() {
    let space = memory(64);
    let blocks: Vec<Span> = (0..200).map(|_| space.alloc(4096).unwrap()).collect();
    let ready: Vec<Span> = blocks.iter().copied().step_by(40).collect();
    blocks.iter().for_each(|block| assert!(space.free_decommitted(block.first()).is_ok()));
    let mut found: Vec<Span> = Vec::new();
    while let Some(memory) = space.alloc_ready(4096, |span| ready.contains(&span)) {
        assert!(!memory.is_resident && memory.slab.is_some());
        found.push(memory.span);
    }
    found.sort();
    assert_eq!(found, ready);
    space.validate().unwrap();
    // An extent has no ready slot, and another size has none.
    assert_eq!(space.alloc_ready(300 << 12, |_| true), None);
    assert_eq!(space.alloc_ready(8192, |_| true), None);
    found.iter().for_each(|block| assert!(space.free_decommitted(block.first()).is_ok()));
    space.trim();
    assert_eq!(free_blocks(&space), [space.span()]);
}

/// A slot that is held makes no slab come first.
#[test]
fn slabs_with_ready_slots_come_first_afterwards() {
    // False if the thread has moved to another CPU, whose lists are others.
    let comes_first = |target: usize| {
        let space = memory(64);
        let here = space.shards.here();
        let mut blocks: Vec<Span> = (0..96).map(|_| space.alloc(4096).unwrap()).collect();
        let slab = |span: Span| space.slab_ref(span.first());
        let mut held = blocks.clone();
        held.dedup_by_key(|block| slab(*block));
        blocks.retain(|block| !held.contains(block));
        blocks.iter().for_each(|block| assert!(space.free_decommitted(block.first()).is_ok()));
        let target = slab(held[target]);
        let is_ready = |span| slab(span) == target || held.contains(&span);
        let taken = space.alloc_ready(4096, is_ready).unwrap().span;
        let next = space.alloc(4096).unwrap();
        let stayed = std::ptr::eq(here, space.shards.here());
        assert!(!stayed || [slab(taken), slab(next)] == [target; 2]);
        stayed
    };
    (0..3).for_each(|target| while !comes_first(target) {});
}

#[test]
fn a_predicate_that_panics_loses_no_slab() {
    let space = memory(64);
    let blocks: Vec<Span> = (0..100).map(|_| space.alloc(4096).unwrap()).collect();
    blocks.iter().for_each(|block| assert!(space.free_decommitted(block.first()).is_ok()));
    let mut left = 40;
    let is_ready = |_| {
        left -= 1;
        assert_ne!(left, 0, "this is the panic");
        false
    };
    let panics = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| space.alloc_ready(4096, is_ready)));
    assert!(panics.is_err());
    space.validate().unwrap();
    space.trim();
    assert_eq!(free_blocks(&space), [space.span()]);
}

#[test]
fn an_extent_that_was_freed_resident_comes_back_by_name_until_it_was_purged() {
    let space = memory(64);
    let extent = space.alloc(300 << 12).unwrap();
    let name = space.extent_name(extent.first()).unwrap();
    assert_eq!(space.alloc_extent_again(name), None, "it is held");
    space.free(extent.first()).unwrap();
    assert!(space.is_extent_ready(name));
    let again = space.alloc_extent_again(name).unwrap();
    assert_eq!((again.span, again.is_resident), (extent, true));
    assert!(!space.is_extent_ready(name), "it is held again");
    space.free(extent.first()).unwrap();
    let batch = space.take_resident(1u64).unwrap();
    assert_eq!(space.alloc_extent_again(name), None, "a purge holds it");
    space.give_back(batch);
    assert_eq!(space.alloc_extent_again(name), None, "it is gone");
    let slot = space.alloc(4096).unwrap();
    assert_eq!(space.extent_name(slot.first()), None);
    space.validate().unwrap();
}

#[test]
fn the_name_of_a_slab_is_no_extents() {
    let space = memory(64);
    let block = space.alloc(4096).unwrap();
    let slab = space.slab_ref(block.first()).unwrap();
    space.free(block.first()).unwrap();
    assert_eq!((space.is_extent_ready(slab), space.alloc_extent_again(slab)), (false, None));
}

#[test]
fn a_populated_block_stays_so_until_its_pages_are_decommitted() {
    let space = memory(64);
    for size_bytes in [0x4000, 300 << 12] {
        let name = |first| space.extent_name(first);
        let block = space.alloc(size_bytes).unwrap().first();
        assert!(!space.is_populated(block), "nothing is known of a new block");
        space.set_populated(block, true);
        space.set_populated(block + 0x1000, false);
        assert!(space.is_populated(block) && !space.is_populated(block + 0x1000));
        // Freed resident and handed out again.
        let extent = name(block);
        space.free(block).unwrap();
        let again = match extent {
            Some(extent) => space.alloc_extent_again(extent).unwrap().span.first(),
            None => space.alloc(size_bytes).unwrap().first(),
        };
        assert_eq!((again, space.is_populated(block)), (block, true));
        space.validate().unwrap();
        space.set_populated(block, false);
        assert!(!space.is_populated(block));
        // Freed as decommitted, or purged.
        space.set_populated(block, true);
        space.free_decommitted(block).unwrap();
        assert_eq!(space.alloc(size_bytes).unwrap().first(), block);
        assert!(!space.is_populated(block));
        space.set_populated(block, true);
        space.free(block).unwrap();
        space.give_back(space.take_resident(u64::MAX).unwrap());
        space.validate().unwrap();
        assert_eq!(space.alloc(size_bytes).unwrap().first(), block);
        assert!(!space.is_populated(block));
        space.free_decommitted(block).unwrap();
        space.trim();
    }
    // A batch that is dropped leaves its blocks as they were.
    let block = space.alloc(0x4000).unwrap().first();
    space.set_populated(block, true);
    space.free(block).unwrap();
    drop(space.take_resident(u64::MAX).unwrap());
    assert_eq!(space.alloc(0x4000).unwrap().first(), block);
    assert!(space.is_populated(block));
    // Nothing is held beyond it, and addresses alone have no pages.
    space.set_populated(block + 0x4000, true);
    assert!(!space.is_populated(block + 0x4000));
    space.validate().unwrap();
    let addresses = PooledSpace::new(space.span(), Align::PAGE).unwrap();
    let block = addresses.alloc(0x4000).unwrap().first();
    addresses.set_populated(block, true);
    assert!(!addresses.is_populated(block));
    addresses.validate().unwrap();
}
