//! A shared space as a bus: devices of any type, unplugged while others read, restored with all that belongs to them.

use freehold_kva::{AddressSpace, FreeError, Placement, Request, ReturnError, SharedError, SharedSpace};
use freehold_maple::MapleTree;
use freehold_maple::maple_tree::{Domain, WriteError};
use freehold_units::{Align, Span};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const PAGE: u64 = 0x1000;

/// What a bus has: something that answers, and that closes its descriptor when it is dropped.
trait Device: Send + Sync {
    fn read(&self, offset: u64) -> u64;
}

struct Disk {
    name: u64,
    open: Arc<AtomicU32>,
}

impl Device for Disk {
    fn read(&self, offset: u64) -> u64 {
        self.name + offset
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

fn disk(name: u64, open: &Arc<AtomicU32>) -> Arc<dyn Device> {
    open.fetch_add(1, Ordering::Relaxed);
    Arc::new(Disk { name, open: Arc::clone(open) })
}

fn new_bus<V: ?Sized>() -> SharedSpace<V> {
    SharedSpace::new((0..0x100 * PAGE).try_into().unwrap(), Align::PAGE, Placement::Lowest).unwrap()
}

#[test]
fn an_unplugged_device_is_closed_before_free_returns() {
    let (bus, open) = (new_bus::<dyn Device>(), Arc::new(AtomicU32::new(0)));
    let request = Request::new(2 * PAGE).guard(PAGE);
    let nic = bus.alloc(&request, disk(7, &open)).unwrap();
    let uart = bus.alloc(&request, disk(9000, &open)).unwrap();
    assert_eq!(bus.read().get(nic.first() + PAGE).map(|device| device.read(3)), Some(10));
    drop(bus.free(nic.first()).unwrap());
    assert_eq!(open.load(Ordering::Relaxed), 1, "its descriptor is closed");
    // With a reader inside, the first call after it has left closes it.
    let reading = bus.read();
    let device = reading.get(uart.first()).unwrap();
    drop(bus.free(uart.first()).unwrap());
    assert_eq!((device.read(1), open.load(Ordering::Relaxed)), (9001, 1));
    drop(reading);
    let again = bus.alloc(&request, disk(1, &open)).unwrap();
    assert_eq!((again, open.load(Ordering::Relaxed)), (nic, 1));
    // Or a call that asks for it.
    let reading = bus.read();
    drop(bus.free(again.first()).unwrap());
    drop(reading);
    bus.synchronize().unwrap();
    assert_eq!((open.load(Ordering::Relaxed), bus.backlog().held), (0, 0));
    bus.validate().unwrap();
}

#[test]
fn a_reader_of_another_bus_is_not_in_the_way() {
    let (bus, other) = (new_bus::<u64>(), new_bus::<u64>());
    let _reading = other.read();
    for name in 0..if cfg!(miri) { 100 } else { 20_000 } {
        let value = Arc::new(name);
        let span = bus.alloc(&Request::new(PAGE), Arc::clone(&value)).unwrap();
        drop(bus.free(span.first()).unwrap());
        assert_eq!(Arc::strong_count(&value), 1);
    }
}

#[test]
fn a_free_may_wait_for_a_reader_that_holds_back_too_much() {
    let space =
        AddressSpace::new((0..0x100 * PAGE).try_into().unwrap(), Align::PAGE, Placement::Lowest).unwrap();
    let readers = SharedSpace::<u64>::readers().domain(Domain::named("bus 3")).backlog_limit(40 * 336);
    let bus = SharedSpace::share(space, readers).unwrap();
    let kept = bus.alloc(&Request::new(PAGE), Arc::new(1)).unwrap();
    let moving = bus.snapshot().unwrap();
    let full = loop {
        match bus.alloc(&Request::new(PAGE), Arc::new(2)) {
            Ok(_) => {}
            Err(refused) => break refused.cause,
        }
    };
    let SharedError::Readers { oldest: Some(oldest), limit: 40, .. } = full else { panic!("{full}") };
    assert_eq!(oldest.domain, "bus 3");
    let first = kept.first();
    let refused = bus.free_waiting(first, Duration::from_millis(2));
    assert!(matches!(refused, Err(SharedError::Readers { .. })), "{refused:?}");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(2));
            drop(moving);
        });
        assert_eq!(bus.free_waiting(first, Duration::MAX).unwrap().0.first(), first);
    });
    let held = bus.read();
    assert_eq!(bus.synchronize(), if bus.backlog().held > 0 { Err(WriteError::Reading) } else { Ok(()) });
    drop(held);
}

