//! Where the bytes of a file come from. A regular file is opened anew each time; a pipe, or standard input under the name `-`,
//! is read once and kept, so that it can be opened again.

use crate::form::Form;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The name of standard input.
const STDIN: &str = "-";
/// Bytes of a pipe that are kept at most.
const MOST_KEPT: u64 = 256 << 20;
/// How a file begins that is compressed with zstd.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// How a Parquet file begins.
const PARQUET: &[u8] = b"PAR1";
/// What was read of pipes.
static PIPES: Mutex<BTreeMap<PathBuf, Arc<[u8]>>> = Mutex::new(BTreeMap::new());

/// Whether the file can be read only once, by this process alone.
#[must_use]
pub fn is_pipe(file: &Path) -> bool {
    let is_one = |of: fs::Metadata| of.file_type().is_fifo() || of.file_type().is_socket();
    file == Path::new(STDIN) || fs::metadata(file).is_ok_and(is_one)
}

/// Opens a file. What is compressed with zstd, as its name or its first bytes say, is decompressed on the way; a trace in Parquet, as
/// its first bytes say, becomes its text.
///
/// # Errors
/// It cannot be opened, or a pipe cannot be read or is too long.
pub fn open(file: &Path) -> io::Result<Box<dyn BufRead>> {
    let mut reader: Box<dyn BufRead> = if is_pipe(file) {
        Box::new(Cursor::new(kept(file)?))
    } else {
        Box::new(BufReader::new(File::open(file)?))
    };
    if Form::of(file) == Form::Zstd || reader.fill_buf()?.starts_with(&ZSTD) {
        reader = Box::new(BufReader::new(zstd::Decoder::with_buffer(reader)?));
    } else if reader.fill_buf()?.starts_with(PARQUET) {
        reader = Box::new(Cursor::new(parquet_text(reader)?));
    }
    Ok(reader)
}

#[cfg(feature = "parquet")]
fn parquet_text(reader: impl Read) -> io::Result<Vec<u8>> {
    crate::columnar::text(at_most(reader, MOST_KEPT)?)
}

#[cfg(not(feature = "parquet"))]
fn parquet_text(_: impl Read) -> io::Result<Vec<u8>> {
    Form::Parquet.check().map(|()| Vec::new())
}

fn kept(file: &Path) -> io::Result<Arc<[u8]>> {
    let mut pipes = PIPES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bytes) = pipes.get(file) {
        return Ok(Arc::clone(bytes));
    }
    let pipe: Box<dyn Read> =
        if file == Path::new(STDIN) { Box::new(io::stdin()) } else { Box::new(File::open(file)?) };
    let bytes: Arc<[u8]> = at_most(pipe, MOST_KEPT)?.into();
    pipes.insert(file.to_owned(), Arc::clone(&bytes));
    Ok(bytes)
}

/// Reads to the end, which must come within so many bytes.
fn at_most(reader: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("more than {} MiB", most >> 20)));
    }
    Ok(bytes)
}

/// Reads a text of at most so many bytes.
///
/// # Errors
/// The file cannot be read, is longer, or is no text in UTF-8.
pub fn read_text(file: &Path, most: u64) -> io::Result<String> {
    let bytes = at_most(open(file)?, most)?;
    match wrong_encoding(&bytes) {
        Some(what) => Err(io::Error::other(what)),
        None => String::from_utf8(bytes).map_err(|_| io::Error::other(NOT_UTF8)),
    }
}

/// Reads a text of at most so many bytes, in which what is not UTF-8 is replaced.
///
/// # Errors
/// The file cannot be read, or is longer.
pub fn read_text_lossy(file: &Path, most: u64) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&at_most(open(file)?, most)?).into_owned())
}

/// What is said of bytes that are no text.
pub(crate) const NOT_UTF8: &str = "not text in UTF-8";

/// Why the first bytes of a file are not those of a text in UTF-8 as it is read here, if they tell.
pub(crate) fn wrong_encoding(first: &[u8]) -> Option<&'static str> {
    match first {
        [0xef, 0xbb, 0xbf, ..] => Some("begins with a byte order mark; the text must be UTF-8 without one"),
        [0x1f, 0x8b, ..] => Some("compressed with gzip: unpack it, or compress it with zstd"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, _, ..] | [_, 0, ..] => {
            Some("the text is UTF-16 or binary; it must be UTF-8")
        }
        _ => None,
    }
}
