//! What a value does that panics when it is dropped or split: the map is whole afterwards, every other value is dropped
//! once, and what is leaked is what the documents say.

#![allow(clippy::unwrap_used, clippy::panic, unsafe_code, reason = "a test counts an `Arc` by hand")]

use crate::fuse::{DROP_PANICS, Fuse, SPLIT_PANICS};
use freehold_maple::{Nodes, Plain, PlainValue, RangeMap, StoredValue, Word, WordMap};
use freehold_units::Span;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

type Map = WordMap<Fuse>;

const COUNT: u32 = 40;

struct Scene {
    map: Map,
    values: Vec<Arc<u32>>,
}

fn span(first: u64, last: u64) -> Span {
    Span::new(first, last).unwrap()
}

impl Scene {
    /// Entries of ten indexes that touch, in many leaves.
    fn new() -> Self {
        let values: Vec<_> = (0..=COUNT).map(Arc::new).collect();
        let entries = values.iter().take(COUNT as usize).zip(0..);
        let entries = entries.map(|(value, at)| (span(10 * at, 10 * at + 9), Fuse(Arc::clone(value))));
        Self { map: WordMap::from_sorted_with_nodes(Nodes::Small, entries).unwrap(), values }
    }

    fn entries(&self) -> Vec<(Span, u32)> {
        self.map.validate().unwrap();
        self.map.iter().collect()
    }

    fn spare(&self) -> Fuse {
        Fuse(Arc::clone(&self.values[COUNT as usize]))
    }

    /// Every value is held as often as it is in the map, and once more for each time it was leaked.
    fn assert_held(&self, leaked: impl Fn(u32) -> usize) {
        let mut entries = [0; COUNT as usize + 1];
        self.map.iter().for_each(|(_, held)| entries[held as usize] += 1);
        for value in &self.values {
            let held = 1 + entries[**value as usize] + leaked(**value);
            assert_eq!(Arc::strong_count(value), held, "of value {value}");
        }
    }
}

fn panics<T>(operation: impl FnOnce() -> T) {
    assert!(catch_unwind(AssertUnwindSafe(operation)).is_err(), "it was to panic");
}

#[test]
fn a_drop_that_panics_within_a_store() {
    // Of one entry; of several in leaves that stay; of several in leaves that go.
    for (over, fuse) in [(span(0, 9), 0), (span(0, 399), 0), (span(13, 395), 20), (span(5, 380), 37)] {
        let mut scene = Scene::new();
        DROP_PANICS.set(Some(fuse));
        let spare = scene.spare();
        panics(|| scene.map.store(over, spare));
        assert!(scene.entries().contains(&(over, COUNT)), "the store is done");
        scene.assert_held(|_| 0);
    }
}

#[test]
fn a_drop_that_panics_while_all_goes() {
    // Under Miri, which is slow, one in the middle.
    for fuse in [17, 0, 1, COUNT - 1].into_iter().take(if cfg!(miri) { 1 } else { 4 }) {
        let mut scene = Scene::new();
        DROP_PANICS.set(Some(fuse));
        panics(|| scene.map.clear());
        assert!(scene.entries().is_empty());
        scene.assert_held(|_| 0);

        let mut scene = Scene::new();
        DROP_PANICS.set(Some(fuse));
        panics(|| drop(std::mem::take(&mut scene.map)));
        scene.assert_held(|_| 0);

        let mut scene = Scene::new();
        let mut entries = std::mem::take(&mut scene.map).into_iter();
        assert_eq!(*entries.nth(2).unwrap().1.0, 2);
        DROP_PANICS.set(Some(fuse.max(3)));
        panics(|| drop(entries));
        scene.assert_held(|_| 0);

        let mut scene = Scene::new();
        DROP_PANICS.set(Some(fuse));
        panics(|| scene.map.retain(|_, _| false));
        assert_eq!(scene.entries().len() as u32, COUNT - fuse - 1, "those before are erased");
        scene.assert_held(|_| 0);
    }
}

