//! Recorded answers of the kernel's engine and of oracles, `kva-vectors 1`: operations with one expected
//! answer per column, and digests of each column's state. Numbers in files are units; here they are bytes.

use super::{Column, Digest, Op};
use crate::{Fields, Format, Lines, Reader, TraceError};
use freehold_units::{Align, Span};
use std::collections::HashMap;
use std::sync::Arc;

/// What a column's engine answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// To an allocation.
    Alloc(ExpectedAlloc),
    /// To a free.
    Free(ExpectedFree),
}

/// The answer to an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedAlloc {
    /// Where it went (the base, for congruent areas), or `None` if it failed.
    pub start: Option<u64>,
    /// A fit letter for each area (F, L, R, N); for the gap allocator how it started (c, t, e). Empty on failure
    /// but for the gap allocator.
    pub letters: String,
    /// List steps walked; the gap allocator alone.
    pub steps: Option<u64>,
    /// The exact lowest address on the same state; `None` if nothing fits.
    pub lowest: Option<u64>,
}

/// The answer to a free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedFree {
    /// A merge letter for each area (0, P, N, B); for the gap allocator what became of the cache (-, m, x).
    /// `None`: the allocation had failed, there is nothing to free.
    pub letters: Option<String>,
}

/// One line of the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// An operation and what each column answered, in the order of [`Vectors::columns`].
    Op(Op, Vec<Expected>),
    /// A column's state after the operations so far.
    Digest(Column, Digest),
}

/// What is known of an object while its file is read.
struct Object {
    areas: usize,
    /// By column: whether its allocation failed.
    failed: Vec<bool>,
}

/// What is known of a vector file as it is read.
#[derive(Default)]
pub struct VectorFormat {
    unit: u64,
    columns: Vec<Column>,
    layout: Vec<Span>,
    zones: HashMap<String, Span>,
    objects: Vec<Object>,
    /// By column: the end of its last successful single allocation.
    ends: Vec<Option<u64>>,
    ops: u64,
}

/// A vector file, read record by record.
pub type Vectors = Reader<VectorFormat>;

impl Vectors {
    /// The columns, in the order of the answers.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.format.columns
    }

    /// The blocks that are free at the start, in the order in which they were freed.
    #[must_use]
    pub fn layout(&self) -> &[Span] {
        &self.format.layout
    }

    /// Bytes of a unit.
    #[must_use]
    pub fn unit_bytes(&self) -> u64 {
        self.format.unit
    }
}

impl Format for VectorFormat {
    type Record = Record;

    fn begin(lines: &mut Lines) -> Result<Self, TraceError> {
        lines.title("# kva-vectors 1", "kva vectors")?;
        let mut format = Self::default();
        lines.header("begin", |text| format.header_line(text))?;
        if format.unit == 0 || format.columns.is_empty() || format.layout.is_empty() {
            return Err(lines.error("the header lacks unit, init or cols"));
        }
        format.ends = vec![None; format.columns.len()];
        Ok(format)
    }

    fn read(&mut self, lines: &mut Lines) -> Result<Option<Record>, TraceError> {
        let record = self.record(lines.require("the file is cut off: no `end` line")?);
        let record = record.map_err(|reason| lines.error(reason))?;
        if record.is_none() {
            lines.finish()?;
        }
        Ok(record)
    }
}

impl VectorFormat {
    fn header_line(&mut self, text: &str) -> Result<(), String> {
        let mut fields = Fields::new(text, ' ');
        match fields.text("keyword")? {
            "#" | "name" | "seed" | "every" => return Ok(()),
            "unit" if self.unit != 0 => return Err("a second unit".to_owned()),
            "unit" => self.unit = fields.value("unit")?,
            "init" => {
                let (low, high) = (fields.value("LO")?, fields.value("HI")?);
                self.layout.push(self.span(low, high)?);
            }
            "zone" => {
                let name = fields.text("name")?.to_owned();
                let (low, high) = (fields.value("LO")?, fields.value("HI")?);
                let span = self.span(low, high)?;
                self.zones.insert(name, span);
            }
            "cols" => {
                while !fields.is_end() {
                    self.columns.push(fields.choice("column", Column::named)?);
                }
            }
            other => return Err(format!("unknown header {other:?}")),
        }
        fields.end()
    }

    fn record(&mut self, text: &str) -> Result<Option<Record>, String> {
        let mut fields = Fields::new(text, ' ');
        let record = match fields.text("op")? {
            "a" => self.alloc(&mut fields)?,
            "m" => self.congruent(&mut fields)?,
            "f" => self.free(&mut fields)?,
            "D" => {
                let column = fields.choice("column", Column::named)?;
                Record::Digest(column, Digest::parse(column, &mut fields)?)
            }
            "end" => {
                let ops: u64 = fields.value("OPS")?;
                fields.end()?;
                if ops != self.ops {
                    return Err(format!("the file says {ops} operations, but has {}", self.ops));
                }
                return Ok(None);
            }
            other => return Err(format!("unknown op {other:?}")),
        };
        fields.end()?;
        self.ops += u64::from(matches!(record, Record::Op(..)));
        Ok(Some(record))
    }

