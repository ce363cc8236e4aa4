//! The program `freehold`, which [`freehold_lab::program`] is.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(freehold_lab::program::main(std::env::args_os().collect()))
}
