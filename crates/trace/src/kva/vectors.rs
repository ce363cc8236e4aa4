//! Recorded answers of the kernel's engine and of oracles, `kva-vectors 1`: operations with one expected
//! answer per column, and digests of each column's state. Numbers in files are units; here they are bytes.

use super::Op;
use crate::{Fields, Lines, TraceError};
use freehold_units::{Align, Span};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Whose answers a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Column {
    /// The Linux 6.12 free-tree engine.
    Linux,
    /// The exact lowest address.
    Lowest,
    /// The exact highest address.
    Highest,
    /// The smallest block that fits.
    BestFit,
    /// The gap allocator of Linux <= 5.1.
    Gap,
}

impl Column {
    /// Every column, by the letter that stands in files.
    pub const ALL: [(char, Self); 5] = [
        ('k', Self::Linux),
        ('l', Self::Lowest),
        ('h', Self::Highest),
        ('b', Self::BestFit),
        ('g', Self::Gap),
    ];

    fn parse(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(letter, _)| text.chars().eq([*letter]));
        found.map(|(_, column)| column).ok_or_else(|| format!("unknown column {text:?}"))
    }

    /// The letter that stands in files.
    #[must_use]
    pub fn letter(self) -> char {
        Self::ALL.into_iter().find(|(_, column)| *column == self).map_or('?', |(letter, _)| letter)
    }
}

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

/// A column's state, in units of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Digest {
    /// Of an engine that keeps free blocks.
    Free(FreeDigest),
    /// Of the gap allocator.
    Gap(GapDigest),
}

/// The free blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreeDigest {
    /// How many.
    pub blocks: u64,
    /// Their sizes together.
    pub sum: u64,
    /// The largest.
    pub largest: u64,
    /// FNV-1a over (start, length) in address order.
    pub list_hash: u64,
    /// FNV-1a over the tree in preorder, and its depth in nodes; column k alone.
    pub shape: Option<(u64, u64)>,
    /// Start and length of the lowest 16.
    pub first: Vec<(u64, u64)>,
}

/// The busy areas and the four cached values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GapDigest {
    /// How many areas.
    pub areas: u64,
    /// Their sizes together.
    pub sum: u64,
    /// FNV-1a over (start, length) in address order.
    pub hash: u64,
    /// The largest hole seen below the cached node.
    pub cached_hole: u64,
    /// The window start of the last request.
    pub cached_vstart: u64,
    /// The alignment of the last request.
    pub cached_align: u64,
    /// Start of the cached node.
    pub cache: Option<u64>,
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

/// A vector file, read record by record.
pub struct Vectors {
    lines: Lines,
    unit: u64,
    columns: Vec<Column>,
    layout: Vec<Span>,
    zones: HashMap<String, Span>,
    objects: Vec<Object>,
    /// By column: the end of its last successful single allocation.
    ends: Vec<Option<u64>>,
    ops: u64,
    ended: bool,
}

impl Vectors {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// It cannot be opened, or is no vector file.
    pub fn open(file: &Path) -> Result<Self, TraceError> {
        Self::new(Lines::open(file)?)
    }

    /// Reads the header.
    ///
    /// # Errors
    /// It is no vector file.
    pub fn new(mut lines: Lines) -> Result<Self, TraceError> {
        if lines.advance()? != Some("# kva-vectors 1") {
            return Err(lines.error("not kva vectors: line 1 must be `# kva-vectors 1`"));
        }
        let mut vectors = Self {
            lines,
            unit: 0,
            columns: Vec::new(),
            layout: Vec::new(),
            zones: HashMap::new(),
            objects: Vec::new(),
            ends: Vec::new(),
            ops: 0,
            ended: false,
        };
        while let Some(text) = vectors.lines.advance()?.map(str::to_owned) {
            if text == "begin" {
                return vectors.begin();
            }
            vectors.header_line(&text).map_err(|reason| vectors.lines.error(reason))?;
        }
        Err(vectors.lines.error("the file ends within its header"))
    }

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
                while let Ok(column) = fields.text("column") {
                    self.columns.push(Column::parse(column)?);
                }
            }
            other => return Err(format!("unknown header {other:?}")),
        }
        fields.end()
    }

    fn begin(mut self) -> Result<Self, TraceError> {
        if self.unit == 0 || self.columns.is_empty() || self.layout.is_empty() {
            return Err(self.lines.error("the header lacks unit, init or cols"));
        }
        self.ends = vec![None; self.columns.len()];
        Ok(self)
    }

    /// The columns, in the order of the answers.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The blocks that are free at the start, in the order in which they were freed.
    #[must_use]
    pub fn layout(&self) -> &[Span] {
        &self.layout
    }

    /// Bytes of a unit.
    #[must_use]
    pub fn unit_bytes(&self) -> u64 {
        self.unit
    }

    /// The number of the line read last, from 1.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.lines.number()
    }

    fn read(&mut self) -> Result<Option<Record>, TraceError> {
        let text = self.lines.require("the file is cut off: no `end` line")?.to_owned();
        let record = self.record(&text).map_err(|reason| self.lines.error(reason))?;
        if record.is_none() {
            self.lines.finish()?;
        }
        Ok(record)
    }

    fn record(&mut self, text: &str) -> Result<Option<Record>, String> {
        let mut fields = Fields::new(text, ' ');
        let record = match fields.text("op")? {
            "a" => self.alloc(&mut fields)?,
            "m" => self.congruent(&mut fields)?,
            "f" => self.free(&mut fields)?,
            "D" => digest(&mut fields)?,
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

impl Iterator for Vectors {
    type Item = Result<Record, TraceError>;

    /// Nothing follows the end or an error.
    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let record = self.read().transpose();
        self.ended = !matches!(record, Some(Ok(_)));
        record
    }
}

fn alloc_answers(answers: Vec<ExpectedAlloc>) -> Vec<Expected> {
    answers.into_iter().map(Expected::Alloc).collect()
}

fn digest(fields: &mut Fields<'_>) -> Result<Record, String> {
    let column = Column::parse(fields.text("COL")?)?;
    let digest = if column == Column::Gap {
        Digest::Gap(GapDigest {
            areas: fields.value("NBUSY")?,
            sum: fields.value("SUMBUSY")?,
            hash: fields.hex("HASH")?,
            cached_hole: fields.value("cached_hole")?,
            cached_vstart: fields.value("cached_vstart")?,
            cached_align: fields.value("cached_align")?,
            cache: match fields.text("CACHESTART")? {
                "-" => None,
                start => Some(start.parse().map_err(|_| "unreadable CACHESTART")?),
            },
        })
    } else {
        Digest::Free(FreeDigest {
            blocks: fields.value("NFREE")?,
            sum: fields.value("SUM")?,
            largest: fields.value("LARGEST")?,
            list_hash: fields.hex("LISTHASH")?,
            shape: match column {
                Column::Linux => Some((fields.hex("SHAPEHASH")?, fields.value("DEPTH")?)),
                _ => None,
            },
            first: first_blocks(fields.text("FIRST16")?)?,
        })
    };
    Ok(Record::Digest(column, digest))
}

fn first_blocks(text: &str) -> Result<Vec<(u64, u64)>, String> {
    if text == "-" {
        return Ok(Vec::new());
    }
    let block = |text: &str| {
        let mut parts = Fields::new(text, '+');
        let block = (parts.value("START")?, parts.value("LEN")?);
        parts.end().map(|()| block)
    };
    text.split(',').map(block).collect()
}
