//! Both ends of the space, ranges of all of it, full maps and empty ones, and what is refused.

use freehold_maple::word_map::{Cursor, CursorMut, Entry, IntoIter, Iter, Transaction};
use freehold_maple::{
    AllocError, Gaps, InsertError, Nodes, Plan, RangeMap, Request, SortedError, StoreError, WordMap,
};
use freehold_units::{Align, Span};
use std::ops::Bound;
use std::sync::Arc;

const TOP: u64 = u64::MAX;

fn span(first: u64, last: u64) -> Span {
    Span::new(first, last).unwrap()
}

#[test]
fn bounds_of_any_form_and_empty_ones() {
    let mut map = WordMap::<u32>::new();
    map.store(10..20, 1).unwrap();
    map.insert(..=4, 2).unwrap();
    map.replace_range(15.., 3).unwrap();
    map.remove_range(12..14).unwrap();
    let before: Vec<_> = map.iter().collect();
    assert_eq!(before, [(span(0, 4), 2), (span(10, 11), 1), (span(14, 14), 1), (span(15, TOP), 3)]);
    assert_eq!(map.store(7..7, 9).unwrap_err().cause, StoreError::EmptyRange);
    assert_eq!(map.store_with(7..7, 9, |_, _, old| old).unwrap_err().cause, StoreError::EmptyRange);
    assert_eq!(map.replace_range(7..7, 9).unwrap_err().cause, StoreError::EmptyRange);
    assert_eq!(map.insert(7..7, 9).unwrap_err().cause, InsertError::EmptyRange);
    map.remove_range(12..12).unwrap();
    assert!(map.iter().eq(before));
}

fn a_whole_range(nodes: Nodes) {
    let mut map = WordMap::<u32>::with_nodes(nodes);
    map.store(Span::ALL, 7).unwrap();
    assert_eq!((map.get(0), map.get(TOP), map.len()), (Some(7), Some(7), 1));
    assert_eq!(map.gaps(..).next(), None);
    let refused = map.insert(span(3, 3), 1).unwrap_err();
    assert_eq!((refused.value, refused.cause), (1, InsertError::Occupied { entry: Span::ALL }));
    for size in [1, TOP] {
        let refused = map.alloc_lowest(&Request::new(size), 1).unwrap_err();
        let cause = AllocError::NoSpace { size, align: Align::ONE, window: Span::ALL };
        assert_eq!((refused.value, refused.cause), (1, cause));
        assert_eq!(map.highest_gap(&Request::new(size)), Err(cause));
    }
    let mut next = 5;
    let no_index = AllocError::NoSpace { size: 1, align: Align::ONE, window: Span::ALL };
    assert_eq!(map.alloc_cyclic(Span::ALL, &mut next, 1).unwrap_err().cause, no_index);
    assert_eq!(next, 5);
    map.remove_range(span(0, 0)).unwrap();
    map.remove_range(span(TOP, TOP)).unwrap();
    assert_eq!(map.iter().collect::<Vec<_>>(), [(span(1, TOP - 1), 7)]);
    assert_eq!(map.lowest_gap(&Request::new(1)), Ok(span(0, 0)));
    assert_eq!(map.highest_gap(&Request::new(1)), Ok(span(TOP, TOP)));
    assert!(matches!(map.lowest_gap(&Request::new(2)), Err(AllocError::NoSpace { size: 2, .. })));
    let mut next = 9;
    assert_eq!(map.alloc_cyclic(span(0, TOP), &mut next, 8).unwrap(), (TOP, false));
    assert_eq!(next, 0, "behind the last index the search begins anew");
    assert_eq!(map.erase(TOP - 1), Some((span(1, TOP - 1), 7)));
    map.validate().unwrap();
    map.store(Span::ALL, 1).unwrap();
    assert_eq!((map.len(), map.nodes()), (1, 1));
}

#[test]
fn the_whole_space_in_one_entry() {
    [Nodes::Small, Nodes::Full].into_iter().for_each(a_whole_range);
}