    fn alloc(&mut self, fields: &mut Fields<'_>) -> Result<Record, String> {
        let size_bytes = self.bytes(fields.value("SIZE")?)?;
        if size_bytes == 0 {
            return Err("SIZE is 0".to_owned());
        }
        let align = self.align(fields)?;
        let window = self.window(fields.text("WIN")?)?;
        let mut answers: Vec<ExpectedAlloc> = Vec::new();
        for at in 0..self.columns.len() {
            let left = answers.last().and_then(|answer| answer.start);
            let answer = self.answer(fields.text("ANS")?, left, at)?;
            if let Some(start) = answer.start {
                let end = start.checked_add(size_bytes).ok_or("the answer passes 2^64")?;
                if let Some(slot) = self.ends.get_mut(at) {
                    *slot = Some(end);
                }
            }
            answers.push(answer);
        }
        let object = self.new_object(1, &answers)?;
        Ok(Record::Op(Op::Alloc { object, size_bytes, align, window }, alloc_answers(answers)))
    }

    fn congruent(&mut self, fields: &mut Fields<'_>) -> Result<Record, String> {
        let align = self.align(fields)?;
        let window = self.window(fields.text("WIN")?)?;
        let mut areas = Vec::new();
        for area in fields.text("areas")?.split(',') {
            let mut parts = Fields::new(area, '+');
            let (offset, size) = (self.bytes(parts.value("OFF")?)?, self.bytes(parts.value("SIZE")?)?);
            parts.end()?;
            areas.push(Span::from_size(offset, size).ok_or("an area is empty or too large")?);
        }
        self.ends.fill(None);
        let mut answers: Vec<ExpectedAlloc> = Vec::new();
        for at in 0..self.columns.len() {
            let left = answers.last().and_then(|answer| answer.start);
            answers.push(self.answer(fields.text("ANS")?, left, at)?);
        }
        let object = self.new_object(areas.len(), &answers)?;
        let areas: Arc<[Span]> = areas.into();
        Ok(Record::Op(Op::Congruent { object, areas, align, window }, alloc_answers(answers)))
    }

    fn free(&mut self, fields: &mut Fields<'_>) -> Result<Record, String> {
        let object: u32 = fields.value("ID")?;
        let known = self.objects.get(object as usize).ok_or("the object was never allocated")?;
        let mut letters = fields.text("MERGES")?;
        let mut answers = Vec::new();
        for &failed in &known.failed {
            let count = if failed { 1 } else { known.areas };
            let (mine, rest) = letters.split_at_checked(count).ok_or("a merge letter is missing")?;
            letters = rest;
            if failed != mine.starts_with('.') {
                return Err("`.` stands where the allocation failed, and only there".to_owned());
            }
            answers.push(Expected::Free(ExpectedFree { letters: (!failed).then(|| mine.to_owned()) }));
        }
        if letters.is_empty() {
            Ok(Record::Op(Op::Free { object }, answers))
        } else {
            Err("more merge letters than columns".to_owned())
        }
    }

    fn new_object(&mut self, areas: usize, answers: &[ExpectedAlloc]) -> Result<u32, String> {
        let failed = answers.iter().map(|answer| answer.start.is_none()).collect();
        let object = u32::try_from(self.objects.len()).map_err(|_| "more than 2^32 objects")?;
        self.objects.push(Object { areas, failed });
        Ok(object)
    }

    /// `[letters](- | ADDR | = | +)[/STEPS][!LOWEST]`
    fn answer(&self, text: &str, left: Option<u64>, column: usize) -> Result<ExpectedAlloc, String> {
        let (text, lowest) = match text.split_once('!') {
            Some((text, lowest)) => (text, Some(self.number(lowest)?)),
            None => (text, None),
        };
        let (text, steps) = match text.split_once('/') {
            Some((text, steps)) => (text, Some(steps.parse().map_err(|_| "unreadable STEPS")?)),
            None => (text, None),
        };
        let letters_end =
            text.find(|c: char| !c.is_ascii_alphabetic()).ok_or("an answer lacks its address")?;
        let (letters, address) = text.split_at(letters_end);
        let start = match address {
            "-" => None,
            "=" => Some(left.ok_or("`=` without an answer to the left")?),
            "+" => {
                let end = self.ends.get(column).copied().flatten();
                Some(end.ok_or("`+` without a previous answer")?)
            }
            number => Some(self.number(number)?),
        };
        let letters = letters.to_owned();
        Ok(ExpectedAlloc { start, letters, steps, lowest: lowest.or(start) })
    }

    fn number(&self, text: &str) -> Result<u64, String> {
        self.bytes(text.parse().map_err(|_| format!("unreadable number {text:?}"))?)
    }

    fn bytes(&self, units: u64) -> Result<u64, String> {
        units.checked_mul(self.unit).ok_or_else(|| format!("{units} units pass 2^64 bytes"))
    }

    fn align(&self, fields: &mut Fields<'_>) -> Result<Align, String> {
        let bytes = self.bytes(fields.value("ALIGN")?)?;
        Align::new(bytes).ok_or_else(|| format!("alignment {bytes} is not a power of two"))
    }

    fn window(&self, text: &str) -> Result<Span, String> {
        match text.split_once(':') {
            Some((low, high)) => {
                let parse =
                    |text: &str| text.parse::<u64>().map_err(|_| format!("unreadable window {text:?}"));
                self.span(parse(low)?, parse(high)?)
            }
            None => self.zones.get(text).copied().ok_or_else(|| format!("unknown zone {text:?}")),
        }
    }

    /// `[low, high)` in units.
    fn span(&self, low: u64, high: u64) -> Result<Span, String> {
        if self.unit == 0 {
            return Err("numbers before the unit".to_owned());
        }
        let (first, end) = (self.bytes(low)?, self.bytes(high)?);
        let span = end.checked_sub(1).and_then(|last| Span::new(first, last));
        span.ok_or_else(|| format!("[{low}, {high}) is empty"))
    }
}

fn alloc_answers(answers: Vec<ExpectedAlloc>) -> Vec<Expected> {
    answers.into_iter().map(Expected::Alloc).collect()
}
