//! The rules of `INVARIANTS.md` on variance, auto traits and drop order, as doc tests.
//!
//! Each rule is one program that compiles and one that must not, with the error's code. The two differ in one line.
//! `Narrow` is a subtype of `Wide`: a type that is covariant in its parameter converts from `Narrow` to `Wide` alone, an
//! invariant one in neither direction.

/// `name, "code": "the lines that both programs begin with", "a line that compiles" => "one that must not", ..;`
macro_rules! rules {
    ($($name:ident, $code:literal: $common:literal, $($compiles:literal => $fails:literal),+;)*) => {$(
        $(
            #[doc = concat!("```\n", $common, "\n", $compiles, "\n```\n")]
            #[doc = concat!("```compile_fail,", $code, "\n", $common, "\n", $fails, "\n```\n")]
        )+
        struct $name;
    )*};
}

rules! {
    OwnersAreCovariant, "E0308": r"
# use freehold_maple::{RangeMap, RangeSet, RemovalPlan, Removed, Plan, range_map, word_map::{Cursor, IntoIter, Iter, WordMap}};
# use std::sync::Arc;
type Narrow = Arc<for<'a> fn(&'a u8)>;
type Wide = Arc<fn(&'static u8)>;",
        "fn f(it: WordMap<Narrow>) -> WordMap<Wide> { it }" => "fn f(it: WordMap<Wide>) -> WordMap<Narrow> { it }",
        "fn f(it: Iter<'_, Narrow>) -> Iter<'_, Wide> { it }" => "fn f(it: Iter<'_, Wide>) -> Iter<'_, Narrow> { it }",
        "fn f(it: Cursor<'_, Narrow>) -> Cursor<'_, Wide> { it }" => "fn f(it: Cursor<'_, Wide>) -> Cursor<'_, Narrow> { it }",
        "fn f(it: IntoIter<Narrow>) -> IntoIter<Wide> { it }" => "fn f(it: IntoIter<Wide>) -> IntoIter<Narrow> { it }",
        "fn f(it: Removed<Narrow>) -> Removed<Wide> { it }" => "fn f(it: Removed<Wide>) -> Removed<Narrow> { it }",
        "fn f(it: RangeMap<Narrow>) -> RangeMap<Wide> { it }" => "fn f(it: RangeMap<Wide>) -> RangeMap<Narrow> { it }",
        "fn f(it: range_map::Iter<'_, Narrow>) -> range_map::Iter<'_, Wide> { it }"
            => "fn f(it: range_map::Iter<'_, Wide>) -> range_map::Iter<'_, Narrow> { it }",
        "fn f(it: range_map::Values<'_, Narrow>) -> range_map::Values<'_, Wide> { it }"
            => "fn f(it: range_map::Values<'_, Wide>) -> range_map::Values<'_, Narrow> { it }",
        "fn f(it: range_map::IntoIter<Narrow>) -> range_map::IntoIter<Wide> { it }"
            => "fn f(it: range_map::IntoIter<Wide>) -> range_map::IntoIter<Narrow> { it }",
        // A map stores words instead of keys, so it is covariant in `K`.
        "fn f(it: RangeMap<u8, Narrow>) -> RangeMap<u8, Wide> { it }" => "fn f(it: RangeMap<u8, Wide>) -> RangeMap<u8, Narrow> { it }",
        "fn f(it: RangeSet<Narrow>) -> RangeSet<Wide> { it }" => "fn f(it: RangeSet<Wide>) -> RangeSet<Narrow> { it }";

    KeysAreOfOneType, "E0308": r"
# use freehold_maple::{KeySpan, RangeMap, key};
#[derive(Clone, Copy)]
struct Address(u64);
key!(Address: u64, |address| address.0, Address);
let mut map = RangeMap::with_keys();
map.store(Address(0)..Address(9), 7).unwrap();",
        "assert_eq!(map.get(Address(5)), Some(&7));" => "assert_eq!(map.get(5_u64), Some(&7));",
        "let span: KeySpan<Address> = map.spans().next().unwrap();" => "let span: KeySpan<u64> = map.spans().next().unwrap();";

    WritersAreInvariant, "E0308": r"
# use freehold_maple::{Plan, RemovalPlan, range_map, word_map::{CursorMut, Entry, OccupiedEntry, Transaction, VacantEntry}};
# use std::sync::Arc;
type Narrow = Arc<for<'a> fn(&'a u8)>;
type Wide = Arc<fn(&'static u8)>;",
        "fn f(it: CursorMut<'_, Narrow>) -> CursorMut<'_, Narrow> { it }" => "fn f(it: CursorMut<'_, Narrow>) -> CursorMut<'_, Wide> { it }",
        "fn f(it: Entry<'_, Narrow>) -> Entry<'_, Narrow> { it }" => "fn f(it: Entry<'_, Narrow>) -> Entry<'_, Wide> { it }",
        "fn f(it: OccupiedEntry<'_, Narrow>) -> OccupiedEntry<'_, Narrow> { it }"
            => "fn f(it: OccupiedEntry<'_, Narrow>) -> OccupiedEntry<'_, Wide> { it }",
        "fn f(it: VacantEntry<'_, Narrow>) -> VacantEntry<'_, Narrow> { it }"
            => "fn f(it: VacantEntry<'_, Narrow>) -> VacantEntry<'_, Wide> { it }",
        "fn f(it: Transaction<'_, Narrow>) -> Transaction<'_, Narrow> { it }"
            => "fn f(it: Transaction<'_, Narrow>) -> Transaction<'_, Wide> { it }",
        "fn f(it: Plan<'_, Narrow>) -> Plan<'_, Narrow> { it }" => "fn f(it: Plan<'_, Narrow>) -> Plan<'_, Wide> { it }",
        "fn f(it: RemovalPlan<'_, Narrow>) -> RemovalPlan<'_, Narrow> { it }"
            => "fn f(it: RemovalPlan<'_, Narrow>) -> RemovalPlan<'_, Wide> { it }",
        "fn f(it: range_map::IterMut<'_, Narrow>) -> range_map::IterMut<'_, Narrow> { it }"
            => "fn f(it: range_map::IterMut<'_, Narrow>) -> range_map::IterMut<'_, Wide> { it }",
        "fn f(it: range_map::ValuesMut<'_, Narrow>) -> range_map::ValuesMut<'_, Narrow> { it }"
            => "fn f(it: range_map::ValuesMut<'_, Narrow>) -> range_map::ValuesMut<'_, Wide> { it }",
        "fn f(it: range_map::Transaction<'_, Narrow>) -> range_map::Transaction<'_, Narrow> { it }"
            => "fn f(it: range_map::Transaction<'_, Narrow>) -> range_map::Transaction<'_, Wide> { it }",
        "fn f(it: range_map::Entry<'_, Narrow>) -> range_map::Entry<'_, Narrow> { it }"
            => "fn f(it: range_map::Entry<'_, Narrow>) -> range_map::Entry<'_, Wide> { it }";

    OwnedValuesAreSentAsTheyMayBe, "E0277": r"
# use freehold_maple::{GapsWithin, Plan, Plain, PlainValue, RangeMap, Removed, range_map};
# use freehold_maple::word_map::{Cursor, CursorMut, Entry, IntoIter, Iter, Transaction, WordMap};
# use std::{cell::Cell, marker::PhantomData, sync::Arc};
fn send<T: Send>() {}
fn sync<T: Sync>() {}
type Here = Arc<Cell<u32>>;
/// `Sync`, but not `Send`.
#[derive(Clone, Copy)]
struct Shared(PhantomData<*const ()>);
unsafe impl Sync for Shared {}
impl PlainValue for Shared {
    fn to_bits(self) -> u64 { 0 }
    fn from_bits(_: u64) -> Self { Self(PhantomData) }
}",
        "send::<WordMap<Arc<u32>>>();" => "send::<WordMap<Here>>();",
        "sync::<WordMap<Arc<u32>>>();" => "sync::<WordMap<Here>>();",
        "sync::<Plain<Shared>>();" => "sync::<WordMap<Plain<Shared>>>();",
        "send::<IntoIter<Arc<u32>>>();" => "send::<IntoIter<Here>>();",
        "send::<CursorMut<'_, Arc<u32>>>();" => "send::<CursorMut<'_, Here>>();",
        "send::<Entry<'_, Arc<u32>>>();" => "send::<Entry<'_, Here>>();",
        "send::<Transaction<'_, Arc<u32>>>();" => "send::<Transaction<'_, Here>>();",
        "send::<Plan<'_, Arc<u32>>>();" => "send::<Plan<'_, Here>>();",
        "send::<Iter<'_, Arc<u32>>>();" => "send::<Iter<'_, Here>>();",
        "send::<Cursor<'_, Arc<u32>>>();" => "send::<Cursor<'_, Plain<Shared>>>();",
        "send::<RangeMap<Cell<u32>>>();" => "send::<RangeMap<Here>>();",
        "send::<Removed<Cell<u32>>>();" => "send::<Removed<Here>>();",
        "sync::<RangeMap<u32>>();" => "sync::<RangeMap<Cell<u32>>>();",
        // A map stores words instead of keys, so the key's type does not matter.
        "send::<RangeMap<u32, Here>>();" => "send::<RangeMap<Here, u32>>();",
        "send::<range_map::IterMut<'_, Cell<u32>>>();" => "send::<range_map::IterMut<'_, Here>>();",
        "sync::<range_map::IterMut<'_, u32>>();" => "sync::<range_map::IterMut<'_, Cell<u32>>>();",
        "send::<range_map::Iter<'_, u32>>();" => "send::<range_map::Iter<'_, Cell<u32>>>();",
        "send::<range_map::Transaction<'_, Cell<u32>>>();" => "send::<range_map::Transaction<'_, Here>>();",
        "sync::<range_map::Transaction<'_, u32>>();" => "sync::<range_map::Transaction<'_, Cell<u32>>>();",
        // Gaps have no values.
        "send::<GapsWithin<'_, u8>>();" => "send::<range_map::Iter<'_, Cell<u32>, u8>>();";

    ValuesOutliveTheMapThatDropsThem, "E0597": r#"
# use freehold_maple::{RangeMap, WordMap};
# use freehold_units::Span;
# use std::sync::Arc;
/// A value whose drop looks at what it borrows.
#[derive(Clone)]
struct Looks<'s>(&'s String);
impl Drop for Looks<'_> {
    fn drop(&mut self) { assert_eq!(self.0, "text"); }
}
let text = || String::from("text");
let all = Span::new(0, 9).unwrap();"#,
        "let (text, mut map) = (text(), WordMap::new()); map.store(all, Arc::new(Looks(&text))).unwrap();"
            => "let (mut map, text) = (WordMap::new(), text()); map.store(all, Arc::new(Looks(&text))).unwrap();",
        "let (text, mut map) = (text(), RangeMap::new()); map.store(0..9, Looks(&text)).unwrap();"
            => "let (mut map, text) = (RangeMap::new(), text()); map.store(0..9, Looks(&text)).unwrap();";

    BorrowersEndBeforeTheMap, "E0505": r"
