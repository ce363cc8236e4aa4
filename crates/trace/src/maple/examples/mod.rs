//! Worked examples of how many nodes a store asks for, `prealloc_examples.txt`: the path to each end of the
//! range, the leaf's slots, the store and the outcome.

mod line;

use super::StoreType;
use crate::named::named;
use crate::{Format, Lines, Reader, TraceError};
use freehold_units::Span;
use line::{Draft, line};

named! {
    /// What a node is.
    NodeKind {
        Leaf64 "leaf_64" "A leaf."
        Range64 "range_64" "An inner node of a tree that tracks no gaps."
        Arange64 "arange_64" "An inner node of a tree that does."
    }
}

/// A node on the way to an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathNode {
    /// Edges to the root.
    pub depth: u32,
    /// What it is.
    pub kind: NodeKind,
    /// Index of its last used slot.
    pub end: u32,
    /// Slots that it has room for.
    pub slots: u32,
    /// The fewest that it may use, unless it is the root.
    pub min_slots: u32,
    /// The slot that the path goes through.
    pub offset: u32,
    /// The indexes below it.
    pub span: Span,
    /// Whether a slot is free; inner nodes alone.
    pub vacant: Option<bool>,
    /// Whether it has entries to spare; inner nodes alone.
    pub sufficient: Option<bool>,
}

/// A range of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafSlot {
    /// Its indexes.
    pub span: Span,
    /// Whether it holds nothing.
    pub null: bool,
}

/// The way from the root to an index, and the leaf at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// The nodes from the root down; none in a tree without nodes.
    pub nodes: Vec<PathNode>,
    /// The slots of the last.
    pub leaf: Vec<LeafSlot>,
}

/// What the store of 6.16 took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Nodes taken.
    pub taken: u32,
    /// Old nodes handed back.
    pub handed_back: u32,
    /// The difference.
    pub net: i32,
    /// Height afterwards.
    pub height: u32,
}

/// One example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Its number, from 1.
    pub number: u32,
    /// Whether the tree tracks gaps.
    pub alloc_tree: bool,
    /// Height before; 0 is a tree without nodes.
    pub height: u32,
    /// The way to the first index.
    pub first: Path,
    /// The way to the last index; spanning stores alone.
    pub last: Option<Path>,
    /// Whether nothing is stored.
    pub null: bool,
    /// The range asked for.
    pub asked: Span,
    /// The range after widening over neighbouring gaps; `None` for a spanning store, which is not widened.
    pub widened: Option<Span>,
    /// How the tree changes.
    pub store_type: StoreType,
    /// The lowest level above the leaf with a free slot, 1 for the root; 0 for none.
    pub vacant_height: u32,
    /// The lowest level above the leaf with entries to spare, 1 for the root; 0 for none.
    pub sufficient_height: u32,
    /// Nodes that 6.12 asks for.
    pub requested_6_12: u32,
    /// Nodes that 6.16 asks for.
    pub requested_6_16: u32,
    /// What was taken.
    pub used: Usage,
}

/// How many of a file's examples were read.
#[derive(Default)]
pub struct ExampleFormat {
    number: u32,
}

/// A file of examples, read one by one.
pub type Examples = Reader<ExampleFormat>;

impl Format for ExampleFormat {
    type Record = Example;

    fn begin(_: &mut Lines) -> Result<Self, TraceError> {
        Ok(Self::default())
    }

    /// An example goes to the empty line after it, the last to the end of the file.
    fn read(&mut self, lines: &mut Lines) -> Result<Option<Example>, TraceError> {
        let Some(title) = lines.advance()? else {
            let empty = self.number == 0;
            return if empty { Err(lines.error("the file has no example")) } else { Ok(None) };
        };
        self.number = self.number.saturating_add(1);
        if title != format!("example {}", self.number) {
            return Err(lines.error(format!("`example {}` must stand here", self.number)));
        }
        let mut draft = Draft::default();
        loop {
            let read = match lines.advance()? {
                None | Some("") => break,
                Some(text) => line(text, &mut draft),
            };
            read.map_err(|reason| lines.error(reason))?;
        }
        let example = draft.finish(self.number);
        example.map(Some).map_err(|reason| lines.error(reason))
    }
}
