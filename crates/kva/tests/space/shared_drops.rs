//! When a shared space drops what it no longer has: each change drops its own before it returns, and first what earlier ones
//! left.

use freehold_kva::{AddressSpace, PendingMove, Placement, Request, SharedSpace};
use freehold_units::{Align, Span};
use std::sync::Arc;
use std::time::Duration;

const PAGE: u64 = 0x1000;

fn pages(first: u64, count: u64) -> Span {
    Span::from_size(first * PAGE, count * PAGE).unwrap()
}

fn new_bus() -> SharedSpace<u64> {
    SharedSpace::new(pages(0, 0x100), Align::PAGE, Placement::Lowest).unwrap()
}

/// A bus with something for every change.
struct World {
    bus: SharedSpace<u64>,
    moving: [PendingMove; 2],
    child: AddressSpace<()>,
    orphan: AddressSpace<()>,
}

impl World {
    fn new() -> Self {
        let bus = new_bus();
        for at in 0..12 {
            bus.alloc_at(pages(8 * at, 4), Arc::new(at)).unwrap();
        }
        bus.split_at(8 * PAGE + PAGE).unwrap();
        let moving = [16, 24].map(|at| bus.begin_move(at * PAGE, (at + 104) * PAGE).unwrap());
        let child = bus.carve(&Request::new(8 * PAGE), Arc::new(70), Placement::Lowest).unwrap();
        let orphan = AddressSpace::new(pages(32, 4), Align::PAGE, Placement::Lowest).unwrap();
        Self { bus, moving, child, orphan }
    }
}

