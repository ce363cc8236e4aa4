//! Counters of a server that are made at run time: each exists once per CPU, so that threads of different CPUs never write
//! to one cache line, and all of them lie side by side, so that a thousand take a few pages and not a thousand lines.
//!
//! The set hands out offsets, and says which pages need memory. The memory here is a vector for each CPU of a chunk, which
//! the set asks for page by page.
//!
//! `cargo run -p freehold --example percpu`

use freehold::percpu::{
    Backing, ChunkId, ChunkSet, Config, FreeError, Offset, OutOfMemory, PAGE_BYTES, Request,
};
use std::collections::BTreeMap;
use std::error::Error;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const CPUS: u32 = 4;
const UNIT_BYTES: u32 = 64 << 10;
/// Counters in a page.
const SLOTS: u32 = PAGE_BYTES / size_of::<u64>() as u32;

/// A page of one CPU.
type Page = Box<[AtomicU64]>;

/// The pages that have memory, by chunk and page, one of each for every CPU.
#[derive(Default)]
struct Memory {
    pages: BTreeMap<(ChunkId, u32), Vec<Page>>,
}

impl Backing for Memory {
    fn populate(&mut self, chunk: ChunkId, pages: Range<u32>) -> Result<(), OutOfMemory> {
        for page in pages {
            let zeroed = || (0..SLOTS).map(|_| AtomicU64::new(0)).collect();
            self.pages.insert((chunk, page), (0..CPUS).map(|_| zeroed()).collect());
        }
        Ok(())
    }

    fn depopulate(&mut self, chunk: ChunkId, pages: Range<u32>) {
        for page in pages {
            self.pages.remove(&(chunk, page));
        }
    }
}

/// Counters by the thousand, each a handle of 12 bytes.
struct Counters {
    set: ChunkSet<freehold::percpu::FirstFit, Memory>,
}

impl Counters {
    fn new() -> Result<Self, Box<dyn Error>> {
        let set = ChunkSet::with_backing(Config::new(UNIT_BYTES, CPUS), Memory::default())?;
        Ok(Self { set })
    }

    /// A counter that is 0 on every CPU.
    fn create(&mut self) -> Result<Offset, Box<dyn Error>> {
        let counter = self.set.alloc(&Request::new(8).align(8))?;
        // The memory still holds what the last counter at this place counted.
        (0..CPUS).filter_map(|cpu| self.slot(counter, cpu)).for_each(|slot| slot.store(0, Relaxed));
        Ok(counter)
    }

    /// Removes a counter. Its offset is an error from now on, until it is handed out again.
    fn remove(&mut self, counter: Offset) -> Result<(), FreeError> {
        self.set.free_sized(counter, 8)
    }

    /// The number that one CPU counts in.
    fn slot(&self, counter: Offset, cpu: u32) -> Option<&AtomicU64> {
        let (page, byte) = (counter.offset_bytes / PAGE_BYTES, counter.offset_bytes % PAGE_BYTES);
        let units = self.set.backing().pages.get(&(counter.chunk, page))?;
        units.get(cpu as usize)?.get(byte as usize / size_of::<u64>())
    }

    /// Counts on one CPU. A thread that is moved to another CPU meanwhile still counts, as the slots are atomic.
    fn add(&self, counter: Offset, cpu: u32, amount: u64) {
        if let Some(slot) = self.slot(counter, cpu) {
            slot.fetch_add(amount, Relaxed);
        }
    }

    /// The sum over all CPUs.
    fn read(&self, counter: Offset) -> u64 {
        (0..CPUS).filter_map(|cpu| self.slot(counter, cpu)).map(|slot| slot.load(Relaxed)).sum()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut counters = Counters::new()?;
    let requests = counters.create()?;
    let per_route: Vec<Offset> = (0..1000).map(|_| counters.create()).collect::<Result<_, _>>()?;

    // A thread for each CPU counts a hundred thousand requests; nothing is locked.
    std::thread::scope(|threads| {
        for cpu in 0..CPUS {
            let (counters, per_route) = (&counters, &per_route);
            threads.spawn(move || {
                for at in 0..100_000 {
                    counters.add(requests, cpu, 1);
                    counters.add(per_route[at % per_route.len()], cpu, 1);
                }
            });
        }
    });
    assert_eq!(counters.read(requests), 400_000);
    assert!(per_route.iter().all(|&route| counters.read(route) == 400));

    let stats = counters.set.stats();
    println!("{} counters of {CPUS} CPUs in {} pages of each", stats.objects, stats.populated_pages);
    assert_eq!((stats.objects, stats.populated_pages), (1001, 2));

    // Removed twice, a counter says so. One that is made later takes its place, and starts at 0.
    let removed = per_route[500];
    counters.remove(removed)?;
    println!("{}", counters.remove(removed).err().ok_or("removed twice")?);
    let later = counters.create()?;
    assert_eq!((later, counters.read(later)), (removed, 0));

    // Most routes go. When the server has time, it lets the set give memory back; a few empty pages stay ready for requests
    // that cannot wait.
    for &route in per_route.iter().filter(|&&route| route != removed) {
        counters.remove(route)?;
    }
    if counters.set.wants_balance() {
        counters.set.balance()?;
    }
    println!("{} counters left, in {} pages", counters.set.len(), counters.set.populated_pages());
    assert_eq!(counters.read(requests), 400_000);
    counters.set.validate()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn runs() -> Result<(), Box<dyn std::error::Error>> {
        super::main()
    }
}
