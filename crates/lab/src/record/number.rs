//! Numbers as people read them.

use super::Unit;
use freehold::units::Bytes;

/// A whole number, its thousands set apart.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// So many of a thing: `1 file`, `2 entries`, `1,000 mismatches`.
pub fn counted(number: u64, thing: &str) -> String {
    format!("{} {}", count(number), of_number(number, thing))
}

/// The word for so many of a thing, which is one of a kind that ends as English words do.
pub fn of_number(number: u64, thing: &str) -> String {
    match (thing.strip_suffix('y'), thing.ends_with("ch")) {
        _ if number == 1 => thing.to_owned(),
        (Some(stem), _) => format!("{stem}ies"),
        (None, is_sibilant) => format!("{thing}{}", if is_sibilant { "es" } else { "s" }),
    }
}

/// A number with as many decimals as it deserves.
pub fn fixed(value: f64) -> String {
    if value >= 1000.0 {
        count(value.round() as u64)
    } else if value >= 100.0 {
        format!("{value:.0}")
    } else if value >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

/// A time in nanoseconds, or in the unit in which it is short.
pub fn nanoseconds(ns: f64) -> String {
    nanoseconds_like(ns, ns)
}

/// A time in the unit in which another is short.
fn nanoseconds_like(ns: f64, like: f64) -> String {
    match like {
        ..10_000.0 if ns < 100.0 => format!("{ns:.1} ns"),
        ..10_000.0 => format!("{} ns", count(ns.round() as u64)),
        ..10_000_000.0 => format!("{} us", fixed(ns / 1e3)),
        ..10_000_000_000.0 => format!("{} ms", fixed(ns / 1e6)),
        _ => format!("{} s", fixed(ns / 1e9)),
    }
}

/// A figure in the unit of its column, in which the column's least figure is short.
pub fn figure_like(unit: Unit, value: f64, least: f64) -> String {
    match unit {
        Unit::Nanoseconds => nanoseconds_like(value, least),
        Unit::Bytes if least < 1024.0 => format!("{} B", fixed_count(value)),
        Unit::Bytes if least < 10.0 * 1024.0 * 1024.0 => format!("{} KiB", fixed(value / 1024.0)),
        Unit::Bytes => format!("{} MiB", fixed(value / (1024.0 * 1024.0))),
        _ => figure(unit, value),
    }
}

fn fixed_count(value: f64) -> String {
    if value.fract() == 0.0 { count(value as u64) } else { fixed(value) }
}

/// A figure in its unit: one way to write numbers, wherever they stand.
pub fn figure(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Nanoseconds => nanoseconds(value),
        Unit::Bytes if value >= 1024.0 => Bytes::from(value.round() as u64).to_string(),
        Unit::Bytes => format!("{} B", fixed_count(value)),
        Unit::Share if value > 0.0 && value < 0.001 => format!("{:.4} %", 100.0 * value),
        Unit::Share => format!("{:.1} %", 100.0 * value),
        Unit::Count if value.fract() == 0.0 && value >= 0.0 => count(value as u64),
        Unit::Ratio if value < 10.0 => format!("{value:.3}"),
        Unit::Count | Unit::Ratio | Unit::PerSecond => fixed(value),
    }
}
