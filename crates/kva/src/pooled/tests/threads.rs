//! Many threads on one space. A separate table with one owner for each granule detects overlapping blocks. At the end
//! everything is freed, and one free block must remain.

use super::super::{PooledSpace, SlabRef};
use crate::FreeError;
use freehold_units::{Align, Span};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::vec::Vec;

const ROUNDS: usize = if cfg!(miri) { 20 } else { 40_000 };
const THREADS: u32 = 4;
const CELLS: u64 = 96;
const GRANULE: u64 = 4096;

/// The number of each granule's holder, 0 for none. Written by the holders, which share nothing else.
struct Owners(Vec<AtomicU32>);

impl Owners {
    fn new() -> Self {
        Self((0..CELLS * 16).map(|_| AtomicU32::new(0)).collect())
    }

    fn of(&self, block: Span) -> &[AtomicU32] {
        let (first, last) = (block.first() / GRANULE, block.last() / GRANULE);
        &self.0[first as usize..=last as usize]
    }

    /// Relaxed: the space itself must order a free before the next allocation of the same addresses.
    fn change(&self, block: Span, from: u32, to: u32) {
        for owner in self.of(block) {
            let was = owner.swap(to, Ordering::Relaxed);
            assert_eq!(was, from, "{block}: two holders, or a stale one");
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

fn space(memory: bool) -> PooledSpace {
    let make = if memory { PooledSpace::for_memory } else { PooledSpace::new };
    make(Span::from_size(0, CELLS * 16 * GRANULE).unwrap(), Align::PAGE).unwrap()
}

fn end(space: &PooledSpace) {
    let batch = space.take_resident(u64::MAX).unwrap();
    space.give_back(batch);
    space.trim();
    space.validate().unwrap();
    assert!(space.lock().space.free_blocks().eq([space.span()]), "{:?}", space.stats());
}

/// Replaces blocks at random in a space that is nearly exhausted, trims and purges meanwhile, and frees others' blocks.
fn work(space: &PooledSpace, owners: &Owners, handed: &[AtomicU64], thread: u32) -> u64 {
    let mut random = Random(thread.into());
    let mut blocks: Vec<(Span, Option<SlabRef>)> = Vec::new();
    let mut refused = 0;
    for _ in 0..ROUNDS {
        match random.below(16) {
            0..=6 => {
                let granules = [1, 1, 2, 3, 16, 40, 300][random.below(7) as usize];
                let resident =
                    space.alloc_resident(granules * GRANULE).map(|(block, slab)| (block, Some(slab)));
                let any = || space.alloc_memory(granules * GRANULE).map(|memory| (memory.span, memory.slab));
                match resident.map_or_else(any, Ok) {
                    Ok((block, slab)) => {
                        owners.change(block, 0, thread);
                        assert_eq!(space.locate(block.last()), Some(block));
                        blocks.push((block, slab));
                    }
                    Err(_) => refused += 1,
                }
            }
            7..=12 if !blocks.is_empty() => {
                let (block, slab) = blocks.swap_remove(random.below(blocks.len() as u64) as usize);
                owners.change(block, thread, 0);
                // By the name of its slab, or of that of another block.
                let other = blocks.get(random.below(8) as usize).and_then(|&(_, slab)| slab);
                let freed = match other.or(slab) {
                    Some(slab) => space.free_slot(block.first(), slab),
                    None => space.free(block.first()),
                };
                assert_eq!(freed, Ok(block));
            }
            13 if !blocks.is_empty() => {
                // Hands a block to whoever comes by.
                let (block, _) = blocks.swap_remove(random.below(blocks.len() as u64) as usize);
                owners.change(block, thread, u32::MAX);
                let place = &handed[random.below(handed.len() as u64) as usize];
                let other = place.swap(block.first() + 1, Ordering::AcqRel);
                if let Some(first) = other.checked_sub(1) {
                    let block = space.locate(first).unwrap();
                    owners.change(block, u32::MAX, 0);
                    assert_eq!(space.free(first), Ok(block));
                }
            }
            14 => match space.take_resident(random.below(64) * GRANULE).unwrap() {
                batch if random.below(4) == 0 => drop(batch),
                batch => {
                    for span in batch.spans() {
                        owners.change(span, 0, u32::MAX - thread);
                        owners.change(span, u32::MAX - thread, 0);
                    }
                    space.give_back(batch);
                }
            },
            15 if random.below(64) == 0 => _ = space.trim(),
            _ => {}
        }
    }
    for (block, _) in blocks {
        owners.change(block, thread, 0);
        assert_eq!(space.free(block.first()), Ok(block));
    }
    refused
}

#[test]
fn blocks_never_overlap_and_none_is_lost() {
    for memory in [false, true] {
        let (space, owners) = (space(memory), Owners::new());
        let handed: Vec<AtomicU64> = (0..8).map(|_| AtomicU64::new(0)).collect();
        let refused: u64 = std::thread::scope(|scope| {
            let workers: Vec<_> = (1..=THREADS)
                .map(|thread| {
                    let (space, owners, handed) = (&space, &owners, &handed);
                    scope.spawn(move || work(space, owners, handed, thread))
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).sum()
        });
        assert!(cfg!(miri) || refused > 0, "the space was never exhausted");
        for place in handed {
            if let Some(first) = place.into_inner().checked_sub(1) {
                space.free(first).unwrap();
            }
        }
        end(&space);
    }
}

/// Several threads free the same blocks, and others trim, so that slabs are retired beneath them: each block is freed
/// once.
#[test]
fn double_frees_are_caught_beside_retiring() {
    let space = space(false);
    let rounds = if cfg!(miri) { 1 } else { 400 };
    for round in 0..rounds {
        let granules = [1, 3, 16, 300][round % 4];
        let count = if cfg!(miri) { 6 } else { 64 };
        let blocks: Vec<Span> = (0..count).map_while(|_| space.alloc(granules * GRANULE).ok()).collect();
        let start = Barrier::new(3);
        let done = AtomicBool::new(false);
        let free_all = || {
            start.wait();
            let mut freed = 0;
            for block in &blocks {
                match space.free(block.first()) {
                    Ok(span) => {
                        assert_eq!(span, *block);
                        freed += 1;
                    }
                    Err(FreeError::AlreadyFree { address, block: free }) => {
                        assert!(address == block.first() && free.contains(address));
                    }
                    Err(error) => panic!("{error}"),
                }
            }
            freed
        };
        let freed: usize = std::thread::scope(|scope| {
            let trimmer = scope.spawn(|| {
                start.wait();
                while !done.load(Ordering::Relaxed) {
                    space.trim();
                    std::thread::yield_now();
                }
            });
            let workers = [scope.spawn(free_all), scope.spawn(free_all)];
            let freed = workers.map(|worker| worker.join().unwrap()).iter().sum();
            done.store(true, Ordering::Relaxed);
            trimmer.join().unwrap();
            freed
        });
        assert_eq!(freed, blocks.len());
        end(&space);
    }
}

/// Readers look up live blocks, while others are allocated and freed around them.
#[test]
fn what_lives_is_always_found() {
    let space = space(false);
    let kept: Vec<Span> = [1, 2, 16, 300].map(|granules| space.alloc(granules * GRANULE).unwrap()).into();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut looks = 0u64;
            while !done.load(Ordering::Relaxed) || looks == 0 {
                for &block in &kept {
                    assert_eq!(space.locate(block.first()), Some(block));
                    assert_eq!(space.locate(block.last()), Some(block));
                    // Any other result contains the address.
                    let other = block.last() + 1;
                    assert!(space.locate(other).is_none_or(|found| found.contains(other)));
                }
                looks += 1;
                std::thread::yield_now();
            }
        });
        let handed: Vec<AtomicU64> = Vec::from([AtomicU64::new(0)]);
        let owners = Owners::new();
        work(&space, &owners, &handed, 1);
        done.store(true, Ordering::Relaxed);
        reader.join().unwrap();
        if let Some(first) = handed[0].load(Ordering::Relaxed).checked_sub(1) {
            space.free(first).unwrap();
        }
    });
    kept.iter().for_each(|block| assert_eq!(space.free(block.first()), Ok(*block)));
    end(&space);
}

