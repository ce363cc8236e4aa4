//! Names that options take: help lists them and shells complete them. Which of them a subject has is checked where that is known.

use crate::adversary::sequences;
use crate::concurrent::look_ups::{OF_KVA, OF_MAPLE, OF_READERS, WORKLOADS};
use crate::concurrent::pools::engines::ENTRIES;
use crate::concurrent::{COUNTERS, MEMORY, POOLS, READERS, Suite};
use crate::engine::{Facts, Listed};
use crate::family::{Family, Kva, Maple, Percpu, Tree};
use crate::kind::Stressed;
use crate::workload::bench::cases as kva_benched;
use crate::workload::suite::{MAPS_BENCHED, PERCPU_BENCHED, Suited};
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};
use std::collections::BTreeSet;
use std::ffi::OsStr;

/// An argument that is one of these names.
#[derive(Clone)]
pub struct Choices(pub fn() -> BTreeSet<String>);

impl TypedValueParser for Choices {
    type Value = String;

    fn parse_ref(&self, cmd: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(cmd, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}

fn listed<F: Family>() -> impl Iterator<Item = String> {
    F::Facts::ALL.iter().chain(F::Facts::VARIANTS).map(Listed::label)
}

/// Of `replay`.
pub fn replayed_engines() -> BTreeSet<String> {
    listed::<Kva>().chain(listed::<Percpu>()).chain(listed::<Maple>()).collect()
}

const SUITES: [&Suite; 4] = [&COUNTERS, &READERS, &POOLS, &MEMORY];

/// Of `bench`.
pub fn benched_engines() -> BTreeSet<String> {
    let looked_up = [OF_KVA, OF_MAPLE, OF_READERS].into_iter().flat_map(|family| family.entries);
    let others = SUITES.into_iter().flat_map(|suite| (suite.whos)());
    let others = looked_up.map(|(who, _)| *who).chain(others).map(|who| who.label());
    listed::<Kva>().chain(listed::<Percpu>()).chain(listed::<Tree>()).chain(others).collect()
}

/// Of `bench`.
pub fn workloads() -> BTreeSet<String> {
    let shared = SUITES.into_iter().flat_map(|suite| suite.cases).map(|case| case.name);
    let families = kva_benched().map(|case| case.name).chain(PERCPU_BENCHED.iter().map(|case| case.name));
    let families = families.chain(MAPS_BENCHED.iter().map(|case| case.name));
    families.chain(shared).chain(WORKLOADS.map(|workload| workload.name)).map(str::to_owned).collect()
}

/// Of `stress`.
pub fn stressed_engines() -> BTreeSet<String> {
    let pools = ENTRIES.iter().map(|(who, _)| who.label());
    listed::<Kva>().chain(listed::<Percpu>()).chain(listed::<Tree>()).chain(pools).collect()
}

/// Of `stress`.
pub fn cases() -> BTreeSet<String> {
    fn names<F: Suited>() -> impl Iterator<Item = String> {
        F::CASES.iter().map(|case| case.name.to_owned())
    }
    names::<Kva>().chain(names::<Percpu>()).chain(names::<Tree>()).collect()
}

/// Of `stress --adversary`.
pub fn suffered() -> BTreeSet<String> {
    let all = Stressed::ALL.iter().filter_map(|&subject| sequences(subject)).flatten();
    all.map(|sequence| sequence.name).chain(["search"]).map(str::to_owned).collect()
}
