use super::judge::{Change, Read, Seen};
use super::threads::View;
use super::*;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

fn span(first: u64, last: u64) -> Span {
    Span::new(first, last).unwrap()
}

const BESIDE: Beside = Beside { threads: 3, duration: None, seed: 5 };

#[test]
fn what_readers_of_ours_see_can_have_been() {
    let beside = Beside { duration: Some(Duration::from_millis(300)), ..BESIDE };
    let results = stress_maple(&beside, &mut Progress::default()).unwrap();
    assert!(!results.failed, "{:?}", results.notes);
    let count = |op: &str| {
        let of = results.records.iter().filter(|record| record.key.op == op);
        of.map(|record| record.value).sum::<f64>()
    };
    assert!(count("stores") >= 2.0 * CHANGES as f64 && count("reads") > 0.0 && count("wrong reads") == 0.0);
}

/// How a map is broken.
#[derive(Clone, Copy, PartialEq)]
enum Broken {
    /// It is not.
    Not,
    /// A store over entries removes them first, and then stores.
    TwoSteps,
    /// A guard sees the map as it was when another guard began.
    Stale,
    /// An iterator that meets a store begins again.
    Repeats,
    /// An iterator that meets a store ends.
    Ends,
}

/// A tree behind a lock, which is given back in the middle of what should be one step.
struct Liar {
    how: Broken,
    entries: Mutex<BTreeMap<u64, Entry>>,
    stale: Mutex<BTreeMap<u64, Entry>>,
}

impl Liar {
    fn new(how: Broken) -> Self {
        Self { how, entries: Mutex::default(), stale: Mutex::default() }
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn seen(&self) -> BTreeMap<u64, Entry> {
        if self.how == Broken::Stale {
            return self.stale.lock().unwrap_or_else(PoisonError::into_inner).clone();
        }
        self.entries().clone()
    }
}

/// Empties a span; parts of what reaches beyond it stay.
fn cut(entries: &mut BTreeMap<u64, Entry>, over: Span) {
    let met: Vec<Entry> = entries.values().copied().filter(|(span, _)| span.overlaps(over)).collect();
    for (span, value) in met {
        entries.remove(&span.first());
        for part in [span.below(over), span.above(over)].into_iter().flatten() {
            entries.insert(part.first(), (part, value));
        }
    }
}

impl Subject for Liar {
    fn read(&self, work: &mut dyn FnMut(&dyn View)) {
        work(self);
        let now = self.entries().clone();
        *self.stale.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    fn put(&self, change: Change) -> Result<bool, String> {
        let mut entries = self.entries();
        cut(&mut entries, change.over);
        if self.how == Broken::TwoSteps {
            drop(entries);
            std::thread::yield_now();
            entries = self.entries();
        }
        if let Some(value) = change.value {
            entries.insert(change.over.first(), (change.over, value));
        }
        Ok(true)
    }

    fn validate(&self) -> Result<(), String> {
        Ok(())
    }
}

impl View for Liar {
    fn get(&self, index: u64) -> Option<u64> {
        self.slot_at(index).1
    }

    fn slot_at(&self, index: u64) -> (Span, Option<u64>) {
        let entries = self.seen();
        if let Some((span, value)) = entries.values().find(|(span, _)| span.contains(index)) {
            return (*span, Some(*value));
        }
        let below = entries.range(..index).next_back().map_or(0, |(_, (span, _))| span.last() + 1);
        let above = entries.range(index..).next().map_or(u64::MAX, |(&first, _)| first - 1);
        (span(below, above), None)
    }