fn an_empty_map(nodes: Nodes) {
    let mut map = WordMap::<u32>::with_nodes(nodes);
    assert_eq!((map.len(), map.nodes(), map.bytes(), map.height()), (0, 0, 0, 0));
    assert_eq!((map.get(0), map.first(), map.last(), map.erase(TOP)), (None, None, None, None));
    assert_eq!(map.slot_at(TOP), (Span::ALL, None));
    assert_eq!(map.gaps(..).collect::<Vec<_>>(), [Span::ALL]);
    assert_eq!(map.highest_gap(&Request::new(TOP)), Ok(span(1, TOP)));
    assert!(matches!(map.entry(5), Entry::Vacant(gap) if gap.gap() == Span::ALL));
    map.remove_range(Span::ALL).unwrap();
    assert_eq!((map.merge_adjacent(), map.split_at(0).unwrap().len()), (0, 0));
    let mut cursor = map.cursor_mut(4);
    assert_eq!(cursor.slot(), (Span::ALL, None));
    assert!(!cursor.move_next() && !cursor.move_prev() && cursor.erase().is_none());
    assert_eq!((cursor.next_entry(), cursor.prev_entry()), (None, None));
    cursor.store(span(TOP, TOP), 3).unwrap();
    assert_eq!(cursor.slot(), (span(TOP, TOP), Some(3)));
    assert_eq!(cursor.erase(), Some((span(TOP, TOP), 3)));
    assert_eq!(cursor.slot(), (Span::ALL, None));
    map.transaction().commit();
    assert_eq!((map.nodes(), map.validate()), (0, Ok(())));
    assert!(map.try_clone().unwrap() == WordMap::with_nodes(nodes));
    assert_eq!(map.into_iter().next_back(), None);
}

#[test]
fn nothing_at_all() {
    [Nodes::Small, Nodes::Full].into_iter().for_each(an_empty_map);
}

#[test]
fn requests_that_make_no_sense() {
    let map = WordMap::<u32>::new();
    assert_eq!(Span::new(5, 4), None, "no range is upside down");
    assert_eq!(map.lowest_gap(&Request::new(0)), Err(AllocError::ZeroSize));
    let narrow = Request::new(5).window(span(1, 4));
    let too_large = map.lowest_gap(&narrow).unwrap_err();
    assert_eq!(too_large, AllocError::TooLarge { size: 5, window: span(1, 4) });
    assert_eq!(too_large.to_string(), "0x1..=0x4 has fewer than 5 indexes");
    let (align, window) = (Align::new(1 << 63).unwrap(), span((1 << 63) + 1, TOP));
    let no_space = map.highest_gap(&Request::new(2).align(align).window(window)).unwrap_err();
    assert_eq!(no_space, AllocError::NoSpace { size: 2, align, window });
    let text = format!("no gap in {window} has 2 indexes aligned to {}", align.bytes());
    assert_eq!(no_space.to_string(), text);
    let upside_down = (Bound::Included(5), Bound::Included(4));
    assert_eq!(map.range(5..5).count() + map.gaps(upside_down).count() + map.range(..0).count(), 0);
}

/// A window that a cyclic search has left behind, or not come to yet.
#[test]
fn cyclic_searches_outside_their_window() {
    let mut map = WordMap::<u32>::new();
    let window = span(10, 12);
    for (next, expected) in [(0, (10, false)), (TOP, (11, true)), (13, (12, true))] {
        let mut next = next;
        assert_eq!(map.alloc_cyclic(window, &mut next, 1).unwrap(), expected);
        assert_eq!(next, expected.0 + 1);
    }
}

fn built(nodes: Nodes) {
    // Under Miri, which is slow, of one leaf and of some.
    for count in (0..200u64).step_by(if cfg!(miri) { 20 } else { 1 }).take(if cfg!(miri) { 2 } else { 200 }) {
        for (stride, size) in [(1, 1), (16, 8), (3, 3)] {
            let entries = (0..count).map(|at| (span(stride * at, stride * at + size - 1), at as u32));
            let map = WordMap::<u32>::from_sorted_with_nodes(nodes, entries.clone()).unwrap();
            map.validate().unwrap();
            assert!(map.iter().eq(entries));
            let copy = map.try_clone().unwrap();
            assert!(map == copy && copy.nodes_taken() == 0);
        }
    }
    let to_the_end = [(span(4, 5), 1), (span(TOP, TOP), 2)];
    let mut map = WordMap::<u32>::from_sorted_with_nodes(nodes, to_the_end).unwrap();
    map.validate().unwrap();
    assert_eq!(map.last(), Some((span(TOP, TOP), 2)));
    // A gap to the end of the space ends a tree of entries, and no tree without any.
    let nothing = WordMap::<u32>::from_sorted_with_nodes(nodes, []).unwrap();
    assert_eq!((nothing.len(), nothing.nodes(), nothing.nodes_taken()), (0, 0, 0));
    map.remove_range(6..).unwrap();
    let nothing = map.split_at(6).unwrap();
    assert_eq!((nothing.len(), nothing.nodes(), nothing.nodes_taken()), (0, 0, 0));
    for wrong in [span(0, 3), span(5, 5), span(4, TOP)] {
        let error = WordMap::<u32>::from_sorted_with_nodes(nodes, [to_the_end[0], (wrong, 2)]).unwrap_err();
        assert_eq!(error, SortedError::NotSorted { position: 1, span: wrong, before: span(4, 5) });
    }
    let behind_the_end = [to_the_end[1], (span(0, 0), 1)];
    assert!(WordMap::<u32>::from_sorted_with_nodes(nodes, behind_the_end).is_err());
}

