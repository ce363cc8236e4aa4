//! `freehold compare`: two documents of the same command, or two recordings of a kind, figure by figure.

use super::inspect;
use crate::failure::usage;
use crate::kind::{Kind, Suite};
use crate::predict::{Settings, Way, add_predicted};
use crate::record::{Environment, Field, Key, Metric, Origin, Record, Results, Stat, read};
use crate::view::{DOCUMENTS, RECORDINGS};
use crate::workload::labelled;
use std::path::Path;

/// What recordings that are set side by side are called, whatever they are of.
const RECORDING: &str = "recording";

/// Two JSON documents, or two recordings, whichever these are; and where the second was measured, of documents.
///
/// # Errors
/// One cannot be read, they are of different commands or kinds, or one is a document and the other is not.
pub fn run(before: &Path, after: &Path) -> anyhow::Result<(Results, Environment)> {
    // A file of no known kind may be a document.
    let kinds = [before, after].map(Kind::of);
    let (mut results, environment) = match kinds {
        [Err(_), Err(_)] => documents(before, after)?,
        [Ok(first), Ok(second)] if first == second => (recordings(before, after)?, Environment::here()),
        [Ok(_), Ok(_)] => return usage("these are recordings of different kinds"),
        [Err(error), Ok(_)] | [Ok(_), Err(error)] => {
            return usage(format!(
                "two recordings or two documents are needed; of these one is a recording, but {error}"
            ));
        }
    };
    for (side, file) in DOCUMENTS.into_iter().zip([before, after]) {
        let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
        results.fact(side, name);
    }
    Ok((results, environment))
}

/// Every figure that both have, and whether they were measured alike.
fn documents(before: &Path, after: &Path) -> anyhow::Result<(Results, Environment)> {
    let (first, old, there) = read(Some(before))?;
    let (second, new, here) = read(Some(after))?;
    let mut results = results((&first, &old), (&second, &new))?;
    let differences = there.differences(&here);
    if !differences.is_empty() {
        results.note(format!(
            "Times do not compare, as machine or build is another. {}.",
            differences.join("; ")
        ));
    }
    Ok((results, here))
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
        put_pair(&mut results, DOCUMENTS, one, other);
    }
    let more = (new.records.iter().filter(measured).count() as u64).saturating_sub(common);
    results.note(format!(
        "Exact figures: {same} the same, {differ} different. Figures of the first document alone: {gone}; of the second: {more}."
    ));
    if common == 0 {
        results.note("FAILED: no figure is in both documents, so nothing was compared. Of two recordings, compare the files themselves.");
        results.failed = true;
    }
    Ok(results)
}

/// The first with its words, and the second under the same.
fn put_pair(results: &mut Results, sides: [&str; 2], one: &Record, other: &Record) {
    for (side, record) in sides.into_iter().zip([one, other]) {
        let mut record = record.clone();
        record.key = one.key.clone().param(Field::When, side);
        results.records.push(record);
    }
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

/// Events by kind, sizes, life times, and what of the addresses is predicted. A kind of event that one lacks is 0 there.
fn recordings(before: &Path, after: &Path) -> anyhow::Result<Results> {
    let (first, second) = (figures(before)?, figures(after)?);
    let mut results = Results::default();
    first.notes.iter().chain(&second.notes).for_each(|note| results.note(note.clone()));
    let find = |records: &[Record], wanted: &Record| {
        let is_same = |record: &&Record| {
            record.key == wanted.key && (record.metric, record.stat) == (wanted.metric, wanted.stat)
        };
        records.iter().find(is_same).cloned()
    };
    // What is not there was not counted, if it is something that is counted.
    let absent = |record: &Record| {
        let is_number = matches!(record.metric, Metric::Count | Metric::Rate);
        is_number.then(|| Record { value: 0.0, samples: 0, ..record.clone() })
    };
    for one in &first.records {
        let other = find(&second.records, one).or_else(|| absent(one));
        // What neither has is not told.
        if let Some(other) = other.filter(|other| one.value != 0.0 || other.value != 0.0) {
            put_pair(&mut results, RECORDINGS, one, &other);
        }
    }
    let is_new = |other: &&Record| other.value != 0.0 && find(&first.records, other).is_none();
    for other in second.records.iter().filter(is_new) {
        if let Some(one) = absent(other) {
            put_pair(&mut results, RECORDINGS, &one, other);
        }
    }
    Ok(results)
}

/// What is told of a recording, under one name for all.
fn figures(file: &Path) -> anyhow::Result<Results> {
    let mut results = inspect::run(file)?;
    if Kind::of(file)? == Kind::Trace(Suite::Kva) {
        let mut predicted = Results::default();
        // What can be inspected may lack what a prediction needs.
        match add_predicted(file, None, &Settings::default(), Way::default(), &mut predicted) {
            Ok(()) => {
                add_shares(&mut predicted);
                results.absorb(predicted);
            }
            Err(reason) => {
                results.note(format!("{}: addresses are not predicted: {reason:#}", file.display()))
            }
        }
    }
    results.records.retain(is_of_recordings);
    for record in &mut results.records {
        RECORDING.clone_into(&mut record.key.workload);
        // They are predicted by the rules of their own kernels.
        for field in [Field::File, Field::Content, Field::Way] {
            record.key.params.remove(&field);
        }
    }
    Ok(results)
}

/// Whether a figure can be held against another recording's: no moment of the one, and no second form of another figure.
fn is_of_recordings(record: &Record) -> bool {
    match record.key.op.as_str() {
        "live set" | "can wait" | "cannot wait" => false,
        "sizes" => matches!(record.metric, Metric::Count | Metric::Share),
        _ => true,
    }
}

/// What was predicted, as parts of all allocations.
fn add_shares(predicted: &mut Results) {
    let is_predicted = |record: &&Record| record.key.op == "predicted";
    let counts: Vec<(Key, f64)> = predicted
        .records
        .iter()
        .filter(is_predicted)
        .map(|record| (record.key.clone(), record.value))
        .collect();
    let of = |key: &Key, place: &str| key.field(Field::Where).as_deref() == Some(place);
    // The sum of all that is predicted is among them.
    let all: f64 = counts.iter().filter(|(key, _)| !of(key, "predicted")).map(|(_, value)| value).sum();
    for (key, value) in counts {
        predicted.of(key).put(
            Metric::Share,
            Stat::Total,
            if all > 0.0 { value / all } else { 0.0 },
            all as u64,
        );
    }
}
