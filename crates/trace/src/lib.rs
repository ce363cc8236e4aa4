//! What the lab's engines are asked and answer, and the files that this is recorded in.
//!
//! Each family of engines has its operations, its answers and the trait through which every engine of the
//! family is driven, the ones we compare with included. Files are read as streams, plain or compressed with
//! zstd, and traces are written; what is wrong with one is an error with file, line and reason.

#![forbid(unsafe_code)]

#[cfg(feature = "parquet")]
mod columnar;
mod drive;
mod driven;
mod error;
mod events;
mod file_kind;
mod form;
mod guarded;
mod hash;
mod header;
pub mod kva;
mod lines;
pub mod maple;
pub mod mt;
mod named;
mod names;
pub mod percpu;
mod random;
mod reader;
mod source;
#[cfg(test)]
mod tests;
pub mod vma;
mod work;

#[cfg(feature = "parquet")]
pub use columnar::COMMENT;
pub use drive::Drive;
pub use driven::Driven;
pub use error::TraceError;
pub use events::{EventReader, EventWriter, Stamp, TraceEvent, TraceFormat};
pub use file_kind::{FileKind, Suite};
pub use form::Form;
pub use guarded::guarded;
pub use hash::Fnv;
pub use header::{Kind, TITLE, TITLE_V1, TraceHeader};
pub use lines::{Fields, Lines, MOST_LINES};
pub use random::SplitMix;
pub use reader::{Format, Reader};
pub use source::{is_pipe, open, read_text, read_text_lossy};
pub use work::RivalWork;
