//! What a file holds, told by its name or its first line, and which family that is of.

use crate::named::named;
use crate::{Lines, TITLE, TITLE_V1, TraceError};
use std::path::Path;

named! {
    /// Which family.
    Suite {
        Kva "kva" "Address ranges."
        Percpu "percpu" "Objects that exist once per CPU."
        Maple "maple" "Maps from ranges to entries."
    }
}

/// A kind of file that the lab reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
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
    /// A recorded trace of this family.
    Trace(Suite),
    /// Operations on range trees.
    TreeLog,
    /// What was traced of the functions of range trees.
    TreeEvents,
    /// Stores into range trees, with what they asked for.
    TreeStream,
    /// Worked examples of what stores ask for.
    TreeExamples,
}

impl FileKind {
    /// What the file is.
    ///
    /// # Errors
    /// There is no first line to be read, or it begins like none of them.
    pub fn of(file: &Path) -> Result<Self, TraceError> {
        if file.extension().is_some_and(|extension| extension == "tsv") {
            return Ok(Self::Anchors);
        }
        let mut lines = Lines::open(file)?;
        let Some(first) = lines.advance()?.map(str::to_owned) else {
            return Err(lines.error("the file is empty"));
        };
        let begins = [
            ("# kva-talk", Self::Talk),
            ("# kva-vectors", Self::Columns),
            ("# unit ", Self::Placements),
            ("@run ", Self::Area),
            ("kind=kva ", Self::Trace(Suite::Kva)),
            ("kind=pcpu ", Self::Trace(Suite::Percpu)),
            ("kind=vma ", Self::Trace(Suite::Maple)),
            ("kind=mt ", Self::TreeEvents),
            ("# maple-vectors", Self::TreeLog),
            ("maple-stream", Self::TreeStream),
            ("example 1", Self::TreeExamples),
        ];
        let title =
            [TITLE, TITLE_V1].into_iter().find_map(|title| first.strip_prefix(title)?.strip_prefix(' '));
        let of_trace = |kind| matches!(kind, Self::Trace(_) | Self::TreeEvents);
        let begins_so = |(begin, kind): &(&str, Self)| match title {
            Some(words) => of_trace(*kind) && words.starts_with(begin),
            None => !of_trace(*kind) && first.starts_with(begin),
        };
        let kind = begins.into_iter().find(begins_so).map(|(_, kind)| kind);
        if title.is_none() {
            lines.check_version(&first, TITLE)?;
        }
        kind.ok_or_else(|| lines.error("neither a trace nor a vector file: line 1 is that of no known kind"))
    }

    /// The family of engines that it is about.
    pub fn suite(self) -> Suite {
        match self {
            Self::Anchors | Self::Talk | Self::Columns => Suite::Kva,
            Self::Placements | Self::Area => Suite::Percpu,
            Self::Trace(suite) => suite,
            Self::TreeEvents | Self::TreeLog | Self::TreeStream | Self::TreeExamples => Suite::Maple,
        }
    }
}
