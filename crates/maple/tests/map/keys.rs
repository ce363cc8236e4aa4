//! Maps and sets with keys of other types than `u64`, against one cell for each key.

use freehold_maple::range_map::Entry;
use freehold_maple::{
    AllocError, InsertError, Key, KeySpan, RangeMap, RangeSet, Request, SortedError, SpanOf, StoreError, key,
};
use freehold_units::Span;
use proptest::prelude::*;
use std::fmt::Debug;
use std::ops::RangeInclusive;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Address(u64);
key!(Address: u64, |address| address.0, Address);

/// A type with values that are no keys: those above 100.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Percent(u8);

impl Key for Percent {
    type Span = KeySpan<Self>;
    const LAST: u64 = 100;

    fn to_word(self) -> u64 {
        self.0.into()
    }

    fn from_word(word: u64) -> Self {
        assert!(word <= 100, "no word beyond the last key is ever turned back");
        Self(word as u8)
    }
}

trait TestKey: Key<Span = KeySpan<Self>> + PartialEq + Debug {}
impl<K: Key<Span = KeySpan<K>> + PartialEq + Debug> TestKey for K {}

/// The runs of equal cells that hold something, or of those that hold nothing.
fn runs<K: TestKey>(keys: &[K], cells: &[Option<u32>], held: bool) -> Vec<(KeySpan<K>, Option<u32>)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, cell) in cells.iter().enumerate() {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == at && cells[*last] == *cell => *last = at,
            _ => runs.push((at, at)),
        }
    }
    let of_keys =
        |(first, last): (usize, usize)| (KeySpan::new(keys[first], keys[last]).unwrap(), cells[first]);
    runs.into_iter().map(of_keys).filter(|(_, cell)| cell.is_some() == held).collect()
}

/// What a map of consecutive keys should hold: an entry is a run of cells with one number.
struct Model<K> {
    keys: Vec<K>,
    cells: Vec<Option<u32>>,
}

impl<K: TestKey> Model<K> {
    fn check(&self, map: &RangeMap<u32, K>) {
        map.validate().unwrap();
        let (keys, cells) = (&self.keys, &self.cells);
        let entries = runs(keys, cells, true);
        let found: Vec<_> = map.iter().map(|(span, value)| (span, Some(*value))).collect();
        assert_eq!(found, entries);
        assert!(map.iter().rev().map(|(span, _)| span).eq(entries.iter().rev().map(|(span, _)| *span)));
        assert!(map.spans().eq(entries.iter().map(|(span, _)| *span)));
        let (lowest, highest) = (keys[0], keys[keys.len() - 1]);
        let gaps: Vec<_> = runs(keys, cells, false).into_iter().map(|(gap, _)| gap).collect();
        assert_eq!(map.gaps_within(lowest..=highest).collect::<Vec<_>>(), gaps);
        // Where the keys are all of their type, a whole gap ends where they do.
        if highest.to_word() == K::LAST && lowest.to_word() == 0 {
            assert_eq!(map.gaps(..).collect::<Vec<_>>(), gaps);
            assert!(map.gaps(..).rev().eq(gaps.iter().rev().copied()));
            assert!(map.gaps_within(..).rev().eq(gaps.iter().rev().copied()));
        }
        let mut copy = map.clone();
        for (at, &key) in keys.iter().enumerate().step_by(if cfg!(miri) { 37 } else { 1 }) {
            assert_eq!(map.get(key).copied(), cells[at]);
            let entry = entries.iter().find(|(span, _)| span.contains(key));
            assert_eq!(map.entry_at(key).map(|(span, value)| (span, Some(*value))).as_ref(), entry);
            assert_eq!(copy.entry_at_mut(key).map(|(span, value)| (span, Some(*value))).as_ref(), entry);
            match entry {
                Some((span, _)) => assert_eq!(map.slot_at(key).0, *span),
                None => assert!(map.slot_at(key).1.is_none() && map.slot_at(key).0.contains(key)),
            }
        }
    }

    /// Inserts a number in both, unless there is something in the way.
    fn insert(
        &mut self,
        map: &mut RangeMap<u32, K>,
        cells: RangeInclusive<usize>,
        span: KeySpan<K>,
        number: u32,
    ) {
        let free = self.cells[cells.clone()].iter().all(Option::is_none);
        match map.insert(span, number) {
            Ok(()) => assert!(free),
            Err(refused) => {
                let InsertError::Occupied { entry: words } = refused.cause else { panic!("{refused}") };
                assert!(!free && map.entry_at(K::from_word(words.first())).is_some());
            }
        }
        if free {
            self.cells[cells].fill(Some(number));
        }
    }

