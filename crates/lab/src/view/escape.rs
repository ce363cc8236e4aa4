//! Text from files made safe: as HTML text, and as JSON inside a `<script>` element.

use serde::Serialize;

/// The text as HTML, fit for elements and for quoted attributes.
pub(super) fn html(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            _ => safe.push(letter),
        }
    }
    safe
}

/// The value as JSON without any letter that could end the script around it. These letters only occur within
/// JSON's strings, where the escape means the same.
pub(super) fn json(value: &impl Serialize) -> anyhow::Result<String> {
    let json = serde_json::to_string(value)?;
    let mut safe = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            _ => safe.push(letter),
        }
    }
    Ok(safe)
}
