//! `freehold.Trace`: a recorded trace as Arrow record batches.
//!
//! Cost: a trace holds its columns once; Python shares them through the Arrow C data interface.

use crate::columns::{IN_MEMORY, ROWS, is_number, next_batch, schema, write_rows};
use crate::detached::detached;
use crate::errors::{failed, raise, unreadable};
use arrow_array::RecordBatch;
use arrow_pyarrow::{FromPyArrow, ToPyArrow};
use freehold_lab::{output, stop};
use freehold_trace::{COMMENT, Form, Kind, Lines, MOST_LINES, Suite, TraceError, TraceHeader};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::io::Write;
use std::path::{self, Path, PathBuf};
use tempfile::TempPath;

/// Under which a table's schema has the first lines of the file.
const HEADER: &str = "freehold.header";
/// The lines of a header.
const HEADER_LINES: u64 = 4;
/// From here on floats of 64 bits round integers.
const EXACT: f64 = (1_u64 << 53) as f64;

/// A recorded trace, read whole. Cost: memory of its columns.
#[pyclass(frozen, from_py_object, module = "freehold")]
#[derive(Clone)]
pub(crate) struct Trace {
    header: TraceHeader,
    batches: Vec<RecordBatch>,
    file: Option<Place>,
}

/// Where a file is: as it was named, and from the root, which is the same after a change of the working directory.
#[derive(Clone)]
struct Place {
    named: PathBuf,
    absolute: PathBuf,
}

#[pymethods]
impl Trace {
    /// What is recorded: `kva`, `pcpu`, `vma` or `mt`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.header.kind.name()
    }

    /// The family of engines that replay it: `kva`, `percpu` or `maple`.
    #[getter]
    fn family(&self) -> &'static str {
        match self.header.kind {
            Kind::Kva => Suite::Kva,
            Kind::Pcpu => Suite::Percpu,
            Kind::Vma | Kind::Mt => Suite::Maple,
        }
        .name()
    }

    /// The first lines of its file.
    #[getter]
    fn header(&self) -> PyResult<String> {
        let mut text = Vec::new();
        self.header.write(&mut text)?;
        Ok(String::from_utf8(text)?)
    }

    /// What the header says: `kernel`, `cpus`, `page_bytes`, `workload`, `description`, `lost_records`, and the further words of its
    /// first line.
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let TraceHeader { kernel, cpus, page_bytes, workload, description, lost_records, words, .. } =
            &self.header;
        let info = PyDict::new(py);
        for (key, value) in words {
            info.set_item(key, value)?;
        }
        info.set_item("kernel", kernel)?;
        info.set_item("cpus", cpus)?;
        info.set_item("page_bytes", page_bytes)?;
        info.set_item("workload", workload)?;
        info.set_item("description", description)?;
        info.set_item("lost_records", lost_records)?;
        Ok(info)
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        format!("<freehold.Trace {}, {} events>", self.header.title(), self.__len__())
    }

    /// The events as a `pyarrow.Table`, which shares the trace's memory. Its schema carries the header. Cost: O(batches).
    fn to_arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let batches: Vec<_> =
            self.batches.iter().map(|batch| batch.to_pyarrow(py)).collect::<PyResult<_>>()?;
        let schema = schema(self.header.kind).to_pyarrow(py)?;
        let table =
            py.import("pyarrow")?.getattr("Table")?.call_method1("from_batches", (batches, schema))?;
        let metadata = PyDict::new(py);
        metadata.set_item(HEADER, self.header()?)?;
        table.call_method1("replace_schema_metadata", (metadata,))
    }

    /// A trace of a table with the columns of its kind, whose memory it shares where types are the same. `header` has the first three
    /// lines of a trace file, where the table's schema does not carry them.
    ///
    /// Raises `TraceError` for a header or columns that are of no trace, for floats that may have been rounded, and for a table of a
    /// Parquet file that the program wrote: it has other types, and rows that are no events. `open` reads such a file.
    #[staticmethod]
    #[pyo3(signature = (table, header=None))]
    fn from_arrow(py: Python<'_>, table: &Bound<'_, PyAny>, header: Option<String>) -> PyResult<Self> {
        let arrow = py.import("pyarrow")?;
        let table = arrow.call_method1("table", (table,))?;
        let header = match header {
            Some(header) => header,
            None => carried(&table)?.ok_or_else(|| {
                let lacks =
                    "the table carries no header; give header=, the first three lines of a trace file";
                raise("TraceError", lacks)
            })?,
        };
        let header = parsed(&header).map_err(|error| unreadable(&error))?;
        if table.getattr("column_names")?.contains(COMMENT)? {
            let written =
                "the table is of a Parquet file that the program wrote: freehold.open reads the file";
            return Err(raise("TraceError", format!("{IN_MEMORY}: {written}")));
        }
        is_exact(&table, header.kind)?;
        let wanted = schema(header.kind).to_pyarrow(py)?;
        let names = wanted.getattr("names")?;
        let cast =
            table.call_method1("select", (names,)).and_then(|table| table.call_method1("cast", (wanted,)));
        let table = cast.map_err(|error| {
            let columns = header.kind.columns();
            raise(
                "TraceError",
                format!(
                    "{IN_MEMORY}: a trace of kind {} has the columns {columns}: {error}",
                    header.kind.name()
                ),
            )
        })?;
        let batches = table.call_method1("to_batches", (ROWS,))?.try_iter()?;
        let batches = batches
            .map(|batch| RecordBatch::from_pyarrow_bound(&batch?))
            .collect::<PyResult<Vec<RecordBatch>>>()?;
        Ok(Self { header, batches, file: None })
    }

    /// Writes the trace as text, compressed if the name ends in `.zst`, or as Parquet if it ends in `.parquet`, and makes the folders
    /// that it lies in. If that fails, the file that was there stays.
    ///
    /// Raises `TraceError` for a text with a comma or the end of a line, and for more events than a file may have; `RunError` for a file
    /// that cannot be written.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let (header, batches) = (self.header.clone(), self.batches.clone());
        detached(py, false, move || write(&path, &header, &batches))?.map_err(|error| failed(&error))
    }
}

