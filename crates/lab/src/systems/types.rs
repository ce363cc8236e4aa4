//! What each type is asked for, with every content checked: rounds that serve the same number of requests where nothing is refused.

use anyhow::{Context, Result, ensure};
use freehold::kva::{Placement, PooledSpace, Request, SharedSpace};
use freehold::maple::MapleTree;
use freehold::percpu::Counter;
use freehold::percpu::heap::PerCpuHeap;
use freehold::units::{Align, Span};
use freehold::vmalloc::{Block, Slot, SlotLayout, Stack, StackPool, VirtualMemory, VmVec, Zero, page_bytes};
use freehold_harness::memory::{peek, poke};
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

/// What makes rounds: the requests that each served, or what is wrong.
pub(super) type Running = Box<dyn FnMut() -> Result<u64>>;

/// A type under test.
pub(super) struct Type {
    /// Its name in tables and on command lines.
    pub(super) name: &'static str,
    /// Its crate.
    pub(super) of: &'static str,
    /// Makes one, and what asks it; or says why there is none.
    pub(super) make: fn() -> Result<Running>,
}

/// All of them.
pub(super) const TYPES: [Type; 8] = [
    Type { name: "SharedSpace", of: "maple", make: shared_space },
    Type { name: "PooledSpace", of: "kva", make: pooled_space },
    Type { name: "MapleTree", of: "maple", make: maple_tree },
    Type { name: "Counter", of: "percpu", make: counters },
    Type { name: "blocks", of: "vmalloc", make: blocks },
    Type { name: "slots", of: "vmalloc", make: slots },
    Type { name: "stacks", of: "vmalloc", make: stacks },
    Type { name: "VmVec", of: "vmalloc", make: vectors },
];

const SPACE_BYTES: u64 = 1 << 30;
const PAGE: u64 = 4096;
/// Changes of a round, of which each retires something: more than wait for one barrier.
const CHANGES: u64 = 2000;
/// What is live at a time.
const LIVE: usize = 50;

/// Reads again and again, as long as the process runs; a process that may have no thread has no reader.
fn reader(read: impl Fn() + Send + 'static) {
    let _ = std::thread::Builder::new().spawn(move || {
        loop {
            read();
            std::thread::sleep(Duration::from_micros(200));
        }
    });
}

/// How long a round waits in all for readers to have a turn.
const PATIENCE: Duration = Duration::from_secs(1);

/// Tries what readers may hold up until it succeeds, or patience is at its end.
fn patiently<T, E>(patience: &mut Duration, mut change: impl FnMut() -> Result<T, E>) -> Option<T> {
    let pause = Duration::from_millis(1);
    loop {
        match (change(), patience.checked_sub(pause)) {
            (Ok(done), _) => return Some(done),
            (Err(_), None) => return None,
            (Err(_), Some(left)) => *patience = left,
        }
        std::thread::sleep(pause);
    }
}

fn shared_space() -> Result<Running> {
    let span = Span::from_size(0, SPACE_BYTES).context("no span")?;
    let space = SharedSpace::new(span, Align::PAGE, Placement::Lowest)?;
    let space: &'static SharedSpace<u64> = Box::leak(Box::new(space));
    reader(|| drop(space.region_at(0)));
    let mut live: VecDeque<(Span, u64)> = VecDeque::new();
    Ok(Box::new(move || {
        let (mut served, mut patience) = (0, PATIENCE);
        for number in 0..CHANGES {
            let request = Request::new(PAGE * (1 + number % 7));
            if let Some(span) = patiently(&mut patience, || space.alloc(&request, Arc::new(number))) {
                live.push_back((span, number));
                served += 1;
            }
            while live.len() > LIVE {
                let Some(&(span, number)) = live.front() else { break };
                let found = space.region_at(span.last()).map(|(span, value)| (span, *value));
                ensure!(found == Some((span, number)), "{span} is {found:?}, not {number}");
                if patiently(&mut patience, || space.free(span.first())).is_none() {
                    break;
                }
                live.pop_front();
                served += 1;
            }
        }
        space.validate()?;
        Ok(served)
    }))
}

