//! `freehold compare`: two documents of the same command, before and after, figure by figure.

use crate::record::{Field, Origin, Record, Results, read};
use crate::workload::labelled;
use std::path::Path;

/// Compares two files, as [`results`] does.
///
/// # Errors
/// A document cannot be read, or they are of different commands.
pub fn run(before: &Path, after: &Path) -> anyhow::Result<Results> {
    let (first, old, _) = read(Some(before))?;
    let (second, new, _) = read(Some(after))?;
    results((&first, &old), (&second, &new))
}

/// Every figure that both have, with `when` for a parameter; what is exact and differs is said. It has failed if there is none.
///
/// # Errors
/// They are of different commands.
pub fn results((first, old): (&str, &Results), (second, new): (&str, &Results)) -> anyhow::Result<Results> {
    anyhow::ensure!(first == second, "these are of different commands: {first} and {second}");
    let mut results = Results::default();
    let measured = |record: &&Record| !matches!(record.origin, Origin::Published(_));
    let (mut same, mut differ, mut gone, mut common) = (0u64, 0u64, 0u64, 0u64);
    for one in old.records.iter().filter(measured) {
        let Some(other) = new.records.iter().find(|other| is_same_figure(one, other)) else {
            gone += 1;
            continue;
        };
        common += 1;
        if one.metric.is_exact() && one.value == other.value {
            same += 1;
            continue;
        }
        differ += u64::from(one.metric.is_exact());
        for (when, record) in [("before", one), ("after", other)] {
            let mut record = record.clone();
            record.key = one.key.clone().param(Field::When, when);
            results.records.push(record);
        }
    }
    let more = (new.records.iter().filter(measured).count() as u64).saturating_sub(common);
    results.note(format!(
        "{same} exact figures are the same, {differ} differ; {gone} are in the first document alone, {more} in the second."
    ));
    if common == 0 {
        results.note("FAILED: no figure is in both documents, so nothing was compared.");
        results.failed = true;
    }
    Ok(results)
}

/// Whether two are figures of the same: of one workload, engine and operation. Files are told apart by their content, whatever
/// they are called; documents that do not tell it are taken at the workload's word.
fn is_same_figure(one: &Record, other: &Record) -> bool {
    let content = |record: &Record| record.key.field(Field::Content);
    let other_content = content(one).zip(content(other)).is_some_and(|(one, other)| one != other);
    let bare = |record: &Record| {
        let mut key = record.key.clone();
        let file = key.params.remove(&Field::File).map(|file| file.to_string()).unwrap_or_default();
        key.params.remove(&Field::Content);
        // What tells recordings of one name apart within a document.
        key.workload = key.workload.strip_suffix(&labelled("", &file)).unwrap_or(&key.workload).to_owned();
        key
    };
    (one.metric, one.stat) == (other.metric, other.stat) && !other_content && bare(one) == bare(other)
}
