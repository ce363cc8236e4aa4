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
    let columns = vectors.columns().to_vec();
    let make = |&column| ColumnCheck::new(column, vectors.layout(), vectors.unit_bytes());
    let checks: Result<Vec<ColumnCheck>, String> = columns.iter().map(make).collect();
    let mut checks = checks.map_err(|reason| TraceError::at(file, vectors.line(), reason))?;
    while let Some(record) = vectors.next().transpose()? {
        let line = vectors.line();
        match record {
            Record::Op(op, answers) => {
                for (check, expected) in checks.iter_mut().zip(&answers) {
                    check.op(line, &op, expected);
                }
            }
            Record::Digest(column, digest) => {
                let at = columns.iter().position(|&other| other == column);
                match at.and_then(|at| checks.get_mut(at)) {
                    Some(check) => check.digest(line, &digest),
                    None => return Err(TraceError::at(file, line, "a digest of a column that is not here")),
                }
            }
        }
        if line.is_multiple_of(TICK) {
            tick();
        }
    }
    Ok(checks.into_iter().map(|check| check.checked).collect())
}
