//! The table of features: every yes is used, every no is answered with `Unsupported`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use freehold::units::{Align, Span};
use freehold_lab::engine::{ENGINES, EngineEntry, FEATURES};
use freehold_trace::kva::{Answer, Op, Session};

const PAGE: u64 = 4096;

fn pages(first: u64, pages: u64) -> Span {
    Span::from_size(first * PAGE, pages * PAGE).unwrap()
}

/// A space of pages 1 to 63, its first page taken.
fn session(entry: &EngineEntry) -> Box<dyn Session> {
    let mut session = (entry.make)(&[pages(1, 63)], Align::PAGE).unwrap();
    assert!(matches!(session.run_counted(&Op::alloc(0, PAGE)).0, Answer::At(_)));
    session
}

fn ask(entry: &EngineEntry, op: &Op) -> Answer {
    session(entry).run_counted(op).0
}

fn request(size_pages: u64, align_pages: u64, window: Span) -> Op {
    let align = Align::new(align_pages * PAGE).unwrap();
    Op::Alloc { object: 1, size_bytes: size_pages * PAGE, align, window }
}

type Row = std::collections::BTreeMap<&'static str, &'static str>;

/// Each engine's cells by column.
fn rows() -> impl Iterator<Item = Row> {
    let cells = |row: &'static Vec<String>| row.iter().map(String::as_str);
    FEATURES.rows.iter().map(move |row| cells(&FEATURES.columns).zip(cells(row)).collect())
}

fn entries(features: &Row) -> Vec<&'static EngineEntry> {
    ENGINES.iter().filter(|entry| entry.engine == features["engine"]).collect()
}

#[test]
fn every_engine_but_the_model_has_its_row() {
    for entry in ENGINES.iter().filter(|entry| entry.engine != "naive") {
        let has = rows().any(|features| features["engine"] == entry.engine);
        assert!(has, "{} has no features", entry.engine);
    }
    for features in rows() {
        assert!(!entries(&features).is_empty(), "{} is no engine", features["engine"]);
    }
}

#[test]
fn alignments_and_windows_are_as_claimed() {
    for features in rows() {
        for entry in entries(&features) {
            match (features["alignment"] == "yes", ask(entry, &request(2, 8, Span::ALL))) {
                (true, Answer::At(start)) => assert_eq!(start % (8 * PAGE), 0, "{}", entry.label()),
                (false, Answer::Unsupported) => {}
                other => panic!("{}: alignment: {other:?}", entry.label()),
            }
            match (features["window"] == "yes", ask(entry, &request(1, 1, pages(40, 10)))) {
                (true, Answer::At(start)) => assert!(pages(40, 10).contains(start), "{}", entry.label()),
                (false, Answer::Unsupported) => {}
                other => panic!("{}: window: {other:?}", entry.label()),
            }
        }
    }
}

#[test]
fn fixed_places_are_as_claimed() {
    for features in rows() {
        for entry in entries(&features) {
            let mut session = session(entry);
            let mut place = |object, span| session.run_counted(&Op::alloc_at(object, span)).0;
            let odd = [place(1, pages(33, 3)), place(2, pages(34, 1))];
            let even = [place(3, pages(40, 4)), place(4, pages(40, 4))];
            let [free, taken] = [33, 40].map(|page| [Answer::At(page * PAGE), Answer::NoRoom]);
            let none = [Answer::Unsupported; 2];
            let right = match features["fixed place"] {
                "yes" => odd == free && even == taken,
                "own blocks" => odd[0] == Answer::Unsupported && even == taken,
                _ => odd == none && even == none,
            };
            assert!(right, "{}: {odd:?}, {even:?}", entry.label());
        }
    }
}

#[test]
fn top_down_and_congruent_are_as_claimed() {
    let areas = vec![pages(0, 2), pages(6, 1)].into();
    let congruent = Op::Congruent { object: 1, areas, align: Align::PAGE, window: Span::ALL };
    for features in rows() {
        let highest = entries(&features).iter().any(|entry| {
            let answer = ask(entry, &request(4, 1, Span::ALL));
            // Its first page was the last of the space.
            answer == Answer::At(59 * PAGE)
        });
        assert_eq!(highest, features["top-down"] == "yes", "{}: top-down", features["engine"]);
        for entry in entries(&features) {
            match (features["congruent"] == "yes", ask(entry, &congruent)) {
                (true, Answer::At(_)) | (false, Answer::Unsupported) => {}
                other => panic!("{}: congruent: {other:?}", entry.label()),
            }
        }
    }
}

#[test]
fn the_policies_named_lowest_and_best_are() {
    // Holes of 3, 1 and 2 pages, low to high, before the rest: a page goes into the first or the second.
    for features in rows() {
        let mut taken = Vec::new();
        for entry in entries(&features).into_iter().filter(|_| features["fixed place"] == "yes") {
            let mut session = (entry.make)(&[pages(1, 63)], Align::PAGE).unwrap();
            for (object, span) in [pages(4, 1), pages(6, 1), pages(9, 40)].into_iter().enumerate() {
                let object = u32::try_from(object).unwrap();
                session.run_counted(&Op::alloc_at(object, span));
            }
            taken.push(session.run_counted(&Op::alloc(9, PAGE)).0);
        }
        for (policy, page) in [("lowest", 1), ("best", 5)] {
            let expected = features["address taken"].contains(policy) && !taken.is_empty();
            let found = taken.contains(&Answer::At(page * PAGE));
            assert!(found || !expected, "{}: {policy}: {taken:?}", features["engine"]);
        }
    }
}
