//! Recorded answers of the kernel's maple tree, the op logs `pub*`: operations on a few trees, and now and then the content
//! of the current tree.
//!
//! The reader checks that a log is consistent: trees are used only while they exist, a gap is filled only after one was
//! found, and listed content has the stated digest.

use super::grammar::{operation, span, value};
use super::{Answer, Digest, Expected, Op, Value};
use crate::lines::HEADER_CUT_OFF;
use crate::{Fields, Format, Lines, Reader, TraceError};
use freehold_units::Span;
use std::collections::HashSet;

/// The first lines of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The log's name.
    pub name: String,
    /// The seed of the generator.
    pub seed: u64,
    /// A description of the indexes that are used.
    pub universe: String,
    /// Whether its trees track gaps, which allocation needs.
    pub alloc_tree: bool,
    /// Whether its trees have lock-free readers.
    pub rcu: bool,
    /// The generator's settings.
    pub profile: String,
}

/// An entry of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentEntry {
    /// Its range.
    pub span: Span,
    /// Its value.
    pub value: Value,
}

/// The kernel's representation of the tree. Other implementations may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Nodes.
    Nodes {
        /// Levels; 1 is a lone leaf.
        height: u32,
        /// Leaves.
        leaves: u64,
        /// Inner nodes of a tree that tracks no gaps.
        ranges: u64,
        /// Inner nodes of a tree that tracks gaps.
        alloc_ranges: u64,
    },
    /// One entry at index 0, without a node.
    Pointer,
    /// Nothing.
    Empty,
}

/// One line of the body, or a content with its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// An operation and its answer.
    Op(Op, Expected),
    /// The content of the current tree.
    Content {
        /// Its number of entries.
        count: u64,
        /// The digest of the first index, last index and value of each, in ascending order.
        digest: u64,
        /// The entries, if the log lists them.
        entries: Vec<ContentEntry>,
    },
    /// The kernel's representation of the current tree.
    Shape(Shape),
}

/// The meaning of one line.
enum Line {
    Whole(Record),
    /// An entry of the content on a following line.
    Entry,
    End,
}

/// The state of reading an op log.
pub struct VectorFormat {
    header: Header,
    trees: HashSet<u32>,
    current: u32,
    /// Whether the previous operation put the cursor on a gap.
    on_gap: bool,
    /// The entries so far, whose content line must follow.
    entries: Vec<ContentEntry>,
}

/// An op log, read record by record.
pub type Vectors = Reader<VectorFormat>;

impl Vectors {
    /// The header of the log.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.format.header
    }
}

impl Format for VectorFormat {
    type Record = Record;

    fn begin(lines: &mut Lines) -> Result<Self, TraceError> {
        lines.title("# maple-vectors 1", "maple vectors")?;
        let header = Header {
            name: header_line(lines, "name")?,
            seed: header_number(lines, "seed")?,
            universe: header_line(lines, "universe")?,
            alloc_tree: header_flag(lines, "alloc_tree")?,
            rcu: header_flag(lines, "rcu_flag")?,
            profile: header_line(lines, "profile")?,
        };
        Ok(Self { header, trees: HashSet::from([0]), current: 0, on_gap: false, entries: Vec::new() })
    }

    fn read(&mut self, lines: &mut Lines) -> Result<Option<Record>, TraceError> {
        loop {
            let line = self.line(lines.require("the file is cut off: no `# ops` line")?);
            match line.map_err(|reason| lines.error(reason))? {
                Line::Whole(record) => return Ok(Some(record)),
                Line::Entry => {}
                Line::End => return lines.finish().map(|()| None),
            }
        }
    }
}

fn header_line(lines: &mut Lines, key: &str) -> Result<String, TraceError> {
    let text = lines.require(HEADER_CUT_OFF)?;
    let value = text.strip_prefix("# ").and_then(|text| text.strip_prefix(key)?.strip_prefix(' '));
    let value = value.map(str::to_owned);
    value.ok_or_else(|| lines.error(format!("the line must start `# {key} `")))
}