/// Of what was taken out of a map of words, and out of a map of any values.
#[test]
fn a_drop_that_panics_among_what_was_taken() {
    let of_ranges = |scene: &mut Scene| -> RangeMap<Fuse> {
        RangeMap::from_sorted(std::mem::take(&mut scene.map)).unwrap()
    };
    for fuse in if cfg!(miri) { 17..18 } else { 3..COUNT - 3 } {
        type Taken = Box<dyn DoubleEndedIterator<Item = (Span, Fuse)>>;
        let whole: [fn(&mut Scene, RangeMap<Fuse>) -> Taken; 2] = [
            |scene, mut map| {
                let cut = |_: Span, _: Span, value: &Fuse| Fuse(Arc::clone(&value.0));
                let taken = map.take_range_with(5..=394, cut).unwrap();
                scene.map = WordMap::from_sorted(map).unwrap();
                Box::new(taken)
            },
            |_, map| Box::new(map.into_iter()),
        ];
        for take in whole {
            let mut scene = Scene::new();
            let map = of_ranges(&mut scene);
            let mut taken = take(&mut scene, map);
            assert_eq!((*taken.next().unwrap().1.0, *taken.next_back().unwrap().1.0), (0, COUNT - 1));
            DROP_PANICS.set(Some(fuse));
            panics(|| drop(taken));
            scene.entries();
            scene.assert_held(|_| 0);
        }
        let mut scene = Scene::new();
        let mut taken = scene.map.take_range(5..=394).unwrap();
        assert_eq!((*taken.next().unwrap().1.0, *taken.next_back().unwrap().1.0), (0, COUNT - 1));
        DROP_PANICS.set(Some(fuse));
        panics(|| drop(taken));
        assert_eq!(scene.entries().len(), 2);
        scene.assert_held(|_| 0);
        // What a store over all removes, and all values at once.
        for clear in [true, false] {
            let mut scene = Scene::new();
            let mut map = of_ranges(&mut scene);
            DROP_PANICS.set(Some(fuse));
            if clear {
                panics(|| map.clear())
            } else {
                panics(|| map.retain(|_, _| false))
            }
            map.validate().unwrap();
            scene.map = WordMap::from_sorted(map).unwrap();
            scene.assert_held(|_| 0);
        }
    }
}

#[test]
fn a_drop_that_panics_as_a_transaction_ends() {
    for commit in [true, false] {
        let mut scene = Scene::new();
        let before = scene.entries();
        let (spare, again) = (scene.spare(), scene.spare());
        let mut both = scene.map.transaction();
        both.store(span(3, 333), spare).unwrap_or_else(|_| panic!("no memory"));
        both.store(span(350, 352), again).unwrap_or_else(|_| panic!("no memory"));
        DROP_PANICS.set(Some(if commit { 20 } else { COUNT }));
        panics(|| if commit { both.commit() } else { drop(both) });
        assert_eq!(scene.entries() == before, !commit);
        scene.assert_held(|_| 0);
    }
}

/// Runs an operation on a map whose next split panics; nothing may have changed.
fn split_panics(leaked: impl Fn(u32) -> usize, operation: impl FnOnce(&mut Map, Fuse)) {
    let mut scene = Scene::new();
    let before = scene.entries();
    let spare = scene.spare();
    SPLIT_PANICS.set(true);
    panics(|| operation(&mut scene.map, spare));
    assert!(!SPLIT_PANICS.get());
    assert_eq!(scene.entries(), before);
    scene.assert_held(&leaked);
    // What was leaked is found again, so that Miri hears of no leak but those that nobody knows of.
    for value in scene.values.iter().filter(|value| leaked(***value) > 0) {
        // SAFETY: this holder is counted and is no more.
        unsafe { Arc::decrement_strong_count(Arc::as_ptr(value)) };
    }
}

#[test]
fn a_split_that_panics_changes_nothing() {
    // The value that was on its way into the map is leaked.
    let the_new_one = |value| usize::from(value == COUNT);
    split_panics(the_new_one, |map, value| drop(map.store(span(13, 14), value)));
    split_panics(the_new_one, |map, value| {
        let new = Arc::clone(&value.0);
        drop(map.store_with(span(13, 14), value, |_, _, _| Fuse(Arc::clone(&new))));
    });
    split_panics(|_| 0, |map, _value| map.remove_range(span(13, 14)).unwrap());
    split_panics(|_| 0, |map, _value| drop(map.split_at(195)));
    // One that a transaction has is dropped when it is rolled back.
    split_panics(
        |_| 0,
        |map, value| {
            let mut one = map.transaction();
            drop(one.store(span(13, 14), value));
        },
    );
}

