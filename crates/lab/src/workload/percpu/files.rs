//! The operations of vector files and traces.

use crate::engine::percpu::Scene;
use crate::family::Percpu;
use crate::kind::Kind;
use crate::workload::{Workload, stem};
use freehold::percpu::{Config, Population};
use freehold_trace::TraceError;
use freehold_trace::percpu::{Op, Record, Recording, Setup, Vectors};
use std::path::Path;

/// Bytes of a chunk for each CPU where a trace was recorded: units of a machine of two CPUs.
const TRACE_UNIT_BYTES: u32 = 1 << 20;

/// A vector file or a trace as a workload.
///
/// # Errors
/// It can be read as neither.
pub fn from_file(file: &Path) -> Result<Workload<Percpu>, TraceError> {
    let of = |name: String, description: String, config, balances, ops: Vec<Op>| {
        let objects = ops.iter().map(Op::object).max().map_or(0, |object| object.saturating_add(1));
        Workload::new(name, description, Scene { config, balances }, ops, objects).of_file(file)
    };
    if Kind::of(file)? != Kind::Placements {
        let Recording { header, ops, at_ns, skipped } = Recording::read(file)?;
        // What operations left for later was done at once.
        let config = Config::new(TRACE_UNIT_BYTES, header.cpus);
        let recorded = of(header.title(), header.description, config, true, ops)?;
        let skipped = skipped.into_iter().map(|(kind, count)| (kind.about(), count)).collect();
        return Ok(Workload { at_ns: Some(at_ns), skipped, ..recorded });
    }
    let mut vectors = Vectors::open(file)?;
    let config = config(vectors.setup()).map_err(|reason| TraceError::at(file, 1, reason))?;
    let (balances, mut ops) = (vectors.setup().balance, Vec::new());
    while let Some(record) = vectors.next().transpose()? {
        if let Record::Op(op, _) = record {
            ops.push(op);
        }
    }
    of(stem(file), "operations of a vector file".to_owned(), config, balances, ops)
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