impl Trace {
    /// A file with the trace: its own, or one that is gone when the second is dropped.
    pub(crate) fn file(&self) -> anyhow::Result<(PathBuf, Option<TempPath>)> {
        if let Some(Place { named, absolute }) = &self.file {
            let is_there = path::absolute(named).is_ok_and(|there| there == *absolute);
            return Ok((if is_there { named.clone() } else { absolute.clone() }, None));
        }
        let file = tempfile::Builder::new().suffix(".csv").tempfile()?.into_temp_path();
        write(&file, &self.header, &self.batches)?;
        Ok((file.to_path_buf(), Some(file)))
    }
}

/// The header that a table's schema carries.
fn carried(table: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let metadata = table.getattr("schema")?.getattr("metadata")?;
    if metadata.is_none() {
        return Ok(None);
    }
    let header = metadata.call_method1("get", (PyBytes::new(table.py(), HEADER.as_bytes()),))?;
    if header.is_none() { Ok(None) } else { Ok(Some(header.call_method0("decode")?.extract()?)) }
}

/// Refuses a column of floats that may have been integers which a float of 64 bits rounds. Cost: a pass over such columns.
fn is_exact(table: &Bound<'_, PyAny>, kind: Kind) -> PyResult<()> {
    let py = table.py();
    let (compute, types) = (py.import("pyarrow.compute")?, py.import("pyarrow.types")?);
    for field in table.getattr("schema")?.try_iter()? {
        let field = field?;
        let name: String = field.getattr("name")?.extract()?;
        if !is_number(kind, &name)
            || !types.call_method1("is_floating", (field.getattr("type")?,))?.is_truthy()?
        {
            continue;
        }
        let column = table.call_method1("column", (&name,))?.call_method1("cast", ("float64",))?;
        let most: Option<f64> = compute.call_method1("max", (column,))?.call_method0("as_py")?.extract()?;
        if most.is_some_and(|most| most >= EXACT) {
            let floats = "is a column of floats, which round integers above 2^53; pandas keeps integers with \
                          to_pandas(types_mapper=pandas.ArrowDtype)";
            return Err(raise("TraceError", format!("{IN_MEMORY}: {name} {floats}")));
        }
    }
    Ok(())
}

/// Reads a header, whose line of columns may be left out.
fn parsed(text: &str) -> Result<TraceHeader, TraceError> {
    let mut lines: Vec<&str> = text.lines().collect();
    let kind = text.split_whitespace().find_map(|word| Kind::named(word.strip_prefix("kind=")?));
    let columns = kind.map(|kind| format!("#{}", kind.columns())).unwrap_or_default();
    if lines.len() == 3 {
        lines.push(&columns);
    }
    TraceHeader::read(&mut Lines::from_text(IN_MEMORY, &(lines.join("\n") + "\n")))
}

fn write(path: &Path, header: &TraceHeader, batches: &[RecordBatch]) -> anyhow::Result<()> {
    let rows: u64 = batches.iter().map(|batch| batch.num_rows() as u64).sum();
    let most = MOST_LINES - HEADER_LINES;
    if rows > most {
        let reason = format!("a trace has at most {most} events, and this one {rows}: split it");
        return Err(TraceError::Record { file: IN_MEMORY.into(), record: most + 1, reason }.into());
    }
    output::write_with(path, |out| Form::of(path).write(out, |text| write_text(text, header, batches)))
}

fn write_text(mut out: &mut dyn Write, header: &TraceHeader, batches: &[RecordBatch]) -> anyhow::Result<()> {
    header.write(&mut out)?;
    let mut text = String::new();
    let mut before = 0;
    for batch in batches {
        stop::check();
        text.clear();
        write_rows(header.kind, batch, before, &mut text)?;
        out.write_all(text.as_bytes())?;
        before += batch.num_rows();
    }
    Ok(())
}

/// Reads a trace, plain or compressed with zstd. The GIL is released; Ctrl-C ends it between batches of 65,536 rows.
///
/// Raises `TraceError` with file, line and reason. Cost: one pass over the file.
#[pyfunction]
#[pyo3(name = "open")]
pub(crate) fn open_trace(py: Python<'_>, path: PathBuf) -> PyResult<Trace> {
    let read = move || -> Result<Trace, TraceError> {
        let mut lines = Lines::open(&path)?;
        let header = TraceHeader::read(&mut lines)?;
        let absolute =
            path::absolute(&path).map_err(|reason| TraceError::Open { file: path.clone(), reason })?;
        let mut batches = Vec::new();
        while let Some(batch) = next_batch(header.kind, &mut lines)? {
            stop::check();
            batches.push(batch);
        }
        Ok(Trace { header, batches, file: Some(Place { named: path, absolute }) })
    };
    detached(py, false, read)?.map_err(|error| unreadable(&error))
}