#[test]
fn built_of_sorted_entries() {
    [Nodes::Small, Nodes::Full].into_iter().for_each(built);
}

/// Sixteen entries that touch fill a leaf, or eight with gaps between them; inner nodes add a fifteenth. A value beside the
/// tree has a tag.
#[test]
fn built_maps_have_full_leaves() {
    for (stride, bytes_per_entry) in [(8, 18), (16, 35)] {
        let entries =
            (0..if cfg!(miri) { 704 } else { 11_264u64 }).map(|at| (span(stride * at, stride * at + 7), at));
        let map = WordMap::<u64>::from_sorted(entries.clone()).unwrap();
        assert!(map.nodes() * 256 <= bytes_per_entry * map.len() as usize, "{} nodes", map.nodes());
        let beside = RangeMap::from_sorted(entries).unwrap();
        assert_eq!(beside.nodes(), map.nodes());
        let most = (bytes_per_entry + size_of::<(u64, u64)>()) * map.len() as usize;
        // Memory is taken in pieces, which are not all in use.
        assert!(cfg!(miri) || beside.bytes() <= most * 17 / 16, "{} bytes, not {most}", beside.bytes());
    }
}

/// One leaf, and what names it.
#[test]
fn a_small_map_has_one_leaf() {
    let mut map = WordMap::<u32>::new();
    for at in 1..=7 {
        map.store(span(10 * at, 10 * at + 4), 1).unwrap();
        assert_eq!((map.nodes(), map.bytes()), (1, 0));
    }
}

/// Everything goes to other threads that the standard library's would.
#[test]
fn whatever_borrows_a_map_can_be_sent() {
    fn sent<T: Send + Sync>() {}
    type Value = Arc<String>;
    sent::<WordMap<Value>>();
    sent::<IntoIter<Value>>();
    sent::<(Iter<'_, Value>, Gaps<'_>, Cursor<'_, Value>)>();
    sent::<(CursorMut<'_, Value>, Entry<'_, Value>, Plan<'_, Value>, Transaction<'_, Value>)>();
    let mut map = WordMap::new();
    map.store(span(4, 9), Arc::new("moved".to_string())).unwrap();
    let (front, mut entries) = (map.first().unwrap().0, map.into_iter());
    let far = std::thread::spawn(move || entries.next().unwrap());
    let (at, value) = far.join().unwrap();
    assert_eq!((at, value.as_str()), (front, "moved"));
}

/// What borrows a map shows where it is, also of values that show nothing.
#[test]
fn what_borrows_a_map_shows_its_place() {
    struct Hidden;
    let mut map = WordMap::from_iter([(span(0, 9), Arc::new(Hidden))]);
    let whole = "0x0..=0xffffffffffffffff";
    let (entry, gap) = ("span: 0x0..=0x9", "gap: 0xa..=0xffffffffffffffff");
    assert_eq!(format!("{:?}", map.cursor(3)), format!("Cursor {{ {entry}, .. }}"));
    assert_eq!(format!("{:?}", map.cursor_mut(3)), format!("CursorMut {{ {entry}, .. }}"));
    assert_eq!(format!("{:?}", map.entry(3)), format!("OccupiedEntry {{ {entry}, .. }}"));
    assert_eq!(format!("{:?}", map.entry(30)), format!("VacantEntry {{ {gap}, .. }}"));
    assert_eq!(format!("{:?}", map.transaction()), "Transaction { len: 1, .. }");
    assert_eq!(format!("{:?}", map.plan_store(5..5)), "Err(EmptyRange)");
    assert_eq!(format!("{:?}", map.plan_store(50..55).unwrap()), "Plan { nodes: 0, .. }");
    let plan = map.plan_removal(0..10).unwrap();
    assert_eq!(format!("{plan:?}"), format!("RemovalPlan {{ gap: {whole}, .. }}"));
    assert_eq!(format!("{:?}", map.into_iter()), "IntoIter { left: 1, .. }");

    let mut map = RangeMap::from_sorted([(span(0, 9), Hidden)]).unwrap();
    assert_eq!(format!("{:?}", map.entry(3)), format!("OccupiedEntry {{ {entry}, .. }}"));
    assert_eq!(format!("{:?}", map.entry(30)), format!("VacantEntry {{ {gap}, .. }}"));
    assert_eq!(format!("{:?}", map.transaction()), "Transaction { len: 1, .. }");
    assert_eq!(format!("{:?}", map.into_iter()), "IntoIter { left: 1, .. }");
}
