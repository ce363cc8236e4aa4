//! The columns of a stream file: each holds one kind of number for all records that have it.
//!
//! Cost: all columns in memory, about 12 bytes a record.

use crate::{Fields, Lines, TraceError};

/// The largest column that is taken for one, in bytes.
const LARGEST_COLUMN: u64 = 1 << 30;

/// A column, read from its start to its end.
#[derive(Debug)]
pub(super) struct Column {
    name: &'static str,
    bytes: Vec<u8>,
    at: usize,
}

impl Column {
    fn missing(name: &'static str) -> Self {
        Self { name, bytes: Vec::new(), at: 0 }
    }

    pub(super) fn byte(&mut self) -> Result<u8, String> {
        let byte = self.bytes.get(self.at).copied();
        self.at = self.at.saturating_add(1);
        byte.ok_or_else(|| format!("column {} ends before its records do", self.name))
    }

    /// LEB128.
    pub(super) fn unsigned(&mut self) -> Result<u64, String> {
        let mut number = 0_u64;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let low = u64::from(byte & 0x7f);
            let placed = low << shift;
            if placed >> shift != low {
                break;
            }
            number |= placed;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(format!("a number in column {} passes 2^64", self.name))
    }

    /// LEB128 of 2n for n >= 0, and of -2n - 1 below.
    pub(super) fn signed(&mut self) -> Result<i64, String> {
        let number = self.unsigned()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// Eight bytes, the lowest first.
    pub(super) fn word(&mut self) -> Result<u64, String> {
        let mut bytes = [0; 8];
        for byte in &mut bytes {
            *byte = self.byte()?;
        }
        Ok(u64::from_le_bytes(bytes))
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }
}

/// All columns, by name.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) op: Column,
    pub(super) tree: Column,
    pub(super) meta: Column,
    pub(super) height: Column,
    pub(super) vacsuf: Column,
    pub(super) req: Column,
    pub(super) used: Column,
    pub(super) first: Column,
    pub(super) len: Column,
    pub(super) ext: Column,
    pub(super) hafter: Column,
    pub(super) digest: Column,
}

impl Columns {
    /// How many there are.
    pub(super) const COUNT: usize = 12;

    fn new() -> Self {
        Self {
            op: Column::missing("op"),
            tree: Column::missing("tree"),
            meta: Column::missing("meta"),
            height: Column::missing("height"),
            vacsuf: Column::missing("vacsuf"),
            req: Column::missing("req"),
            used: Column::missing("used"),
            first: Column::missing("first"),
            len: Column::missing("len"),
            ext: Column::missing("ext"),
            hafter: Column::missing("hafter"),
            digest: Column::missing("digest"),
        }
    }

    fn all(&mut self) -> [&mut Column; Self::COUNT] {
        [
            &mut self.op,
            &mut self.tree,
            &mut self.meta,
            &mut self.height,
            &mut self.vacsuf,
            &mut self.req,
            &mut self.used,
            &mut self.first,
            &mut self.len,
            &mut self.ext,
            &mut self.hafter,
            &mut self.digest,
        ]
    }

    /// Reads the columns, whose names and sizes are in `sizes` in the order in which they follow the header.
    pub(super) fn read(lines: &mut Lines, sizes: &[(String, u64)]) -> Result<Self, TraceError> {
        let mut columns = Self::new();
        for (name, size) in sizes {
            let bytes = lines.bytes(*size)?;
            if let Some(column) = columns.all().into_iter().find(|column| column.name == name) {
                column.bytes = bytes;
            }
        }
        lines.finish()?;
        Ok(columns)
    }

    /// The next column that the header names; `sizes` has those before.
    pub(super) fn announce(sizes: &mut Vec<(String, u64)>, fields: &mut Fields<'_>) -> Result<(), String> {
        let (name, size) = (fields.text("name")?, fields.value("bytes")?);
        if !Self::new().all().iter().any(|column| column.name == name) {
            return Err(format!("unknown column {name:?}"));
        }
        if sizes.iter().any(|(known, _)| known == name) {
            return Err(format!("column {name} twice"));
        }
        if size > LARGEST_COLUMN {
            return Err(format!("column {name} has {size} bytes, more than {LARGEST_COLUMN}"));
        }
        sizes.push((name.to_owned(), size));
        Ok(())
    }

    /// Whether every column was read to its end.
    pub(super) fn finish(&mut self) -> Result<(), String> {
        match self.all().into_iter().find(|column| !column.is_at_end()) {
            Some(column) => Err(format!("column {} goes on after the last record", column.name)),
            None => Ok(()),
        }
    }
}
