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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_has_no_markup_left() {
        assert_eq!(html("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
        assert_eq!(html("plain, 1_234 \u{e9}"), "plain, 1_234 \u{e9}");
    }

    #[test]
    fn json_cannot_end_its_script() {
        let text = "</script><!-- & \u{2028}\u{2029} \"quoted\" \\";
        let safe = json(&text).unwrap();
        assert!(!safe.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
    }
}
