//! The worked example of the 2019 talk, `kva-talk 1`: small steps on a tree of five blocks, with the tree
//! before and after each, and the work that each may do. Numbers are pages.

use crate::{Fields, Lines, TraceError};
use std::collections::BTreeMap;
use std::path::Path;

/// A node of the tree: start, size, subtree maximum and depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TalkNode {
    /// First page.
    pub start: u64,
    /// Pages.
    pub size: u64,
    /// Largest block of its subtree, in pages.
    pub subtree_max: u64,
    /// Edges to the root.
    pub depth: u32,
}

/// What is done in a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TalkOp {
    /// Allocate; the answer is a fit letter and an address, or `None`.
    Alloc {
        /// Pages.
        size: u64,
        /// Pages.
        align: u64,
        /// Half-open window, in pages.
        window: (u64, u64),
        /// Fit letter and first page.
        answer: Option<(char, u64)>,
    },
    /// Free a range.
    Free {
        /// First page.
        start: u64,
        /// Pages.
        size: u64,
        /// Merge letter.
        merge: char,
    },
}

/// A line of the example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TalkStep {
    /// A new case, with its title.
    Case(String),
    /// Back to the five blocks.
    Reset,
    /// An operation, and counts of work by name.
    Op(TalkOp, BTreeMap<String, u64>),
    /// The whole tree in preorder.
    Tree(Vec<TalkNode>),
}

/// The whole example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Talk {
    /// The five blocks in the order of insertion: start and end page.
    pub layout: Vec<(u64, u64)>,
    /// The steps, each with its line.
    pub steps: Vec<(u64, TalkStep)>,
}

impl Talk {
    /// Reads the whole file.
    ///
    /// # Errors
    /// It cannot be opened, or a line is not what it should be.
    pub fn read(file: &Path) -> Result<Self, TraceError> {
        Self::from_lines(Lines::open(file)?)
    }

    /// Reads the lines of a whole file.
    ///
    /// # Errors
    /// A line is not what it should be.
    pub fn from_lines(mut lines: Lines) -> Result<Self, TraceError> {
        let mut talk = Self { layout: Vec::new(), steps: Vec::new() };
        let first = lines.advance()?.unwrap_or_default().to_owned();
        lines.check_version(&first, "# kva-talk 1")?;
        if !first.starts_with("# kva-talk 1") {
            return Err(lines.error("not the talk's example: line 1 must start `# kva-talk 1`"));
        }
        while let Some(text) = lines.advance()?.map(str::to_owned) {
            if text == "end" {
                lines.finish()?;
                return Ok(talk);
            }
            talk.line(lines.number(), &text).map_err(|reason| lines.error(reason))?;
        }
        Err(lines.error("the file is cut off: no `end` line"))
    }

    fn line(&mut self, number: u64, text: &str) -> Result<(), String> {
        let (text, comment) = text.split_once('#').unwrap_or((text, ""));
        let mut fields = Fields::new(text.trim_end(), ' ');
        let step = match fields.text("keyword")? {
            "" => return Ok(()),
            "init" => {
                fields.text("name")?;
                self.layout.push((fields.value("LO")?, fields.value("HI")?));
                return fields.end();
            }
            "case" => TalkStep::Case(text.trim_start_matches("case ").to_owned()),
            "reset" => TalkStep::Reset,
            "T" => {
                fields.text("tag")?;
                let mut nodes = Vec::new();
                while let Ok(text) = fields.text("node") {
                    nodes.push(node(text)?);
                }
                TalkStep::Tree(nodes)
            }
            "a" => TalkStep::Op(alloc(&mut fields)?, work(comment)?),
            "f" => {
                let (start, size) = (fields.value("ADDR")?, fields.value("SIZE")?);
                TalkStep::Op(TalkOp::Free { start, size, merge: fields.value("MERGE")? }, work(comment)?)
            }
            other => return Err(format!("unknown keyword {other:?}")),
        };
        self.steps.push((number, step));
        Ok(())
    }
}

/// `START+SIZE/SUBTREEMAX@DEPTH`
fn node(text: &str) -> Result<TalkNode, String> {
    let parts: Vec<&str> = text.split(['+', '/', '@']).collect();
    let &[start, size, subtree_max, depth] = parts.as_slice() else {
        return Err(format!("unreadable node {text:?}"));
    };
    let number = |text: &str| text.parse::<u64>().map_err(|_| format!("unreadable number {text:?}"));
    let depth = u32::try_from(number(depth)?).map_err(|_| "a tree too deep")?;
    Ok(TalkNode { start: number(start)?, size: number(size)?, subtree_max: number(subtree_max)?, depth })
}

fn alloc(fields: &mut Fields<'_>) -> Result<TalkOp, String> {
    let (size, align) = (fields.value("SIZE")?, fields.value("ALIGN")?);
    let mut window = Fields::new(fields.text("LO:HI")?, ':');
    let window = (window.value("LO")?, window.value("HI")?);
    let answer = match fields.text("FITADDR")? {
        "-" => None,
        text => {
            let letter = text.chars().next().ok_or("FITADDR is empty")?;
            let address = text.strip_prefix(letter).and_then(|text| text.parse().ok());
            Some((letter, address.ok_or("unreadable FITADDR")?))
        }
    };
    Ok(TalkOp::Alloc { size, align, window, answer })
}

/// `find 3 climb 0 propagate 2 rotate 0`
fn work(text: &str) -> Result<BTreeMap<String, u64>, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut counts = BTreeMap::new();
    for pair in words.chunks(2) {
        let &[name, count] = pair else { return Err("a count is missing".to_owned()) };
        counts.insert(name.to_owned(), count.parse().map_err(|_| format!("unreadable count {count:?}"))?);
    }
    Ok(counts)
}
