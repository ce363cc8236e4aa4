//! Blocks: zero, resident, given back, counted.
#![allow(clippy::unwrap_used, reason = "a test stops at once")]

use freehold_units::Span;
use freehold_vmalloc::kva::{self, Request};
use freehold_vmalloc::{AllocError, BuildError, Commit, RetainPolicy, VirtualMemory, Zero};
use std::time::{Duration, Instant};

const MIB: usize = 1 << 20;
/// Under Miri all of it is memory.
const RESERVE: usize = if cfg!(miri) { 64 * MIB } else { 4096 * MIB };

fn vm(keep: RetainPolicy) -> VirtualMemory {
    VirtualMemory::builder().reserve(RESERVE).retain(keep).build().unwrap()
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(4096).all(|page| page == &[0; 4096][..page.len()])
}

#[test]
fn warm_blocks_come_back_and_are_zero_if_asked() {
    let vm = vm(RetainPolicy::bytes(16 << 20));
    let lens: &[usize] = &[1, 4096, 60_000, 64 << 10, 300 << 10, MIB, 2 * MIB, 16 * MIB];
    for &len in if cfg!(miri) { &lens[..4] } else { lens } {
        // Threads that change their CPU get others.
        let comes_back = || {
            let mut block = vm.alloc(len, Zero::Yes).unwrap();
            assert!(block.len() >= len && block.len().is_multiple_of(4096) && is_zero(&block));
            block.fill(7);
            let address = block.address();
            drop(block);
            let block = vm.alloc(len, Zero::No).unwrap();
            let is_same = block.address() == address;
            assert!(!is_same || block.iter().all(|&byte| byte == 7));
            is_same
        };
        assert!((0..20).any(|_| comes_back()), "never the same memory");
        assert!(is_zero(&vm.alloc(len, Zero::Yes).unwrap()));
        vm.validate().unwrap();
    }
}

/// 144 MiB are all addresses; the size that such blocks share is 160 MiB.
#[test]
#[cfg_attr(miri, ignore = "all of a reservation is memory there")]
fn a_block_may_have_all_addresses() {
    let retain = RetainPolicy::bytes(1 << 30);
    let vm = VirtualMemory::builder().reserve(144 * MIB).retain(retain).build().unwrap();
    for len in [144 * MIB, 144 * MIB, 144 * MIB - 4096, 130 * MIB, 128 * MIB, 144 * MIB] {
        let mut block = vm.alloc(len, Zero::Yes).unwrap();
        assert_eq!((block.len(), block[0], block[len - 1]), (len, 0, 0));
        (block[0], block[len - 1]) = (1, 1);
        drop(block);
        vm.validate().unwrap();
    }
    let error = vm.alloc(145 * MIB, Zero::No).unwrap_err();
    let is_told = |error| {
        let (asked, all) = (145 << 20, 144 << 20);
        matches!(error, AllocError::Addresses(kva::AllocError::TooLarge { size_bytes, room_bytes, .. })
            if size_bytes == asked && room_bytes == all)
    };
    assert!(is_told(error), "{error}");
}

#[test]
fn a_slot_that_served_a_longer_block_is_zero_after_it_was_given_back() {
    // 20 pages and 17 are of one size class.
    let vm = vm(RetainPolicy::bytes(1 << 20));
    vm.alloc(20 << 12, Zero::No).unwrap().fill(1);
    let short = vm.alloc(17 << 12, Zero::No).unwrap();
    assert!(short.iter().all(|&byte| byte == 1));
    drop(short);
    vm.release_idle().unwrap();
    assert!(is_zero(&vm.alloc(20 << 12, Zero::Yes).unwrap()));
    // The same where the short block is given back alone, since nothing is kept.
    let vm =
        VirtualMemory::builder().reserve(64 * MIB).retain(RetainPolicy::bytes(80 << 10)).build().unwrap();
    let long = vm.alloc(20 << 12, Zero::No);
    long.unwrap().fill(1);
    let (short, other) = (vm.alloc(17 << 12, Zero::No).unwrap(), vm.alloc(20 << 12, Zero::No).unwrap());
    drop(other);
    drop(short);
    let blocks: Vec<_> = (0..8).map(|_| vm.alloc(20 << 12, Zero::Yes).unwrap()).collect();
    assert!(blocks.iter().all(|block| is_zero(block)));
}

