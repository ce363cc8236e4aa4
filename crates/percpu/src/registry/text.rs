//! The text that a page is written into. Its growth can fail.
//!
//! A part for which there is no memory is left out, and the failure is recorded, so that formatting code passes no
//! errors. The call that takes the text returns the error.

use crate::OutOfMemory;
use std::alloc::{Layout, handle_alloc_error};
use std::fmt::{self, Write};
use std::string::String;
use std::vec::Vec;

/// Text, and whether a part of it is missing for lack of memory.
#[derive(Debug, Default)]
pub(super) struct Text {
    text: String,
    is_refused: bool,
}

impl Text {
    pub(super) fn push_str(&mut self, part: &str) {
        if self.text.try_reserve(part.len()).is_ok() {
            self.text.push_str(part);
        } else {
            self.is_refused = true;
        }
    }

    /// Appends a text without line ends, in which a backslash begins an escape; one of quotes, too, if `quotes`.
    pub(super) fn push_escaped(&mut self, text: &str, quotes: bool) {
        for part in text.split_inclusive(['\\', '\n', '"']) {
            let (before, escape) = match part.as_bytes().last() {
                Some(b'\\') => (&part[..part.len() - 1], "\\\\"),
                Some(b'\n') => (&part[..part.len() - 1], "\\n"),
                Some(b'"') if quotes => (&part[..part.len() - 1], "\\\""),
                _ => (part, ""),
            };
            self.push_str(before);
            self.push_str(escape);
        }
    }

    /// The text so far, if no part is missing.
    pub(super) fn get(&self) -> Result<&str, OutOfMemory> {
        if self.is_refused { Err(OutOfMemory) } else { Ok(&self.text) }
    }

    /// The text, if no part is missing.
    pub(super) fn finish(self) -> Result<String, OutOfMemory> {
        if self.is_refused { Err(OutOfMemory) } else { Ok(self.text) }
    }

    /// Empties the text, and keeps its memory.
    pub(super) fn clear(&mut self) {
        self.text.clear();
    }
}

impl Write for Text {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.push_str(part);
        Ok(())
    }
}

/// A copy of a text.
pub(super) fn try_owned(text: &str) -> Result<String, OutOfMemory> {
    let mut copy = Text::default();
    copy.push_str(text);
    copy.finish()
}

/// Appends an item to a list.
pub(super) fn try_push<T>(list: &mut Vec<T>, item: T) -> Result<(), OutOfMemory> {
    list.try_reserve(1).map_err(|_| OutOfMemory)?;
    list.push(item);
    Ok(())
}

/// What could be made. Aborts without memory, as the standard library's collections do.
pub(super) fn or_abort<T>(made: Result<T, OutOfMemory>) -> T {
    made.unwrap_or_else(|OutOfMemory| handle_alloc_error(Layout::new::<String>()))
}
