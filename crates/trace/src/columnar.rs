//! Traces as Parquet files: a column for each column of the trace, typed, and back to the same text.
//!
//! ```text
//!   #vml-trace v2 kind=kva ..     metadata `freehold.header`
//!   #dt_ns,cpu,tid,op,obj,addr    columns; a name in `freehold.hex` is written in hexadecimal digits
//!   0,0,0,I,1,ffffc90000000000    rows: unsigned 64-bit numbers, or text where a value is none; null where empty
//!   # lost 3 cpu 0                a row with nothing but `comment`
//! ```
//!
//! Cost: linear in the trace, whose text is held in memory; a row group has [`GROUP`] rows.

use crate::guarded;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::record::Field;
use parquet::schema::parser::parse_message_type;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a group.
const GROUP: usize = 1 << 17;
/// Lines before the first event.
const HEADER_LINES: usize = 4;
/// The metadata that has them, and the one that names columns in hexadecimal digits.
const HEADER: &str = "freehold.header";
const HEX: &str = "freehold.hex";
/// The column of lines that are no event, in a Parquet file.
pub const COMMENT: &str = "comment";
/// Columns whose numbers are written in hexadecimal digits.
const IN_HEX: [&str; 10] =
    ["addr", "vstart", "vend", "off_or_newaddr", "min", "max", "index", "last", "piv", "val"];
/// Bytes of a text at most, as of any file that is read.
const MOST_BYTES: u64 = 1 << 29;

/// What a column is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Decimal,
    Hex,
    Text,
}

impl Of {
    /// The number that is written so.
    fn number(self, text: &str) -> Option<u64> {
        let number = match self {
            Self::Decimal => text.parse().ok()?,
            Self::Hex => u64::from_str_radix(text, 16).ok()?,
            Self::Text => return None,
        };
        (self.written(number) == text).then_some(number)
    }

    fn written(self, number: u64) -> String {
        if self == Self::Hex { format!("{number:x}") } else { number.to_string() }
    }
}

fn odd(what: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("Parquet: {what}"))
}

/// The text of a trace that becomes a Parquet file.
#[derive(Default)]
pub(crate) struct Text(Vec<u8>);

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if (self.0.len() + bytes.len()) as u64 > MOST_BYTES {
            return Err(odd(format!("a trace of more than {} MiB", MOST_BYTES >> 20)));
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Text {
    /// Writes the file.
    ///
    /// # Errors
    /// The text is no trace, or `out` cannot be written.
    pub(crate) fn write_parquet(self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&file(&String::from_utf8(self.0).map_err(odd)?)?)
    }
}

/// The text of a trace as a Parquet file.
fn file(text: &str) -> io::Result<Vec<u8>> {
    let header: Vec<&str> = text.lines().take(HEADER_LINES).collect();
    let names = header.get(HEADER_LINES - 1).and_then(|line| line.strip_prefix('#'));
    let names: Vec<&str> = names.map(|line| line.split(',').collect()).unwrap_or_default();
    let is_trace = header.first().is_some_and(|line| line.starts_with("#vml-trace "));
    if !is_trace || !names.iter().all(|name| is_name(name)) {
        return Err(odd("only traces are written, and this is none"));
    }
    let rows: Vec<&str> = text.lines().skip(HEADER_LINES).collect();
    let kinds = kinds(&names, &rows)?;
    written(&header.join("\n"), &names, &kinds, &rows).map_err(odd)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name != COMMENT && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
}

/// What each column is of: numbers, if all its values are.
fn kinds(names: &[&str], rows: &[&str]) -> io::Result<Vec<Of>> {
    let mut kinds: Vec<Of> =
        names.iter().map(|name| if IN_HEX.contains(name) { Of::Hex } else { Of::Decimal }).collect();
    for (number, row) in (HEADER_LINES + 1..).zip(rows).filter(|(_, row)| !row.starts_with('#')) {
        let mut fields = row.split(',');
        for kind in &mut kinds {
            let field = fields.next().ok_or_else(|| odd(format!("line {number} has too few fields")))?;
            if !field.is_empty() && kind.number(field).is_none() {
                *kind = Of::Text;
            }
        }
        if fields.next().is_some() {
            return Err(odd(format!("line {number} has too many fields")));
        }
    }
    Ok(kinds)
}

