//! The prelude has the types that most programs name, and the facade the crates behind them.

use freehold::prelude::*;
use freehold::vmalloc;
use std::collections::{BTreeSet, HashSet};
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
    assert!(memory.alloc(4096, vmalloc::Zero::Yes).is_ok());
    static REQUESTS: Counter = Counter::new();
    REQUESTS.add(2);
    assert_eq!(REQUESTS.get(), 2);
    assert!(size_of::<(Gauge, Histogram)>() > 0);
    let _guarded: fn() -> &'static freehold::rcu::Domain = freehold::rcu::Domain::global;
}

/// Settings that programs compare and keep in maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Settings {
    placement: Placement,
    request: Request,
    gap: maple::Request,
    object: percpu::Request,
    zero: vmalloc::Zero,
    commit: vmalloc::Commit,
    retain: vmalloc::RetainPolicy,
    contents: vmalloc::code::Contents,
}

#[test]
fn settings_and_ranges_are_keys() {
    let settings = Settings {
        placement: Placement::Highest,
        request: Request::natural(0x1000),
        gap: maple::Request::new(1),
        object: percpu::Request::new(8),
        zero: vmalloc::Zero::Yes,
        commit: vmalloc::Commit::Lazy,
        retain: vmalloc::RetainPolicy::nothing(),
        contents: vmalloc::code::Contents::Code,
    };
    let other = Settings { zero: vmalloc::Zero::No, ..settings };
    assert_eq!(HashSet::from([settings, settings, other]).len(), 2);
    let set: RangeSet<char> = ['x'..='z', 'a'..='b'].into_iter().collect();
    let sorted: BTreeSet<KeySpan<char>> = set.into_iter().rev().collect();
    assert_eq!(sorted.first(), KeySpan::new('a', 'b').as_ref());
}

#[test]
fn regions_are_copied() {
    // `V` need not be.
    let mut space: AddressSpace<String> =
        AddressSpace::new((0..0x1000).try_into().unwrap(), Align::ONE, Placement::Lowest).unwrap();
    space.alloc(&Request::new(1), String::from("a")).unwrap();
    let region = space.region_at(0).unwrap();
    let copies = [region; 2];
    assert_eq!(copies.map(|region| region.value().as_str()), ["a"; 2]);
}

#[test]
fn a_question_mark_turns_what_is_rejected_into_its_cause() {
    fn store(map: &mut RangeMap<u8>) -> Result<(), maple::StoreError> {
        Ok(map.store(9..9, 1)?)
    }
    fn insert(map: &mut RangeMap<u8>) -> Result<(), maple::InsertError> {
        Ok(map.insert(0..2, 1)?)
    }
    fn alloc_gap(map: &mut RangeMap<u8>) -> Result<Span, maple::AllocError> {
        Ok(map.alloc_lowest(&maple::Request::new(0), 1)?)
    }
    fn write(tree: &MapleTree<u8>) -> Result<(), maple::maple_tree::WriteError> {
        Ok(tree.store(9..9, 1)?)
    }
    fn alloc(space: &mut AddressSpace<u8>) -> Result<Span, kva::AllocError> {
        Ok(space.alloc(&Request::new(0), 1)?)
    }
    fn share(bus: &SharedSpace<u8>) -> Result<Span, kva::SharedError<kva::AllocError>> {
        Ok(bus.alloc(&Request::new(0), Arc::new(1))?)
    }
    fn push(memory: &VirtualMemory) -> Result<(), vmalloc::AllocError> {
        let mut vec = vmalloc::VmVec::with_reserve(memory, 1)?;
        (0..=vec.max()).try_for_each(|_| Ok(vec.push([0_u64; 512])?))
    }
    let mut map = RangeMap::from([(1..2, 0)]);
    assert_eq!(store(&mut map), Err(maple::StoreError::EmptyRange));
    assert!(matches!(insert(&mut map), Err(maple::InsertError::Occupied { .. })));
    assert_eq!(alloc_gap(&mut map), Err(maple::AllocError::ZeroSize));
    assert_eq!(write(&MapleTree::new()), Err(maple::maple_tree::WriteError::EmptyRange));
    let all = Span::try_from(0..0x1000).unwrap();
    let mut space = AddressSpace::new(all, Align::ONE, Placement::Lowest).unwrap();
    assert_eq!(alloc(&mut space), Err(kva::AllocError::ZeroSize));
    let bus = SharedSpace::new(all, Align::ONE, Placement::Lowest).unwrap();
    assert_eq!(share(&bus), Err(kva::SharedError::Refused(kva::AllocError::ZeroSize)));
    let memory = VirtualMemory::builder().reserve(1 << 30).build().unwrap();
    assert!(matches!(push(&memory), Err(vmalloc::AllocError::Addresses(_))));
}