fn pooled_space() -> Result<Running> {
    let span = Span::from_size(0, SPACE_BYTES).context("no span")?;
    let space = PooledSpace::new(span, Align::PAGE)?;
    let mut live: VecDeque<Span> = VecDeque::new();
    Ok(Box::new(move || {
        let mut served = 0;
        for number in 0..CHANGES {
            if let Ok(span) = space.alloc(PAGE * (1 + number % 300)) {
                live.push_back(span);
                served += 1;
            }
            if live.len() > LIVE
                && let Some(span) = live.pop_front()
            {
                let found = space.locate(span.last());
                ensure!(found == Some(span), "{span} is {found:?}");
                space.free(span.first())?;
                served += 1;
            }
        }
        space.validate()?;
        Ok(served)
    }))
}

fn maple_tree() -> Result<Running> {
    let map: &'static MapleTree<Arc<u64>> = Box::leak(Box::default());
    reader(|| drop(map.get_owned(3)));
    let mut model = [None; 100];
    Ok(Box::new(move || {
        let (mut served, mut patience) = (0, PATIENCE);
        for number in 0..CHANGES {
            let at = number * 7 % 100;
            let value = (number % 3 > 0).then_some(number);
            let change = || match value {
                None => map.erase(at).map(drop),
                Some(number) => map.store(at..=at, Arc::new(number)).map_err(|rejected| rejected.cause),
            };
            if patiently(&mut patience, change).is_some() {
                model[at as usize] = value;
                served += 1;
            }
            let found = map.get_owned(at).map(|value| *value);
            ensure!(found == model[at as usize], "{at} has {found:?}");
        }
        map.validate()?;
        Ok(served)
    }))
}

fn counters() -> Result<Running> {
    const COUNTERS: usize = 500;
    const ADDS: u64 = 100;
    let heap = PerCpuHeap::builder().capacity(8 << 20).build()?.leak();
    Ok(Box::new(move || {
        let mut served = 0;
        for _ in 0..4 {
            let Ok(counters) = Counter::bulk(heap, COUNTERS) else { continue };
            let add = || counters.iter().for_each(|counter| (0..ADDS).for_each(|_| counter.add(3)));
            let threads = std::thread::scope(|scope| {
                add();
                1 + u64::from(std::thread::Builder::new().spawn_scoped(scope, add).is_ok())
            });
            for counter in &counters {
                let sum = counter.get();
                ensure!(sum == 3 * ADDS * threads, "{sum} is counted of {}", 3 * ADDS * threads);
            }
            served += counters.len() as u64;
            Counter::free_bulk(counters);
            heap.trim();
        }
        heap.validate()?;
        Ok(served)
    }))
}

const MEMORY_BYTES: usize = 256 << 20;

fn memory() -> Result<&'static VirtualMemory> {
    let memory = VirtualMemory::builder().reserve(MEMORY_BYTES).build()?;
    Ok(Box::leak(Box::new(memory)))
}

/// Gives idle memory back, and checks that nothing is out of order.
fn end_of_round(memory: &VirtualMemory) -> Result<()> {
    // A refusal keeps it.
    let _ = memory.release_idle();
    Ok(memory.validate()?)
}

/// Whether each page's first and last byte is this.
fn has_throughout(bytes: &[u8], value: u8) -> bool {
    bytes.chunks(page_bytes()).all(|page| page[0] == value && page[page.len() - 1] == value)
}

/// Rounds of what has memory: four times as many as are asked for are taken and filled, then all that live are looked at.
fn held<T>(
    memory: &'static VirtualMemory,
    asked: Vec<usize>,
    take: impl Fn(u8, usize) -> Result<Option<T>> + 'static,
    look: impl Fn(&T) -> Result<()> + 'static,
) -> Running {
    Box::new(move || {
        let mut served = 0;
        for turn in 0..4 {
            let mut live = Vec::new();
            for &ask in &asked {
                live.extend(take(turn, ask)?);
            }
            live.iter().try_for_each(&look)?;
            served += live.len() as u64;
        }
        end_of_round(memory)?;
        Ok(served)
    })
}