#[test]
fn a_split_that_panics_while_entries_are_taken() {
    split_panics(|_| 0, |map, _value| drop(map.take_range(13..=395)));
    split_panics(|_| 0, |map, value| drop(map.replace_range(13..=395, value)));
}

thread_local! {
    static LISTED: RefCell<Vec<Option<Box<u32>>>> = const { RefCell::new(Vec::new()) };
    /// Splits before the one that panics.
    static SPLITS_LEFT: Cell<Option<u32>> = const { Cell::new(None) };
}

/// A value whose word is its place in a list: a word that is used after its value was taken back is noticed.
struct Listed(Box<u32>);

// SAFETY: a place in the list has one value, until that is taken back.
unsafe impl StoredValue for Listed {
    type Ref<'a> = u32;

    fn into_word(self) -> Word {
        LISTED.with_borrow_mut(|list| {
            list.push(Some(self.0));
            std::ptr::without_provenance_mut(list.len() - 1)
        })
    }

    unsafe fn from_word(word: Word) -> Self {
        Self(LISTED.with_borrow_mut(|list| list[word.addr()].take()).unwrap())
    }

    unsafe fn borrow<'a>(word: Word) -> u32
    where
        Self: 'a,
    {
        LISTED.with_borrow(|list| **list[word.addr()].as_ref().unwrap())
    }

    unsafe fn split(word: Word) -> Word {
        let left = SPLITS_LEFT.get();
        SPLITS_LEFT.set(left.and_then(|left| left.checked_sub(1)));
        assert_ne!(left, Some(0), "split");
        // SAFETY: the caller's promise is the same.
        Self(Box::new(unsafe { Self::borrow(word) })).into_word()
    }
}

#[test]
fn a_split_that_panics_leaves_every_word_to_the_map() {
    // The last entry is cut, the first one, both, and one in two, of which the second split panics, too.
    for (over, splits) in [(0..=24, 1), (5..=29, 1), (5..=24, 2), (13..=14, 2)] {
        for (replaces, before_it) in
            [false, true].into_iter().flat_map(|is| (0..splits).map(move |at| (is, at)))
        {
            let entries = (0..4).map(|at| (span(10 * at, 10 * at + 9), Listed(Box::new(at as u32))));
            let mut map: WordMap<Listed> = entries.collect();
            let before: Vec<_> = map.iter().collect();
            let over = over.clone();
            SPLITS_LEFT.set(Some(before_it));
            panics(|| {
                if replaces {
                    drop(
                        map.replace_range(over, Listed(Box::new(9)))
                            .map_err(|refused| refused.cause)
                            .unwrap(),
                    )
                } else {
                    drop(map.take_range(over).unwrap())
                }
            });
            assert!(SPLITS_LEFT.get().is_none() && map.iter().eq(before));
            drop(map);
            assert!(LISTED.take().iter().all(Option::is_none), "a value was leaked");
        }
    }
}

/// Bits own nothing, so what a map removes is not read back.
#[test]
fn bits_are_not_read_to_be_dropped() {
    thread_local!(static READS: Cell<u32> = const { Cell::new(0) });
    #[derive(Clone, Copy)]
    struct Counted;
    impl PlainValue for Counted {
        fn to_bits(self) -> u64 {
            1
        }
        fn from_bits(_: u64) -> Self {
            READS.set(READS.get() + 1);
            Self
        }
    }
    let mut map = WordMap::with_nodes(Nodes::Small);
    for at in 0..20 {
        map.store(span(10 * at, 10 * at + 9), Plain(Counted)).unwrap_or_else(|_| panic!("no memory"));
    }
    for commit in [false, true] {
        let mut both = map.transaction();
        both.store(span(5, 6), Plain(Counted)).unwrap_or_else(|_| panic!("no memory"));
        both.remove_range(span(20, 150)).unwrap();
        if commit { both.commit() } else { drop(both) }
    }
    panics(|| {
        map.store_merging_by(10..=19, Plain(Counted), |_, _| {
            READS.set(0);
            panic!("not to be compared")
        })
    });
    map.clear();
    assert_eq!(READS.get(), 0);
}

