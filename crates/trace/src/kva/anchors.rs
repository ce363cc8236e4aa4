//! Recorded work counts per workload, `anchors.tsv` and `gap_anchors.tsv`: tables with a header line.

use crate::{Lines, TraceError};
use std::collections::HashMap;
use std::path::Path;

/// One row: a workload, its parameters and what was counted.
#[derive(Clone, Debug)]
pub struct AnchorRow {
    /// The line in the file.
    pub line: u64,
    fields: HashMap<String, String>,
}

impl AnchorRow {
    /// The field of a column; `None` where the table has none, or `-`.
    #[must_use]
    pub fn field(&self, column: &str) -> Option<&str> {
        self.fields.get(column).map(String::as_str).filter(|text| *text != "-")
    }

    /// The names of the columns.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(String::as_str)
    }

    /// The field as a whole number.
    #[must_use]
    pub fn number(&self, column: &str) -> Option<u64> {
        self.field(column)?.parse().ok()
    }

    /// The field as hexadecimal digits.
    #[must_use]
    pub fn hex(&self, column: &str) -> Option<u64> {
        u64::from_str_radix(self.field(column)?, 16).ok()
    }
}

/// A whole table.
#[derive(Clone, Debug)]
pub struct Anchors {
    /// The rows, in order.
    pub rows: Vec<AnchorRow>,
}

impl Anchors {
    /// Reads a table.
    ///
    /// # Errors
    /// It cannot be opened, its first column is not `workload`, or a row has another number of fields.
    pub fn read(file: &Path) -> Result<Self, TraceError> {
        Self::from_lines(Lines::open(file)?)
    }

    /// Reads the lines of a whole table.
    ///
    /// # Errors
    /// As [`Anchors::read`], but for opening.
    pub fn from_lines(mut lines: Lines) -> Result<Self, TraceError> {
        let header = lines.advance()?.map(str::to_owned);
        let header = header.filter(|text| text.starts_with("workload\t"));
        let header = header.ok_or_else(|| lines.error("not anchors: line 1 must start with `workload`"))?;
        let columns: Vec<&str> = header.split('\t').collect();
        let mut rows = Vec::new();
        while let Some(text) = lines.advance()?.map(str::to_owned) {
            let fields: Vec<&str> = text.split('\t').collect();
            if fields.len() != columns.len() {
                let reason = format!("{} fields, the header has {}", fields.len(), columns.len());
                return Err(lines.error(reason));
            }
            let named =
                columns.iter().zip(fields).map(|(name, field)| ((*name).to_owned(), field.to_owned()));
            rows.push(AnchorRow { line: lines.number(), fields: named.collect() });
        }
        Ok(Self { rows })
    }
}
