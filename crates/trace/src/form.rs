//! The form that a trace is written in, as the name of its file says.

use std::io::{self, Write};
use std::path::Path;

/// How well a trace is compressed, of 1 to 22.
const LEVEL: i32 = 10;

/// What is said of a Parquet file by a program that was built without the feature `parquet`.
const WITHOUT_PARQUET: &str = "a Parquet file, which takes a program built with --features parquet";

/// What a trace is written as. [`open`](crate::open) reads all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text.
    Plain,
    /// Text, compressed with zstd.
    Zstd,
    /// A table, by a program that is built with the feature `parquet`.
    Parquet,
}

impl Form {
    /// The form that a file's name asks for: compressed if it ends in `.zst`, a table in `.parquet`, else text.
    #[must_use]
    pub fn of(file: &Path) -> Self {
        match file.extension().and_then(|ending| ending.to_str()) {
            Some("zst") => Self::Zstd,
            Some("parquet") => Self::Parquet,
            _ => Self::Plain,
        }
    }

    /// That this program can write it.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn check(self) -> io::Result<()> {
        match self {
            Self::Parquet if !cfg!(feature = "parquet") => {
                Err(io::Error::new(io::ErrorKind::Unsupported, WITHOUT_PARQUET))
            }
            _ => Ok(()),
        }
    }

    /// Writes the trace whose text `make` writes. Cost: one pass; a table holds the text in memory first.
    ///
    /// # Errors
    /// As [`check`](Self::check) and `make` say; for a table also if the text is no trace or has more than 512 MiB; `out` cannot be
    /// written.
    pub fn write<T, E: From<io::Error>>(
        self,
        out: &mut dyn Write,
        make: impl FnOnce(&mut dyn Write) -> Result<T, E>,
    ) -> Result<T, E> {
        self.check()?;
        match self {
            Self::Plain => make(out),
            Self::Zstd => {
                let mut packed = zstd::Encoder::new(out, LEVEL)?;
                let made = make(&mut packed)?;
                packed.finish()?.flush()?;
                Ok(made)
            }
            #[cfg(feature = "parquet")]
            Self::Parquet => {
                let mut text = crate::columnar::Text::default();
                let made = make(&mut text)?;
                text.write_parquet(out)?;
                Ok(made)
            }
            #[cfg(not(feature = "parquet"))]
            Self::Parquet => unreachable!("the check refuses it"),
        }
    }
}
