//! What a file holds, told by its name or its first line.

use freehold_trace::{Lines, TraceError};
use std::path::Path;

/// A kind of file that can be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Work anchors: tables, told by the name.
    Anchors,
    /// The talk's worked example.
    Talk,
    /// Operations on address space, with columns of answers.
    Columns,
    /// Placements of the bitmap allocator.
    Placements,
    /// Work of the area map.
    Area,
    /// Operations on range trees.
    TreeLog,
    /// Stores into range trees, with what they asked for.
    TreeStream,
    /// Worked examples of what stores ask for.
    TreeExamples,
}

impl Kind {
    /// What the file is; `None` if its first line begins like none of them.
    ///
    /// # Errors
    /// There is no first line to be read.
    pub(super) fn of(file: &Path) -> Result<Option<Self>, TraceError> {
        if file.extension().is_some_and(|extension| extension == "tsv") {
            return Ok(Some(Self::Anchors));
        }
        let mut lines = Lines::open(file)?;
        let first = lines.advance()?.unwrap_or_default();
        let begins = [
            ("# kva-talk", Self::Talk),
            ("# kva-vectors", Self::Columns),
            ("# unit ", Self::Placements),
            ("@run ", Self::Area),
            ("# maple-vectors", Self::TreeLog),
            ("maple-stream", Self::TreeStream),
            ("example 1", Self::TreeExamples),
        ];
        Ok(begins.into_iter().find(|(begin, _)| first.starts_with(begin)).map(|(_, kind)| kind))
    }

    /// The family of engines that it is about.
    pub(super) fn suite(self) -> &'static str {
        match self {
            Self::Anchors | Self::Talk | Self::Columns => "kva",
            Self::Placements | Self::Area => "percpu",
            Self::TreeLog | Self::TreeStream | Self::TreeExamples => "maple",
        }
    }
}