# use freehold_maple::{RangeMap, WordMap};
# use freehold_units::Span;
# use std::sync::Arc;
let (mut map, mut ranges) = (WordMap::<Arc<u32>>::new(), RangeMap::<u32>::new());
map.store(Span::ALL, Arc::new(7)).unwrap();
ranges.store(.., 7).unwrap();",
        "let it = map.get(0); drop(it); drop(map);" => "let it = map.get(0); drop(map); drop(it);",
        "let it = map.get_owned(0); drop(map); drop(it);" => "let it = map.get(0); drop(map); drop(it);",
        "let it = map.iter().next(); drop(it); drop(map);" => "let it = map.iter().next(); drop(map); drop(it);",
        "let it = map.cursor(0); drop(it.value()); drop(map);" => "let it = map.cursor(0); drop(map); drop(it.value());",
        "let it = map.transaction(); it.commit(); drop(map);" => "let it = map.transaction(); drop(map); it.commit();",
        "let it = map.plan_removal(Span::ALL).unwrap(); it.commit(); drop(map);"
            => "let it = map.plan_removal(Span::ALL).unwrap(); drop(map); it.commit();",
        "let it = ranges.get(0); drop(it); drop(ranges);" => "let it = ranges.get(0); drop(ranges); drop(it);",
        "let it = ranges.iter_mut().next(); drop(it); drop(ranges);"
            => "let it = ranges.iter_mut().next(); drop(ranges); drop(it);",
        "let it = ranges.gaps(..); drop(it); drop(ranges);" => "let it = ranges.gaps(..); drop(ranges); drop(it);";
}