fn header_number(lines: &mut Lines, key: &str) -> Result<u64, TraceError> {
    let text = header_line(lines, key)?;
    text.parse().map_err(|_| lines.error(format!("{key} is no number: {text:?}")))
}

fn header_flag(lines: &mut Lines, key: &str) -> Result<bool, TraceError> {
    match header_number(lines, key)? {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(lines.error(format!("{key} is 0 or 1, not {other}"))),
    }
}

impl VectorFormat {
    fn line(&mut self, text: &str) -> Result<Line, String> {
        let mut fields = Fields::new(text, ' ');
        let word = fields.text("op")?;
        if !self.entries.is_empty() && !matches!(word, "|" | "c") {
            return Err("a `c` line must follow the entries listed".to_owned());
        }
        let line = match word {
            "|" => self.entry(&mut fields)?,
            "c" => Line::Whole(self.content(&mut fields)?),
            "h" => Line::Whole(Record::Shape(shape(&mut fields)?)),
            "#" => {
                // Not compared: the generator counts operations in another way.
                fields.named::<u64>("ops")?;
                Line::End
            }
            _ => {
                let (op, expected) = operation(text)?;
                self.follow(&op, &expected)?;
                return Ok(Line::Whole(Record::Op(op, expected)));
            }
        };
        fields.end().map(|()| line)
    }

    fn entry(&mut self, fields: &mut Fields<'_>) -> Result<Line, String> {
        let entry = ContentEntry { span: span(fields)?, value: value(fields)? };
        if entry.value == Value::Null {
            return Err("an entry without a value".to_owned());
        }
        if self.entries.last().is_some_and(|before| before.span.last() >= entry.span.first()) {
            return Err("the entries are not in ascending order".to_owned());
        }
        self.entries.push(entry);
        Ok(Line::Entry)
    }

    fn content(&mut self, fields: &mut Fields<'_>) -> Result<Record, String> {
        let (count, digest) = (fields.value("n")?, fields.hex("digest")?);
        let entries = std::mem::take(&mut self.entries);
        if !entries.is_empty() {
            let mut hash = Digest::default();
            for ContentEntry { span, value } in &entries {
                hash.push(span.first());
                hash.push(span.last());
                hash.push(value.word());
            }
            if (entries.len() as u64, hash.value()) != (count, digest) {
                return Err("count or digest are not those of the entries listed".to_owned());
            }
        }
        Ok(Record::Content { count, digest, entries })
    }

    /// Checks that the operation is possible, and notes its effect on the trees.
    fn follow(&mut self, op: &Op, expected: &Expected) -> Result<(), String> {
        match *op {
            Op::UseTree { tree } => {
                self.exists(tree)?;
                self.current = tree;
            }
            Op::Duplicate { from, into } => {
                self.exists(from)?;
                self.trees.insert(into);
            }
            Op::DestroyTree { tree } => {
                self.exists(tree)?;
                self.trees.remove(&tree);
            }
            Op::StoreGap { .. } if !self.on_gap => return Err("no gap was found before".to_owned()),
            _ => self.exists(self.current)?,
        }
        self.on_gap = matches!(expected.answer, Answer::Gap(Ok(_)));
        Ok(())
    }

    fn exists(&self, tree: u32) -> Result<(), String> {
        if self.trees.contains(&tree) { Ok(()) } else { Err(format!("tree {tree} does not exist")) }
    }
}

/// `H node L R A`, `0 ptr` or `0 none`
fn shape(fields: &mut Fields<'_>) -> Result<Shape, String> {
    let height: u32 = fields.value("height")?;
    match (height, fields.text("root")?) {
        (0, "ptr") => Ok(Shape::Pointer),
        (0, "none") => Ok(Shape::Empty),
        (1.., "node") => Ok(Shape::Nodes {
            height,
            leaves: fields.value("leaf_64")?,
            ranges: fields.value("range_64")?,
            alloc_ranges: fields.value("arange_64")?,
        }),
        (_, root) => Err(format!("no tree of height {height} has a root {root:?}")),
    }
}