#[test]
fn a_split_that_panics_leaks_what_was_copied() {
    split_panics(|_| 0, |map, _value| drop(map.try_clone()));
    // Of a run that is merged the first value is split; it was on its way to no one yet.
    split_panics(|_| 0, |map, _value| assert_eq!(map.merge_adjacent_by(|_, _| true), 0));
}

#[test]
fn an_iterator_that_panics_leaks_nothing() {
    let scene = Scene::new();
    let entries = (0..30u64).map(|at| {
        assert!(at < 25, "no more");
        (span(at, at), Fuse(Arc::clone(&scene.values[at as usize])))
    });
    panics(|| Map::from_sorted_with_nodes(Nodes::Small, entries));
    scene.assert_held(|_| 0);
}

#[test]
fn a_drop_that_panics_leaves_a_cursor_on_the_new_entry() {
    for over in [span(0, 9), span(5, 380)] {
        let mut scene = Scene::new();
        DROP_PANICS.set(Some(if over.first() == 0 { 0 } else { 20 }));
        let spare = scene.spare();
        let mut cursor = scene.map.cursor_mut(5);
        panics(|| cursor.store(over, spare));
        assert_eq!(cursor.slot(), (over, Some(COUNT)));
        scene.assert_held(|_| 0);
    }
}

/// The parts that stay of entries that are cut have the values that were computed for them, whatever a drop does.
#[test]
fn a_drop_that_panics_leaves_no_part_with_the_value_of_its_whole() {
    let above = COUNT;
    let cases = [(span(12, 17), 1), (span(15, 34), 2), (span(15, 394), 20)];
    for (over, fuse) in cases.into_iter().take(if cfg!(miri) { 1 } else { 3 }) {
        let parts = [(span(10, over.first() - 1), above), (over, above)];
        let last = 10 * (over.last() / 10) + 9;
        let parts = parts.into_iter().chain([(span(over.last() + 1, last), above)]);
        let mut scene = Scene::new();
        let (spare, new) = (scene.spare(), Arc::clone(&scene.values[COUNT as usize]));
        DROP_PANICS.set(Some(fuse));
        panics(|| scene.map.store_with(over, spare, |_, _, _| Fuse(Arc::clone(&new))));
        let found = scene.entries();
        assert!(parts.clone().all(|part| found.contains(&part)), "{over}: {found:?}");
        drop(new);
        scene.assert_held(|_| 0);

        let mut scene = Scene::new();
        let (spare, new) = (scene.spare(), Arc::clone(&scene.values[COUNT as usize]));
        let mut map = RangeMap::from_sorted(std::mem::take(&mut scene.map)).unwrap();
        DROP_PANICS.set(Some(fuse));
        panics(|| map.store_with(over, spare, |_, _, _| Fuse(Arc::clone(&new))));
        map.validate().unwrap();
        scene.map = WordMap::from_sorted(map).unwrap();
        let found = scene.entries();
        assert!(parts.clone().all(|part| found.contains(&part)), "{over}: {found:?}");
        drop(new);
        scene.assert_held(|_| 0);
    }
}

/// A value of bits that cannot be read back: its entry is erased, and the cursor stays on what is there.
#[test]
fn bits_that_panic_leave_a_cursor_on_the_gap() {
    #[derive(Clone, Copy)]
    struct Unreadable(u64);
    impl PlainValue for Unreadable {
        fn to_bits(self) -> u64 {
            self.0
        }
        fn from_bits(bits: u64) -> Self {
            assert_ne!(bits, 7, "unreadable");
            Self(bits)
        }
    }
    let mut map = WordMap::with_nodes(Nodes::Small);
    for at in 0..20 {
        let value = Plain(Unreadable(if at == 10 { 7 } else { 1 }));
        map.store(span(10 * at, 10 * at + 9), value).unwrap_or_else(|_| panic!("no memory"));
    }
    let mut cursor = map.cursor_mut(105);
    panics(|| cursor.erase());
    assert!(cursor.value().is_none(), "it is erased");
    assert_eq!(cursor.span(), span(100, 109));
    map.validate().unwrap();
    assert_eq!(map.len(), 19);
}
