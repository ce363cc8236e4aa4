//! Workloads out of files.

use super::{Workload, stem};
use crate::kind::Kind;
use freehold::units::Align;
use freehold_trace::TraceError;
use freehold_trace::kva::{Record, Recording, Space, Vectors};
use std::path::Path;

/// A recorded trace or a vector file of the kva family.
///
/// # Errors
/// The file cannot be read, or is neither.
pub fn from_file(file: &Path) -> anyhow::Result<Workload> {
    let mut workload = match Kind::of(file)? {
        Kind::Trace(_) => recording(file)?,
        Kind::Columns => vectors(file)?,
        _ => anyhow::bail!("{}: neither a kva trace nor kva vectors", file.display()),
    };
    workload.objects = Workload::count_objects(&workload.setup).max(Workload::count_objects(&workload.ops));
    Ok(workload.of_file(file)?)
}

fn recording(file: &Path) -> anyhow::Result<Workload> {
    let Recording { header, space, mut ops, mut at_ns, initial, skipped } = Recording::read(file)?;
    let measured = ops.split_off(initial);
    let granule = Align::new(header.page_bytes)
        .ok_or_else(|| TraceError::at(file, 1, "pagesize is no power of two"))?;
    let scene = Space { layout: vec![space], granule };
    Ok(Workload {
        setup: ops,
        at_ns: Some(at_ns.split_off(initial)),
        skipped: skipped.into_iter().map(|(kind, count)| (kind.about(), count)).collect(),
        ..Workload::new(header.title(), header.description, scene, measured, 0)
    })
}

fn vectors(file: &Path) -> anyhow::Result<Workload> {
    let mut vectors = Vectors::open(file)?;
    let granule = Align::new(vectors.unit_bytes());
    let granule = granule.ok_or_else(|| vectors.error("the unit is no power of two"))?;
    let layout = vectors.layout().to_vec();
    let mut ops = Vec::new();
    while let Some(record) = vectors.next().transpose()? {
        if let Record::Op(op, _) = record {
            ops.push(op);
        }
    }
    let scene = Space { layout, granule };
    Ok(Workload::new(stem(file), "operations of a vector file", scene, ops, 0))
}
