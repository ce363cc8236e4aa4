//! Names of metrics and labels in Prometheus's form.

/// A name in which each character that Prometheus does not accept is `_`.
pub(crate) fn sanitized(name: &str) -> String {
    let known = |at: usize, c: char| c.is_ascii_alphabetic() || c == '_' || at > 0 && c.is_ascii_digit();
    name.chars().enumerate().map(|(at, c)| if known(at, c) { c } else { '_' }).collect()
}

/// As `sanitized`, for a label. Its name must not begin with two `_`, which Prometheus reserves.
pub(crate) fn sanitized_label(name: &str) -> String {
    let name = sanitized(name);
    if name.starts_with("__") { format!("_{}", name.trim_start_matches('_')) } else { name }
}
