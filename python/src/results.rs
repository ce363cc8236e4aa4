//! `freehold.Results`: what a command found, with the views that the program has of it.

use crate::errors::{bad_file, failed};
use crate::records::batch;
use arrow_pyarrow::ToPyArrow;
use freehold_lab::commands::definition;
use freehold_lab::record::{Document, Environment, Results as Found, read};
use freehold_lab::view;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// What a command found.
#[pyclass(frozen, module = "freehold")]
pub(crate) struct Results {
    pub(crate) command: String,
    pub(crate) found: Found,
    environment: Environment,
}

#[pymethods]
impl Results {
    /// The command that made them, such as `replay`.
    #[getter]
    fn command(&self) -> &str {
        &self.command
    }

    /// Whether something was wrong: an answer that differs, a file that cannot be read.
    #[getter]
    fn failed(&self) -> bool {
        self.found.failed
    }

    /// What the reader should know beside the figures.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.found.notes.clone()
    }

    /// Where the default engine is ahead, and where it is behind: a dictionary each, as in the JSON document.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loaded(py, serde_json::to_string(&view::findings(&self.found)))
    }

    /// The machine and the program that made them.
    #[getter]
    fn environment<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loaded(py, serde_json::to_string(&self.environment))
    }

    /// Every figure as a `pyarrow.Table` of schema `freehold/2`: times in nanoseconds, sizes in bytes, counts. Cost: linear.
    fn records<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let batch = batch(&self.found.records).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let batch = batch.to_pyarrow(py)?;
        py.import("pyarrow")?.getattr("Table")?.call_method1("from_batches", ([batch],))
    }

    /// The JSON document that the program's `--json` prints.
    fn json(&self) -> PyResult<String> {
        let found = view::findings(&self.found);
        let document = Document::of(&self.command, &self.environment, &self.found, &found);
        document.text().map_err(|error| failed(&error))
    }

    /// The page that the program's `--report` writes: HTML that needs nothing else.
    fn html(&self) -> PyResult<String> {
        let page = || view::page(&definition(&self.command)?, &self.found, &self.environment);
        page().map_err(|error| failed(&error))
    }

    /// The tables that the program prints, 40 to 100 characters wide.
    #[pyo3(signature = (columns=100))]
    fn text(&self, columns: usize) -> PyResult<String> {
        let definition = definition(&self.command).map_err(|error| failed(&error))?;
        Ok(view::screen(&definition, &self.found, &self.environment, columns.clamp(40, view::SCREEN), false))
    }

    fn __str__(&self) -> PyResult<String> {
        self.text(view::SCREEN)
    }

    fn __repr__(&self) -> String {
        let state = if self.found.failed { ", failed" } else { "" };
        format!("<freehold.Results of {}, {} records{state}>", self.command, self.found.records.len())
    }

    fn _repr_html_(&self) -> PyResult<String> {
        // The page brings a style of its own, which must not change the notebook's.
        let page = self.html()?.replace('&', "&amp;").replace('"', "&quot;");
        Ok(format!("<iframe srcdoc=\"{page}\" style=\"width:100%;height:40em;border:0\"></iframe>"))
    }
}

impl Results {
    pub(crate) fn new(command: &str, found: Found) -> Self {
        Self { command: command.to_owned(), found, environment: Environment::here() }
    }

    /// The results of a JSON document.
    pub(crate) fn of_document(path: &Path) -> anyhow::Result<Self> {
        let (command, found, environment) = read(Some(path))?;
        Ok(Self { command, found, environment })
    }
}

/// Reads what `Results.json` or the program's `--json` wrote. Raises `TraceError` for a file that is no such document.
#[pyfunction]
pub(crate) fn load(path: PathBuf) -> PyResult<Results> {
    Results::of_document(&path).map_err(|error| bad_file(format!("{error:#}"), &path, None))
}

/// A JSON text as Python's own values.
fn loaded(py: Python<'_>, text: serde_json::Result<String>) -> PyResult<Bound<'_, PyAny>> {
    let text = text.map_err(|error| PyValueError::new_err(error.to_string()))?;
    py.import("json")?.call_method1("loads", (text,))
}
