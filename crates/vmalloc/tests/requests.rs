//! Random requests of every kind in every mode, while calls fail at times: who holds what is known, marked, and counted.
#![cfg(all(target_os = "linux", not(miri)))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at once")]

use freehold_sys::failing;
use freehold_units::Span;
use freehold_vmalloc::kva::Request;
use freehold_vmalloc::{AllocError, Block, Commit, RetainPolicy, VirtualMemory, Zero};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

const MIB: usize = 1 << 20;
const PAGE: usize = 4096;
/// Around the ends of size classes, of small blocks, of granules of large ones, and of what can be resident.
const PAGES: &[usize] = &[
    1, 2, 4, 5, 9, 16, 17, 20, 63, 129, 160, 255, 256, 257, 319, 320, 321, 448, 1023, 1024, 1025, 1280, 1281,
];

/// Held by each test: the kernel changes one mapping at a time in a process, and threads that wait for each other there take twice
/// as long as one after the other.
static MAPPINGS: Mutex<()> = Mutex::new(());

struct Random(u64);

impl Random {
    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) as usize % end
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// What is held: blocks by their addresses, with what each of their pages is marked with.
#[derive(Default)]
struct Held<'a> {
    blocks: BTreeMap<u64, (Block<'a>, u8)>,
}

impl<'a> Held<'a> {
    /// Looks at a block that was handed out, marks it, and keeps it.
    fn add(&mut self, vm: &VirtualMemory, mut block: Block<'a>, len: usize, zero: Zero, mark: u8) {
        assert_eq!(block.len(), len.next_multiple_of(PAGE));
        let (first, last) = (block.address(), block.address() + block.len() as u64 - 1);
        let located = vm.locate(first).unwrap();
        assert!(located.first() == first && located.contains(last) && vm.locate(last) == Some(located));
        let next = self.blocks.range(first..).next();
        assert!(next.is_none_or(|(&next, _)| next > located.last()), "{first:#x} passes the next block");
        let before = self.blocks.range(..first).next_back();
        assert!(before.is_none_or(|(&at, (block, _))| at + (block.len() as u64) <= first), "{first:#x}");
        assert!(zero == Zero::No || block.chunks(PAGE).all(|page| page == [0; PAGE]), "{first:#x} {len}");
        block.chunks_mut(PAGE).for_each(|page| (page[0], page[PAGE - 1]) = (mark, mark));
        self.blocks.insert(first, (block, mark));
    }

    fn drop_one(&mut self, random: &mut Random) {
        let nth = random.below(self.blocks.len().max(1));
        let Some(&first) = self.blocks.keys().nth(nth) else { return };
        let (block, mark) = self.blocks.remove(&first).unwrap();
        assert!(block.chunks(PAGE).all(|page| page[0] == mark && page[PAGE - 1] == mark), "{first:#x}");
    }
}

/// A request for that length, with an alignment, a guard or a window at times.
fn request(random: &mut Random, vm: &VirtualMemory, len: usize) -> Request {
    let is_small = len <= 256 * PAGE;
    let mut request = Request::new(len as u64);
    if random.below(2) == 0 {
        request = request.align_bytes((PAGE as u64) << random.below(11));
    }
    if random.below(4) == 0 {
        let granule = if is_small { PAGE } else { 64 * PAGE };
        request = request.guard((granule * random.below(20)) as u64);
    }
    if random.below(4) == 0 {
        let zone = vm.stats().addresses;
        let half = zone.size_saturating() / 2;
        request = request.window(Span::from_size(zone.first() + half / 2, half).unwrap());
    }
    request
}

fn ask<'a>(random: &mut Random, vm: &'a VirtualMemory, held: &mut Held<'a>) {
    let len = random.of(PAGES) * PAGE - random.of(&[0, 0, 1, PAGE - 1]);
    let (zero, mark) = (random.of(&[Zero::Yes, Zero::No]), random.below(255) as u8 + 1);
    let is_plain = random.below(3) != 0;
    let request = request(random, vm, len);
    match if is_plain { vm.alloc(len, zero) } else { vm.alloc_request(&request, zero) } {
        Ok(block) => {
            let span = Span::from_size(block.address(), block.len() as u64).unwrap();
            let fits = span.first().is_multiple_of(request.align_bytes) && request.window.covers(span);
            assert!(is_plain || fits, "{span} {request:?}");
            held.add(vm, block, len, zero, mark);
        }
        Err(AllocError::System(error)) => assert!(error.is_out_of_memory()),
        Err(AllocError::Addresses(_)) => held.drop_one(random),
        Err(error) => panic!("{error}"),
    }
}

/// Looks at what is counted, and at what has memory by the system's word.
fn look(vm: &VirtualMemory, held: &Held) {
    vm.validate().unwrap();
    let stats = vm.stats();
    let blocks: u64 = stats.zones.iter().map(|zone| zone.space.blocks).sum();
    assert!(stats.residency.quarantine_bytes > 0 || blocks == held.blocks.len() as u64, "{stats:?}");
    // A slot may have pages behind its block, of a longer one before.
    let slots = held.blocks.keys().map(|&first| vm.locate(first).unwrap().size_saturating());
    let most = slots.sum::<u64>() + stats.residency.resident_bytes;
    assert!(vm.resident_bytes().unwrap() <= most, "what is decommitted has pages: {stats:?}");
}

/// Returns how many calls were refused that had another way.
fn run(commit: Commit, keep: u64, quarantine_bytes: Option<u64>, reserve: usize) -> u64 {
    let builder = VirtualMemory::builder().reserve(reserve).retain(RetainPolicy::bytes(keep)).commit(commit);
    let vm = match quarantine_bytes {
        Some(bytes) => builder.catch_use_after_free(bytes).build().unwrap(),
        None => builder.build().unwrap(),
    };
    let mut random = Random(keep + quarantine_bytes.unwrap_or(1));
    let mut held = Held::default();
    for _ in 0..400 {
        // Calls fail in one operation of eight, from the first, second or third on.
        let failing = (random.below(8) == 0).then(|| failing::after(random.below(3) as u32));
        match random.below(32) {
            0 => drop(vm.release_idle()),
            1..16 => held.drop_one(&mut random),
            _ => ask(&mut random, &vm, &mut held),
        }
        drop(failing);
        look(&vm, &held);
    }
    let refused = vm.stats().mapping.refused;
    vm.release_idle().unwrap();
    assert_eq!(vm.stats().residency.resident_bytes, 0);
    look(&vm, &held);
    drop(held);
    vm.release_idle().unwrap();
    vm.validate().unwrap();
    assert_eq!((vm.stats().residency.resident_bytes, vm.resident_bytes().unwrap()), (0, 0));
    refused
}

fn in_every_mode(quarantine_bytes: Option<u64>) {
    let _mappings = MAPPINGS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut refused = 0;
    for commit in [Commit::Lazy, Commit::Strict] {
        for keep in [0, 2 << 20, 1 << 30] {
            // With few addresses, slots are extents at times.
            for reserve in [64 * MIB, 1024 * MIB] {
                refused += run(commit, keep, quarantine_bytes, reserve);
            }
        }
    }
    assert!(refused > 0, "no call failed where there was another way");
}

#[test]
fn whoever_asks_for_whatever_has_it_alone() {
    in_every_mode(None);
}

#[test]
fn whoever_asks_for_whatever_has_it_alone_while_freed_blocks_are_cold() {
    in_every_mode(Some(0));
}

#[test]
fn whoever_asks_for_whatever_has_it_alone_while_freed_blocks_are_guarded() {
    in_every_mode(Some(1 << 20));
}