#[cfg(feature = "std")]
rules! {
    // Regression: a shared map accepted values that end before it does.
    TheSharedMapIsInvariant, "E0597": r#"
# use freehold_maple::MapleTree;
# use std::sync::Arc;
let map: MapleTree<Arc<&'static str>> = MapleTree::new();
let local = String::from("a string that ends before the map");"#,
        "map.store(0..10, Arc::new(\"a literal\")).unwrap();" => "map.store(0..10, Arc::new(local.as_str())).unwrap();",
        "map.insert(0..10, Arc::new(\"a literal\")).unwrap();" => "map.insert(0..10, Arc::new(local.as_str())).unwrap();",
        "map.transaction().store(0..10, Arc::new(\"a literal\")).unwrap();"
            => "map.transaction().store(0..10, Arc::new(local.as_str())).unwrap();";

    // Otherwise a transaction or a reader could return a map of another type.
    ReadersOfTheSharedMapAreInvariant, "E0308": r"
# use freehold_maple::maple_tree::{Entries, Gaps, MapleTree, OwnedReading, Reading, Reclaimed, Snapshot, Transaction};
# use std::sync::Arc;
type Narrow = Arc<for<'a> fn(&'a u8)>;
type Wide = Arc<fn(&'static u8)>;",
        "fn f(it: MapleTree<Narrow>) -> MapleTree<Narrow> { it }" => "fn f(it: MapleTree<Narrow>) -> MapleTree<Wide> { it }",
        "fn f(it: MapleTree<Wide>) -> MapleTree<Wide> { it }" => "fn f(it: MapleTree<Wide>) -> MapleTree<Narrow> { it }",
        "fn f(it: Reading<'_, Narrow>) -> Reading<'_, Narrow> { it }" => "fn f(it: Reading<'_, Narrow>) -> Reading<'_, Wide> { it }",
        "fn f(it: OwnedReading<'_, Narrow>) -> OwnedReading<'_, Narrow> { it }"
            => "fn f(it: OwnedReading<'_, Narrow>) -> OwnedReading<'_, Wide> { it }",
        "fn f(it: Snapshot<'_, Narrow>) -> Snapshot<'_, Narrow> { it }"
            => "fn f(it: Snapshot<'_, Narrow>) -> Snapshot<'_, Wide> { it }",
        "fn f(it: Entries<'_, Narrow>) -> Entries<'_, Narrow> { it }" => "fn f(it: Entries<'_, Narrow>) -> Entries<'_, Wide> { it }",
        "fn f(it: Gaps<'_, Narrow>) -> Gaps<'_, Narrow> { it }" => "fn f(it: Gaps<'_, Narrow>) -> Gaps<'_, Wide> { it }",
        "fn f(it: Transaction<'_, Narrow>) -> Transaction<'_, Narrow> { it }"
            => "fn f(it: Transaction<'_, Narrow>) -> Transaction<'_, Wide> { it }",
        // `Reclaimed` owns values, and accepts none through `&self`.
        "fn f(it: Reclaimed<Narrow>) -> Reclaimed<Wide> { it }" => "fn f(it: Reclaimed<Wide>) -> Reclaimed<Narrow> { it }";

    SharedMapsAreSentAsTheirValuesMayBe, "E0277": r"
# use freehold_maple::maple_tree::{Entries, Gaps, MapleTree, OwnedReading, Reading, Reclaimed, Snapshot, Transaction};
# use freehold_rcu::OwnedGuard;
# use freehold_maple::{Plain, PlainValue};
# use std::{cell::Cell, marker::PhantomData, sync::Arc};
fn send<T: Send>() {}
fn sync<T: Sync>() {}
type Here = Arc<Cell<u32>>;
/// `Sync`, but not `Send`.
#[derive(Clone, Copy)]
struct Shared(PhantomData<*const ()>);
unsafe impl Sync for Shared {}
impl PlainValue for Shared {
    fn to_bits(self) -> u64 { 0 }
    fn from_bits(_: u64) -> Self { Self(PhantomData) }
}",
        "send::<MapleTree<Arc<u32>>>();" => "send::<MapleTree<Here>>();",
        "sync::<MapleTree<Arc<u32>>>();" => "sync::<MapleTree<Here>>();",
        "sync::<Plain<Shared>>();" => "sync::<MapleTree<Plain<Shared>>>();",
        "send::<Reclaimed<Arc<u32>>>();" => "send::<Reclaimed<Here>>();",
        "send::<OwnedReading<'_, Arc<u32>>>();" => "send::<OwnedReading<'_, Here>>();",
        "send::<Snapshot<'_, Arc<u32>>>();" => "send::<Snapshot<'_, Here>>();",
        "sync::<Snapshot<'_, Arc<u32>>>();" => "sync::<Snapshot<'_, Here>>();",
        // A thread's guard and the writer's lock cannot move to another thread.
        "send::<OwnedReading<'_, u32>>();" => "send::<Reading<'_, u32>>();",
        "sync::<OwnedReading<'_, u32>>();" => "sync::<Reading<'_, u32>>();",
        "send::<Entries<'_, u32, OwnedGuard<'static>>>();" => "send::<Entries<'_, u32>>();",
        "sync::<Gaps<'_, u32, OwnedGuard<'static>>>();" => "sync::<Gaps<'_, u32>>();",
        "send::<Entries<'_, Arc<u32>, OwnedGuard<'static>>>();" => "send::<Entries<'_, Here, OwnedGuard<'static>>>();",
        "send::<&MapleTree<u32>>();" => "send::<Transaction<'_, u32>>();",
        "sync::<&MapleTree<u32>>();" => "sync::<Transaction<'_, u32>>();";

    ValuesOutliveTheSharedMap, "E0597": r#"
# use freehold_maple::MapleTree;
# use std::sync::Arc;
/// A value whose drop looks at what it borrows.
struct Looks<'s>(&'s String);
impl Drop for Looks<'_> {
    fn drop(&mut self) { assert_eq!(self.0, "text"); }
}
let text = || String::from("text");"#,
        "let (text, map) = (text(), MapleTree::new()); map.store(0..9, Arc::new(Looks(&text))).unwrap();"
            => "let (map, text) = (MapleTree::new(), text()); map.store(0..9, Arc::new(Looks(&text))).unwrap();",
        // A removed value waits in the map.
        "let (text, map) = (text(), MapleTree::new()); map.store(0..9, Arc::new(Looks(&text))).unwrap(); map.erase(5).unwrap();"
            => "let (map, text) = (MapleTree::new(), text()); map.store(0..9, Arc::new(Looks(&text))).unwrap(); map.erase(5).unwrap();",
        "let (text, map) = (text(), MapleTree::new()); map.store(0..9, Arc::new(Looks(&text))).unwrap(); let _late = map.erase_under_lock(0).unwrap();"
            => "let map = MapleTree::new(); let _late = { let text = text(); map.store(0..9, Arc::new(Looks(&text))).unwrap(); map.erase_under_lock(0).unwrap() };";

    ReadersEndBeforeTheSharedMap, "E0505": r"
