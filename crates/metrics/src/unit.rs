//! How finely the values of a histogram are stored: by the unit that is described, or that the name ends with.

use metrics::Unit;

/// Units whose values are whole multiples of a part of theirs.
const UNITS: [Unit; 15] = [
    Unit::Count,
    Unit::Seconds,
    Unit::Milliseconds,
    Unit::Microseconds,
    Unit::Nanoseconds,
    Unit::Tebibytes,
    Unit::Gibibytes,
    Unit::Mebibytes,
    Unit::Kibibytes,
    Unit::Bytes,
    Unit::TerabitsPerSecond,
    Unit::GigabitsPerSecond,
    Unit::MegabitsPerSecond,
    Unit::KilobitsPerSecond,
    Unit::BitsPerSecond,
];

/// Parts of a unit that are stored: nanoseconds, bytes, bits or whole numbers. `None` for a unit whose values are no
/// multiples of anything.
pub(crate) fn parts(unit: Unit) -> Option<f64> {
    let power_of_1024 = |power: i32| 1024_f64.powi(power);
    match unit {
        Unit::Count | Unit::Nanoseconds | Unit::Bytes | Unit::BitsPerSecond => Some(1.0),
        Unit::Microseconds | Unit::KilobitsPerSecond => Some(1e3),
        Unit::Milliseconds | Unit::MegabitsPerSecond => Some(1e6),
        Unit::Seconds | Unit::GigabitsPerSecond => Some(1e9),
        Unit::TerabitsPerSecond => Some(1e12),
        Unit::Kibibytes => Some(power_of_1024(1)),
        Unit::Mebibytes => Some(power_of_1024(2)),
        Unit::Gibibytes => Some(power_of_1024(3)),
        Unit::Tebibytes => Some(power_of_1024(4)),
        Unit::Percent | Unit::CountPerSecond => None,
    }
}

/// The unit that a name ends with: that of `body_bytes` is bytes.
pub(crate) fn of_name(name: &str) -> Option<Unit> {
    let ends = |unit: &Unit| {
        name.strip_suffix(unit.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('_'))
    };
    // `bits_per_second` ends with no other unit; `count_per_second` ends with none of these.
    UNITS.into_iter().find(ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_units() {
        for (name, parts_of_1) in [
            ("http_request_seconds", Some(1e9)),
            ("seconds", Some(1e9)),
            ("a_milliseconds", Some(1e6)),
            ("body_bytes", Some(1.0)),
            ("body_kibibytes", Some(1024.0)),
            ("link_bits_per_second", Some(1.0)),
            ("rate_per_second", None),
            ("jobs_count_per_second", None),
            ("kilobytes", None),
            ("megaseconds", None),
            ("ratio", None),
            ("", None),
        ] {
            assert_eq!(of_name(name).and_then(parts), parts_of_1, "{name}");
        }
        assert!(UNITS.into_iter().all(|unit| parts(unit).is_some()));
    }
}
