//! The columns of each kind of trace, read from its lines and written as such.
//!
//! Numbers are `uint64` whether the file has them in decimal or in hexadecimal; a field that is empty is null. A column whose meaning
//! depends on the operation stays text. Lines among the events that are none, `# lost` and `#task`, are left out.
//! Cost: one batch of rows beside what was read before.

use arrow_array::builder::{StringBuilder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use freehold_trace::{Fields, Kind, Lines, TraceError};
use std::fmt::Write;
use std::sync::Arc;

/// What a trace that is in no file is called in errors and records.
pub(crate) const IN_MEMORY: &str = "memory";
/// Rows of a batch at most.
pub(crate) const ROWS: usize = 1 << 16;

/// How a column is written in the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    Decimal,
    Hex,
    Text,
}

fn written(kind: Kind, column: &str) -> Written {
    match (kind, column) {
        (_, "dt_ns" | "cpu" | "tid" | "obj" | "chunk" | "size" | "align" | "bytes_alloc" | "mm" | "node")
        | (Kind::Pcpu, "off") => Written::Decimal,
        (Kind::Kva, "addr" | "vstart" | "vend")
        | (Kind::Pcpu, "flags")
        | (Kind::Mt, "min" | "max" | "index" | "last" | "piv" | "val") => Written::Hex,
        _ => Written::Text,
    }
}

/// Whether a column of that kind of trace has numbers.
pub(crate) fn is_number(kind: Kind, column: &str) -> bool {
    names(kind).iter().any(|&(name, written)| name == column && written != Written::Text)
}

fn names(kind: Kind) -> Vec<(&'static str, Written)> {
    kind.columns().split(',').map(|name| (name, written(kind, name))).collect()
}

/// The columns of such a trace, in the file's order.
pub(crate) fn schema(kind: Kind) -> SchemaRef {
    let field = |(name, written)| {
        let of = if written == Written::Text { DataType::Utf8 } else { DataType::UInt64 };
        Field::new(name, of, true)
    };
    Arc::new(Schema::new(names(kind).into_iter().map(field).collect::<Vec<_>>()))
}

enum Column {
    Number(UInt64Builder),
    Text(StringBuilder),
}

/// Reads the next batch of events; `None` at the end of the file.
///
/// # Errors
/// A line is malformed, or the file is damaged.
pub(crate) fn next_batch(kind: Kind, lines: &mut Lines) -> Result<Option<RecordBatch>, TraceError> {
    let names = names(kind);
    let mut columns: Vec<Column> = names.iter().map(|(_, written)| Column::new(*written)).collect();
    let mut rows = 0;
    while rows < ROWS {
        let Some(text) = lines.advance()? else { break };
        if text.starts_with('#') {
            continue;
        }
        let read = read_row(text, &names, &mut columns);
        read.map_err(|reason| lines.error(reason))?;
        rows += 1;
    }
    if rows == 0 {
        return Ok(None);
    }
    let arrays = columns.iter_mut().map(Column::finish).collect();
    RecordBatch::try_new(schema(kind), arrays).map(Some).map_err(|error| lines.error(error.to_string()))
}

fn read_row(text: &str, names: &[(&str, Written)], columns: &mut [Column]) -> Result<(), String> {
    let mut fields = Fields::new(text, ',');
    for ((name, written), column) in names.iter().zip(columns) {
        match column {
            Column::Number(values) if *written == Written::Hex => {
                values.append_option(fields.optional_hex(name)?);
            }
            Column::Number(values) => values.append_option(fields.optional::<u64>(name)?),
            Column::Text(values) => {
                values.append_option(Some(fields.text(name)?).filter(|text| !text.is_empty()));
            }
        }
    }
    fields.end()
}

/// Adds the lines of a batch that has the schema of the kind, and `before` rows before it.
///
/// # Errors
/// The record and the column of a text that would end its field or line.
pub(crate) fn write_rows(
    kind: Kind,
    batch: &RecordBatch,
    before: usize,
    to: &mut String,
) -> Result<(), TraceError> {
    let columns: Vec<_> = names(kind).into_iter().zip(batch.columns()).collect();
    for row in 0..batch.num_rows() {
        for (at, ((name, written), values)) in columns.iter().enumerate() {
            if at > 0 {
                to.push(',');
            }
            if values.is_null(row) {
                continue;
            }
            // Writing to a text cannot fail.
            let _ = match written {
                Written::Decimal => write!(to, "{}", values.as_primitive::<UInt64Type>().value(row)),
                Written::Hex => write!(to, "{:x}", values.as_primitive::<UInt64Type>().value(row)),
                Written::Text => {
                    let text = values.as_string::<i32>().value(row);
                    if text.contains([',', '\n', '\r']) {
                        return Err(TraceError::Record {
                            file: IN_MEMORY.into(),
                            record: (before + row + 1) as u64,
                            reason: format!("{name} has a comma or ends the line: {text:?}"),
                        });
                    }
                    to.write_str(text)
                }
            };
        }
        to.push('\n');
    }
    Ok(())
}

impl Column {
    fn new(written: Written) -> Self {
        match written {
            Written::Text => Self::Text(StringBuilder::new()),
            Written::Decimal | Written::Hex => Self::Number(UInt64Builder::with_capacity(ROWS)),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Number(values) => Arc::new(values.finish()),
            Self::Text(values) => Arc::new(values.finish()),
        }
    }
}
