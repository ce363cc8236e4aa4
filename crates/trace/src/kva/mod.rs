//! The family of address-range allocators: operations, answers, engines, files.

mod anchors;
mod column;
mod digest;
mod driver;
mod events;
mod letters;
mod op;
mod replay;
mod session;
mod talk;
#[cfg(test)]
mod tests;
mod vectors;

pub use anchors::{AnchorRow, Anchors};
pub use column::Column;
pub use digest::{Digest, FreeDigest, GapDigest};
pub use driver::{Driver, Engine};
pub use events::{Event, EventKind, Events};
pub use letters::Letters;
pub use op::{Answer, Op};
pub use replay::{Recording, Skipped};
pub use session::{Session, Space};
pub use talk::{Talk, TalkNode, TalkOp, TalkStep};
pub use vectors::{Expected, ExpectedAlloc, ExpectedFree, Record, VectorFormat, Vectors};
