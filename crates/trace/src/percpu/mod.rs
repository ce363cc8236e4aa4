//! The family of per-CPU allocators: operations, answers, engines, files.

mod area;
mod digest;
mod driver;
mod engine;
mod events;
mod op;
mod placement;
mod replay;
mod session;
mod vectors;

#[cfg(test)]
mod tests;

pub use area::{AllocTotals, AllocWork, AreaFormat, AreaRecord, AreaRun, AreaVectors, FreeOrder, FreeWork};
pub use digest::{ChunkLine, Digest, chunk_lines_hash};
pub use driver::Driver;
pub use engine::{ChunkKey, Engine, Footprint, Location, PageMap};
pub use events::{AllocFlags, Event, EventKind, Events, MOST_UNIT_BYTES, is_object};
pub use op::{Answer, Op};
pub use replay::{Recording, Skipped};
pub use session::Session;
pub use vectors::{Record, Setup, Variant, VectorFormat, Vectors};
