//! A page cache: file pages in slots that are not cleared, as they are overwritten anyway. What is evicted gives its slot back,
//! and idle slots' memory returns to the system.
//!
//! `cargo run -p freehold-vmalloc --release --example page_cache`

use freehold_vmalloc::{AllocError, RetainPolicy, Slot, SlotLayout, Slots, VirtualMemory, Zero};
use std::collections::{HashMap, VecDeque};
use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;

const PAGE_BYTES: usize = 16 << 10;

/// Pages of a file, the ones that were read last.
struct Cache<'a> {
    file: File,
    slots: &'a Slots<'a>,
    pages: HashMap<u64, Slot<'a>>,
    /// In the order in which they were read.
    order: VecDeque<u64>,
    reads: u64,
}

impl Cache<'_> {
    fn page(&mut self, number: u64) -> Result<&[u8], Box<dyn Error>> {
        if !self.pages.contains_key(&number) {
            let mut slot = match self.slots.get() {
                // All slots are held: the oldest page returns its own.
                Err(AllocError::AllHeld { .. }) if self.evict() => self.slots.get()?,
                got => got?,
            };
            self.file.read_exact_at(&mut slot, number * PAGE_BYTES as u64)?;
            self.reads += 1;
            self.pages.insert(number, slot);
            self.order.push_back(number);
        }
        self.pages.get(&number).map(|slot| &**slot).ok_or_else(|| "the page was just read".into())
    }

    /// Drops the oldest page, if there is one.
    fn evict(&mut self) -> bool {
        self.order.pop_front().is_some_and(|oldest| self.pages.remove(&oldest).is_some())
    }
}

/// A file of pages, each filled with its number.
fn file_of(pages: u64) -> Result<File, Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("freehold-page-cache-{}", std::process::id()));
    let mut file = File::options().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    for number in 0..pages {
        file.write_all(&number.to_le_bytes().repeat(PAGE_BYTES / 8))?;
    }
    Ok(file)
}

fn main() -> Result<(), Box<dyn Error>> {
    const PAGES: u64 = 2000;
    let vm = VirtualMemory::builder().reserve(1 << 34).retain(RetainPolicy::bytes(64 << 20)).build()?;
    let layout = SlotLayout::new(PAGE_BYTES).count(512).guard(0).zero(Zero::No).name("page cache");
    let slots = vm.slots(&layout)?;
    let (pages, order) = (HashMap::new(), VecDeque::new());
    let mut cache = Cache { file: file_of(PAGES)?, slots: &slots, pages, order, reads: 0 };
    let mut random = 1u64;
    for round in 0..20_000u64 {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        // Most reads are of a few pages.
        let number = if round % 4 == 0 { (random >> 33) % PAGES } else { (random >> 33) % 300 };
        let page = cache.page(number)?;
        assert!(page.chunks_exact(8).all(|word| word == number.to_le_bytes()), "page {number}");
    }
    println!("20,000 pages asked for, {} read; {} held", cache.reads, cache.pages.len());
    assert_eq!(cache.pages.len() as u64, slots.count());
    drop(cache);
    let resident = vm.stats().residency.resident_bytes;
    let released = vm.release_idle()?;
    println!("{resident} bytes resident after that, {released} given back");
    assert_eq!((released, vm.stats().residency.resident_bytes), (resident, 0));
    Ok(())
}