    /// Erases the entry of a key in both.
    fn erase(&mut self, map: &mut RangeMap<u32, K>, key: K) {
        let erased = map.erase(key);
        let run = runs(&self.keys, &self.cells, true).into_iter().find(|(run, _)| run.contains(key));
        assert_eq!(erased.map(|(span, value)| (span, Some(value))), run);
        if let Some((run, _)) = run {
            let gone = self.cells.iter_mut().zip(&self.keys).filter(|(_, key)| run.contains(**key));
            gone.for_each(|(cell, _)| *cell = None);
        }
    }

    /// The cells of a range that a random change is about, and the range in one of its forms.
    fn pick(&self, first: u8, len: u8) -> (RangeInclusive<usize>, KeySpan<K>) {
        let first = first as usize % self.keys.len();
        let last = (first + len as usize % 40).min(self.keys.len() - 1);
        (first..=last, KeySpan::new(self.keys[first], self.keys[last]).unwrap())
    }
}

/// Makes random changes to a map, to one that merges, and to a set; checks all three after each.
fn run<K: TestKey>(keys: &[K], changes: &[[u8; 3]]) {
    let model = || Model { keys: keys.to_vec(), cells: vec![None; keys.len()] };
    let (mut apart, mut merged, mut members) = (model(), model(), model());
    let (mut map, mut merging, mut set) =
        (RangeMap::with_keys(), RangeMap::with_keys(), RangeSet::with_keys());
    for (number, &[kind, first, len]) in changes.iter().enumerate() {
        let number = number as u32;
        let (cells, span) = apart.pick(first, len);
        let value = u32::from(kind % 2);
        match kind % 7 {
            0..3 => {
                map.store(span, number).unwrap();
                apart.cells[cells.clone()].fill(Some(number));
                let all = merging.store_merging(span, value).unwrap();
                merged.cells[cells.clone()].fill(Some(value));
                let run =
                    runs(keys, &merged.cells, true).into_iter().find(|(run, _)| run.contains(span.first()));
                assert_eq!(all, run.unwrap().0);
                let all = set.insert(span).unwrap();
                members.cells[cells].fill(Some(0));
                assert!(all.contains(span.first()) && all.contains(span.last()));
            }
            3 => apart.insert(&mut map, cells, span, number),
            4 => {
                // Half open, from the left.
                let below = ..span.first();
                map.remove_range(below).unwrap();
                apart.cells[..*cells.start()].fill(None);
                merging.remove_range(below).unwrap();
                merged.cells[..*cells.start()].fill(None);
                set.remove(below).unwrap();
                members.cells[..*cells.start()].fill(None);
            }
            5 => {
                let taken: Vec<_> =
                    map.take_range(span).unwrap().map(|(span, value)| (span, Some(value))).collect();
                let wanted = runs(&keys[cells.clone()], &apart.cells[cells.clone()], true);
                assert_eq!(taken, wanted);
                apart.cells[cells].fill(None);
            }
            _ => apart.erase(&mut map, span.first()),
        }
        apart.check(&map);
        merged.check(&merging);
        set.validate().unwrap();
        let ranges: Vec<_> = runs(keys, &members.cells, true).into_iter().map(|(span, _)| span).collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), ranges);
        assert!(keys.iter().zip(&members.cells).all(|(key, cell)| set.contains(*key) == cell.is_some()));
    }
    assert_eq!(map.clone(), map);
    assert_eq!(map, RangeMap::from_sorted_with_keys(map.clone()).unwrap());
    assert_eq!(set, RangeSet::from_sorted_with_keys(set.iter()).unwrap());
}

/// Of one map.
const MOST_CHANGES: usize = if cfg!(miri) { 8 } else { 40 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 48 }))]

    #[test]
    fn all_bytes_are_keys(changes in prop::collection::vec(any::<[u8; 3]>(), 1..MOST_CHANGES)) {
        run(&(0..=u8::MAX).collect::<Vec<_>>(), &changes);
    }

    #[test]
    fn negative_keys_come_first(changes in prop::collection::vec(any::<[u8; 3]>(), 1..MOST_CHANGES)) {
        run(&(i8::MIN..=i8::MAX).collect::<Vec<_>>(), &changes);
    }

    #[test]
    fn chars_on_both_sides_of_the_surrogates_touch(changes in prop::collection::vec(any::<[u8; 3]>(), 1..MOST_CHANGES)) {
        run(&('\u{d7e0}'..='\u{e01f}').collect::<Vec<_>>(), &changes);
    }

    #[test]
    fn a_newtype_is_a_key(changes in prop::collection::vec(any::<[u8; 3]>(), 1..MOST_CHANGES)) {
        run(&(u64::MAX - 99..=u64::MAX).map(Address).collect::<Vec<_>>(), &changes);
    }

    #[test]
    fn a_domain_may_be_a_part_of_a_type(changes in prop::collection::vec(any::<[u8; 3]>(), 1..MOST_CHANGES)) {
        run(&(0..=100).map(Percent).collect::<Vec<_>>(), &changes);
    }
}

