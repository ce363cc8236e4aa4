//! The part of the Python package `freehold` that is compiled: traces as Arrow record batches.
//!
//! Cost: a trace holds its columns once; Python shares them through the Arrow C data interface.

mod columns;

use arrow_array::RecordBatch;
use arrow_pyarrow::ToPyArrow;
use columns::{next_batch, schema};
use freehold_trace::{Lines, TraceError as Unreadable, TraceHeader};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{SyncSender, sync_channel};

create_exception!(
    freehold,
    TraceError,
    PyValueError,
    "A file cannot be read as a trace: file, line and reason."
);

/// A recorded trace, read whole. Cost: memory of its columns.
#[pyclass(frozen, module = "freehold")]
struct Trace {
    header: TraceHeader,
    batches: Vec<RecordBatch>,
}

#[pymethods]
impl Trace {
    /// What is recorded: `kva`, `pcpu`, `vma` or `mt`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.header.kind.name()
    }

    /// Release of the kernel that it was recorded on.
    #[getter]
    fn kernel(&self) -> &str {
        &self.header.kernel
    }

    /// CPUs of the machine.
    #[getter]
    fn cpus(&self) -> u32 {
        self.header.cpus
    }

    /// Page size in bytes.
    #[getter]
    fn page_bytes(&self) -> u64 {
        self.header.page_bytes
    }

    /// The workload's short name.
    #[getter]
    fn workload(&self) -> &str {
        &self.header.workload
    }

    /// What the workload did.
    #[getter]
    fn description(&self) -> &str {
        &self.header.description
    }

    /// Records lost while recording.
    #[getter]
    fn lost_records(&self) -> u64 {
        self.header.lost_records
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        format!("<freehold.Trace {}, {} events>", self.header.title(), self.__len__())
    }

    /// The events as a `pyarrow.Table`, which shares the trace's memory. Cost: O(batches).
    fn to_arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let batches: Vec<_> =
            self.batches.iter().map(|batch| batch.to_pyarrow(py)).collect::<PyResult<_>>()?;
        let schema = schema(self.header.kind).to_pyarrow(py)?;
        py.import("pyarrow")?.getattr("Table")?.call_method1("from_batches", (batches, schema))
    }
}

/// Reads a trace by a thread of its own, with the GIL released; between batches Ctrl-C ends it. Cost: one pass over the file.
#[pyfunction]
#[pyo3(name = "open")]
fn open_trace(py: Python<'_>, path: PathBuf) -> PyResult<Trace> {
    let (sender, receiver) = sync_channel(1);
    let reader = std::thread::spawn(move || read(&path, &sender));
    let receiver = Mutex::new(receiver);
    let next = || receiver.lock().ok()?.recv().ok();
    let mut batches = Vec::new();
    while let Some(batch) = py.detach(next) {
        batches.push(batch);
        // If this fails, the receiver is dropped, and the reader ends at its next batch.
        py.check_signals()?;
    }
    match reader.join() {
        Ok(header) => {
            let header = header.map_err(|error| TraceError::new_err(error.to_string()))?;
            Ok(Trace { header, batches })
        }
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Sends the batches of a file, until it ends or nobody receives them.
fn read(path: &Path, batches: &SyncSender<RecordBatch>) -> Result<TraceHeader, Unreadable> {
    let mut lines = Lines::open(path)?;
    let header = TraceHeader::read(&mut lines)?;
    while let Some(batch) = next_batch(header.kind, &mut lines)? {
        if batches.send(batch).is_err() {
            break;
        }
    }
    Ok(header)
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Trace>()?;
    module.add("TraceError", module.py().get_type::<TraceError>())?;
    module.add_function(wrap_pyfunction!(open_trace, module)?)
}