    fn entries(&self, within: Span, backwards: bool) -> Vec<Entry> {
        let of = |entries: &BTreeMap<u64, Entry>| {
            entries.values().copied().filter(|(span, _)| span.overlaps(within)).collect::<Vec<_>>()
        };
        let mut seen = of(&self.seen());
        std::thread::yield_now();
        let now = of(&self.entries());
        if seen != now && self.how == Broken::Repeats {
            seen.extend(now);
        } else if seen != now && self.how == Broken::Ends {
            seen.truncate(seen.len() / 2);
        }
        if backwards {
            seen.reverse();
        }
        seen
    }
}

fn judged(how: Broken) -> Sum {
    let mut all = Sum::default();
    // Threads of a busy machine may take turns so rarely that a round meets nothing.
    for seed in 0..20 {
        all = of_subject(&Liar::new(how), &Beside { seed, ..BESIDE }, Duration::ZERO, &mut |_| ()).unwrap();
        if all.reason.is_some() {
            break;
        }
    }
    all
}

#[test]
fn every_broken_map_is_caught() {
    for (how, says) in [
        (Broken::TwoSteps, "was never so"),
        (Broken::Stale, "was never so"),
        (Broken::Repeats, "follows"),
        (Broken::Ends, "which nobody touched"),
    ] {
        let sum = judged(how);
        assert!(sum.wrong > 0, "{says}");
        let reason = sum.reason.unwrap();
        assert!(how != Broken::TwoSteps && how != Broken::Stale || reason.contains("change"), "{reason}");
    }
    let sum = judged(Broken::Not);
    assert!(sum.wrong == 0 && sum.reason.is_none(), "{:?}", sum.reason);
}

/// Judges one read of a map with two entries, of which the second is replaced by the second change.
fn of_one(after: usize, until: usize, seen: Seen) -> Option<String> {
    let mut model = Model::new();
    model.put(Change { over: span(0, 9), value: Some(1) });
    model.put(Change { over: span(20, 29), value: Some(2) });
    let changes = [
        Change { over: span(100, 109), value: Some(3) },
        Change { over: span(25, 34), value: Some(4) },
        Change { over: span(100, 109), value: None },
    ];
    judge(&mut model, &changes, vec![Read { after, until, seen }]).reason
}

#[test]
fn a_read_is_of_a_moment_between_its_start_and_its_end() {
    let slot = |last, value| Seen::Slot(27, span(if value == 2 { 20 } else { 25 }, last), Some(value));
    assert_eq!(of_one(0, 1, slot(29, 2)), None);
    assert_eq!(of_one(1, 2, slot(29, 2)), None);
    assert_eq!(of_one(1, 2, slot(34, 4)), None);
    assert!(of_one(2, 3, slot(29, 2)).unwrap().contains("was never so"));
    assert!(of_one(0, 1, slot(34, 4)).unwrap().contains("from change 0 to change 1"));
    // A range that was never stored.
    assert!(of_one(0, 3, slot(34, 2)).is_some());
    assert_eq!(of_one(0, 3, Seen::Value(103, Some(3))), None);
    assert!(of_one(2, 2, Seen::Value(103, None)).is_some());
}

#[test]
fn an_iterator_yields_what_nobody_touched_once() {
    let entries = |entries: &[(u64, u64, u64)], backwards| Seen::Entries {
        within: span(0, 60),
        backwards,
        entries: entries.iter().map(|&(first, last, value)| (span(first, last), value)).collect(),
    };
    let (first, old, cut, new) = ((0, 9, 1), (20, 29, 2), (20, 24, 2), (25, 34, 4));
    for right in [vec![first, old], vec![first, cut, new], vec![first], vec![first, new]] {
        assert_eq!(of_one(1, 2, entries(&right, false)), None, "{right:?}");
        let back: Vec<_> = right.into_iter().rev().collect();
        assert_eq!(of_one(1, 2, entries(&back, true)), None, "{back:?}");
    }
    for (wrong, says) in [
        (vec![old], "which nobody touched"),
        (vec![first, first, old], "follows"),
        (vec![old, first], "follows"),
        (vec![first, (20, 34, 4)], "was never there"),
        (vec![(0, 9, 7), old], "was never there"),
    ] {
        let reason = of_one(1, 2, entries(&wrong, false)).unwrap();
        assert!(reason.contains(says), "{wrong:?}: {reason}");
    }
    // Before the second change nobody touched the second entry either.
    assert!(of_one(0, 1, entries(&[first], false)).unwrap().contains("which nobody touched"));
}
