//! `freehold.RangeMap`.

use super::{Ends, ends, span, values};
use crate::errors::{out_of_memory, raise, raise_with};
use freehold::maple::{AllocError, InsertError, RangeMap as Map, Request, StoreError};
use freehold::units::{Align, Span};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

/// First and last index of a range, and its value.
type Entry = (u64, u64, Py<PyAny>);

/// Maps ranges of indexes, `first..=last`, to values, and knows the gaps. Indexes are integers of 64 bits. Operations take O(log n).
#[pyclass(module = "freehold")]
pub(crate) struct RangeMap(Box<Map<Stored>>);

/// A value; parts of a range that is cut share it.
struct Stored(Py<PyAny>);

impl Clone for Stored {
    fn clone(&self) -> Self {
        Self(Python::attach(|py| self.0.clone_ref(py)))
    }
}

impl Drop for RangeMap {
    fn drop(&mut self) {
        Python::attach(|py| {
            let kept = values(py, self.0.iter().map(|(_, value)| value.0.clone_ref(py)));
            self.0.clear();
            drop(kept);
        });
    }
}

fn entry(py: Python<'_>, (span, value): (Span, &Stored)) -> Entry {
    (span.first(), span.last(), value.0.clone_ref(py))
}

#[pymethods]
impl RangeMap {
    #[new]
    fn new() -> Self {
        Self(Box::new(Map::new()))
    }

    /// Stores a value over `first..=last`, and over whatever is there: entries that reach beyond keep their other parts.
    ///
    /// Raises `RequestError` for a range that is empty; `MemoryError`.
    fn store(&mut self, first: u64, last: u64, value: Py<PyAny>) -> PyResult<()> {
        let span = span(first, last)?;
        self.0.store(span.first()..=span.last(), Stored(value)).map_err(|rejected| match rejected.cause {
            StoreError::OutOfMemory => out_of_memory(),
            other => raise("RequestError", other.to_string()),
        })
    }

    /// Stores a value over `first..=last`, which must be free.
    ///
    /// Raises `NoSpace`, whose `conflict` is the lowest entry in the way; `RequestError` for a range that is empty; `MemoryError`.
    fn insert(&mut self, first: u64, last: u64, value: Py<PyAny>) -> PyResult<()> {
        let span = span(first, last)?;
        let inserted = self.0.insert(span.first()..=span.last(), Stored(value));
        inserted.map_err(|rejected| match rejected.cause {
            InsertError::OutOfMemory => out_of_memory(),
            InsertError::Occupied { entry: there } => {
                let fill = |attributes: &Bound<'_, pyo3::types::PyDict>| {
                    attributes.set_item("conflict", ends(there))
                };
                raise_with("NoSpace", rejected.cause.to_string(), fill)
            }
            other => raise("RequestError", other.to_string()),
        })
    }

    /// Removes the whole entry that contains an index: its first index, last index and value; `None` if there is none.
    fn erase(&mut self, index: u64) -> Option<Entry> {
        let (span, value) = self.0.erase(index)?;
        Some((span.first(), span.last(), value.0))
    }

    /// The value at an index, or `default`.
    #[pyo3(signature = (index, default=None))]
    fn get(&self, py: Python<'_>, index: u64, default: Option<Py<PyAny>>) -> Option<Py<PyAny>> {
        self.0.get(index).map(|value| value.0.clone_ref(py)).or(default)
    }

    /// First index, last index and value of the entry that contains an index; `None` if there is none.
    fn entry_at(&self, py: Python<'_>, index: u64) -> Option<Entry> {
        self.0.entry_at(index).map(|found| entry(py, found))
    }

    /// First index, last index and value of every entry, ascending.
    fn items(&self, py: Python<'_>) -> Vec<Entry> {
        self.0.iter().map(|found| entry(py, found)).collect()
    }

    /// First and last index of every gap within `first..=last`, clipped to it, ascending.
    #[pyo3(signature = (first=0, last=u64::MAX))]
    fn gaps(&self, first: u64, last: u64) -> Vec<Ends> {
        self.0.gaps_within(first..=last).map(ends).collect()
    }

    /// The lowest place of `size` indexes in a gap, at a multiple of `align`, within `first..=last`: its ends.
    ///
    /// Raises `NoSpace` if there is none; `RequestError`.
    #[pyo3(signature = (size, *, align=1, first=0, last=u64::MAX))]
    fn lowest_gap(&self, size: u64, align: u64, first: u64, last: u64) -> PyResult<Ends> {
        self.0.lowest_gap(&request(size, align, first, last)?).map(ends).map_err(refused)
    }

    /// The highest such place.
    ///
    /// Raises `NoSpace` if there is none; `RequestError`.
    #[pyo3(signature = (size, *, align=1, first=0, last=u64::MAX))]
    fn highest_gap(&self, size: u64, align: u64, first: u64, last: u64) -> PyResult<Ends> {
        self.0.highest_gap(&request(size, align, first, last)?).map(ends).map_err(refused)
    }

    /// Removes all entries.
    fn clear(&mut self) {
        self.0.clear();
    }

    /// Checks every invariant. Raises `InternalError` for one that is broken. Cost: linear.
    fn validate(&self) -> PyResult<()> {
        self.0.validate().map_err(|broken| raise("InternalError", broken.to_string()))
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.0.len()).unwrap_or(usize::MAX)
    }

    fn __contains__(&self, index: u64) -> bool {
        self.0.contains(index)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.items(py).into_pyobject(py)?.try_iter()?.into_any())
    }

    /// For the collector of cycles.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.0.iter().try_for_each(|(_, value)| visit.call(&value.0))
    }

    fn __clear__(&mut self) {
        self.clear();
    }

    fn __repr__(&self) -> String {
        format!("<freehold.RangeMap of {} entries>", self.0.len())
    }
}

fn request(size: u64, align: u64, first: u64, last: u64) -> PyResult<Request> {
    let no_power = || raise("RequestError", format!("an alignment of {align} is no power of two"));
    let align = Align::new(align).ok_or_else(no_power)?;
    Ok(Request::new(size).align(align).window(span(first, last)?))
}

fn refused(error: AllocError) -> PyErr {
    match error {
        AllocError::OutOfMemory => out_of_memory(),
        AllocError::TooLarge { .. } | AllocError::NoSpace { .. } => raise("NoSpace", error.to_string()),
        other => raise("RequestError", other.to_string()),
    }
}
