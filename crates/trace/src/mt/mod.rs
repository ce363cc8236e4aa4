//! Recorded maple tree events, `*.mt.csv`. No tree is named in them; of a task without threads, it
//! is the task's.

#[cfg(test)]
mod tests;

use crate::events::field;
use crate::{EventReader, Fields, Kind, Stamp, TraceEvent};
use freehold_units::Span;
use std::io::{self, Write};

/// What a function of the tree was about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Look up.
    Read,
    /// Store a value.
    Write {
        /// The pivot concerned.
        pivot: u64,
        /// The word to be stored; 0 erases.
        value: u64,
    },
    /// Change the tree's structure.
    Restructure,
}

/// One recorded event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When and where it happened.
    pub stamp: Stamp,
    /// What was to be done.
    pub action: Action,
    /// The function of the kernel.
    pub function: String,
    /// The node, by the order of first appearance of its address, from 0.
    pub node: u32,
    /// The keys that lie below the node.
    pub node_span: Span,
    /// The keys concerned.
    pub span: Span,
}

/// The events of a file, in order.
pub type Events = EventReader<Event>;

impl TraceEvent for Event {
    const KIND: Kind = Kind::Mt;

    fn parse(stamp: Stamp, fields: &mut Fields<'_>) -> Result<Self, String> {
        let op = fields.text("op")?;
        let function = fields.text("fn")?.to_owned();
        let node = fields.value("node")?;
        let node_span = span(fields, "min", "max")?;
        let span = span(fields, "index", "last")?;
        let (pivot, value) = (fields.optional_hex("piv")?, fields.optional_hex("val")?);
        let action = match (op, pivot, value) {
            ("r", None, None) => Action::Read,
            ("w", Some(pivot), Some(value)) => Action::Write { pivot, value },
            ("o", None, None) => Action::Restructure,
            ("r" | "w" | "o", ..) => return Err("piv and val belong to writes, and only there".to_owned()),
            _ => return Err(format!("unknown op {op:?}")),
        };
        Ok(Self { stamp, action, function, node, node_span, span })
    }

    fn stamp(&self) -> Stamp {
        self.stamp
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let op = match self.action {
            Action::Read => 'r',
            Action::Write { .. } => 'w',
            Action::Restructure => 'o',
        };
        let [min, max] = [self.node_span.first(), self.node_span.last()];
        let [index, last] = [self.span.first(), self.span.last()];
        write!(out, "{op},{},{},{min:x},{max:x},{index:x},{last:x},", field(&self.function), self.node)?;
        match self.action {
            Action::Write { pivot, value } => write!(out, "{pivot:x},{value:x}"),
            Action::Read | Action::Restructure => write!(out, ","),
        }
    }
}

fn span(fields: &mut Fields<'_>, first: &str, last: &str) -> Result<Span, String> {
    let (low, high) = (fields.hex(first)?, fields.hex(last)?);
    Span::new(low, high).ok_or_else(|| format!("{first} {low:x} is above {last} {high:x}"))
}
