//! Sequences against real memory: instructions are counted, and owners' stamps are on every page.

use super::growth::Bound;
use super::meter::Meter;
use super::sequence::{Run, Sequence};
use anyhow::{Context, Result, bail, ensure};
use freehold::vmalloc::{Block, RetainPolicy, VirtualMemory, Zero};
use std::time::Duration;

/// All sequences.
pub(super) const SEQUENCES: &[Sequence] = &[
    of("live-blocks", "alloc, free", |n, meter| live(n, PAGE, meter)),
    of("live-large-blocks", "alloc, free", |n, meter| live(n, LARGE, meter)).up_to(10_000),
    of("half-free", "other size", half_free).up_to(10_000),
    of("stamped-by-four", "alloc, free", stamped).up_to(10_000),
];

const fn of(name: &'static str, op: &'static str, run: Run) -> Sequence {
    Sequence::amortized(name, op, run).in_instructions().single(Bound::Linear, Bound::Log)
}

const MEASURED: usize = 96;
const PAGE: usize = 4096;
const LARGE: usize = 5 << 18;
const THREADS: u32 = 4;

fn memory(reserve: usize, retain: RetainPolicy) -> Result<VirtualMemory> {
    Ok(VirtualMemory::builder().reserve(reserve).retain(retain).build()?)
}

fn take(vm: &VirtualMemory, len: usize) -> Result<Block<'_>> {
    Ok(vm.alloc(len, Zero::No)?)
}

/// With n blocks of a length live, others come and go.
fn live(n: u32, len: usize, meter: &mut Meter) -> Result<()> {
    let vm = memory(1 << 35, RetainPolicy::bytes(1 << 30))?;
    let _held = meter.ready(|_| {
        let held = (0..n).map(|_| take(&vm, len)).collect::<Result<Vec<_>, _>>()?;
        Ok((held, n.into()))
    })?;
    let mut taken = Vec::new();
    for _ in 0..MEASURED {
        taken.push(meter.measure(|_| take(&vm, len))?);
    }
    for block in taken {
        meter.measure(|_| drop(block));
    }
    Ok(vm.validate()?)
}

/// Every other large block is free; then blocks of another size.
fn half_free(n: u32, meter: &mut Meter) -> Result<()> {
    let vm = memory(1 << 35, RetainPolicy::bytes(1 << 30))?;
    let mut held = meter.ready(|_| {
        let held = (0..2 * n).map(|_| take(&vm, LARGE)).collect::<Result<Vec<_>, _>>()?;
        let kept = held.into_iter().step_by(2).collect::<Vec<_>>();
        Ok((kept, 3 * u64::from(n)))
    })?;
    // The space makes a part of its page map, 32 KiB of zeros, for each 256 MiB: each half of these begins one.
    for _ in 0..4 * MEASURED {
        held.push(meter.measure(|_| take(&vm, LARGE + (1 << 18)))?);
    }
    Ok(vm.validate()?)
}

/// Four threads replace blocks of 4 KiB to a quarter of the reservation, half of which is live, while memory is purged and decays. Who
/// holds a page finds its own stamp there. In the end all of the reservation is one run again.
fn stamped(n: u32, meter: &mut Meter) -> Result<()> {
    const RESERVED: usize = 64 << 20;
    let vm = memory(RESERVED, RetainPolicy::bytes(4 << 20).decay(Duration::from_millis(50)))?;
    meter.ready(|_| {
        std::thread::scope(|scope| {
            let (vm, each) = (&vm, n / THREADS);
            let worker = |thread| scope.spawn(move || work(vm, each, thread, RESERVED));
            let workers: Vec<_> = (1..=THREADS).map(worker).collect();
            let joined = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
            joined.into_iter().try_for_each(|worker| worker.unwrap_or_else(|_| bail!("a thread panicked")))
        })?;
        Ok(((), n.into()))
    })?;
    for _ in 0..8 {
        meter.measure(|_| take(&vm, PAGE).map(drop))?;
    }
    vm.release_idle()?;
    take(&vm, RESERVED).map(drop).context("nothing is held, and yet")
}

fn work(vm: &VirtualMemory, operations: u32, thread: u32, reserved: usize) -> Result<()> {
    let mut random = u64::from(thread);
    let mut below = |most: usize| {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (random >> 33) as usize % most
    };
    let (mut held, mut live): (Vec<(Block<'_>, u8)>, usize) = (Vec::new(), 0);
    for number in 0..operations {
        let len = (PAGE << below(13)) * (4 + below(5)) / 8;
        let stamp = (number * THREADS + thread) as u8;
        match take(vm, len) {
            Ok(mut block) => {
                live += block.len();
                block.iter_mut().step_by(PAGE).for_each(|byte| *byte = stamp);
                held.push((block, stamp));
            }
            // Others have what is left.
            Err(_) if live > 0 => {}
            Err(_) => continue,
        }
        while live > reserved / 2 / THREADS as usize {
            let (block, stamp) = held.swap_remove(below(held.len()));
            let right = block.iter().step_by(PAGE).all(|&byte| byte == stamp);
            ensure!(right, "a page of {:#x} was written by another", block.address());
            live -= block.len();
        }
    }
    Ok(())
}
