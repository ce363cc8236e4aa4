//! `freehold compare`: two documents of the same command, before and after, figure by figure.

use crate::record::{Field, Origin, Record, Results, read};
use std::path::Path;

/// Every figure that both have, with `when` for a parameter; what is exact and differs is said.
///
/// # Errors
/// A document cannot be read, or they are of different commands.
pub fn run(before: &Path, after: &Path) -> anyhow::Result<Results> {
    let (first, old, _) = read(Some(before))?;
    let (second, new, _) = read(Some(after))?;
    anyhow::ensure!(first == second, "these are of different commands: {first} and {second}");
    let mut results = Results::default();
    let measured = |record: &&Record| !matches!(record.origin, Origin::Published(_));
    let (mut same, mut differ, mut gone) = (0u64, 0u64, 0u64);
    for one in old.records.iter().filter(measured) {
        let alike =
            |other: &&Record| (other.metric, other.stat) == (one.metric, one.stat) && other.key == one.key;
        let Some(other) = new.records.iter().find(alike) else {
            gone += 1;
            continue;
        };
        if one.metric.is_exact() && one.value == other.value {
            same += 1;
            continue;
        }
        differ += u64::from(one.metric.is_exact());
        for (when, record) in [("before", one), ("after", other)] {
            let mut record = record.clone();
            record.key = record.key.param(Field::When, when);
            results.records.push(record);
        }
    }
    results
        .note(format!("{same} exact figures are the same, {differ} differ, {gone} are not there any more."));
    Ok(results)
}
