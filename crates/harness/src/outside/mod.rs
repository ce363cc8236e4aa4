//! Engines from outside: a shared object with a table of functions, loaded and called in a process of its own.
//!
//! ```text
//!   lab                                      child: the same program, `serve-engine PATH`
//!   Process::run(ops) --- pipe: a batch --->  run_batch(engine, ops, answers, n), the clock read around it
//!                     <-- pipe: answers, ns
//! ```
//!
//! What the object does to its process stays there: how it ended, or that it does not answer in time, is an error with the number
//! of the batch. Layouts are those of `freehold_engine.h`. Cost: two switches between processes for a batch.

mod child;
mod library;
mod process;

pub use child::serve;
pub use library::words;
pub use process::Process;

/// The version of the layouts.
pub const VERSION: u32 = 1;

/// What is asked: `enum freehold_what`.
#[allow(missing_docs, reason = "the header describes them")]
pub mod what {
    pub const ALLOC: u32 = 1;
    pub const FREE: u32 = 2;
    pub const STORE: u32 = 3;
    pub const INSERT: u32 = 4;
    pub const ERASE: u32 = 5;
    pub const LOAD: u32 = 6;
    pub const FIND: u32 = 7;
    pub const GAP_LOW: u32 = 8;
    pub const GAP_HIGH: u32 = 9;
}

/// How it ended: `enum freehold_status`.
#[allow(missing_docs, reason = "the header describes them")]
pub mod status {
    pub const UNSUPPORTED: u32 = 0;
    pub const DONE: u32 = 1;
    pub const NO_ROOM: u32 = 2;
    pub const NOT_LIVE: u32 = 3;
    pub const EXISTS: u32 = 4;
}

/// An operation: `struct freehold_op`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Op {
    /// Of [`what`].
    pub what: u32,
    /// Whom it is about.
    pub object: u32,
    /// Bytes or indexes.
    pub size: u64,
    /// A power of two.
    pub align: u64,
    /// First of the range or window.
    pub first: u64,
    /// Last of it.
    pub last: u64,
    /// What is stored.
    pub value: u64,
}

/// An answer: `struct freehold_answer`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Of [`status`].
    pub status: u32,
    /// The chunk.
    pub chunk: u32,
    /// Where it is.
    pub first: u64,
    /// Where it ends.
    pub last: u64,
    /// What is or was there.
    pub value: u64,
}

/// First and last of a free span: `struct freehold_span`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First.
    pub first: u64,
    /// Last.
    pub last: u64,
}

/// What an engine is made for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scene {
    /// What is free at first.
    pub spans: Vec<Span>,
    /// What sizes are multiples of, in bytes.
    pub granule: u64,
    /// Bytes of a unit.
    pub unit_bytes: u64,
}

/// What an engine says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// 1 kva, 2 percpu, 3 maple.
    pub family: u32,
    /// Which address it takes: `enum freehold_takes`.
    pub takes: u32,
    /// What percpu sizes are rounded up to, in bytes.
    pub grain: u32,
}

/// Requests to the child: a word, and what follows it.
mod request {
    /// Spans, granule, bytes of a unit; answered by 1, or 0 if there can be no such engine.
    pub(super) const CREATE: u64 = 1;
    /// Operations; answered by answers and nanoseconds.
    pub(super) const RUN: u64 = 2;
    /// Operations, run one by one; answered by answers, each with its nanoseconds.
    pub(super) const EACH: u64 = 3;
    /// Answered by bytes.
    pub(super) const BYTES: u64 = 4;
}

/// What consists of integers without padding, so that its bytes are its value.
trait Plain: Copy + Default {}
impl Plain for u64 {}
impl Plain for Op {}
impl Plain for Answer {}
impl Plain for Span {}

const _: () = assert!(size_of::<Op>() == 48 && size_of::<Answer>() == 32 && size_of::<Span>() == 16);

fn bytes<T: Plain>(items: &[T]) -> &[u8] {
    // SAFETY: the items are integers without padding, all of whose bytes can be read.
    unsafe { std::slice::from_raw_parts(items.as_ptr().cast(), size_of_val(items)) }
}

fn bytes_mut<T: Plain>(items: &mut [T]) -> &mut [u8] {
    // SAFETY: the items are integers without padding, for which all bytes are values.
    unsafe { std::slice::from_raw_parts_mut(items.as_mut_ptr().cast(), size_of_val(items)) }
}