#[test]
fn what_cannot_be_had_is_refused_and_changes_nothing() {
    let vm = vm(RetainPolicy::default());
    assert_eq!(vm.alloc(0, Zero::Yes).unwrap_err(), AllocError::Addresses(kva::AllocError::ZeroSize));
    for len in [usize::MAX, usize::MAX - 8191, isize::MAX as usize, 1 << 47, RESERVE + MIB] {
        let error = vm.alloc(len, Zero::Yes).unwrap_err();
        assert!(matches!(error, AllocError::Addresses(_)), "{error}");
    }
    let request = Request::new(4096).align_bytes(3);
    let error = vm.alloc_request(&request, Zero::No).unwrap_err();
    assert!(matches!(error, AllocError::Addresses(kva::AllocError::NotPowerOfTwo { align_bytes: 3 })));
    let aligned = vm.alloc_request(&Request::new(4096).align_bytes(1 << 20), Zero::Yes).unwrap();
    assert_eq!((aligned.address() % (1 << 20), aligned.len()), (0, 4096));
    drop(aligned);
    vm.validate().unwrap();
    for reserve_bytes in [0, MIB, usize::MAX] {
        let error = VirtualMemory::builder().reserve(reserve_bytes).build().unwrap_err();
        assert_eq!(error, BuildError::Reserve { reserve_bytes });
        assert!(error.to_string().contains("16 MiB"), "{error}");
    }
    let hidden = BuildError::Reserve { reserve_bytes: (1 << 46) + 4096 };
    assert_eq!(hidden.to_string(), "70368744181760 B are not from 16 MiB to 64 TiB of addresses");
}

#[test]
fn a_window_is_one_of_the_reservation() {
    let vm = vm(RetainPolicy::default());
    let all = vm.stats().addresses;
    let half = Span::from_size(all.first() + all.size_saturating() / 2, all.size_saturating() / 2).unwrap();
    for len in [8192, 2 * MIB as u64] {
        let block = vm.alloc_request(&Request::new(len).window(half), Zero::Yes).unwrap();
        assert!(half.contains(block.address()));
        let window = Span::from_size(4096, 1 << 20).unwrap();
        let error = vm.alloc_request(&Request::new(len).window(window), Zero::Yes).unwrap_err();
        let expected = kva::AllocError::WindowOutside { window, space: all };
        assert_eq!(error, AllocError::Addresses(expected));
    }
}

#[test]
fn all_addresses_can_be_taken_and_taken_again() {
    let vm =
        VirtualMemory::builder().reserve(64 * MIB).retain(RetainPolicy::bytes(64 << 20)).build().unwrap();
    let fill = |len: usize| {
        let mut blocks = Vec::new();
        let refused = loop {
            match vm.alloc(len, Zero::No) {
                Ok(mut block) => {
                    block[0] = 1;
                    blocks.push(block);
                }
                Err(error) => break error,
            }
        };
        assert!(matches!(refused, AllocError::Addresses(kva::AllocError::NoSpace { .. })), "{refused}");
        blocks.len()
    };
    let all = 64 * MIB;
    assert_eq!(fill(64 << 10), all / (64 << 10));
    // What is resident as blocks of one size is given back for those of another.
    assert_eq!(fill(MIB), all / MIB);
    assert_eq!(fill(4096), all / 4096);
    assert_eq!(fill(3 * MIB), 21);
    vm.validate().unwrap();
    vm.release_idle().unwrap();
    assert_eq!(vm.stats().residency.resident_bytes, 0);
    assert_eq!(vm.stats().zones.iter().map(|zone| zone.space.blocks).sum::<u64>(), 0);
}

