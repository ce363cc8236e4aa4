//! `freehold bench readers`: maps of ranges that threads share, ours beside what a program might use instead.
//!
//! ```text
//!   ranges    what is stored and read        engines   who is read, in loops
//!   guards, alone, together, beside   the workloads
//! ```
//!
//! Every look-up that is timed is checked: the value that it finds is of the range that it asked for.

mod alone;
mod beside;
pub mod engines;
pub mod guards;
pub mod ranges;
mod together;

use super::{Amount, Bench, Case, Suite};
use crate::promises::{Figure, Promise, at_least, at_most};
use engines::{ENTRIES, Filled, INDEX, MAPLE, OWNED, RWLOCK};
use guards::{EPOCH, GUARDS, RCU};

/// The family in records.
const SUITE: &str = "readers";
/// Ranges of a map, unless others are asked for.
const SIZES: [u32; 2] = [100, 10_000];

const CASES: [Case; 7] = [
    Case { name: "guard", run: guards::run },
    Case { name: "read", run: alone::reads },
    Case { name: "store", run: alone::stores },
    Case { name: "erase", run: alone::erases },
    Case { name: "transaction", run: together::transactions },
    Case { name: "snapshot", run: together::snapshots },
    Case { name: "beside", run: beside::run },
];

impl Bench<'_> {
    fn sizes(&self) -> Vec<u32> {
        if self.options.sizes.is_empty() { SIZES.to_vec() } else { self.options.sizes.clone() }
    }

    /// The maps that are asked for, filled and checked; those that threads share alone, if `shared`.
    fn filled(&mut self, case: &str, count: u32, shared: bool) -> anyhow::Result<Vec<Filled>> {
        let wanted = ENTRIES.iter().filter(|entry| self.wants(&entry.who) && (entry.shared || !shared));
        let wanted: Vec<_> = wanted.collect();
        let mut maps = Vec::new();
        for entry in wanted {
            self.progress.tick(&format!("{case}: checking {}", entry.who.label()));
            let map = Filled::new(entry, count)?;
            map.check()?;
            maps.push(map);
        }
        Ok(maps)
    }
}

/// Maps of ranges that threads share.
pub const READERS: Suite = Suite {
    name: SUITE,
    cases: &CASES,
    amounts: [Amount::QUICK, Amount::USUAL],
    whos: || ENTRIES.iter().map(|entry| entry.who).chain(GUARDS).collect(),
    sizes: Some(2..=1_000_000),
    beside: |_| Ok(()),
    promises,
};

/// What is promised of readers.
fn promises() -> Vec<Promise> {
    let guard = |engine| Figure::time("guard", "enter and leave", engine);
    let read = |op, engine, n| Figure::time("read", op, engine).at("n", n);
    let store = |engine, n| Figure::time("store", "replace", engine).at("n", n);
    let mut all = vec![at_most("guard, by crossbeam-epoch's", guard(RCU), guard(EPOCH), 0.25)];
    for n in [100, 10_000] {
        let owned = || read("guard held", OWNED, n);
        let [held, each] = ["guard held", "guard each"].map(|op| read(op, MAPLE, n));
        all.push(at_most("look-up, guard held, by range-map's", held, owned(), 1.08));
        all.push(at_most("look-up, guard each, by range-map's", each, owned(), 1.15));
        all.push(at_most("store, by range-map's", store(MAPLE, n), store(OWNED, n), 1.6));
    }
    let n = 10_000;
    let beside = |op, engine| Figure::time("beside", op, engine).at("n", n);
    let kept = |what, spins, op, bound| at_least(what, beside(spins, MAPLE), beside(op, MAPLE), bound);
    let rwlocks = |what, op| at_least(what, beside(op, RWLOCK), beside(op, MAPLE), 5.0);
    let each = |engine| read("guard each", engine, n);
    let others = |what, engine, bound| at_least(what, each(engine), each(MAPLE), bound);
    all.extend([
        kept("speed kept beside 1 M stores/s", "a thread that spins", "1 M stores/s", 0.9),
        kept("speed kept, flat out in other half", "a thread that spins, half", "flat out, other half", 0.85),
        kept("speed kept, flat out on same ranges", "a thread that spins", "flat out", 0.5),
        others("RwLock<BTreeMap>, by ours", RWLOCK, 2.0),
        rwlocks("RwLock<BTreeMap>, 1 M stores/s", "1 M stores/s"),
        rwlocks("RwLock<BTreeMap>, flat out", "flat out"),
        others("scc::TreeIndex, exact, by ours", INDEX[0], 2.5),
        others("scc::TreeIndex, any index, by ours", INDEX[1], 5.0),
    ]);
    all
}
