//! What one transaction changes in two places of a shared map, beside readers that look at one place after the other: never the
//! new of the first and then the old of the second; what is moved is never twice, and never nowhere.

use crate::common::{Looks, Random, STRIDE, Slot, beside_others, compare, filled, span, with_room};
use freehold_maple::Nodes;
use freehold_maple::maple_tree::{MapleTree, WriteError};
use freehold_units::Span;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Whether an iterator goes up, what it gave so far, and the rest of it.
type Walk<'r> = (bool, Vec<Slot>, Box<dyn Iterator<Item = Slot> + 'r>);

/// Moves an entry from one range to another.
fn try_move(map: &MapleTree<u64>, from: Span, to: Span, value: u64) -> Result<(), WriteError> {
    let mut moving = map.transaction();
    moving.remove_range(from)?;
    moving.store(to, value).map_err(|refused| refused.cause)?;
    moving.commit();
    Ok(())
}

/// An entry moves up, place by place. A reader that looks at the places upwards finds it; one that looks downwards finds it once
/// at most: it is behind the places that were looked at, or has passed those that are to come.
fn an_entry_moves_up(nodes: Nodes) {
    let places: u64 = if cfg!(miri) { 30 } else { 2000 };
    let at = |place: u64| span(STRIDE * place, STRIDE * place + 3);
    let map = MapleTree::<u64>::with_nodes(nodes);
    for place in 0..=places {
        // Between the places, entries that stay.
        with_room(|| map.store(span(STRIDE * place + 6, STRIDE * place + 8), 0).map_err(|at| at.cause))
            .unwrap();
    }
    map.store(at(0), 1).unwrap();
    let (looks, moved) = (Looks::default(), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for up in [true, false] {
            let (map, looks, moved) = (&map, &looks, &moved);
            scope.spawn(move || {
                let looker = looks.begin(usize::from(up));
                loop {
                    let from = moved.load(Ordering::SeqCst);
                    let reading = map.read();
                    let has = |place: u64| match reading.get(STRIDE * place + 1) {
                        Some(1) => true,
                        None => false,
                        other => panic!("{other:?} was never there"),
                    };
                    if up {
                        assert!((from..places).any(has), "nowhere from {from} on");
                    } else {
                        let seen = (from..(from + 6).min(places)).rev().filter(|&place| has(place)).count();
                        assert!(seen <= 1, "{seen} times from {from} on");
                    }
                    looker.looked();
                    if from + 1 == places {
                        return;
                    }
                }
            });
        }
        for place in 1..places {
            with_room(|| try_move(&map, at(place - 1), at(place), 1)).unwrap();
            moved.store(place, Ordering::SeqCst);
            if place % (places / 10) == 0 {
                looks.wait();
            }
        }
    });
    map.validate().unwrap();
    assert_eq!(map.len(), places + 2);
    assert!(looks.counts().iter().all(|&count| count >= 10));
}

#[test]
fn an_entry_that_moves_is_never_twice_or_nowhere() {
    let _beside_others = beside_others();
    an_entry_moves_up(Nodes::Small);
    an_entry_moves_up(Nodes::Full);
}

