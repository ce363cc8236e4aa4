//! The family of address-range allocators: operations, answers, engines, files.

mod anchors;
mod driver;
mod events;
mod op;
mod replay;
mod talk;
#[cfg(test)]
mod tests;
mod vectors;

pub use anchors::{AnchorRow, Anchors};
pub use driver::{Driver, Engine};
pub use events::{Event, EventKind, Events};
pub use op::{Answer, Op};
pub use replay::{Recording, Skipped};
pub use talk::{Talk, TalkNode, TalkOp, TalkStep};
pub use vectors::{
    Column, Digest, Expected, ExpectedAlloc, ExpectedFree, FreeDigest, GapDigest, Record, Vectors,
};