# use freehold_maple::MapleTree;
# use std::sync::Arc;
let map = MapleTree::new();
map.store(.., Arc::new(7)).unwrap();",
        "let it = map.read(); drop(it); drop(map);" => "let it = map.read(); drop(map); drop(it);",
        "let it = map.read_owned().unwrap(); drop(it); drop(map);" => "let it = map.read_owned().unwrap(); drop(map); drop(it);",
        "let it = map.snapshot().unwrap(); drop(it); drop(map);" => "let it = map.snapshot().unwrap(); drop(map); drop(it);",
        "let it = map.transaction(); drop(it); drop(map);" => "let it = map.transaction(); drop(map); drop(it);",
        // A borrowed value ends with its reading; an owned one does not.
        "let it = map.read(); let seven = map.get_owned(0); drop(it); assert_eq!(seven.as_deref(), Some(&7));"
            => "let it = map.read(); let seven = it.get(0); drop(it); assert_eq!(seven, Some(&7));",
        "let it = map.read(); let all = it.iter(); assert_eq!(all.count(), 1); drop(it);"
            => "let it = map.read(); let all = it.iter(); drop(it); assert_eq!(all.count(), 1);",
        "let it = map.read(); let none = it.gaps(..); assert_eq!(none.count(), 0); drop(it);"
            => "let it = map.read(); let none = it.gaps(..); drop(it); assert_eq!(none.count(), 0);",
        "let it = map.transaction(); assert_eq!(it.get(0), Some(&7)); it.commit();"
            => "let it = map.transaction(); let seven = it.get(0); it.commit(); assert_eq!(seven, Some(&7));",
        "let it = map.transaction(); let later = it.commit(); drop(map); drop(later);"
            => "let it = map.transaction(); drop(map); let later = it.commit(); drop(later);";
}
