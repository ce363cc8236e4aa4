//! The caller's values: each is dropped exactly once, wherever it ends, whatever its size, and a `Clone` or
//! `Drop` of theirs that panics leaves the space valid and loses nothing.

use freehold_kva::image::Writer;
use freehold_kva::{AddressSpace, AllocError, Placement, Request};
use freehold_units::{Align, Span};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::string::FromUtf8Error;

const PAGE: u64 = 4096;
/// Enough regions for leaves to split and to be evened out.
const REGIONS: u64 = 150;

/// Counts the values that are alive, and how many more may be cloned before one panics.
#[derive(Default)]
struct Ledger {
    alive: Cell<i64>,
    clones_until_panic: Cell<Option<u32>>,
}

/// A value with memory of its own, entered in a ledger.
struct Owner {
    name: String,
    ledger: Rc<Ledger>,
    panics_when_dropped: bool,
}

impl Owner {
    fn new(ledger: &Rc<Ledger>, at: u64) -> Self {
        ledger.alive.set(ledger.alive.get() + 1);
        Self { name: format!("owner {at}"), ledger: Rc::clone(ledger), panics_when_dropped: false }
    }
}

impl Clone for Owner {
    fn clone(&self) -> Self {
        let left = self.ledger.clones_until_panic.get();
        assert_ne!(left, Some(0), "this clone was to panic");
        self.ledger.clones_until_panic.set(left.map(|left| left - 1));
        self.ledger.alive.set(self.ledger.alive.get() + 1);
        Self { name: self.name.clone(), ledger: Rc::clone(&self.ledger), panics_when_dropped: false }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.ledger.alive.set(self.ledger.alive.get() - 1);
        assert!(!self.panics_when_dropped, "this drop was to panic");
    }
}

fn pages(first: u64, count: u64) -> Span {
    Span::from_size(first * PAGE, count * PAGE).unwrap()
}

fn page_at(page: u64) -> Request {
    Request::new(PAGE).window(pages(page, 1))
}

/// The place of the region number `at`, in an order that is neither rising nor falling.
fn place(at: u64) -> u64 {
    at * 67 % REGIONS * 2
}

fn empty<V>(placement: Placement) -> AddressSpace<V> {
    AddressSpace::new(pages(0, 2 * REGIONS), Align::PAGE, placement).unwrap()
}

/// A space of [`REGIONS`] single pages, each with the value that `make` has for its place.
fn filled<V>(placement: Placement, make: impl Fn(u64) -> V) -> AddressSpace<V> {
    let mut space = empty(placement);
    for page in (0..REGIONS).map(place) {
        assert!(space.alloc(&page_at(page), make(page)).is_ok());
    }
    space
}

fn owned(placement: Placement, ledger: &Rc<Ledger>) -> AddressSpace<Owner> {
    filled(placement, |page| Owner::new(ledger, page))
}

fn all_named_by_place(space: &AddressSpace<Owner>) {
    space.validate().unwrap();
    for region in space.regions() {
        assert_eq!(region.value().name, format!("owner {}", region.span().first() / PAGE));
    }
}

fn values_are_dropped_once(placement: Placement) {
    let ledger = Rc::new(Ledger::default());
    let alive = || ledger.alive.get().cast_unsigned();
    let mut space: AddressSpace<_> = owned(placement, &ledger);
    assert_eq!(alive(), REGIONS);

    let (_, owner) = space.free(place(7) * PAGE).unwrap();
    assert_eq!((alive(), owner.name.clone()), (REGIONS, format!("owner {}", place(7))));
    drop(owner);
    assert_eq!(alive(), REGIONS - 1);

    let copy = space.clone();
    assert_eq!(alive(), 2 * (REGIONS - 1));
    all_named_by_place(&copy);
    drop(copy);
    assert_eq!(alive(), REGIONS - 1);

    for page in (0..REGIONS).map(place).filter(|&page| page != place(7) && page % 3 != 0) {
        space.free(page * PAGE).unwrap();
        all_named_by_place(&space);
        assert_eq!(alive(), space.len() as u64);
    }
    drop(space);
    assert_eq!(alive(), 0);
}

fn rejected_values_come_back(placement: Placement) {
    let ledger = Rc::new(Ledger::default());
    let mut space: AddressSpace<_> = owned(placement, &ledger);
    let before = ledger.alive.get();
    let rejected = space.alloc(&Request::new(0), Owner::new(&ledger, 999)).unwrap_err();
    assert_eq!((rejected.value.name.as_str(), rejected.cause), ("owner 999", AllocError::ZeroSize));
    let areas = [(pages(0, 1), Owner::new(&ledger, 1)), (pages(5, 2 * REGIONS), Owner::new(&ledger, 2))];
    let refused = space.alloc_congruent(areas.into(), Align::PAGE, Span::ALL).unwrap_err();
    let names: Vec<&str> = refused.value.iter().map(|(_, owner)| owner.name.as_str()).collect();
    assert_eq!(names, ["owner 1", "owner 2"]);
    assert_eq!(ledger.alive.get(), before + 3);
    drop((rejected, refused));
    assert_eq!(ledger.alive.get(), before);
    all_named_by_place(&space);
}

