//! The family of range trees: operations, answers, engines, files. A tree maps disjoint ranges of 64-bit indexes, both
//! ends included, to values.

mod answer;
mod digest;
mod driver;
mod engine;
mod examples;
mod grammar;
mod log_write;
mod op;
mod ranges;
mod steps;
mod stream;
mod stream_columns;
mod stream_write;
mod trees;
mod vectors;

#[cfg(test)]
mod tests;

pub use answer::{Answer, CursorState, Cycled, Expected, Refusal};
pub use digest::Digest;
pub use driver::Driver;
pub use engine::{CursorView, Engine};
pub use examples::{Example, ExampleFormat, Examples, LeafSlot, NodeKind, Path, PathNode, Usage};
pub use log_write::{log_content, log_header, log_line};
pub use op::{End, Op, Step, StoreCall, Value};
pub use ranges::{RangeDriver, Ranges};
pub use steps::{GapRequest, MixStep, Steps};
pub use stream::{Stream, StreamFormat, StreamHeader, StreamRecord};
pub use stream_write::{Calculation, StoreType, StreamWrite, TreeFlags, Used};
pub use trees::Trees;
pub use vectors::{ContentEntry, Header, Record, Shape, VectorFormat, Vectors};
