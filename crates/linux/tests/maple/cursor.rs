//! The kernel's cursor, state by state: each call from each state, where it goes, what it is then.

use super::{Reading, Tree, new};
use State::{Active, Overflow, Pause, Start, Underflow};
use freehold_linux::maple::{Flags, Item, MaState, State};
use std::num::NonZeroU64;

const MAX: u64 = u64::MAX;
const NULL: Item<NonZeroU64> = Item::Null;
const ZERO: Item<NonZeroU64> = Item::Zero;

type Call = fn(&mut MaState, &Reading<'_, NonZeroU64>, u64) -> Item<NonZeroU64>;
/// A limit, and what the call with it gives: the answer, the cursor's range and its state.
type Turn = (Call, u64, Item<NonZeroU64>, (u64, u64), State);

const FIND: Call = |mas, tree, limit| mas.find(tree, limit);
const FIND_RANGE: Call = |mas, tree, limit| mas.find_range(tree, limit);
const FIND_REV: Call = |mas, tree, limit| mas.find_rev(tree, limit);
const FIND_RANGE_REV: Call = |mas, tree, limit| mas.find_range_rev(tree, limit);
const NEXT: Call = |mas, tree, limit| mas.next(tree, limit);
const NEXT_RANGE: Call = |mas, tree, limit| mas.next_range(tree, limit);
const PREV: Call = |mas, tree, limit| mas.prev(tree, limit);
const PREV_RANGE: Call = |mas, tree, limit| mas.prev_range(tree, limit);
const WALK: Call = |mas, tree, _| mas.walk(tree);
const PAUSE: Call = |mas, _, _| {
    mas.pause();
    NULL
};
const RESET: Call = |mas, _, _| {
    mas.reset();
    NULL
};

fn entry(number: u64) -> Item<NonZeroU64> {
    Item::Entry(NonZeroU64::new(number).unwrap())
}

/// Gaps around and between 10..=19, 30..=39, the zero entry in 50..=59, and its neighbour 60..=69.
fn tree() -> Tree<NonZeroU64> {
    let mut tree = new(Flags::default());
    tree.store_range(10, 19, entry(1)).unwrap();
    tree.store_range(30, 39, entry(2)).unwrap();
    tree.store_range(50, 59, ZERO).unwrap();
    tree.store_range(60, 69, entry(3)).unwrap();
    tree
}

/// One call after another, on a cursor that starts at an index.
#[track_caller]
fn turns(index: u64, turns: &[Turn]) {
    let tree = tree();
    let mut mas = MaState::new(index, index);
    for (at, &(call, limit, answer, range, state)) in turns.iter().enumerate() {
        let got = call(&mut mas, &tree.read(), limit);
        let got = (got, (mas.index(), mas.last()), mas.state());
        assert_eq!(got, (answer, range, state), "turn {at} from {index}");
    }
}

#[test]
fn walks_go_to_entries_and_gaps() {
    turns(15, &[(WALK, 0, entry(1), (10, 19), Active)]);
    turns(25, &[(WALK, 0, NULL, (20, 29), Active), (WALK, 0, NULL, (20, 29), Active)]);
    turns(55, &[(WALK, 0, ZERO, (50, 59), Active)]);
    turns(MAX, &[(WALK, 0, NULL, (70, MAX), Active)]);
}

#[test]
fn a_walked_cursor_keeps_its_range_when_it_is_paused_or_reset() {
    turns(
        15,
        &[
            (WALK, 0, entry(1), (10, 19), Active),
            (PAUSE, 0, NULL, (10, 19), Pause),
            (RESET, 0, NULL, (10, 19), Start),
        ],
    );
    let mut mas = MaState::new(3, 9);
    assert_eq!((mas.index(), mas.last(), mas.state()), (3, 9, Start));
    mas.pause();
    mas.set(4);
    assert_eq!(mas, MaState::new(4, 4));
    mas.set_range(5, 6);
    assert_eq!(mas, MaState::new(5, 6));
}

#[test]
fn next_skips_gaps_and_next_range_does_not() {
    turns(
        15,
        &[
            (NEXT, MAX, entry(2), (30, 39), Active),
            (NEXT_RANGE, MAX, NULL, (40, 49), Active),
            (NEXT, MAX, ZERO, (50, 59), Active),
            (NEXT, MAX, entry(3), (60, 69), Active),
            (NEXT, MAX, NULL, (70, MAX), Overflow),
            (NEXT, MAX, NULL, (70, MAX), Overflow),
        ],
    );
}

#[test]
fn prev_skips_gaps_and_prev_range_does_not() {
    turns(
        65,
        &[
            (PREV, 0, ZERO, (50, 59), Active),
            (PREV_RANGE, 0, NULL, (40, 49), Active),
            (PREV, 0, entry(2), (30, 39), Active),
            (PREV, 0, entry(1), (10, 19), Active),
            (PREV, 0, NULL, (0, 9), Underflow),
            (PREV, 0, NULL, (0, 9), Underflow),
        ],
    );
}

#[test]
fn next_stops_on_the_gap_that_reaches_its_limit() {
    turns(15, &[(NEXT, 15, NULL, (15, 15), Overflow)]);
    turns(
        15,
        &[
            (NEXT, 29, NULL, (20, 29), Overflow),
            (NEXT, 29, NULL, (20, 29), Overflow),
            (NEXT, 30, entry(2), (30, 39), Active),
            (NEXT_RANGE, 40, NULL, (40, 49), Active),
            (NEXT_RANGE, 49, NULL, (40, 49), Overflow),
            (NEXT_RANGE, 50, ZERO, (50, 59), Active),
        ],
    );
}

#[test]
fn prev_stops_on_the_gap_that_reaches_its_limit() {
    turns(65, &[(PREV, 65, NULL, (65, 65), Underflow)]);
    turns(
        35,
        &[
            (PREV, 20, NULL, (20, 29), Underflow),
            (PREV, 20, NULL, (20, 29), Underflow),
            (PREV, 19, entry(1), (10, 19), Active),
            (PREV_RANGE, 9, NULL, (0, 9), Active),
            (PREV_RANGE, 0, NULL, (0, 9), Underflow),
        ],
    );
}

#[test]
fn an_entry_is_given_again_on_the_way_back() {
    turns(
        35,
        &[
            (WALK, 0, entry(2), (30, 39), Active),
            (NEXT, 39, NULL, (30, 39), Overflow),
            (PREV, 0, entry(2), (30, 39), Active),
            (PREV, 30, NULL, (30, 39), Underflow),
            (NEXT, MAX, entry(2), (30, 39), Active),
            (NEXT, MAX, ZERO, (50, 59), Active),
        ],
    );
    // A gap is not: the cursor goes on from it.
    turns(35, &[(NEXT, 45, NULL, (40, 49), Overflow), (PREV, 0, entry(2), (30, 39), Active)]);
    turns(35, &[(PREV, 25, NULL, (20, 29), Underflow), (NEXT_RANGE, MAX, entry(2), (30, 39), Active)]);
}

#[test]
fn steps_of_a_paused_cursor_walk_first() {
    turns(
        15,
        &[
            (PAUSE, 0, NULL, (15, 15), Pause),
            (NEXT, MAX, entry(2), (30, 39), Active),
            (PAUSE, 0, NULL, (30, 39), Pause),
            (PREV, 30, NULL, (30, 39), Underflow),
            (PAUSE, 0, NULL, (30, 39), Pause),
            (PREV, 0, entry(1), (10, 19), Active),
        ],
    );
}

#[test]
fn find_begins_at_the_index_and_goes_on() {
    turns(
        15,
        &[
            (FIND, MAX, entry(1), (10, 19), Active),
            (FIND, MAX, entry(2), (30, 39), Active),
            (FIND_RANGE, MAX, NULL, (40, 49), Active),
            (FIND, MAX, ZERO, (50, 59), Active),
            (FIND, MAX, entry(3), (60, 69), Active),
            (FIND, MAX, NULL, (70, MAX), Active),
            (FIND, MAX, NULL, (70, MAX), Active),
            (FIND_RANGE, MAX, NULL, (70, MAX), Active),
        ],
    );
    turns(69, &[(FIND_RANGE, MAX, entry(3), (60, 69), Active), (FIND_RANGE, MAX, NULL, (70, MAX), Active)]);
}

#[test]
fn find_from_the_start_has_its_limits() {
    turns(15, &[(FIND, 14, NULL, (15, 15), Start), (FIND, 15, entry(1), (10, 19), Active)]);
    // A gap that begins at the maximum is where it ends.
    turns(20, &[(FIND, 20, NULL, (20, 29), Active)]);
    turns(20, &[(FIND_RANGE, 20, NULL, (20, 29), Active)]);
    // A gap that only reaches it is stepped from, and only a search for ranges shows that this met the limit.
    turns(20, &[(FIND, 29, NULL, (20, 29), Active), (FIND, 30, entry(2), (30, 39), Active)]);
    turns(20, &[(FIND_RANGE, 29, NULL, (20, 29), Overflow)]);
    turns(20, &[(FIND_RANGE, 30, entry(2), (30, 39), Active)]);
}

#[test]
fn find_after_a_pause_begins_above_the_range() {
    turns(
        15,
        &[
            (FIND, MAX, entry(1), (10, 19), Active),
            (PAUSE, 0, NULL, (10, 19), Pause),
            (FIND, 19, NULL, (10, 19), Pause),
            (FIND, 20, NULL, (20, 29), Active),
            (PAUSE, 0, NULL, (20, 29), Pause),
            (FIND_RANGE, MAX, entry(2), (30, 39), Active),
            (PAUSE, 0, NULL, (30, 39), Pause),
            (FIND_RANGE, MAX, ZERO, (50, 59), Active),
        ],
    );
}

#[test]
fn find_gives_the_entry_again_after_either_limit() {
    turns(
        35,
        &[
            (NEXT, 35, NULL, (35, 35), Overflow),
            (FIND, 35, NULL, (35, 35), Overflow),
            (FIND, MAX, entry(2), (30, 39), Active),
            (PREV, 30, NULL, (30, 39), Underflow),
            (FIND_RANGE, 30, NULL, (30, 39), Overflow),
            (FIND, MAX, entry(2), (30, 39), Active),
            (PREV, 30, NULL, (30, 39), Underflow),
            (FIND, MAX, entry(2), (30, 39), Active),
        ],
    );
    turns(35, &[(PREV, 22, NULL, (20, 29), Underflow), (FIND, MAX, entry(2), (30, 39), Active)]);
}

#[test]
fn find_rev_begins_at_the_index_and_goes_on() {
    turns(
        65,
        &[
            (FIND_REV, 0, entry(3), (60, 69), Active),
            (FIND_REV, 0, ZERO, (50, 59), Active),
            (FIND_RANGE_REV, 0, NULL, (40, 49), Active),
            (FIND_REV, 0, entry(2), (30, 39), Active),
            (FIND_REV, 0, entry(1), (10, 19), Active),
            (FIND_REV, 0, NULL, (0, 9), Underflow),
            (FIND_REV, 0, NULL, (0, 9), Underflow),
        ],
    );
}

#[test]
fn find_rev_from_the_start_has_its_limits() {
    turns(15, &[(FIND_REV, 16, NULL, (15, 15), Start), (FIND_REV, 15, entry(1), (10, 19), Active)]);
    // The gap begins below the minimum: it ends there. The gap begins at it: it is stepped from.
    turns(25, &[(FIND_REV, 21, NULL, (20, 29), Active), (FIND_REV, 21, NULL, (20, 29), Active)]);
    turns(25, &[(FIND_REV, 20, NULL, (20, 29), Underflow), (FIND_REV, 0, entry(1), (10, 19), Active)]);
    turns(25, &[(FIND_RANGE_REV, 19, entry(1), (10, 19), Active)]);
}

#[test]
fn find_rev_after_a_pause_begins_below_the_range() {
    turns(
        65,
        &[
            (FIND_REV, 0, entry(3), (60, 69), Active),
            (PAUSE, 0, NULL, (60, 69), Pause),
            (FIND_REV, 0, ZERO, (50, 59), Active),
            (PAUSE, 0, NULL, (50, 59), Pause),
            (FIND_REV, 50, NULL, (50, 59), Underflow),
            (PAUSE, 0, NULL, (50, 59), Pause),
            (FIND_REV, 45, NULL, (40, 49), Active),
            (PAUSE, 0, NULL, (40, 49), Pause),
            (FIND_RANGE_REV, 0, entry(2), (30, 39), Active),
        ],
    );
}

#[test]
fn find_rev_does_not_give_the_entry_again() {
    turns(
        35,
        &[
            (NEXT, 35, NULL, (35, 35), Overflow),
            (FIND_REV, 35, NULL, (35, 35), Underflow),
            (FIND_REV, 35, NULL, (35, 35), Underflow),
            (WALK, 0, entry(2), (30, 39), Active),
            (NEXT, 39, NULL, (30, 39), Overflow),
            (FIND_REV, 0, entry(1), (10, 19), Active),
            (PREV, 5, NULL, (0, 9), Underflow),
            (NEXT, MAX, entry(1), (10, 19), Active),
            (PREV, 10, NULL, (10, 19), Underflow),
            (FIND_REV, 5, NULL, (0, 9), Underflow),
        ],
    );
}

#[test]
fn the_ends_of_the_space_are_reached_and_not_passed() {
    let mut tree = new(Flags::default());
    tree.store_range(0, 0, entry(1)).unwrap();
    tree.store_range(MAX, MAX, entry(2)).unwrap();
    let mut mas = MaState::new(MAX, MAX);
    assert_eq!((mas.find(&tree.read(), MAX), mas.find(&tree.read(), MAX)), (entry(2), NULL));
    assert_eq!((mas.next_range(&tree.read(), MAX), mas.state()), (NULL, Overflow));
    mas.pause();
    assert_eq!((mas.find(&tree.read(), MAX), mas.index()), (NULL, MAX));
    assert_eq!((mas.prev(&tree.read(), 0), mas.index()), (entry(1), 0));
    assert_eq!((mas.prev_range(&tree.read(), 0), mas.state()), (NULL, Underflow));
    mas.pause();
    assert_eq!((mas.find_rev(&tree.read(), 0), mas.index(), mas.state()), (NULL, 0, Underflow));
    assert_eq!((mas.next_range(&tree.read(), MAX), mas.next_range(&tree.read(), MAX)), (entry(1), NULL));
    assert_eq!((mas.index(), mas.last()), (1, MAX - 1));
    let empty = new::<NonZeroU64>(Flags::default());
    assert_eq!((mas.walk(&empty.read()), mas.index(), mas.last()), (NULL, 0, MAX));
    assert_eq!((mas.find(&empty.read(), MAX), mas.find_rev(&empty.read(), 0)), (NULL, NULL));
}
