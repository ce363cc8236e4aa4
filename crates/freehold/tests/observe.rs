//! The statistics of every type on one page, and what they say of what is held.

use freehold::observe::{self, MapStats};
use freehold::percpu::heap::PerCpuHeap;
use freehold::percpu::registry::{Reading, Registry};
use freehold::prelude::*;
use freehold::rcu::Domain;
use freehold::{maple::MapleTree, vmalloc::VirtualMemory};
use std::sync::{Arc, Mutex};

/// The value of a gauge; no number if there is none.
fn value(registry: &Registry, name: &str) -> f64 {
    match registry.iter().find(|sample| sample.name == name).map(|sample| sample.reading) {
        Some(Reading::Value(value)) => value,
        _ => f64::NAN,
    }
}

#[test]
fn statistics_are_gauges() {
    let registry = Registry::new();
    let vm = Arc::new(VirtualMemory::builder().reserve(1 << 30).build().unwrap());
    let space =
        AddressSpace::new((0..1_u64 << 20).try_into().unwrap(), Align::PAGE, Placement::Lowest).unwrap();
    let space = Arc::new(Mutex::new(space));
    let pooled = Arc::new(PooledSpace::new((0..1_u64 << 30).try_into().unwrap(), Align::PAGE).unwrap());
    let map = Arc::new(MapleTree::<u64>::new());
    let heap: &'static PerCpuHeap = PerCpuHeap::new().unwrap().leak();
    let domain: &'static Domain = Domain::global();

    let of = Arc::clone(&vm);
    observe::register(&registry, "vm", &[], move || of.stats()).unwrap();
    let of = Arc::clone(&space);
    observe::register(&registry, "space", &[], move || of.lock().unwrap().stats()).unwrap();
    let of = Arc::clone(&pooled);
    observe::register(&registry, "pooled", &[], move || of.stats()).unwrap();
    let of = Arc::clone(&map);
    observe::register(&registry, "map", &[], move || MapStats::of(&of)).unwrap();
    observe::register(&registry, "heap", &[], || heap.stats()).unwrap();
    observe::register(&registry, "rcu", &[], || domain.stats()).unwrap();
    // Another of the same names is refused, and leaves what there is.
    assert!(observe::register(&registry, "rcu", &[], || domain.stats()).is_err());

    let block = vm.alloc(64 << 10, freehold::vmalloc::Zero::Yes).unwrap();
    let region = space.lock().unwrap().alloc(&Request::new(0x3000), ()).unwrap();
    let taken = pooled.alloc(0x1000).unwrap();
    map.store(3..=5, 7).unwrap();
    let objects = heap.alloc_bulk::<std::sync::atomic::AtomicU64>(100).unwrap();
    let reading = map.read();

    assert_eq!((value(&registry, "vm_blocks"), value(&registry, "vm_held_bytes")), (1.0, 65536.0));
    let slots = vm.slots(&freehold::vmalloc::SlotLayout::new(64 << 10).guard(0)).unwrap();
    let slot = slots.get().unwrap();
    assert_eq!((value(&registry, "vm_blocks"), value(&registry, "vm_held_bytes")), (2.0, 131_072.0));
    assert!(value(&registry, "vm_committed_bytes") <= f64::from(1 << 30));
    drop(slot);
    drop(slots);
    assert_eq!((value(&registry, "space_regions"), value(&registry, "space_busy_bytes")), (1.0, 12288.0));
    assert_eq!(value(&registry, "space_free_bytes"), f64::from((1 << 20) - 0x3000));
    assert_eq!(value(&registry, "space_fragmentation"), 0.0);
    let middle = Span::from_size(region.first() + 0x8_0000, 0x4_0000).unwrap();
    space.lock().unwrap().alloc_at(middle, ()).unwrap();
    let (largest, free) = (f64::from(0x7_d000), f64::from(0xb_d000));
    assert!((value(&registry, "space_fragmentation") - (free - largest) / free).abs() < 1e-9);
    space.lock().unwrap().free(middle.first()).unwrap();
    assert_eq!((value(&registry, "pooled_blocks"), value(&registry, "pooled_held_bytes")), (1.0, 4096.0));
    assert_eq!((value(&registry, "map_entries"), value(&registry, "map_refused")), (1.0, 0.0));
    assert_eq!((value(&registry, "heap_objects"), objects.len()), (100.0, 100));
    assert_eq!(value(&registry, "rcu_reading"), 1.0);

    drop((reading, block, taken));
    space.lock().unwrap().free(region.first()).unwrap();
    assert_eq!((value(&registry, "vm_blocks"), value(&registry, "space_regions")), (0.0, 0.0));
    assert_eq!(value(&registry, "rcu_reading"), 0.0);
    assert!(!registry.render().contains("NaN"), "a figure that nobody writes");

    // What is removed holds nothing any more.
    assert!(observe::remove::<freehold::vmalloc::Stats>(&registry, "vm", &[]));
    assert_eq!(Arc::strong_count(&vm), 1);
    assert!(!observe::remove::<freehold::vmalloc::Stats>(&registry, "vm", &[]));
}
