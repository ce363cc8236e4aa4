//! Names of metrics and labels in Prometheus's form.

/// A metric's name in which each character that Prometheus does not accept is `_`.
pub(crate) fn sanitized(name: &str) -> String {
    replaced(name, true)
}

/// As `sanitized`, for a label, which has no colon. Its name must not begin with two `_`, which Prometheus reserves.
pub(crate) fn sanitized_label(name: &str) -> String {
    let name = replaced(name, false);
    if name.starts_with("__") { format!("_{}", name.trim_start_matches('_')) } else { name }
}

/// A name with `_` for each character that is neither a letter, a digit behind the first character, nor `_`. Colons
/// count as letters if `colon`.
fn replaced(name: &str, colon: bool) -> String {
    let known = |at: usize, c: char| {
        c.is_ascii_alphabetic() || c == '_' || colon && c == ':' || at > 0 && c.is_ascii_digit()
    };
    name.chars().enumerate().map(|(at, c)| if known(at, c) { c } else { '_' }).collect()
}