#[test]
fn warm_memory_stays_under_the_threshold_and_a_batch() {
    let keep = 4 << 20;
    let vm = vm(RetainPolicy::bytes(keep));
    let most = keep + keep / 16;
    let mut held = std::collections::VecDeque::new();
    let mut random = 1u64;
    for _ in 0..20_000 {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let len = 1 + (random >> 33) as usize % (200 << 10);
        let mut block = vm.alloc(len, Zero::No).unwrap();
        block[0] = 1;
        held.push_back(block);
        if held.len() > 40 {
            // Many at once.
            held.drain(..(random >> 50) as usize % 40);
        }
        let stats = vm.stats();
        let resident: u64 = stats.zones.iter().map(|zone| zone.space.resident_bytes).sum();
        assert!(resident <= most && stats.residency.resident_bytes <= most, "{resident} {stats:?}");
    }
    assert!(vm.stats().residency.purges > 0);
    vm.validate().unwrap();
}

#[test]
fn nothing_stays_where_nothing_is_kept() {
    let vm = vm(RetainPolicy::nothing());
    for _ in 0..10 {
        let mut block = vm.alloc(64 << 10, Zero::Yes).unwrap();
        assert!(is_zero(&block));
        block.fill(1);
    }
    assert_eq!(vm.stats().residency.resident_bytes, 0);
    vm.validate().unwrap();
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn large_blocks_stay_resident_up_to_the_threshold() {
    let vm =
        VirtualMemory::builder().reserve(16 << 30).retain(RetainPolicy::bytes(64 << 20)).build().unwrap();
    // The second is served with a size that is above the threshold.
    for (pages, kept) in [(15_000, 64 << 20), (16_385, 0)] {
        let mut block = vm.alloc(pages << 12, Zero::No).unwrap();
        block[0] = 1;
        let address = block.address();
        drop(block);
        let stats = vm.stats();
        let resident = if kept > 0 { 4096 } else { 0 };
        assert_eq!(
            (stats.residency.resident_bytes, vm.resident_bytes()),
            (kept, Ok(resident)),
            "{pages} pages"
        );
        vm.validate().unwrap();
        if kept > 0 {
            // A block of a like length takes its pages.
            let again = vm.alloc((pages + 100) << 12, Zero::No).unwrap();
            assert_eq!((again.address(), again[0], vm.stats().residency.resident_bytes), (address, 1, 0));
        }
        vm.release_idle().unwrap();
        assert_eq!(vm.stats().zones[0].space.extents, 0);
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn idle_memory_decays() {
    let decay = Duration::from_millis(200);
    let vm = vm(RetainPolicy::bytes(64 << 20).decay(decay));
    let mut blocks: Vec<_> = (0..200).map(|_| vm.alloc(64 << 10, Zero::No).unwrap()).collect();
    blocks.iter_mut().for_each(|block| block.fill(1));
    let peak = vm.resident_bytes().unwrap();
    assert!(peak >= 200 << 16);
    drop(blocks);
    let idle = Instant::now();
    assert_eq!(vm.stats().residency.resident_bytes, 200 << 16, "all of it stays at first");
    // Twice the decay, and what a busy machine takes to run a thread.
    while vm.resident_bytes().unwrap() > peak / 20 {
        assert!(
            idle.elapsed() < 2 * decay + Duration::from_secs(5),
            "{} bytes",
            vm.resident_bytes().unwrap()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn strict_commitment_is_of_what_was_handed_out() {
    let vm = VirtualMemory::builder().reserve(64 * MIB).commit(Commit::Strict).build().unwrap();
    let committed = || vm.stats().zones[0].committed_bytes as usize;
    assert_eq!((committed(), vm.stats().mapping.commit), (0, Commit::Strict));
    let mut blocks = vec![vm.alloc(64 << 10, Zero::Yes).unwrap()];
    assert_eq!(committed(), 64 << 10);
    while let Ok(mut block) = vm.alloc(64 << 10, Zero::Yes) {
        assert!(is_zero(&block));
        block.fill(3);
        blocks.push(block);
    }
    assert_eq!(committed(), 64 * MIB);
    vm.validate().unwrap();
}

#[cfg(not(miri))]
#[test]
fn a_warm_slot_is_committed_beyond_its_first_block() {
    // 1025 pages and 1280 are of one size class, and the first are more than a step: the frontier could end with them.
    let comes_back = |zero: Zero| {
        let vm = VirtualMemory::builder().reserve(RESERVE).commit(Commit::Strict).build().unwrap();
        let short = vm.alloc(1025 << 12, Zero::No).unwrap();
        let address = short.address();
        drop(short);
        let mut long = vm.alloc(1280 << 12, zero).unwrap();
        let is_same = long.address() == address;
        long.fill(1);
        drop(long);
        vm.validate().unwrap();
        is_same
    };
    // Threads that change their CPU get another slot.
    assert!([Zero::No, Zero::Yes].into_iter().all(|zero| (0..20).any(|_| comes_back(zero))));
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn statistics_are_what_the_kernel_says() {
    let vm = vm(RetainPolicy::bytes(128 << 20));
    let blocks: Vec<_> = (1..200)
        .map(|pages| {
            let mut block = vm.alloc(pages << 12, Zero::Yes).unwrap();
            block.fill(1);
            block
        })
        .collect();
    let touched: u64 = blocks.iter().map(|block| block.len() as u64).sum();
    assert_eq!((vm.resident_bytes().unwrap(), resident_by_smaps(&vm)), (touched, touched));
    drop(blocks);
    assert!(vm.stats().residency.resident_bytes >= touched, "slots are as long as their blocks or longer");
    assert_eq!(resident_by_smaps(&vm), touched);
    vm.release_idle().unwrap();
    assert_eq!(
        (vm.resident_bytes().unwrap(), resident_by_smaps(&vm), vm.stats().residency.resident_bytes),
        (0, 0, 0)
    );
    if vm.stats().mapping.named {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        assert!(maps.contains("[anon:freehold blocks]") && maps.contains("[anon:freehold large blocks]"));
    } else {
        eprintln!("names of mappings not looked at: the kernel has none");
    }
}

/// `Rss` and `Swap` of the mappings that have its addresses, and of no others.
#[cfg(all(target_os = "linux", not(miri)))]
fn resident_by_smaps(vm: &VirtualMemory) -> u64 {
    let all = vm.stats().addresses;
    let mut within = false;
    let mut bytes = 0;
    for line in std::fs::read_to_string("/proc/self/smaps").unwrap().lines() {
        let first = line.split(' ').next().unwrap();
        if let Some((start, end)) = first.split_once('-') {
            let number = |hex| u64::from_str_radix(hex, 16).unwrap();
            within = number(start) <= all.last() && number(end) > all.first();
        } else if within && (first == "Rss:" || first == "Swap:") {
            let kib = line.split_whitespace().nth(1).unwrap();
            bytes += kib.parse::<u64>().unwrap() << 10;
        }
    }
    bytes
}

#[test]
fn threads_share_and_lose_nothing() {
    let keep = 8 << 20;
    let vm = vm(RetainPolicy::bytes(keep).decay(Duration::from_millis(20)));
    let rounds = if cfg!(miri) { 20 } else { 20_000 };
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let vm = &vm;
            scope.spawn(move || {
                let mut held = Vec::new();
                let mut random = thread;
                for round in 0..rounds {
                    random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(thread + 1);
                    let zero = if random >> 63 == 0 { Zero::Yes } else { Zero::No };
                    let mut block = vm.alloc(1 + (random >> 40) as usize % (32 << 10), zero).unwrap();
                    assert!(zero == Zero::No || is_zero(&block), "round {round}");
                    // Whoever else had it would see this.
                    let mark = (thread + 1) as u8;
                    block.fill(mark);
                    held.push((block, mark));
                    if held.len() > 16 {
                        let (block, mark) = held.swap_remove((random >> 20) as usize % 16);
                        assert!(block.iter().all(|&byte| byte == mark), "round {round}");
                    }
                }
            });
        }
    });
    assert_eq!(vm.stats().zones.iter().map(|zone| zone.space.blocks).sum::<u64>(), 0);
    let began = Instant::now();
    // What the thread that decays is giving back at this moment counts until it is given back.
    loop {
        vm.release_idle().unwrap();
        let resident = vm.stats().residency.resident_bytes;
        if resident == 0 {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(5), "{resident} bytes");
        std::thread::yield_now();
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn a_long_block_is_asked_about_until_all_of_it_has_memory() {
    for len in [512 << 10, 3 << 20] {
        // A thread that changes its CPU gets another slot.
        assert!((0..20).any(|_| is_asked_about_until_it_is_populated(len).is_some()));
    }
}

/// `None` if another block came back than was freed.
#[cfg(all(target_os = "linux", not(miri)))]
fn is_asked_about_until_it_is_populated(len: usize) -> Option<()> {
    let vm = vm(RetainPolicy::bytes(64 << 20));
    let mut fresh = vm.alloc(len, Zero::Yes).unwrap();
    let address = fresh.address();
    let again = |zero| {
        let before = vm.stats().scrub.scans;
        let block = vm.alloc(len, zero).unwrap();
        let asked = vm.stats().scrub.scans - before;
        (block.address() == address).then_some((block, asked))
    };
    fresh[5 * 4096] = 1;
    drop(fresh);
    // Of a block that was hardly used, as little is written. (Its other pages are not read, which older kernels take
    // for use.)
    let (mut block, asked) = again(Zero::Yes)?;
    assert_eq!((asked, vm.resident_bytes(), block[5 * 4096]), (1, Ok(4096), 0));
    block.fill(2);
    drop(block);
    // Found to be populated, and not asked about from then on, whoever holds it.
    for asks in [1, 0, 0] {
        let (mut block, asked) = again(Zero::Yes)?;
        assert!(asked == asks && is_zero(&block));
        block.fill(3);
    }
    drop(again(Zero::No)?);
    // What its holder released is not written.
    let (mut block, asked) = again(Zero::Yes)?;
    assert_eq!(asked, 0);
    block.release(4096..len).unwrap();
    drop(block);
    let (mut block, asked) = again(Zero::Yes)?;
    assert_eq!((asked, vm.resident_bytes(), block[0]), (1, Ok(4096), 0));
    block.fill(4);
    drop(block);
    assert!(is_zero(&again(Zero::Yes)?.0));
    // Nor is a block whose pages were decommitted.
    vm.release_idle().unwrap();
    drop(vm.alloc(len, Zero::Yes).unwrap());
    drop(vm.alloc(len, Zero::Yes).unwrap());
    assert_eq!(vm.resident_bytes(), Ok(0));
    Some(())
}

#[test]
fn a_block_is_found_until_it_leaves_the_quarantine() {
    let vm = VirtualMemory::builder().reserve(RESERVE).catch_use_after_free(4 << 20).build().unwrap();
    let block = vm.alloc(MIB, Zero::No).unwrap();
    let (address, span) = (block.address(), vm.locate(block.address()));
    assert_eq!(span.map(|span| span.first()), Some(address));
    drop(block);
    assert_eq!(vm.locate(address + 5), span);
    (0..4).for_each(|_| drop(vm.alloc(MIB, Zero::No).unwrap()));
    assert_eq!(vm.locate(address + 5), None);
}