/// A writer gives two entries equal values at once, growing ones, and others of its own to entries beside. Iterators on threads, up
/// and down, never see the second older than the first that they see.
#[test]
fn iterators_on_threads_see_no_older_second() {
    let _beside_others = beside_others();
    let entries: u64 = if cfg!(miri) { 16 } else { 80 };
    let stores = if cfg!(miri) { 12 } else { 2_000 };
    for nodes in [Nodes::Small, Nodes::Full] {
        let map = MapleTree::<u64>::with_nodes(nodes);
        for at in 0..entries {
            map.store(span(STRIDE * at, STRIDE * at + 9), 0).unwrap();
        }
        let (lower, upper) = (STRIDE * 5, STRIDE * (entries - 3));
        let (looks, done) = (Looks::default(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for up in [true, false] {
                let (map, looks, done) = (&map, &looks, &done);
                scope.spawn(move || {
                    let looker = looks.begin(usize::from(up));
                    let mut newest = 0;
                    loop {
                        let last_look = done.load(Ordering::SeqCst);
                        let reading = map.read();
                        let pair = |at: Span| at.contains(lower) || at.contains(upper);
                        let seen: Vec<_> = if up {
                            reading.iter().filter(|(at, _)| pair(*at)).collect()
                        } else {
                            reading.iter().rev().filter(|(at, _)| pair(*at)).collect()
                        };
                        let &[(_, first), (_, second)] = &seen[..] else {
                            panic!("a pair of which iterators see {seen:?}");
                        };
                        assert!(newest <= first && first <= second, "{first}, then {second}, up: {up}");
                        newest = second;
                        looker.looked();
                        if last_look {
                            assert_eq!(newest, stores);
                            return;
                        }
                    }
                });
            }
            let mut random = Random(9);
            for store in 1..=stores {
                let put = || {
                    let mut both = map.transaction();
                    for index in [lower, upper] {
                        both.store(span(index, index), store).map_err(|refused| refused.cause)?;
                    }
                    both.commit();
                    Ok(())
                };
                with_room(put).unwrap();
                // Nodes between are split and joined, and come and go.
                let first = lower + 1 + random.below(upper - lower - 40);
                let over = span(first, first + random.below(30));
                let value = with_room(|| map.store(over, 0).map_err(|refused| refused.cause));
                value.unwrap();
                if store % (stores / 4) == 0 {
                    looks.wait();
                }
                if store % 64 == 0 {
                    for at in 6..entries - 3 {
                        let over = span(STRIDE * at, STRIDE * at + 9);
                        with_room(|| map.store(over, 0).map_err(|refused| refused.cause)).unwrap();
                    }
                }
            }
            done.store(true, Ordering::SeqCst);
        });
        map.validate().unwrap();
    }
}

/// On one thread: a transaction of two stores between any two steps of iterators, for any two entries. An iterator that has the new
/// of the first does not have the old of the second.
#[test]
fn iterators_between_two_steps_see_no_older_second() {
    let _beside_others = beside_others();
    let (entries, every) = if cfg!(miri) { (12, 23) } else { (48, 1) };
    let pairs = (0..entries).flat_map(|lower| (lower + 1..entries).map(move |upper| (lower, upper)));
    // What iterators have of the new: neither, both, and only the second, whose leaf was read later.
    let mut answers = [0; 3];
    for (at, (lower, upper)) in pairs.enumerate().step_by(every) {
        // Ranges beyond the entries, too, so that leaves are joined.
        let over = [lower, upper].map(|at| span(STRIDE * at + 2, STRIDE * at + 4 + at % 4 * 7));
        if over[0].overlaps(over[1]) {
            continue;
        }
        let (map, mut model) = filled(entries, at % 2 == 0);
        let reading = map.read();
        let mut walks: Vec<Walk<'_>> = Vec::new();
        for stop in (0..=entries as usize).step_by(if cfg!(miri) { 5 } else { 3 }) {
            let mut up = reading.iter().map(|(at, value)| (at, Some(*value)));
            walks.push((true, up.by_ref().take(stop).collect(), Box::new(up)));
            let mut down = reading.iter().rev().map(|(at, value)| (at, Some(*value)));
            walks.push((false, down.by_ref().take(stop).collect(), Box::new(down)));
        }
        let mut both = map.transaction();
        for over in over {
            both.store(over, Arc::new(1000)).unwrap();
            model.store(over, 1000);
        }
        both.commit();
        for (up, mut seen, rest) in walks {
            seen.extend(rest);
            let [lower, upper] = over.map(|over| seen.contains(&(over, Some(1000))));
            let [first, second] = if up { [lower, upper] } else { [upper, lower] };
            assert!(!first || second, "the new and then the old of {over:?}, up: {up}");
            answers[usize::from(first) + usize::from(second && !first) * 2] += 1;
        }
        drop(reading);
        compare(&map, &model);
    }
    assert!(answers.iter().all(|&count| count > 0), "{answers:?}");
}
