//! What `calls.c` calls, called in Rust and not inlined. A static library with a `main`, as the C library is one: code that does not
//! know where its thread-locals will be takes some instructions more, in both.

use freehold::kva::{AddressSpace, Placement, Region};
use freehold::maple::MapleTree;
use freehold::percpu::{Counter, heap::PerCpuHeap};
use freehold::units::{Align, Span};

const CALLS: u64 = 1000;
const STEP: u64 = 0x4000;

#[inline(never)]
#[unsafe(no_mangle)]
fn rust_tree_load(tree: &MapleTree<usize>, index: u64) -> Option<usize> {
    tree.read().get(index)
}

#[inline(never)]
#[unsafe(no_mangle)]
fn rust_space_find(space: &AddressSpace<usize>, address: u64) -> Option<Region<'_, usize>> {
    space.region_at(address)
}

#[inline(never)]
#[unsafe(no_mangle)]
fn rust_counter_add(counter: &Counter, value: u64) {
    counter.add(value);
}

#[unsafe(no_mangle)]
pub extern "C" fn main() -> i32 {
    i32::from(calls().is_err())
}

fn calls() -> Result<(), Box<dyn std::error::Error>> {
    let tree = MapleTree::new();
    let mut space = AddressSpace::new(Span::ALL, Align::PAGE, Placement::Lowest)?;
    let counter = Counter::in_heap(PerCpuHeap::global()?)?;
    for at in 0..CALLS {
        let place = Span::from_size(at * STEP, 0x1000).ok_or("no span")?;
        tree.store(place, 1)?;
        space.alloc_at(place, 1)?;
    }
    let mut found = 0;
    for at in 0..CALLS {
        found += u64::from(rust_tree_load(&tree, at * STEP).is_some());
        found += u64::from(rust_space_find(&space, at * STEP).is_some());
        rust_counter_add(&counter, at);
    }
    let sum = CALLS * (CALLS - 1) / 2;
    if found == 2 * CALLS && counter.get() == sum { Ok(()) } else { Err("not found".into()) }
}
