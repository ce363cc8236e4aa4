//! The operations of vector files and traces.

use freehold::percpu::{Config, Population};
use freehold_trace::percpu::{Op, Record, Recording, Setup, Vectors};
use freehold_trace::{Lines, TraceError};
use std::path::Path;

/// Bytes of a chunk for each CPU where a trace was recorded: units of a machine of two CPUs.
const TRACE_UNIT_BYTES: u32 = 1 << 20;

/// Operations, and the chunks to run them on.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The file's name.
    pub name: String,
    /// The chunks.
    pub config: Config,
    /// Whether work that operations left for later was done at once.
    pub balances: bool,
    /// The operations.
    pub ops: Vec<Op>,
}

impl Recorded {
    /// Reads a vector file or a trace.
    ///
    /// # Errors
    /// It can be read as neither.
    pub fn read(file: &Path) -> Result<Self, TraceError> {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let first = Lines::open(file)?.advance()?.unwrap_or_default().to_owned();
        if !first.starts_with("# unit ") {
            let ops = Recording::read(file)?.ops;
            return Ok(Self { name, config: Config::new(TRACE_UNIT_BYTES, 2), balances: true, ops });
        }
        let mut vectors = Vectors::open(file)?;
        let config = config(vectors.setup()).map_err(|reason| TraceError::at(file, 1, reason))?;
        let (balances, mut ops) = (vectors.setup().balance, Vec::new());
        while let Some(record) = vectors.next().transpose()? {
            if let Record::Op(op, _) = record {
                ops.push(op);
            }
        }
        Ok(Self { name, config, balances, ops })
    }
}

/// The chunks that a vector file was recorded with: one CPU's flavour has all its memory from the start.
///
/// # Errors
/// Pages or units that there are none of.
pub fn config(setup: &Setup) -> Result<Config, String> {
    let page_bytes = freehold::percpu::PAGE_BYTES;
    if setup.page_bytes != u64::from(page_bytes) {
        return Err(format!("pages of {} bytes; there are only pages of {page_bytes}", setup.page_bytes));
    }
    let unit_bytes = u32::try_from(setup.unit_bytes).map_err(|_| "the unit is too large")?;
    let population = if setup.cpus == 1 { Population::Whole } else { Population::OnDemand };
    Ok(Config::new(unit_bytes, setup.cpus).population(population))
}
