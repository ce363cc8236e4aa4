//! Text from files made safe: as HTML text, as JSON inside a `<script>` element, and for terminals.

use serde::Serialize;

/// The text as HTML, fit for elements and for quoted attributes.
pub(super) fn html(text: &str) -> String {
    let escapes = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&#39;")];
    escapes.iter().fold(text.to_owned(), |text, &(letter, escape)| text.replace(letter, escape))
}

/// Prose as HTML: what stands between two backticks is code.
pub(super) fn prose(text: &str) -> String {
    let escaped = html(text);
    let parts: Vec<&str> = escaped.split('`').collect();
    // A backtick without another is one of the text.
    if parts.len().is_multiple_of(2) {
        return escaped;
    }
    let part = |(at, part): (usize, &&str)| match at % 2 {
        0 => (*part).to_owned(),
        _ => format!("<code>{part}</code>"),
    };
    parts.iter().enumerate().map(part).collect()
}

/// The value as JSON without any letter that could end the script around it. These letters only occur within
/// JSON's strings, where the escape means the same.
pub(super) fn json(value: &impl Serialize) -> anyhow::Result<String> {
    let json = serde_json::to_string(value)?;
    let letters = ['<', '>', '&', '\u{2028}', '\u{2029}'];
    Ok(letters
        .iter()
        .fold(json, |json, &letter| json.replace(letter, &format!("\\u{:04x}", u32::from(letter)))))
}

/// The text without letters that a terminal takes for commands, or that no reader sees: they are escaped as in Rust.
pub fn plain(text: &str) -> String {
    let escaped = |letter: char| match letter {
        '"' | '\'' | '\\' => letter.to_string(),
        other => other.escape_debug().to_string(),
    };
    text.chars().map(escaped).collect()
}

/// The text in ASCII, letter by letter, so that columns stay where they are.
pub fn ascii(text: &str) -> String {
    let letter = |letter: char| match letter {
        '\u{b7}' => '-',
        '\u{b1}' | '…' => '~',
        other if other.is_ascii() => other,
        _ => '?',
    };
    text.chars().map(letter).collect()
}

/// A figure of a page, with its heading and how to read it.
pub(super) fn figure(attributes: &str, title: &str, reading: &str, body: &str) -> String {
    let (title, reading) = (html(title), html(reading));
    format!("<figure {attributes}><figcaption><h4>{title}</h4><p>{reading}</p></figcaption>{body}</figure>\n")
}
