//! The columns of each kind of trace, read from its lines.
//!
//! Numbers are `uint64` whether the file has them in decimal or in hexadecimal; a field that is empty is null. What means
//! one thing or another by the operation stays text. Cost: one batch of rows beside what was read before.

use arrow_array::builder::{StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use freehold_trace::{Fields, Kind, Lines, TraceError};
use std::sync::Arc;

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

/// The columns of such a trace, in the file's order.
pub(crate) fn schema(kind: Kind) -> SchemaRef {
    let field = |name| {
        let of = if written(kind, name) == Written::Text { DataType::Utf8 } else { DataType::UInt64 };
        Field::new(name, of, true)
    };
    Arc::new(Schema::new(kind.columns().split(',').map(field).collect::<Vec<_>>()))
}

enum Column {
    Number(UInt64Builder),
    Text(StringBuilder),
}

/// Reads the next batch of rows; `None` at the end of the file.
///
/// # Errors
/// A line is malformed, or the file is damaged.
pub(crate) fn next_batch(kind: Kind, lines: &mut Lines) -> Result<Option<RecordBatch>, TraceError> {
    let names: Vec<(&str, Written)> =
        kind.columns().split(',').map(|name| (name, written(kind, name))).collect();
    let mut columns: Vec<Column> = names.iter().map(|(_, written)| Column::new(*written)).collect();
    let mut rows = 0;
    while rows < ROWS {
        let Some(text) = lines.advance()? else { break };
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