/// A change, by its name.
type Change = (&'static str, fn(World) -> SharedSpace<u64>);

/// The change that `$call` makes of a [`World`].
macro_rules! changes {
    ($($name:ident: |$world:ident| $call:expr;)*) => {
        &[$((stringify!($name), |$world: World| {
            let _answer = $call;
            $world.bus
        })),*]
    };
}

const CHANGES: &[Change] = changes! {
    alloc: |it| it.bus.alloc(&Request::new(PAGE), Arc::new(1)).unwrap();
    alloc_with: |it| it.bus.alloc_with(&Request::new(PAGE), Placement::Highest, Arc::new(1)).unwrap();
    alloc_at: |it| it.bus.alloc_at(pages(200, 1), Arc::new(1)).unwrap();
    alloc_at_guarded: |it| it.bus.alloc_at_guarded(pages(200, 1), PAGE, Arc::new(1)).unwrap();
    free: |it| it.bus.free(0).unwrap();
    free_exact: |it| it.bus.free_exact(pages(0, 4)).unwrap();
    free_waiting: |it| it.bus.free_waiting(0, Duration::ZERO).unwrap();
    free_range: |it| it.bus.free_range(PAGE..3 * PAGE).unwrap();
    free_range_with: |it| it.bus.free_range_with(PAGE..3 * PAGE, |_, _, _| Arc::new(1)).unwrap();
    resize: |it| it.bus.resize(0, PAGE).unwrap();
    split_at: |it| it.bus.split_at(PAGE).unwrap();
    split_at_with: |it| it.bus.split_at_with(PAGE, |_, _, _| Arc::new(1)).unwrap();
    merge_with: |it| it.bus.merge_with(8 * PAGE, |_, _| true).unwrap();
    merge: |it| it.bus.merge(8 * PAGE).unwrap();
    begin_move: |it| it.bus.begin_move(0, 160 * PAGE).unwrap();
    commit_move: |it| it.bus.commit_move(it.moving[0]).unwrap();
    cancel_move: |it| it.bus.cancel_move(it.moving[1]).unwrap();
    rearrange: |it| it.bus.rearrange(&[(0, pages(160, 4))]).unwrap();
    carve: |it| it.bus.carve::<()>(&Request::new(PAGE), Arc::new(1), Placement::Lowest).unwrap();
    take_back: |it| it.bus.take_back(it.child).unwrap();
    adopt: |it| it.bus.adopt(32 * PAGE, &mut { it.orphan }).unwrap();
    disown: |it| assert!(it.bus.disown(it.child.span().first()));
    add: |it| it.bus.add(pages(0x200, 1)).unwrap();
    remove: |it| it.bus.remove(pages(255, 1)).unwrap();
    reclaim: |it| it.bus.reclaim().unwrap();
    synchronize: |it| it.bus.synchronize().unwrap();
};

#[test]
fn the_first_change_after_the_reader_has_left_drops_the_value() {
    for (name, change) in CHANGES {
        let world = World::new();
        let gone = Arc::new(99);
        world.bus.alloc_at(pages(240, 1), Arc::clone(&gone)).unwrap();
        let reading = world.bus.read();
        drop(world.bus.free(240 * PAGE).unwrap());
        drop(reading);
        assert_eq!(Arc::strong_count(&gone), 2, "{name}: it waits");
        let bus = change(world);
        assert_eq!(Arc::strong_count(&gone), 1, "{name}: it is dropped");
        bus.validate().unwrap();
    }
}

/// A change of a bus with a value in the pages 8 to 15, and how many `Arc`s of the value there are then: the caller's, one
/// for each region in the space, and one for each range in the tree of readers.
type Own = (&'static str, fn(&SharedSpace<u64>, &Arc<u64>), usize);

const OWN: &[Own] = &[
    ("free", |bus, _| drop(bus.free(8 * PAGE).unwrap()), 1),
    ("free_exact", |bus, _| drop(bus.free_exact(pages(8, 8)).unwrap()), 1),
    ("free_waiting", |bus, _| drop(bus.free_waiting(8 * PAGE, Duration::ZERO).unwrap()), 1),
    ("free_range of all", |bus, _| drop(bus.free_range(..).unwrap()), 1),
    ("free_range of the end", |bus, _| drop(bus.free_range(10 * PAGE..).unwrap()), 3),
    ("free_range of the start", |bus, _| drop(bus.free_range(..10 * PAGE).unwrap()), 3),
    ("free_range of the middle", |bus, _| drop(bus.free_range(10 * PAGE..12 * PAGE).unwrap()), 5),
    (
        "free_range_with of the middle",
        |bus, _| drop(bus.free_range_with(10 * PAGE..12 * PAGE, |_, _, _| Arc::new(2)).unwrap()),
        3,
    ),
    ("split_at_with", |bus, _| _ = bus.split_at_with(10 * PAGE, |_, _, _| Arc::new(2)).unwrap(), 3),
    (
        "merge_with",
        |bus, value| {
            bus.split_at_with(10 * PAGE, |_, _, _| Arc::new(2)).unwrap();
            let (_, second) = bus.merge_with(8 * PAGE, |_, _| true).unwrap();
            assert_eq!((*second, Arc::strong_count(&second), Arc::strong_count(value)), (2, 1, 3));
        },
        3,
    ),
    ("resize to less", |bus, _| _ = bus.resize(8 * PAGE, PAGE).unwrap(), 3),
    ("resize to more", |bus, _| _ = bus.resize(8 * PAGE, 12 * PAGE).unwrap(), 3),
    ("rearrange", |bus, _| bus.rearrange(&[(8 * PAGE, pages(100, 8))]).unwrap(), 3),
    ("rearrange over itself", |bus, _| bus.rearrange(&[(8 * PAGE, pages(12, 8))]).unwrap(), 3),
    ("begin_move", |bus, _| _ = bus.begin_move(8 * PAGE, 100 * PAGE).unwrap(), 4),
    (
        "commit_move",
        |bus, _| {
            let pending = bus.begin_move(8 * PAGE, 100 * PAGE).unwrap();
            bus.commit_move(pending).unwrap();
        },
        3,
    ),
    (
        "cancel_move",
        |bus, _| {
            let pending = bus.begin_move(8 * PAGE, 12 * PAGE).unwrap();
            bus.cancel_move(pending).unwrap();
        },
        3,
    ),
    ("split_at", |bus, _| _ = bus.split_at(10 * PAGE).unwrap(), 5),
    (
        "merge",
        |bus, _| {
            bus.split_at(10 * PAGE).unwrap();
            drop(bus.merge(8 * PAGE).unwrap());
        },
        3,
    ),
    (
        "take_back",
        |bus, value| {
            drop(bus.free(8 * PAGE).unwrap());
            let child = bus.carve::<()>(&Request::new(PAGE), Arc::clone(value), Placement::Lowest).unwrap();
            assert_eq!(Arc::strong_count(value), 3);
            drop(bus.take_back(child).unwrap());
        },
        1,
    ),
];

#[test]
fn a_change_drops_its_own_before_it_returns() {
    for (name, change, owners) in OWN {
        let (bus, value) = (new_bus(), Arc::new(1));
        bus.alloc_at(pages(8, 8), Arc::clone(&value)).unwrap();
        assert_eq!(Arc::strong_count(&value), 3);
        change(&bus, &value);
        assert_eq!(Arc::strong_count(&value), *owners, "{name}");
        bus.validate().unwrap();
        drop(bus);
        assert_eq!(Arc::strong_count(&value), 1);
    }
}
