//! A vector file, every column that an engine can answer for.

use super::Checked;
use super::column::ColumnCheck;
use freehold_trace::TraceError;
use freehold_trace::kva::{Record, Vectors};
use std::path::Path;

/// Records between two ticks.
const TICK: u64 = 1024;

pub(super) fn verify(file: &Path, tick: &mut dyn FnMut()) -> Result<Vec<Checked>, TraceError> {
    let mut vectors = Vectors::open(file)?;
    let columns = vectors.columns().iter().enumerate();
    let make = |(at, &column)| ColumnCheck::all(column, at, vectors.layout(), vectors.unit_bytes());
    let checks: Result<Vec<Vec<ColumnCheck>>, String> = columns.map(make).collect();
    let checks = checks.map_err(|reason| TraceError::at(file, vectors.line(), reason))?;
    let mut checks: Vec<ColumnCheck> = checks.into_iter().flatten().collect();
    while let Some(record) = vectors.next().transpose()? {
        let line = vectors.line();
        match record {
            Record::Op(op, answers) => checks.iter_mut().for_each(|check| check.op(line, &op, &answers)),
            Record::Digest(column, digest) => {
                if !vectors.columns().contains(&column) {
                    return Err(TraceError::at(file, line, "a digest of a column that is not here"));
                }
                let of_column = checks.iter_mut().filter(|check| check.column == column);
                of_column.for_each(|check| check.digest(line, &digest));
            }
        }
        if line.is_multiple_of(TICK) {
            tick();
        }
    }
    Ok(checks.into_iter().map(|check| check.checked).collect())
}
