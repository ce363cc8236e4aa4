//! Errors as exceptions of `freehold.errors`, by kind.

use freehold_lab::failure::Failure;
use freehold_trace::TraceError;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::Path;

/// An exception of that class of `freehold.errors`.
pub(crate) fn raise(kind: &str, message: impl Into<String>) -> PyErr {
    raise_with(kind, message, |_| Ok(()))
}

/// The same with attributes, which `fill` puts into a dictionary.
pub(crate) fn raise_with(
    kind: &str,
    message: impl Into<String>,
    fill: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>,
) -> PyErr {
    let made = |py: Python<'_>| -> PyResult<PyErr> {
        let attributes = PyDict::new(py);
        fill(&attributes)?;
        let error = py.import("freehold.errors")?.getattr(kind)?.call1((message.into(),))?;
        for (name, value) in attributes {
            error.setattr(name.cast::<pyo3::types::PyString>()?, value)?;
        }
        Ok(PyErr::from_value(error))
    };
    Python::attach(|py| made(py).unwrap_or_else(|failed| failed))
}

/// Memory for structures was refused.
pub(crate) fn out_of_memory() -> PyErr {
    PyMemoryError::new_err("no memory for the structure")
}

/// A file that cannot be read, with `file` and `line`.
pub(crate) fn unreadable(error: &TraceError) -> PyErr {
    let (file, line) = match error {
        TraceError::Open { file, .. } => (file, None),
        TraceError::Line { file, line, .. } => (file, Some(*line)),
        TraceError::Record { file, .. } => (file, None),
    };
    bad_file(error.to_string(), file, line)
}

/// A file that cannot be read, by a message that names it.
pub(crate) fn bad_file(message: String, file: &Path, line: Option<u64>) -> PyErr {
    raise_with("TraceError", message, |attributes| {
        attributes.set_item("file", file.display().to_string())?;
        attributes.set_item("line", line)
    })
}

/// What a run of the lab failed with.
pub(crate) fn failed(error: &anyhow::Error) -> PyErr {
    if let Some(unread) = error.downcast_ref::<TraceError>() {
        return unreadable(unread);
    }
    let kind = match error.downcast_ref::<Failure>() {
        Some(Failure::Usage(_)) => "UsageError",
        Some(Failure::Lacking(_)) => "LackingError",
        None => "RunError",
    };
    raise(kind, format!("{error:#}"))
}
