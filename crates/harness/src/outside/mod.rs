//! Engines from outside: a shared object with a table of functions, loaded and called in a process of its own.
//!
//! ```text
//!   lab                                      child: the same program, `serve-engine PATH`
//!   Process::run(ops) --- pipe: a batch --->  run_batch(engine, ops, answers, n), the clock read around it
//!                     <-- pipe: answers, ns
//! ```
//!
//! A fault of the object ends only its own process. The caller gets an error with the number of the batch, as it does if the
//! object does not answer in time. Layouts are those of `freehold_engine.h`. Cost: two context switches for a batch.

mod child;
mod library;
mod process;

pub use child::serve;
pub use library::words;
pub use process::Process;

/// The version of the layouts.
pub const VERSION: u32 = 1;

/// Kinds of operations: `enum freehold_what`.
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

/// Results of operations: `enum freehold_status`.
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
    /// The kind: a constant of [`what`].
    pub what: u32,
    /// The number of the object that is allocated or freed.
    pub object: u32,
    /// The size, in bytes or indexes.
    pub size: u64,
    /// The alignment: a power of two.
    pub align: u64,
    /// The lowest address or index of the range or window.
    pub first: u64,
    /// The highest.
    pub last: u64,
    /// The value to store.
    pub value: u64,
}

/// An answer: `struct freehold_answer`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The result: a constant of [`status`].
    pub status: u32,
    /// The number of the chunk (percpu).
    pub chunk: u32,
    /// The lowest address or index of the place.
    pub first: u64,
    /// The highest.
    pub last: u64,
    /// The value that is or was stored there.
    pub value: u64,
}

/// A free span: `struct freehold_span`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The lowest address.
    pub first: u64,
    /// The highest address.
    pub last: u64,
}

/// The arguments for making an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scene {
    /// The free spans at the start.
    pub spans: Vec<Span>,
    /// The granule, of which all sizes are multiples, in bytes.
    pub granule: u64,
    /// The size of a unit (percpu), in bytes.
    pub unit_bytes: u64,
}

/// The properties that an engine declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The family: 1 kva, 2 percpu, 3 maple.
    pub family: u32,
    /// The address that it chooses: `enum freehold_takes`.
    pub takes: u32,
    /// The granularity of percpu sizes, in bytes.
    pub grain: u32,
}

/// Requests to the child: a word and its arguments.
mod request {
    /// Arguments: spans, granule, bytes of a unit. Answer: 1, or 0 if the engine cannot be made.
    pub(super) const CREATE: u64 = 1;
    /// Arguments: operations, run as a batch. Answer: their answers, and nanoseconds.
    pub(super) const RUN: u64 = 2;
    /// Arguments: operations, run one by one. Answer: their answers, each with its nanoseconds.
    pub(super) const EACH: u64 = 3;
    /// Answer: the bytes of memory that the engine has.
    pub(super) const BYTES: u64 = 4;
}

/// A type made of integers without padding, so that any bytes are a value.
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
