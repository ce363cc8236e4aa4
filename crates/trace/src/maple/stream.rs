//! Recorded streams, `*.mstream`: every store of the kernel's own test suite, with its tree.
//!
//! A file has a text header, then one column after the other. So the whole file must be in memory before the first record
//! can be read.

use super::stream_columns::Columns;
use super::stream_write::{StreamWrite, TreeFlags};
use crate::{Fields, Format, Lines, Reader, TraceError};
use std::collections::HashSet;

/// The header of a stream file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamHeader {
    /// The kernel's version.
    pub version: String,
    /// The number of calls after which a group was cut off; 0 if none was.
    pub calls_per_group_limit: u64,
    /// Records in the file.
    pub records: u64,
    /// The groups of tests, by number. Names repeat.
    pub groups: Vec<String>,
}

/// One record. A tree is named by a number, which no other tree has while it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamRecord {
    /// A group of tests starts: an index of [`StreamHeader::groups`].
    Group(u32),
    /// An empty tree appears.
    Appear {
        /// Its name.
        tree: u32,
        /// Its kind.
        flags: TreeFlags,
    },
    /// A tree is destroyed.
    Destroy {
        /// Its name.
        tree: u32,
        /// Its number of entries.
        entries: u64,
        /// [`super::Digest`] over first and last index of each.
        digest: u64,
    },
    /// A tree that has appeared becomes a copy of another.
    Duplicate {
        /// The copy.
        tree: u32,
        /// The original.
        source: u32,
    },
    /// A tree was not destroyed, but its memory is used for another.
    Forget {
        /// Its name.
        tree: u32,
    },
    /// A store, or the calculation of its nodes.
    Write {
        /// The tree.
        tree: u32,
        /// The store.
        write: StreamWrite,
    },
}

/// The state of reading a stream file.
pub struct StreamFormat {
    header: StreamHeader,
    columns: Columns,
    trees: HashSet<u32>,
    /// The tree of the previous record.
    tree: u32,
    /// The index after the previous write.
    expected: u64,
    record: u64,
}

/// A stream file, read record by record.
pub type Stream = Reader<StreamFormat>;

impl Stream {
    /// The header of the file.
    #[must_use]
    pub fn header(&self) -> &StreamHeader {
        &self.format.header
    }

    /// The number of the record read last, from 1.
    #[must_use]
    pub fn record(&self) -> u64 {
        self.format.record
    }
}

impl Format for StreamFormat {
    type Record = StreamRecord;

    /// Reads the header and all columns.
    fn begin(lines: &mut Lines) -> Result<Self, TraceError> {
        lines.title("maple-stream 1", "a stream")?;
        let (mut header, mut sizes) = (StreamHeader::default(), Vec::new());
        lines.header("end", |text| header_line(text, &mut header, &mut sizes))?;
        if header.version.is_empty() || header.records == 0 || sizes.len() < Columns::COUNT {
            return Err(lines.error("the header lacks version, records or a column"));
        }
        let columns = Columns::read(lines, &sizes)?;
        Ok(Self { header, columns, trees: HashSet::new(), tree: 0, expected: 1, record: 0 })
    }

    fn read(&mut self, lines: &mut Lines) -> Result<Option<StreamRecord>, TraceError> {
        self.next_record().map_err(|reason| {
            let (file, record) = (lines.file().to_owned(), self.record);
            TraceError::Record { file, record, reason }
        })
    }
}

impl StreamFormat {
    fn next_record(&mut self) -> Result<Option<StreamRecord>, String> {
        if self.record == self.header.records {
            return self.columns.finish().map(|()| None);
        }
        self.record += 1;
        let code = self.columns.op.byte()?;
        let tree = i64::from(self.tree).checked_add(self.columns.tree.signed()?);
        let tree = tree.and_then(|tree| u32::try_from(tree).ok()).ok_or("no tree has that number")?;
        self.tree = tree;
        Ok(Some(match code {
            0 => StreamRecord::Group(self.group()?),
            1 => self.appear(tree)?,
            2 => {
                self.remove(tree)?;
                let digest = self.columns.digest.word()?;
                StreamRecord::Destroy { tree, entries: self.columns.digest.unsigned()?, digest }
            }
            3 => self.duplicate(tree)?,
            4 | 5 | 9 | 10 => {
                self.exists(tree)?;
                let write = StreamWrite::read(&mut self.columns, code, self.expected)?;
                self.expected = write.span.last().wrapping_add(1);
                StreamRecord::Write { tree, write }
            }
            6 => {
                self.remove(tree)?;
                StreamRecord::Forget { tree }
            }
            other => return Err(format!("unknown op {other}")),
        }))
    }

    fn group(&mut self) -> Result<u32, String> {
        let group = self.columns.ext.unsigned()?;
        let known = u32::try_from(group).ok().filter(|_| group < self.header.groups.len() as u64);
        known.ok_or_else(|| format!("unknown group {group}"))
    }

    fn appear(&mut self, tree: u32) -> Result<StreamRecord, String> {
        if !self.trees.insert(tree) {
            return Err(format!("tree {tree} exists"));
        }
        let meta = self.columns.meta.byte()?;
        if meta & 0xcf != 0 {
            return Err(format!("{meta:#x} is no kind of tree"));
        }
        Ok(StreamRecord::Appear { tree, flags: TreeFlags::from_meta(meta) })
    }

    fn duplicate(&mut self, tree: u32) -> Result<StreamRecord, String> {
        self.exists(tree)?;
        let source = i64::from(tree).checked_sub(self.columns.ext.signed()?);
        let source = source.and_then(|source| u32::try_from(source).ok()).ok_or("no tree has that number")?;
        self.exists(source)?;
        Ok(StreamRecord::Duplicate { tree, source })
    }

    fn remove(&mut self, tree: u32) -> Result<(), String> {
        self.exists(tree)?;
        self.trees.remove(&tree);
        Ok(())
    }

    fn exists(&self, tree: u32) -> Result<(), String> {
        if self.trees.contains(&tree) { Ok(()) } else { Err(format!("tree {tree} does not exist")) }
    }
}

fn header_line(text: &str, header: &mut StreamHeader, sizes: &mut Vec<(String, u64)>) -> Result<(), String> {
    let mut fields = Fields::new(text, ' ');
    match fields.text("keyword")? {
        "version" => fields.text("version")?.clone_into(&mut header.version),
        "calls_per_group_limit" => header.calls_per_group_limit = fields.value("limit")?,
        "records" => header.records = fields.value("records")?,
        "group" => {
            let group: u64 = fields.value("group")?;
            if group != header.groups.len() as u64 {
                return Err(format!("group {group} follows {} others", header.groups.len()));
            }
            header.groups.push(fields.text("name")?.to_owned());
        }
        "column" => Columns::announce(sizes, &mut fields)?,
        other => return Err(format!("unknown header {other:?}")),
    }
    fields.end()
}
