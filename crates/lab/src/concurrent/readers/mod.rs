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
mod guards;
pub mod ranges;
mod together;

use super::look_ups::{self, OF_READERS};
use super::{Amount, Bench, Case, Suite};
use engines::{ENTRIES, Filled};
use guards::GUARDS;

/// The family in records.
const SUITE: &str = "readers";
/// Ranges of a map, unless others are asked for.
const SIZES: [u32; 2] = [100, 10_000];

impl Bench<'_> {
    fn sizes(&self) -> Vec<u32> {
        if self.options.sizes.is_empty() { SIZES.to_vec() } else { self.options.sizes.clone() }
    }

    /// The maps that are asked for, filled and checked; those that threads share alone, if `shared`.
    fn filled(&mut self, case: &str, count: u32, shared: bool) -> anyhow::Result<Vec<Filled>> {
        let options = self.options;
        let wanted = ENTRIES.iter().filter(|entry| options.wants(&entry.who) && (entry.shared || !shared));
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
    cases: &[
        Case { name: "guard", run: guards::run },
        Case { name: "read", run: alone::reads },
        Case { name: "store", run: alone::stores },
        Case { name: "erase", run: alone::erases },
        Case { name: "transaction", run: together::transactions },
        Case { name: "snapshot", run: together::snapshots },
        Case { name: "beside", run: beside::run },
        Case {
            name: look_ups::WORKLOADS[0].name,
            run: |bench| bench.look_ups(&OF_READERS, look_ups::WORKLOADS[0]),
        },
        Case {
            name: look_ups::WORKLOADS[1].name,
            run: |bench| bench.look_ups(&OF_READERS, look_ups::WORKLOADS[1]),
        },
    ],
    amounts: [Amount::QUICK, Amount::USUAL],
    whos: || {
        let mut whos: Vec<_> =
            ENTRIES.iter().map(|entry| entry.who).chain(GUARDS.map(|(who, _)| who)).collect();
        let looked_up = OF_READERS.entries.iter().map(|(who, _)| *who);
        whos.extend(looked_up.filter(|who| !ENTRIES.iter().any(|entry| entry.who.label() == who.label())));
        whos
    },
    sizes: Some(2..=1_000_000),
    beside: |_| Ok(()),
};
