//! The part of the Python package `freehold` that is compiled.
//!
//! ```text
//!   trace      a file as Arrow batches                       records, results   what a command found
//!   commands   replay, verify, inspect, compare, the program guest              a class in Python as an engine
//!   detached   work without the GIL, which Ctrl-C ends       errors             exceptions by kind
//!   engines    AddressSpace, RangeMap, ChunkSet as classes
//! ```

mod columns;
mod commands;
mod detached;
mod engines;
mod errors;
mod guest;
mod records;
mod results;
mod trace;

use pyo3::prelude::*;

/// The compiled part of the package `freehold`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::commands::{
        compare, engines, family_of, inspect, main, panics, predict, replay, started_by, verify,
    };
    #[pymodule_export]
    use super::detached::end_runs;
    #[pymodule_export]
    use super::engines::{AddressSpace, ChunkSet, RangeMap};
    #[pymodule_export]
    use super::results::{Results, load};
    #[pymodule_export]
    use super::trace::{Trace, open_trace};
}