fn written(header: &str, names: &[&str], kinds: &[Of], rows: &[&str]) -> Result<Vec<u8>, ParquetError> {
    let mut schema = String::from("message trace {\n");
    for (name, kind) in names.iter().zip(kinds) {
        let of = if *kind == Of::Text { "binary" } else { "int64" };
        let logical = if *kind == Of::Text { "STRING" } else { "INTEGER(64,false)" };
        let _ = writeln!(schema, "optional {of} {name} ({logical});");
    }
    let _ = write!(schema, "optional binary {COMMENT} (STRING);\n}}");
    let in_hex: Vec<&str> =
        names.iter().zip(kinds).filter(|(_, kind)| **kind == Of::Hex).map(|(name, _)| *name).collect();
    let metadata = [(HEADER, header.to_owned()), (HEX, in_hex.join(","))];
    let metadata = metadata.map(|(key, value)| KeyValue::new(key.to_owned(), value)).to_vec();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(metadata))
        .build();
    let schema = Arc::new(parse_message_type(&schema)?);
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    for rows in rows.chunks(GROUP) {
        let mut group = writer.next_row_group()?;
        for (at, kind) in kinds.iter().enumerate() {
            let field = |row: &&str| {
                let field = if row.starts_with('#') { None } else { row.split(',').nth(at) };
                field.unwrap_or_default().to_owned()
            };
            write_column(&mut group, *kind, rows.iter().map(field))?;
        }
        let comment = |row: &&str| if row.starts_with('#') { (*row).to_owned() } else { String::new() };
        write_column(&mut group, Of::Text, rows.iter().map(comment))?;
        group.close()?;
    }
    writer.into_inner()
}

/// The next column of a group. An empty field is null.
fn write_column(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    kind: Of,
    fields: impl Iterator<Item = String>,
) -> Result<(), ParquetError> {
    let fields: Vec<String> = fields.collect();
    let levels: Vec<i16> = fields.iter().map(|field| i16::from(!field.is_empty())).collect();
    let there = fields.iter().filter(|field| !field.is_empty());
    let missing = || ParquetError::General("a column is missing".to_owned());
    let mut column = group.next_column()?.ok_or_else(missing)?;
    if kind == Of::Text {
        let values: Vec<ByteArray> = there.map(|field| field.as_str().into()).collect();
        column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
    } else {
        let values: Vec<i64> = there.filter_map(|field| kind.number(field)).map(u64::cast_signed).collect();
        column.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
    }
    column.close()
}

/// The text of a trace that was written as a Parquet file. What the crate does with a damaged one is not ours to promise: a panic is
/// an error, too.
///
/// # Errors
/// It is damaged, or none of ours, or its text too long.
pub(crate) fn text(file: Vec<u8>) -> io::Result<Vec<u8>> {
    guarded(|| read(file)).unwrap_or_else(|| Err(odd("the file is damaged")))
}

fn read(file: Vec<u8>) -> io::Result<Vec<u8>> {
    let reader = SerializedFileReader::new(bytes::Bytes::from(file)).map_err(odd)?;
    let metadata = reader.metadata().file_metadata().key_value_metadata().cloned().unwrap_or_default();
    let value = |key: &str| metadata.iter().find(|it| it.key == key).and_then(|it| it.value.clone());
    let header = value(HEADER).ok_or_else(|| odd("no trace: its metadata has no freehold.header"))?;
    let in_hex = value(HEX).unwrap_or_default();
    let in_hex: Vec<&str> = in_hex.split(',').collect();
    let mut text = header + "\n";
    for row in reader.get_row_iter(None).map_err(odd)? {
        let row = row.map_err(odd)?;
        let mut line = String::new();
        for (at, (name, field)) in row.get_column_iter().enumerate() {
            if name == COMMENT {
                if let Field::Str(comment) = field {
                    line.clone_from(comment);
                }
                continue;
            }
            if at > 0 {
                line.push(',');
            }
            match field {
                Field::Null => {}
                Field::Str(word) => line.push_str(word),
                Field::ULong(number) => {
                    let of = if in_hex.contains(&name.as_str()) { Of::Hex } else { Of::Decimal };
                    line.push_str(&of.written(*number));
                }
                other => return Err(odd(format!("column {name} has {other}, which no trace has"))),
            }
        }
        text.push_str(&line);
        text.push('\n');
        if text.len() as u64 > MOST_BYTES {
            return Err(odd(format!("its text has more than {} MiB", MOST_BYTES >> 20)));
        }
    }
    Ok(text.into_bytes())
}
