//! What is promised of counters.

use crate::promises::{Figure, Promise, at_least, at_most, below};
use crate::record::{Metric, Stat};

/// The one of ours that a program gets.
const OUR: &str = super::engines::OURS;
const BULK: &str = "percpu:bulk";

/// Every promise.
pub(super) fn all() -> Vec<Promise> {
    let mut all = Vec::new();
    let add = |engine, threads| Figure::time("add", "add", engine).at("threads", threads);
    for threads in [1, 2] {
        let rung_2 = || add("percpu:rung-2", threads);
        let record = Figure::time("histogram", "record", OUR).at("threads", threads);
        all.push(at_most("an add, by one of rung 2", add(OUR, threads), rung_2(), 0.75));
        all.push(at_most(
            "an add by mm_cid, by one of rung 2",
            add("percpu:mm-cid", threads),
            rung_2(),
            0.75,
        ));
        all.push(at_most("a record of a histogram, by an add", record, add(OUR, threads), 2.5));
    }
    let shared = add("shared-atomic", 2);
    all.push(at_least("an add to one atomic that threads share, by ours", shared, add(OUR, 2), 5.0));
    let bytes = Figure::time("counter-memory", "by the second CPU", OUR).of(Metric::Resident, Stat::Mean);
    all.push(below("bytes of a counter for a further CPU that ran", bytes, 10.0));
    let read = |engine| Figure::time("snapshot", "read", engine);
    all.push(at_most("a snapshot, by a copy of the same bytes", read(OUR), read("copy"), 2.5));
    for (op, what) in [
        ("make", "64 counters at once, by 64 one by one, from magazines"),
        ("first fill", "64 counters at once, by 64 one by one, first fill"),
    ] {
        let batch = |engine| Figure::time("heap-batch", op, engine);
        all.push(at_most(what, batch(BULK), batch(OUR), 0.25));
    }
    for (op, what) in [
        ("make", "locks taken for a counter that is made"),
        ("drop", "locks taken for a counter that is dropped"),
    ] {
        let locks = Figure::time("heap-locks", op, OUR).of(Metric::Locks, Stat::Mean);
        all.push(below(what, locks, 1.0 / 16.0));
    }
    all
}
