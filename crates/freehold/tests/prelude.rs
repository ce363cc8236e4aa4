//! The prelude has the types that most programs name, and the facade the crates behind them.

use freehold::prelude::*;
use std::sync::Arc;

#[test]
fn one_import_is_enough_for_programs_with_threads() {
    let span: Span = "0x10000..0x20000".parse().unwrap();
    let bus = SharedSpace::new(span, Align::PAGE, Placement::Lowest).unwrap();
    let nic = bus.alloc(&Request::new(0x1000), Arc::new("nic")).unwrap();
    assert_eq!(nic.first(), 0x10000);
    let ids = PooledSpace::new((1..1 << 32).try_into().unwrap(), Align::ONE).unwrap();
    assert!(ids.alloc(1).is_ok());
    let map: MapleTree<u64> = MapleTree::new();
    assert!(map.is_empty());
    let memory: VirtualMemory = VirtualMemory::builder().reserve(1 << 30).build().unwrap();
    assert!(memory.alloc(4096, freehold::vmalloc::Zero::Yes).is_ok());
    static REQUESTS: Counter = Counter::new();
    REQUESTS.add(2);
    assert_eq!(REQUESTS.get(), 2);
    assert!(size_of::<(Gauge, Histogram)>() > 0);
    let _guarded: fn() -> &'static freehold::rcu::Domain = freehold::rcu::Domain::global;
}