/// Tells the other threads of a test that it has ended, also by a panic.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn an_extent_is_taken_again_while_another_thread_retires_it() {
    const LEN: u64 = 400 << 12;
    let space = PooledSpace::for_memory(Span::from_size(0, 1024 << 16).unwrap(), Align::PAGE).unwrap();
    let last: Mutex<Option<SlabRef>> = Mutex::new(None);
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                let name = *last.lock().unwrap();
                for _ in 0..100 {
                    if let Some(again) = name.and_then(|name| space.alloc_extent_again(name)) {
                        space.free(again.span.first()).unwrap();
                    }
                    std::hint::spin_loop();
                }
            }
        });
        // Keeps the core's lock busy, for which a thread waits that has freed an extent.
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                space.trim();
                std::hint::spin_loop();
            }
        });
        let _end = End(&is_done);
        for round in 0..ROUNDS / 2 {
            let extent = space.alloc(LEN).unwrap().first();
            *last.lock().unwrap() = space.extent_name(extent);
            if round % 2 == 0 {
                space.free_decommitted(extent).unwrap();
            } else {
                space.free(extent).unwrap();
            }
            space.give_back(space.take_resident(u64::MAX).unwrap());
        }
    });
    space.give_back(space.take_resident(u64::MAX).unwrap());
    space.validate().unwrap();
    assert_eq!(
        (space.stats().extents, space.lock().space.free_blocks().collect::<Vec<_>>()),
        (0, [space.span()].into())
    );
}
