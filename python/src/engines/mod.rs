//! The engines as classes, under their Rust names. Values are any Python objects. A class has one owner: a second thread that calls
//! it at the same time gets `RuntimeError: Already borrowed`. Engines are boxed, since some have the alignment of a cache line, and Python
//! aligns its objects to 16 bytes.

mod address_space;
mod chunk_set;
mod range_map;

pub(crate) use address_space::AddressSpace;
pub(crate) use chunk_set::ChunkSet;
pub(crate) use range_map::RangeMap;

use crate::errors::raise;
use freehold::units::Span;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// What Python aligns its objects to, which is all that `pyo3` asks for.
const OBJECT_ALIGN: usize = 16;
const _: () = assert!(align_of::<AddressSpace>() <= OBJECT_ALIGN);
const _: () = assert!(align_of::<ChunkSet>() <= OBJECT_ALIGN);
const _: () = assert!(align_of::<RangeMap>() <= OBJECT_ALIGN);
const _: () = assert!(align_of::<crate::results::Results>() <= OBJECT_ALIGN);
const _: () = assert!(align_of::<crate::trace::Trace>() <= OBJECT_ALIGN);

/// First and last address of a range.
type Ends = (u64, u64);

fn ends(span: Span) -> Ends {
    (span.first(), span.last())
}

/// The values that an engine is freed with, in a list of Python's: values that are engines are freed through that. Python frees lists in
/// lists one after the other once they are deep; Rust would free each engine within the one before, until the stack ends.
///
/// Nothing if there is no memory for it. Cost: linear.
fn values(py: Python<'_>, values: impl Iterator<Item = Py<PyAny>>) -> Option<Bound<'_, PyList>> {
    PyList::new(py, values.collect::<Vec<_>>()).ok()
}

/// The range between two ends.
fn span(first: u64, last: u64) -> PyResult<Span> {
    let empty = || raise("RequestError", format!("a range from {first:#x} to {last:#x} is empty"));
    Span::new(first, last).ok_or_else(empty)
}

/// The range of so many bytes.
fn sized(first: u64, size: u64) -> PyResult<Span> {
    let none = || raise("RequestError", format!("there is no range of {size} bytes at {first:#x}"));
    Span::from_size(first, size).ok_or_else(none)
}