/// That words have the order of keys, that they lead back to them, and that the last key has the last word.
fn check_ends<K: Key + PartialEq + Debug>(ascending: &[K]) {
    let words: Vec<u64> = ascending.iter().map(|key| key.to_word()).collect();
    assert!(words.is_sorted_by(|a, b| a < b));
    assert!(words.iter().zip(ascending).all(|(word, key)| K::from_word(*word) == *key));
    assert_eq!((words[0], words[words.len() - 1]), (0, K::LAST));
}

#[test]
fn words_have_the_order_of_keys() {
    check_ends(&[0, 1, u8::MAX]);
    check_ends(&[0, 256, u16::MAX]);
    check_ends(&[0, 1 << 31, u32::MAX]);
    check_ends(&[0, 1 << 63, u64::MAX]);
    check_ends(&[0, 7, usize::MAX]);
    check_ends(&[i8::MIN, -1, 0, 1, i8::MAX]);
    check_ends(&[i16::MIN, -1, 0, 1, i16::MAX]);
    check_ends(&[i32::MIN, -1, 0, 1, i32::MAX]);
    check_ends(&[i64::MIN, -1, 0, 1, i64::MAX]);
    check_ends(&[isize::MIN, -1, 0, 1, isize::MAX]);
    check_ends(&['\0', 'a', '\u{d7ff}', '\u{e000}', char::MAX]);
    check_ends(&[Address(0), Address(9), Address(u64::MAX)]);
    // Each word between is that of a key: there are as many of these. An interpreter takes minutes for them all.
    if !cfg!(miri) {
        assert_eq!(('\0'..=char::MAX).count() as u64 - 1, <char as Key>::LAST);
        assert!(('\0'..=char::MAX).zip(0..).all(|(key, word)| key.to_word() == word));
    }
}

#[test]
fn what_is_no_key_is_refused_and_never_found() {
    let mut map = RangeMap::with_keys();
    map.store(Percent(90).., 'a').unwrap();
    let refused = map.store(Percent(50)..=Percent(101), 'b').unwrap_err();
    assert_eq!((refused.value, refused.cause), ('b', StoreError::OutOfDomain));
    assert_eq!(map.insert(Percent(200)..Percent(210), 'b').unwrap_err().cause, InsertError::OutOfDomain);
    assert_eq!(
        map.store_merging(Percent(99)..=Percent(255), 'a').unwrap_err().cause,
        StoreError::OutOfDomain
    );
    assert_eq!(
        map.replace_range(Percent(99)..=Percent(255), 'a').unwrap_err().cause,
        StoreError::OutOfDomain
    );
    assert_eq!(
        map.transaction().store(Percent(99)..=Percent(255), 'a').unwrap_err().cause,
        StoreError::OutOfDomain
    );
    assert_eq!(map.store(Percent(5)..Percent(5), 'b').unwrap_err().cause, StoreError::EmptyRange);
    assert_eq!(RangeSet::with_keys().insert(Percent(99)..=Percent(101)), Err(StoreError::OutOfDomain));
    // A range that ends before a value that is no key has keys alone.
    map.store(Percent(95)..Percent(101), 'c').unwrap();

    let none = Percent(101);
    assert_eq!((map.get(none), map.entry_at(none), map.contains(none)), (None, None, false));
    assert_eq!(map.erase(none), None);
    assert_eq!(map.slot_at(none), (KeySpan::new(none, none).unwrap(), None));
    let Entry::Vacant(gap) = map.entry(none) else { panic!("nothing is stored there") };
    assert_eq!(gap.gap(), KeySpan::new(none, none).unwrap());
    assert_eq!(gap.insert(none..=none, 'd').unwrap_err().cause, InsertError::OutOfDomain);
    // Bounds of a look-up or a removal may reach beyond the last key.
    assert_eq!(map.range(Percent(94)..=Percent(255)).count(), 2);
    assert_eq!(
        map.gaps(Percent(0)..=Percent(255)).collect::<Vec<_>>(),
        [KeySpan::new(Percent(0), Percent(89)).unwrap()]
    );
    assert!(map.is_free(Percent(101)..) && map.gaps(Percent(101)..).next().is_none());
    map.remove_range(Percent(100)..=Percent(255)).unwrap();
    assert_eq!(map.slot_at(Percent(100)), (KeySpan::new(Percent(100), Percent(100)).unwrap(), None));

    let beyond = [(Percent(1), Percent(2)), (Percent(3), Percent(101))]
        .map(|(a, b)| (KeySpan::new(a, b).unwrap(), ()));
    let position = SortedError::OutOfDomain { position: 1 };
    assert_eq!(RangeMap::<(), Percent>::from_sorted_with_keys(beyond).unwrap_err(), position);
    assert_eq!(
        RangeSet::<Percent>::from_sorted_with_keys(beyond.map(|(span, ())| span)).unwrap_err(),
        position
    );
}

