//! Two results side by side, in the columns in which the kernel's test robots report a change.
//!
//! ```text
//!   a.json           b.json
//!   ---------------- ---------------------------
//!            %stddev     %change         %stddev
//!                \          |                \
//!        1263 ±  4%     -23.2%        970 ±  3%  alloc.time_ns.median
//! ```
//!
//! A share is in hundredths; its change, and that of what was 0, is the difference.

use super::escape::plain;
use super::text::{lines as broken, wrap};
use super::words::shown;
use crate::record::{Field, Metric, Record, Results, Stat, Unit};
use std::collections::HashMap;
use std::fmt::Write;

/// What the two sides are called in records: documents, or recordings.
pub(crate) const DOCUMENTS: [&str; 2] = ["before", "after"];
pub(crate) const RECORDINGS: [&str; 2] = ["first", "second"];

/// Columns of a side, of the change, and of all before the name.
const SIDE: usize = 16;
const CHANGE: usize = 11;
const FIGURES: usize = 2 * SIDE + CHANGE + 3;
/// The least that a name is broken at.
const NAME: usize = 16;

/// The lines of that many columns at most. Names that are longer go on below.
pub(super) fn lines(title: &str, results: &Results, width: usize) -> String {
    let pairs = pairs(results);
    if pairs.is_empty() {
        return String::new();
    }
    let mut text = String::from("\n");
    wrap(&mut text, title, width);
    let called = |at: usize, most: usize| -> String {
        let name = results.facts.get(DOCUMENTS[at]).map(|name| plain(name)).unwrap_or_default();
        name.chars().take(most).collect()
    };
    let (first, second) = (called(0, SIDE), called(1, SIDE + CHANGE));
    let rules = ["-".repeat(SIDE), "-".repeat(SIDE + CHANGE)];
    let _ = write!(text, "{first:SIDE$} {second}\n{} {}\n", rules[0], rules[1]);
    text.push_str(
        "         %stddev     %change         %stddev\n             \\          |                \\\n",
    );
    let mut heading = String::new();
    for (before, after) in pairs {
        let group = [Field::Suite, Field::Workload, Field::Engine].map(|field| before.field(field));
        let group = plain(&group.into_iter().flatten().collect::<Vec<_>>().join(" "));
        if group != heading {
            broken(&format!("{group}:"), width).iter().for_each(|line| text.extend([line, "\n"]));
            heading = group;
        }
        let name = broken_at_joints(&plain(&name(before)), width.saturating_sub(FIGURES).max(NAME));
        let figures = format!("{}{:>CHANGE$} {}", side(before), change(before, after), side(after));
        for (at, part) in name.iter().enumerate() {
            let figures = if at == 0 { figures.as_str() } else { "" };
            let _ = writeln!(text, "{figures:0$}{part}", FIGURES);
        }
    }
    text
}

/// A name in lines of that many columns: broken between its words, and what is longer than a line anywhere.
fn broken_at_joints(name: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in name.split_inclusive(['.', '_']).flat_map(|part| broken(part, width)) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + part.chars().count() <= width => line.push_str(&part),
            _ => lines.push(part),
        }
    }
    lines
}

/// The records of both sides, in the order of the first.
fn pairs(results: &Results) -> Vec<(&Record, &Record)> {
    let at = |record: &Record| record.field(Field::When).unwrap_or_default();
    let identity = |record: &Record| {
        let mut key = record.key.clone();
        key.params.remove(&Field::When);
        let words = serde_json::to_string(&key).unwrap_or_default();
        (words, record.metric.name(), record.stat.name())
    };
    let is_second = |record: &&Record| [DOCUMENTS[1], RECORDINGS[1]].contains(&at(record).as_str());
    let seconds: HashMap<_, _> =
        results.records.iter().filter(is_second).map(|record| (identity(record), record)).collect();
    let is_first = |record: &&Record| [DOCUMENTS[0], RECORDINGS[0]].contains(&at(record).as_str());
    let firsts = results.records.iter().filter(is_first);
    firsts.filter_map(|record| Some((record, *seconds.get(&identity(record))?))).collect()
}

/// The operation, what tells it apart, the metric with its unit, and which figure it is.
fn name(record: &Record) -> String {
    let apart = record.key.params.iter().filter(|(field, _)| {
        ![Field::When, Field::File, Field::Content, Field::Placement, Field::In].contains(field)
    });
    let mut parts: Vec<String> = vec![record.key.op.clone()];
    parts.extend(apart.map(|(field, value)| match field {
        Field::Event | Field::Where | Field::Way => value.to_string(),
        Field::Size => shown(*field, &value.to_string()),
        _ => format!("{}={value}", field.name()),
    }));
    let metric = record.metric.name();
    parts.push(match record.metric.unit() {
        Unit::Nanoseconds => format!("{metric}_ns"),
        Unit::Bytes if !metric.contains("bytes") => format!("{metric}_bytes"),
        Unit::Share => format!("{metric}%"),
        _ => metric.to_owned(),
    });
    let is_usual = record.stat == Stat::Total || (record.metric, record.stat) == (Metric::Time, Stat::Median);
    parts.extend((!is_usual).then(|| record.stat.name().to_owned()));
    parts.retain(|part| !part.is_empty());
    parts.join(".").replace(' ', "_")
}

fn scaled(record: &Record) -> f64 {
    if record.metric.unit() == Unit::Share { (100.0 * record.value).min(f64::MAX) } else { record.value }
}

/// The figure, and its deviation if that rounds to a hundredth and more.
fn side(record: &Record) -> String {
    let share =
        record.stddev.filter(|_| record.value > 0.0).map(|deviation| 100.0 * deviation / record.value);
    let share = share.filter(|share| *share >= 0.5).map(|share| match share {
        ..999.5 => format!("\u{b1}{share:>3.0}%"),
        _ => "\u{b1}>9x".to_owned(), // no more columns
    });
    format!("{:>10} {:<5}", number(scaled(record)), share.unwrap_or_default())
}

fn number(value: f64) -> String {
    if value >= 1e8 {
        let exponent = value.log10().floor() as i32;
        let (digits, exponent) = match format!("{:.3}", value / 10f64.powi(exponent)) {
            // What rounds up to ten has one digit more.
            digits if digits.starts_with("10.") => ("1.000".to_owned(), exponent + 1),
            digits => (digits, exponent),
        };
        format!("{digits}e+{exponent:02}")
    } else if value >= 100.0 || value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}

fn change(before: &Record, after: &Record) -> String {
    let difference = scaled(after) - scaled(before);
    if before.metric.unit() == Unit::Share {
        // Less than that is no change, of either sign.
        return match difference.abs() {
            ..0.005 => "+0.0".to_owned(),
            ..1e6 => format!("{difference:+.2}"),
            _ => format!("{difference:+.2e}"),
        };
    }
    if before.value == 0.0 {
        let sign = if difference < 0.0 { '-' } else { '+' };
        return format!("{sign}{}", number(difference.abs()));
    }
    let percent = 100.0 * difference / before.value;
    match percent.abs() {
        ..0.05 => "+0.0%".to_owned(),
        ..1e5 => format!("{percent:+.1}%"),
        _ => format!("{percent:+.1e}%"),
    }
}