/// Sharing a space is refused for the tree's reasons, and a reader of the same domain is not in its way.
#[test]
fn a_space_that_cannot_be_shared_comes_back_with_the_reason() {
    let regions = if cfg!(miri) { 100 } else { 1000 };
    let mut alone =
        AddressSpace::new((0..0x1000 * PAGE).try_into().unwrap(), Align::PAGE, Placement::Lowest).unwrap();
    let value = Arc::new(7);
    for _ in 0..regions {
        alone.alloc(&Request::new(PAGE), Arc::clone(&value)).unwrap();
    }
    let none = || SharedSpace::<u64>::readers().backlog_limit(0);
    let refused = SharedSpace::share(alone, none()).unwrap_err();
    assert!(matches!(refused.cause, WriteError::Readers { limit: 0, oldest: None, .. }), "{refused}");
    assert_eq!((refused.value.len(), Arc::strong_count(&value)), (regions, regions + 1));

    let domain = Arc::new(Domain::named("all buses"));
    let other = MapleTree::builder().domain(Arc::clone(&domain)).build();
    other.store(0..9, 1u64).unwrap();
    let reading = other.read();
    let few = SharedSpace::<u64>::readers().domain(domain).backlog_limit(40 * 336);
    let bus = SharedSpace::share(refused.value, few).unwrap();
    bus.validate().unwrap();
    assert_eq!((bus.len(), bus.backlog().held, Arc::strong_count(&value)), (regions, 0, 2 * regions + 1));
    assert_eq!(reading.get(3), Some(1));
}

#[test]
fn bytes_that_are_not_a_space_are_refused_as_for_one_owner() {
    let number = |bytes: &[u8]| bytes.try_into().map(u32::from_le_bytes).map(Arc::new).map_err(|_| ());
    let refused = SharedSpace::from_bytes(b"none", Placement::Lowest, number).map(drop);
    let alone = AddressSpace::from_bytes(b"none", Placement::Lowest, number).map(drop);
    assert_eq!(refused, alone.map_err(SharedError::Refused));
}

/// A device whose drop panics costs a stranger nothing: its call has changed nothing, or has returned.
#[test]
fn a_device_whose_drop_panics_costs_a_stranger_nothing() {
    struct Bad(bool);
    impl Drop for Bad {
        fn drop(&mut self) {
            assert!(!self.0 || std::thread::panicking(), "boom");
        }
    }
    let bus = new_bus::<Bad>();
    let bad = bus.alloc(&Request::new(PAGE), Arc::new(Bad(true))).unwrap();
    let reading = bus.read();
    // The caller has the device, and gives it up; the space still has it for the reader.
    drop(bus.free(bad.first()).unwrap());
    drop(reading);
    let strange =
        catch_unwind(AssertUnwindSafe(|| bus.alloc(&Request::new(PAGE), Arc::new(Bad(false))).unwrap()));
    assert!(strange.is_err() && bus.is_empty(), "nothing has changed");
    for _ in 0..if cfg!(miri) { 20 } else { 1000 } {
        let span = bus.alloc(&Request::new(PAGE), Arc::new(Bad(false))).unwrap();
        drop(bus.free(span.first()).unwrap());
    }
    bus.validate().unwrap();
}

#[test]
fn a_space_is_shared_and_has_one_owner_again_with_all_it_had() {
    let mut alone =
        AddressSpace::new((0..0x100 * PAGE).try_into().unwrap(), Align::PAGE, Placement::Lowest).unwrap();
    let request = Request::new(2 * PAGE).align(Align::new(4 * PAGE).unwrap()).guard(PAGE);
    let names: Vec<Arc<str>> = ["disk", "nic", "bridge"].map(Arc::from).into();
    let disk = alone.alloc(&request, Arc::clone(&names[0])).unwrap();
    let nic = alone.alloc(&request, Arc::clone(&names[1])).unwrap();
    let child: AddressSpace<u64> = alone.carve(&request, Arc::clone(&names[2]), Placement::Highest).unwrap();
    let pending = alone.begin_move(nic.first(), nic.first() + PAGE * 80).unwrap();
    let bytes = alone.to_bytes(|name, to| to.put(name.as_bytes())).unwrap();

    let shared: SharedSpace<str> = alone.try_into().unwrap();
    shared.validate().unwrap();
    assert_eq!(shared.to_bytes(|name, to| to.put(name.as_bytes())).unwrap(), bytes);
    assert_eq!(shared.read().get(nic.first() + PAGE * 81), Some("nic"));
    assert_eq!(shared.guard_at(disk.last() + 1), Some((disk, Arc::clone(&names[0]))));
    assert_eq!(shared.guard_at(disk.last()), None);
    assert_eq!(shared.pending_moves().unwrap(), [pending]);
    assert!(matches!(shared.free(child.span().first()), Err(SharedError::Refused(FreeError::Carved { .. }))));

    // A restored one has all of it, too; what is lost with the process is the token, and it is listed.
    let name = |bytes: &[u8]| std::str::from_utf8(bytes).map(Arc::from);
    let restored = SharedSpace::<str>::from_bytes(&bytes, Placement::Lowest, name).unwrap();
    restored.validate().unwrap();
    let lost = restored.pending_moves().unwrap()[0];
    assert_eq!(restored.commit_move(lost).unwrap().first(), pending.to());
    assert_eq!(restored.region_at(nic.first()), None);

    shared.cancel_move(pending).unwrap();
    assert_eq!(&*shared.take_back(child).unwrap().1, "bridge");
    let mut alone = shared.into_space();
    assert_eq!(alone.free(nic.first()).unwrap().1, names[1]);
    assert_eq!(alone.len(), 1);
    drop(alone);
    assert!(names.iter().all(|name| Arc::strong_count(name) == 1));
}