#[test]
fn a_gap_is_found_within_the_domain() {
    let mut ports = RangeMap::from_iter([(0..=1023_u16, "system")]);
    assert_eq!(ports.alloc_highest(&Request::new(2), "mine"), Ok(KeySpan::new(65534, 65535).unwrap()));
    assert_eq!(ports.alloc_lowest(&Request::new(1), "mine"), Ok(KeySpan::new(1024, 1024).unwrap()));
    let (size, window) = ((1 << 16) + 1, Span::new(0, 65535).unwrap());
    assert_eq!(ports.lowest_gap(&Request::new(size)), Err(AllocError::TooLarge { size, window }));
    let window = Span::from(1 << 16..);
    let outside = Request::new(1).window(window);
    assert_eq!(ports.lowest_gap(&outside), Err(AllocError::TooLarge { size: 1, window }));
    assert_eq!(ports.lowest_gap(&Request::new(0)), Err(AllocError::ZeroSize));
}

#[test]
fn each_closure_gets_keys() {
    let mut letters = RangeMap::<u32, char>::default();
    letters.store('a'..='z', 0).unwrap();
    letters
        .store_with('f'..='h', 9, |whole, kept, old| old + kept.first() as u32 - whole.first() as u32)
        .unwrap();
    assert_eq!(['a', 'g', 'i'].map(|letter| letters.get(letter).copied()), [Some(0), Some(9), Some(8)]);
    letters.update_range('b'..='c', |span, value| *value = span.len().unwrap() as u32).unwrap();
    letters.update_slots('x'..='}', |span, value| value.is_none().then_some(span.first() as u32)).unwrap();
    assert_eq!((letters.get('b'), letters.get('|')), (Some(&2), Some(&u32::from('{'))));
    letters.retain(|span, _| span.first() != 'd');
    assert_eq!(letters.slot_at('e'), (KeySpan::new('d', 'e').unwrap(), None));
    let text: Vec<_> = letters.iter_mut().map(|(span, _)| span.to_string()).collect();
    assert_eq!(text, ["a..=a", "b..=c", "f..=h", "i..=w", "x..=z", "{..=}"]);
    assert_eq!(letters.merge_adjacent_in_with(.., |(a, _), (b, _)| a.len() == b.len(), |_, _, _| ()), 1);
    assert_eq!(letters.entry_at('{').unwrap().0, KeySpan::new('x', '}').unwrap());
    let few = RangeMap::<(), char>::from_iter([('b'..='g', ())]);
    let both = letters.intersection_with(&few, |span, value, ()| (span.words().len(), *value)).unwrap();
    assert_eq!(format!("{both:?}"), "{'b'..='c': (Some(2), 2), 'f'..='g': (Some(2), 9)}");
    assert_eq!(letters.pop_last().map(|(span, _)| span.first()), Some('x'));
    assert_eq!(letters.into_iter().next_back().map(|(span, _)| span.last()), Some('w'));
}

/// A map with keys of one's own can be a static.
static EMPTY: RangeMap<u8, Address> = RangeMap::with_keys();

#[test]
fn a_static_map_has_keys_of_ones_own() {
    assert!(EMPTY.is_empty() && EMPTY.gaps(..).eq([KeySpan::new(Address(0), Address(u64::MAX)).unwrap()]));
    assert_eq!(KeySpan::new(Address(0), Address(u64::MAX)).unwrap().len(), None);
    assert_eq!(RangeSet::<Address>::with_keys().gaps(..Address(5)).next().unwrap().last(), Address(u64::MAX));
}