fn a_panicking_clone_harms_nothing(placement: Placement) {
    let ledger = Rc::new(Ledger::default());
    let mut space: AddressSpace<_> = owned(placement, &ledger);
    for clones in 0..u32::try_from(REGIONS).unwrap() {
        ledger.clones_until_panic.set(Some(clones));
        assert!(catch_unwind(AssertUnwindSafe(|| space.clone())).is_err());
        assert_eq!(ledger.alive.get().cast_unsigned(), REGIONS, "after {clones} clones");
    }
    ledger.clones_until_panic.set(None);
    all_named_by_place(&space);
    space.free(place(3) * PAGE).unwrap();
    all_named_by_place(&space.clone());
}

fn a_panicking_drop_harms_nothing(placement: Placement) {
    let ledger = Rc::new(Ledger::default());
    let mut space: AddressSpace<_> = owned(placement, &ledger);
    let address = place(11) * PAGE;

    space.value_at_mut(address).unwrap().panics_when_dropped = true;
    assert!(catch_unwind(AssertUnwindSafe(|| space.free(address).map(drop))).is_err());
    assert_eq!((space.len() as u64, ledger.alive.get().cast_unsigned()), (REGIONS - 1, REGIONS - 1));
    all_named_by_place(&space);
    assert!(space.alloc(&page_at(place(11)), Owner::new(&ledger, place(11))).is_ok());

    space.value_at_mut(address).unwrap().panics_when_dropped = true;
    let replace = || *space.value_at_mut(address).unwrap() = Owner::new(&ledger, place(11));
    assert!(catch_unwind(AssertUnwindSafe(replace)).is_err());
    all_named_by_place(&space);

    space.value_at_mut(address).unwrap().panics_when_dropped = true;
    assert!(catch_unwind(AssertUnwindSafe(|| drop(space))).is_err());
    assert_eq!(ledger.alive.get(), 0, "the others are dropped all the same");
}

fn a_panic_half_way_through_an_image_harms_nothing(placement: Placement) {
    let ledger = Rc::new(Ledger::default());
    let space: AddressSpace<_> = owned(placement, &ledger);
    let names = |owner: &Owner, to: &mut Writer| to.put(owner.name.as_bytes());
    let bytes = space.to_bytes(names).unwrap();
    let encoded = Cell::new(0);
    let panics_in_the_middle = |owner: &Owner, to: &mut Writer| {
        encoded.set(encoded.get() + 1);
        assert!(encoded.get() < REGIONS / 2, "this encoding was to panic");
        names(owner, to);
    };
    assert!(catch_unwind(AssertUnwindSafe(|| space.to_bytes(panics_in_the_middle))).is_err());
    all_named_by_place(&space);
    drop(space);

    let decode = |name: &[u8]| {
        let mut owner = Owner::new(&ledger, 0);
        owner.name = String::from_utf8(name.to_vec())?;
        assert_ne!(owner.name, format!("owner {REGIONS}"), "this decoding was to panic");
        Ok::<_, FromUtf8Error>(owner)
    };
    let restore = || AddressSpace::from_bytes(&bytes, placement, decode);
    assert!(catch_unwind(AssertUnwindSafe(restore)).is_err());
    assert_eq!(ledger.alive.get(), 0, "what was decoded before is dropped");
}

fn large_values_keep_their_places(placement: Placement) {
    let mut space: AddressSpace<[u64; 512]> = filled(placement, |page| [page; 512]);
    for page in (0..REGIONS).map(place).filter(|page| page % 3 != 0) {
        assert_eq!(space.free(page * PAGE).unwrap(), (pages(page, 1), [page; 512]));
        space.validate().unwrap();
    }
    let copy = space.clone();
    drop(space);
    assert!(copy.regions().all(|region| *region.value() == [region.span().first() / PAGE; 512]));
}

thread_local! {
    static NOTHINGS: Cell<i64> = const { Cell::new(0) };
}

/// A value of no size that still is counted.
struct Nothing;

impl Nothing {
    fn new() -> Self {
        NOTHINGS.set(NOTHINGS.get() + 1);
        Self
    }
}

impl Clone for Nothing {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl Drop for Nothing {
    fn drop(&mut self) {
        NOTHINGS.set(NOTHINGS.get() - 1);
    }
}

fn values_of_no_size_are_counted_too(placement: Placement) {
    let mut space: AddressSpace<Nothing> = filled(placement, |_| Nothing::new());
    let mut copy = space.clone();
    assert_eq!(NOTHINGS.get().cast_unsigned(), 2 * REGIONS);
    for page in (0..REGIONS).map(place).filter(|page| page % 3 != 0) {
        space.free(page * PAGE).unwrap();
        assert_eq!(NOTHINGS.get().cast_unsigned(), space.len() as u64 + REGIONS);
    }
    for page in (0..REGIONS).map(place) {
        assert!(copy.alloc(&page_at(page + 1), Nothing::new()).is_ok());
    }
    copy.validate().unwrap();
    drop((space, copy));
    assert_eq!(NOTHINGS.get(), 0);
}

each_placement!(
    { lowest: Lowest, best_fit: BestFit },
    values_are_dropped_once,
    rejected_values_come_back,
    a_panicking_clone_harms_nothing,
    a_panicking_drop_harms_nothing,
    a_panic_half_way_through_an_image_harms_nothing,
    large_values_keep_their_places,
    values_of_no_size_are_counted_too,
);
