//! A text file line by line, plain or compressed, with the number of each line.

use crate::TraceError;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The longest line that is taken for text, in bytes.
const LONGEST_LINE: usize = 1 << 20;

/// The lines of a file. Names ending in `.zst` are decompressed on the way.
pub struct Lines {
    file: PathBuf,
    reader: Box<dyn BufRead>,
    number: u64,
    text: String,
}

impl Lines {
    /// Opens the file.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(file: &Path) -> Result<Self, TraceError> {
        let open = |source| TraceError::Open { file: file.to_owned(), source };
        let plain = File::open(file).map_err(open)?;
        let reader: Box<dyn BufRead> = if file.extension().is_some_and(|ext| ext == "zst") {
            Box::new(BufReader::new(zstd::Decoder::new(plain).map_err(open)?))
        } else {
            Box::new(BufReader::new(plain))
        };
        Ok(Self { file: file.to_owned(), reader, number: 0, text: String::new() })
    }

    /// Reads from memory, under a name for errors.
    #[must_use]
    pub fn from_text(name: &str, text: &str) -> Self {
        let reader = Box::new(std::io::Cursor::new(text.to_owned().into_bytes()));
        Self { file: name.into(), reader, number: 0, text: String::new() }
    }

    /// The next line without its end, or `None` after the last.
    ///
    /// # Errors
    /// The data is damaged or no text, or the file ends within a line.
    pub fn advance(&mut self) -> Result<Option<&str>, TraceError> {
        self.text.clear();
        self.number += 1;
        let mut limited = std::io::Read::take(&mut self.reader, LONGEST_LINE as u64);
        match limited.read_line(&mut self.text) {
            Ok(0) => Ok(None),
            Ok(_) if self.text.ends_with('\n') => Ok(Some(self.text.trim_end_matches(['\n', '\r']))),
            Ok(LONGEST_LINE) => Err(self.error("the line is longer than 1 MiB")),
            Ok(_) => Err(self.error("the file ends within this line")),
            Err(error) => Err(self.error(format!("cannot be read: {error}"))),
        }
    }

    /// An error at the current line.
    pub fn error(&self, reason: impl Into<String>) -> TraceError {
        TraceError::at(&self.file, self.number, reason)
    }

    /// The number of the current line, from 1.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The file's name.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }
}

/// The fields of one line, taken one after the other by name; a `String` error names the field.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    rest: Option<&'a str>,
    separator: char,
}

impl<'a> Fields<'a> {
    /// Fields separated by `separator`.
    #[must_use]
    pub fn new(text: &'a str, separator: char) -> Self {
        Self { rest: Some(text), separator }
    }

    /// The next field.
    ///
    /// # Errors
    /// There is none.
    pub fn text(&mut self, name: &str) -> Result<&'a str, String> {
        let rest = self.rest.ok_or_else(|| format!("{name} is missing"))?;
        match rest.split_once(self.separator) {
            Some((field, rest)) => {
                self.rest = Some(rest);
                Ok(field)
            }
            None => {
                self.rest = None;
                Ok(rest)
            }
        }
    }

    /// The next field as a decimal number or other readable value.
    ///
    /// # Errors
    /// It is missing or unreadable.
    pub fn value<T: FromStr>(&mut self, name: &str) -> Result<T, String> {
        let text = self.text(name)?;
        text.parse().map_err(|_| format!("{name} is unreadable: {text:?}"))
    }

    /// The next field as a decimal number, or `None` if it is empty.
    ///
    /// # Errors
    /// It is missing or unreadable.
    pub fn optional<T: FromStr>(&mut self, name: &str) -> Result<Option<T>, String> {
        let text = self.text(name)?;
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|_| format!("{name} is unreadable: {text:?}"))
    }

    /// The next field as a hexadecimal number, or `None` if it is empty.
    ///
    /// # Errors
    /// It is missing or unreadable.
    pub fn optional_hex(&mut self, name: &str) -> Result<Option<u64>, String> {
        let text = self.text(name)?;
        if text.is_empty() {
            return Ok(None);
        }
        hex(text).map(Some).ok_or_else(|| format!("{name} is not hexadecimal: {text:?}"))
    }

    /// The next field as a hexadecimal number.
    ///
    /// # Errors
    /// It is missing or unreadable.
    pub fn hex(&mut self, name: &str) -> Result<u64, String> {
        self.optional_hex(name)?.ok_or_else(|| format!("{name} is empty"))
    }

    /// Whether every field was taken.
    ///
    /// # Errors
    /// Some were not.
    pub fn end(self) -> Result<(), String> {
        self.rest.map_or(Ok(()), |rest| Err(format!("unexpected {rest:?} at the end")))
    }
}

/// Bare hexadecimal digits; a sign is none.
fn hex(text: &str) -> Option<u64> {
    if text.starts_with('+') { None } else { u64::from_str_radix(text, 16).ok() }
}
