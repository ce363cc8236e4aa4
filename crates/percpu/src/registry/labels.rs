//! Names of metrics, and labels as text.

use super::error::RegistryError;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::string::String;

/// The labels of the series that stands for those beyond a limit.
pub(super) const OVERFLOW: &str = "overflow=\"true\"";

/// Whether a name consists of letters, digits and `_`, and does not begin with a digit. Colons count as letters if
/// `colon`.
fn is_name(name: &str, colon: bool) -> bool {
    let fits = |at: usize, byte: u8| {
        byte.is_ascii_alphabetic() || byte == b'_' || colon && byte == b':' || at > 0 && byte.is_ascii_digit()
    };
    !name.is_empty() && name.bytes().enumerate().all(|(at, byte)| fits(at, byte))
}

/// The labels as text, sorted by name, if all names are valid.
pub(super) fn checked(name: &str, labels: &[(&str, &str)]) -> Result<String, RegistryError> {
    if !is_name(name, true) {
        return Err(RegistryError::Name { name: name.into() });
    }
    let mut sorted = BTreeMap::new();
    for &(label, value) in labels {
        let valid = is_name(label, false) && !label.starts_with("__");
        if !valid || sorted.insert(label, value).is_some() {
            return Err(RegistryError::Label { name: name.into(), label: label.into() });
        }
    }
    let mut text = String::new();
    for (label, value) in sorted {
        let value = escaped(value).replace('"', "\\\"");
        let comma = if text.is_empty() { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = write!(text, "{comma}{label}=\"{value}\"");
    }
    Ok(text)
}

/// As [`checked`]; a histogram has no label `le`, which its buckets have.
pub(super) fn checked_of_histogram(name: &str, labels: &[(&str, &str)]) -> Result<String, RegistryError> {
    match labels.iter().find(|(label, _)| *label == "le") {
        Some((label, _)) => Err(RegistryError::Label { name: name.into(), label: (*label).into() }),
        None => checked(name, labels),
    }
}

/// A text without line ends, in which a backslash begins an escape.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}