#[test]
fn sub_spaces_and_spans_of_a_shared_space() {
    let bus = new_bus::<u64>();
    let mut child: AddressSpace<u64> =
        bus.carve(&Request::new(8 * PAGE), Arc::new(1), Placement::Lowest).unwrap();
    assert_eq!(bus.region_at(7 * PAGE).map(|(span, value)| (span, *value)), Some((child.span(), 1)));
    let own = child.alloc(&Request::new(PAGE), 0).unwrap();
    let refused = bus.take_back(child).unwrap_err();
    assert_eq!(refused.cause, SharedError::Refused(ReturnError::InUse { region: own }));
    assert!(bus.region_at(0).is_some());
    let mut child = refused.value;
    child.free(own.first()).unwrap();
    // Of another parent, or of nobody any more.
    let refused = new_bus::<u64>().take_back(child).unwrap_err();
    assert!(matches!(refused.cause, SharedError::Refused(ReturnError::Foreign { .. })));
    assert!(bus.disown(0) && !bus.disown(0));
    let mut child =
        AddressSpace::<u64>::new((0..8 * PAGE).try_into().unwrap(), Align::PAGE, Placement::Lowest).unwrap();
    bus.adopt(0, &mut child).unwrap();
    bus.take_back(child).unwrap();
    assert_eq!((bus.region_at(0), bus.backlog().held), (None, 0));

    let more = Span::from_size(0x200 * PAGE, 4 * PAGE).unwrap();
    bus.add(more).unwrap();
    let high = bus.alloc_with(&Request::new(PAGE), Placement::Highest, Arc::new(3)).unwrap();
    assert_eq!(high.last(), more.last());
    assert!(bus.remove(more).is_err());
    let guarded =
        bus.alloc_at_guarded(Span::from_size(more.first(), PAGE).unwrap(), PAGE, Arc::new(4)).unwrap();
    assert!(bus.alloc_at(Span::from_size(guarded.last() + 1, PAGE).unwrap(), Arc::new(5)).is_err());
    assert_eq!(bus.free_range(..).unwrap().len(), 2);
    bus.remove(more).unwrap();
    assert!(bus.is_empty() && bus.validate().is_ok());
}

/// A map takes an `Arc` of anything, whether its pointer is one word or two.
#[test]
fn a_map_of_wide_pointers() {
    let (words, open) = (MapleTree::<Arc<str>>::new(), Arc::new(AtomicU32::new(0)));
    let name: Arc<str> = Arc::from("name");
    words.store(0..100, Arc::clone(&name)).unwrap();
    words.store(40..50, Arc::from("other")).unwrap();
    assert_eq!(words.read().iter().map(|(_, value)| value).collect::<Vec<_>>(), ["name", "other", "name"]);
    assert!(Arc::ptr_eq(&words.get_owned(99).unwrap(), &name));
    drop(words);
    assert_eq!(Arc::strong_count(&name), 1);
    let devices = MapleTree::<Option<Arc<dyn Device>>>::new();
    devices.store(0..9, Some(disk(4, &open))).unwrap();
    devices.store(10..19, None).unwrap();
    assert_eq!(devices.read().get(3).map(|device| device.map(|device| device.read(1))), Some(Some(5)));
    assert!(devices.read().get(12).unwrap().is_none());
    drop(devices);
    assert_eq!(open.load(Ordering::Relaxed), 0);
}