fn blocks() -> Result<Running> {
    const LENGTHS: [usize; 7] = [4096, 8192, 20_000, 65_536, 300_000, 1 << 20, 5 << 20];
    let memory = memory()?;
    let take = |turn, len| {
        let Ok(mut block) = memory.alloc(len, Zero::Yes) else { return Ok(None) };
        ensure!(has_throughout(&block, 0), "a block of {len} bytes is not zero");
        let number = LENGTHS.iter().position(|&known| known == len).unwrap_or_default();
        let stamp = 1 + 10 * turn + number as u8;
        block.fill(stamp);
        Ok(Some((block, stamp)))
    };
    let look = |(block, stamp): &(Block<'_>, u8)| {
        ensure!(has_throughout(block, *stamp), "a block has what another's holder wrote");
        let found = memory.locate(block.address() + block.len() as u64 - 1).map(|span| span.first());
        ensure!(found == Some(block.address()), "{:#x} is found at {found:?}", block.address());
        Ok(())
    };
    Ok(held(memory, LENGTHS.iter().flat_map(|&len| [len; 4]).collect(), take, look))
}

/// Slots and stacks of a pool.
const COUNT: usize = 64;

fn slots() -> Result<Running> {
    let memory = memory()?;
    let layout = SlotLayout::new(64 << 10).count(COUNT as u64).keep_resident(8192).guard(4096);
    let pool: &'static _ = Box::leak(Box::new(memory.slots(&layout)?));
    let take = |_, _| {
        let Ok(mut slot) = pool.get() else { return Ok(None) };
        ensure!(has_throughout(&slot, 0), "a slot is not zero");
        let behind = NonNull::new(slot.as_ptr().as_ptr().wrapping_add(slot.len())).context("no address")?;
        ensure!(!poke(behind, 1), "a guard can be written to");
        let stamp = 1 + slot.number() as u8;
        slot.fill(stamp);
        Ok(Some((slot, stamp)))
    };
    let look = |(slot, stamp): &(Slot<'_>, u8)| {
        ensure!(has_throughout(slot, *stamp), "a slot has what another's holder wrote");
        Ok(())
    };
    Ok(held(memory, vec![0; COUNT], take, look))
}

fn stacks() -> Result<Running> {
    let memory = memory()?;
    let pool: &'static _ = Box::leak(Box::new(StackPool::with_count(memory, 64 << 10, COUNT as u64)?));
    let take = |_, _| {
        let Ok(stack) = pool.get() else { return Ok(None) };
        let highest = NonNull::new(stack.base().as_ptr().wrapping_sub(1)).context("no address")?;
        ensure!(!poke(stack.guard(), 1), "a guard can be written to");
        let stamp = stack.number() as u8;
        let writable = poke(highest, stamp) && poke(stack.limit(), stamp);
        ensure!(writable, "a stack cannot be written to");
        Ok(Some((stack, highest, stamp)))
    };
    let look = |(stack, highest, stamp): &(Stack<'_>, NonNull<u8>, u8)| {
        let has = peek(*highest) == Some(*stamp) && peek(stack.limit()) == Some(*stamp);
        ensure!(has, "a stack has what another's holder wrote");
        Ok(())
    };
    Ok(held(memory, vec![0; COUNT], take, look))
}

fn vectors() -> Result<Running> {
    const LEN: u64 = 100_000;
    let memory = memory()?;
    Ok(Box::new(move || {
        let mut served = 0;
        for _ in 0..8 {
            let Ok(mut vector) = VmVec::with_reserve(memory, 1 << 20) else { continue };
            served += 1;
            for number in 0..LEN {
                if vector.push(number).is_err() {
                    break;
                }
            }
            served += vector.len() as u64 / LEN;
            let right = || vector.iter().copied().eq(0..vector.len() as u64);
            ensure!(right(), "a vector has what nobody pushed");
            vector.truncate(vector.len() / 2);
            let _ = vector.shrink_to_fit();
            let right = || vector.iter().copied().eq(0..vector.len() as u64);
            ensure!(right(), "a vector lost what was pushed");
        }
        end_of_round(memory)?;
        Ok(served)
    }))
}
