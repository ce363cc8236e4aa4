//! A text file line by line, plain or compressed, with the number of each line.

use crate::TraceError;
use crate::source::{self, NOT_UTF8, wrong_encoding};
use freehold_units::Align;
use std::io::{BufRead, ErrorKind};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The longest line that is taken for text, in bytes.
const LONGEST_LINE: usize = 1 << 20;
/// Lines of a file at most. What is made of them is kept in memory, and a small file may be the compressed form of any number
/// of them.
pub const MOST_LINES: u64 = 1 << 21;
/// Bytes of a file at most, for the same reason.
const MOST_BYTES: u64 = 1 << 29;

/// Why a header cannot be read on.
pub(crate) const HEADER_CUT_OFF: &str = "the file ends within its header";

/// The lines of a file, decompressed on the way.
pub struct Lines {
    file: PathBuf,
    reader: Box<dyn BufRead>,
    number: u64,
    /// Bytes that were read.
    size: u64,
    text: String,
    lossy: bool,
    endless: bool,
}

impl Lines {
    /// Opens the file.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(file: &Path) -> Result<Self, TraceError> {
        let reader =
            source::open(file).map_err(|reason| TraceError::Open { file: file.to_owned(), reason })?;
        Ok(Self::of(file.to_owned(), reader))
    }

    fn of(file: PathBuf, reader: Box<dyn BufRead>) -> Self {
        Self { file, reader, number: 0, size: 0, text: String::new(), lossy: false, endless: false }
    }

    /// Reads from memory, under a name for errors.
    #[must_use]
    pub fn from_text(name: &str, text: &str) -> Self {
        Self::from_bytes(name, text.as_bytes().to_vec())
    }

    /// Reads from memory, under a name for errors; the bytes need not be text.
    #[must_use]
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Self {
        Self::of(name.into(), Box::new(std::io::Cursor::new(bytes)))
    }

    /// The same, where what is not UTF-8 is replaced: names of tasks and of files, which others chose, may be any bytes.
    #[must_use]
    pub fn lossy(self) -> Self {
        Self { lossy: true, ..self }
    }

    /// The same without a limit of lines and bytes: for files of which little is kept in memory.
    #[must_use]
    pub fn endless(self) -> Self {
        Self { endless: true, ..self }
    }

    /// The next line without its end, or `None` after the last.
    ///
    /// # Errors
    /// The data is damaged or no text, or the file ends within a line.
    pub fn advance(&mut self) -> Result<Option<&str>, TraceError> {
        self.text.clear();
        self.number += 1;
        if self.number == 1
            && let Some(what) = self.reader.fill_buf().ok().and_then(wrong_encoding)
        {
            return Err(self.error(what));
        }
        let mut limited = std::io::Read::take(&mut self.reader, LONGEST_LINE as u64);
        let read = if self.lossy {
            let mut bytes = Vec::new();
            let read = limited.read_until(b'\n', &mut bytes);
            self.text.push_str(&String::from_utf8_lossy(&bytes));
            read
        } else {
            limited.read_line(&mut self.text)
        };
        self.size += self.text.len() as u64;
        match read {
            Ok(1..) if !self.endless && (self.number > MOST_LINES || self.size > MOST_BYTES) => {
                Err(self.too_long())
            }
            Ok(0) => Ok(None),
            Ok(_) if self.text.ends_with('\n') => Ok(Some(self.text.trim_end_matches(['\n', '\r']))),
            Ok(LONGEST_LINE) => Err(self.error("the line is longer than 1 MiB")),
            Ok(_) => Err(self.error("the file ends within this line")),
            Err(error) if error.kind() == ErrorKind::InvalidData => Err(self.error(NOT_UTF8)),
            Err(error) => Err(self.error(format!("cannot be read: {error}"))),
        }
    }

    /// The next line as [`Lines::advance`] reads it, where the file must not end.
    ///
    /// # Errors
    /// Those of `advance`, and `missing` if there is no further line.
    pub fn require(&mut self, missing: &str) -> Result<&str, TraceError> {
        let (file, number) = (self.file.clone(), self.number + 1);
        self.advance()?.ok_or_else(|| TraceError::at(&file, number, missing))
    }

    /// Reads the first line, which must be this title and version: the file is then what it should be.
    ///
    /// # Errors
    /// Those of [`Lines::advance`], and if it is another.
    pub fn title(&mut self, title: &str, what: &str) -> Result<(), TraceError> {
        let first = self.advance()?.unwrap_or_default().to_owned();
        if first == title {
            return Ok(());
        }
        self.check_version(&first, title)?;
        Err(self.error(format!("not {what}: line 1 must be `{title}`")))
    }

    /// Refuses a first line that has the title, whose last word is its version, in another version.
    ///
    /// # Errors
    /// The version is another.
    pub fn check_version(&self, first: &str, title: &str) -> Result<(), TraceError> {
        let Some((name, ours)) = title.rsplit_once(' ') else { return Ok(()) };
        let theirs = first.strip_prefix(name).and_then(|rest| rest.strip_prefix(' '));
        match theirs.and_then(|rest| rest.split(' ').next()).filter(|&theirs| theirs != ours) {
            Some(theirs) => {
                Err(self.error(format!("`{name}` of version {theirs:?}; this program reads version {ours}")))
            }
            None => Ok(()),
        }
    }

    /// Reads the lines of a header one by one, up to the one that ends it.
    ///
    /// # Errors
    /// Those of [`Lines::require`], and what `read` says of a line.
    pub fn header(
        &mut self,
        end: &str,
        mut read: impl FnMut(&str) -> Result<(), String>,
    ) -> Result<(), TraceError> {
        loop {
            let text = self.require(HEADER_CUT_OFF)?;
            if text == end {
                return Ok(());
            }
            let read = read(text);
            read.map_err(|reason| self.error(reason))?;
        }
    }

    /// Reads on to the end of the file, where nothing may follow.
    ///
    /// # Errors
    /// Something follows, or the data is damaged.
    pub fn finish(&mut self) -> Result<(), TraceError> {
        match self.advance()? {
            Some(_) => Err(self.error("text after the end")),
            None => Ok(()),
        }
    }

    /// The next `count` bytes, which need not be text and are no line. Memory is taken as the bytes arrive.
    ///
    /// # Errors
    /// The file ends within them, or is damaged.
    pub fn bytes(&mut self, count: u64) -> Result<Vec<u8>, TraceError> {
        self.size = self.size.saturating_add(count);
        if self.size > MOST_BYTES {
            return Err(self.too_long());
        }
        let mut bytes = Vec::new();
        let mut limited = std::io::Read::take(&mut self.reader, count);
        let read = std::io::Read::read_to_end(&mut limited, &mut bytes);
        match read {
            Ok(read) if read as u64 == count => Ok(bytes),
            Ok(read) => Err(self.error(format!("{count} bytes are promised, but only {read} follow"))),
            Err(error) => Err(self.error(format!("cannot be read: {error}"))),
        }
    }

    fn too_long(&self) -> TraceError {
        self.error(format!("longer than {MOST_LINES} lines or {} MiB: split the file", MOST_BYTES >> 20))
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
        unsigned(text).ok_or_else(|| format!("{name} is unreadable: {text:?}"))
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
        unsigned(text).map(Some).ok_or_else(|| format!("{name} is unreadable: {text:?}"))
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

    /// The next field as one of some choices.
    ///
    /// # Errors
    /// It is missing, or `named` knows none of that name.
    pub fn choice<T>(&mut self, what: &str, named: impl Fn(&str) -> Option<T>) -> Result<T, String> {
        let text = self.text(what)?;
        named(text).ok_or_else(|| format!("unknown {what} {text:?}"))
    }

    /// The next field, 0 or 1.
    ///
    /// # Errors
    /// It is missing or another.
    pub fn flag(&mut self, name: &str) -> Result<bool, String> {
        match self.text(name)? {
            "0" => Ok(false),
            "1" => Ok(true),
            other => Err(format!("{name} is 0 or 1, not {other:?}")),
        }
    }

    /// The next field, which must be the word.
    ///
    /// # Errors
    /// It is missing or another.
    pub fn word(&mut self, word: &str) -> Result<(), String> {
        let text = self.text(word)?;
        if text == word { Ok(()) } else { Err(format!("{word:?} must stand where {text:?} does")) }
    }

    /// The next two fields: a name that must be this one, and its value.
    ///
    /// # Errors
    /// One is missing, the name is another or the value is unreadable.
    pub fn named<T: FromStr>(&mut self, name: &str) -> Result<T, String> {
        self.word(name)?;
        self.value(name)
    }

    /// The next field as an alignment in bytes.
    ///
    /// # Errors
    /// It is missing, unreadable or no power of two.
    pub fn align(&mut self, name: &str) -> Result<Align, String> {
        align(self.value(name)?)
    }

    /// The next field as an alignment in bytes, or `None` if it is empty.
    ///
    /// # Errors
    /// It is missing, unreadable or no power of two.
    pub fn optional_align(&mut self, name: &str) -> Result<Option<Align>, String> {
        self.optional(name)?.map(align).transpose()
    }

    /// The text of the fields that were not taken, or `None` if all were.
    #[must_use]
    pub fn rest(&self) -> Option<&'a str> {
        self.rest
    }

    /// Whether every field was taken.
    #[must_use]
    pub fn is_end(&self) -> bool {
        self.rest.is_none()
    }

    /// The end of the line.
    ///
    /// # Errors
    /// Some fields were not taken.
    pub fn end(self) -> Result<(), String> {
        self.rest.map_or(Ok(()), |rest| Err(format!("unexpected {rest:?} at the end")))
    }
}

fn align(bytes: u64) -> Result<Align, String> {
    Align::new(bytes).ok_or_else(|| format!("alignment {bytes} is not a power of two"))
}

/// A value that no plus sign precedes: a number has one way of being written.
fn unsigned<T: FromStr>(text: &str) -> Option<T> {
    if text.starts_with('+') { None } else { text.parse().ok() }
}

/// Bare hexadecimal digits; a sign is none.
fn hex(text: &str) -> Option<u64> {
    if text.starts_with('+') { None } else { u64::from_str_radix(text, 16).ok() }
}
