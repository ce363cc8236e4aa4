//! What recordings, engines and values are called.

use crate::record::{Field, count};
use freehold::units::Bytes;
use std::collections::BTreeMap;
use std::sync::LazyLock;

#[allow(clippy::expect_used, reason = "a test reads it")]
static RECORDED: LazyLock<BTreeMap<String, String>> =
    LazyLock::new(|| toml::from_str(include_str!("../../bench/recorded.toml")).expect("names of recordings"));

/// What was recorded, if the workload is a recording that has a name.
pub(super) fn recorded(workload: &str) -> Option<&'static str> {
    RECORDED.get(workload).map(String::as_str)
}

/// The text as a sentence begins.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Whether the text is a recording's name.
pub(super) fn is_recording(text: &str) -> bool {
    RECORDED.values().any(|recording| recording == text)
}

/// What the value of a field is called.
pub(super) fn shown(field: Field, value: &str) -> String {
    match field {
        Field::Engine if value == "floor" => "floor (not judged)".to_owned(),
        Field::N => value.parse().map_or_else(|_| value.to_owned(), count),
        Field::Size | Field::UnitBytes => {
            value.parse().map_or_else(|_| value.to_owned(), |bytes| Bytes(bytes).to_string())
        }
        Field::Workload => recorded(value).unwrap_or(value).to_owned(),
        Field::File => value.rsplit('/').next().unwrap_or(value).to_owned(),
        _ => value.to_owned(),
    }
}
