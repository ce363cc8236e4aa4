use freehold::maple::MapleTree;
use freehold::units::Span;
use freehold_lab::Progress;
use freehold_lab::concurrent::history::threads::{changes, put};
use freehold_lab::concurrent::history::{CHANGES, of_subject, stress_maple};
use freehold_lab::run::stress::Options;
use freehold_lab::workload::SplitMix;
use freehold_rivals::maple::history::{Change, Entry, Model, Read, Seen, Verdict, judge};
use std::collections::BTreeMap;
use std::time::Duration;

fn span(first: u64, last: u64) -> Span {
    Span::new(first, last).unwrap()
}

fn beside(duration: Option<Duration>) -> Options {
    Options { threads: Some(3), seed: 5, duration, ..Options::default() }
}

#[test]
fn what_readers_of_ours_see_can_have_been() {
    let beside = beside(Some(Duration::from_millis(300)));
    let results = stress_maple(&beside, &mut Progress::default()).unwrap();
    assert!(!results.failed, "{:?}", results.notes);
    let count = |op: &str| {
        let of = results.records.iter().filter(|record| record.key.op == op);
        of.map(|record| record.value).sum::<f64>()
    };
    assert!(count("stores") >= 2.0 * CHANGES as f64 && count("reads") > 0.0 && count("wrong reads") == 0.0);
}

/// How a map is broken.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Broken {
    /// It is not.
    Not,
    /// A store removes what is in its way first, and then stores; a read comes between.
    TwoSteps,
    /// A read sees the map as it was some time ago.
    Stale,
    /// An iterator that meets a store begins again.
    Repeats,
    /// An iterator that meets a store ends.
    Ends,
}

/// A map as a tree of entries by their first indexes.
type Entries = BTreeMap<u64, Entry>;

/// Empties a span; parts of what reaches beyond it stay.
fn cut(entries: &mut Entries, over: Span) {
    let met: Vec<Entry> = entries.values().copied().filter(|(span, _)| span.overlaps(over)).collect();
    for (span, value) in met {
        entries.remove(&span.first());
        for part in [span.below(over), span.above(over)].into_iter().flatten() {
            entries.insert(part.first(), (part, value));
        }
    }
}

fn slot(entries: &Entries, index: u64) -> Seen {
    if let Some((span, value)) = entries.values().find(|(span, _)| span.contains(index)) {
        return Seen::Slot(index, *span, Some(*value));
    }
    let first = entries.range(..index).next_back().map_or(0, |(_, (span, _))| span.last() + 1);
    let last = entries.range(index..).next().map_or(u64::MAX, |(&first, _)| first - 1);
    Seen::Slot(index, span(first, last), None)
}

/// What is said of a map that is read in the middle of each store, by a look-up and by an iterator, and after it.
fn judged(how: Broken) -> Verdict {
    let changes = changes(400, 1, &mut SplitMix::new(5));
    let (mut map, mut stale, mut reads) = (Entries::new(), Entries::new(), Vec::new());
    for (at, change) in changes.iter().enumerate() {
        let (index, before) = (change.over.first(), map.values().copied().collect::<Vec<_>>());
        let old = map.clone();
        cut(&mut map, change.over);
        let between = if how == Broken::TwoSteps { &map } else { &old };
        reads.push(Read { after: at, until: at + 1, seen: slot(between, index) });
        if let Some(value) = change.value {
            map.insert(index, (change.over, value));
        }
        let mut entries = before;
        match how {
            Broken::Repeats => entries.extend(map.values()),
            Broken::Ends => entries.truncate(entries.len() / 2),
            Broken::Not | Broken::TwoSteps | Broken::Stale => {}
        }
        let seen = Seen::Entries { within: Span::ALL, backwards: false, entries };
        reads.push(Read { after: at, until: at + 1, seen });
        let now = if how == Broken::Stale { &stale } else { &map };
        reads.push(Read { after: at + 1, until: at + 1, seen: slot(now, index) });
        if at % 8 == 0 {
            stale.clone_from(&map);
        }
    }
    judge(&mut Model::default(), &changes, reads)
}

#[test]
fn every_broken_map_is_caught() {
    for (how, says) in [
        (Broken::TwoSteps, "was never so"),
        (Broken::Stale, "was never so"),
        (Broken::Repeats, "follows"),
        (Broken::Ends, "which nobody touched"),
    ] {
        let verdict = judged(how);
        assert!(
            verdict.wrong > 10 && verdict.reason.as_ref().unwrap().contains(says),
            "{how:?}: {verdict:?}"
        );
    }
    let verdict = judged(Broken::Not);
    assert!(verdict.wrong == 0 && verdict.reason.is_none(), "{verdict:?}");
}

/// As ours does, but each hundredth store is lost.
fn lossy(map: &MapleTree<u64>, change: Change) -> Result<bool, String> {
    if change.value.is_some_and(|value| value % 100 == 0) { Ok(true) } else { put(map, change) }
}

#[test]
fn a_map_that_loses_stores_is_caught_beside_threads() {
    let sum =
        of_subject(&MapleTree::new(), &lossy, &beside(None), Duration::from_secs(60), &mut |_| ()).unwrap();
    assert!(sum.reason.is_some() && sum.changes == CHANGES as u64, "{sum:?}");
}

/// Judges one read of a map with two entries, of which the second is replaced by the second change.
fn of_one(after: usize, until: usize, seen: Seen) -> Option<String> {
    let mut model = Model::default();
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
