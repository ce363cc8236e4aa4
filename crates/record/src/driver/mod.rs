//! Drives a source of events into the folder of a recording, and puts the machine back as it was.
//!
//! ```text
//!   hold the command -> set up -> turn on -> snapshot -> run the command -> snapshot -> turn off -> put back
//! ```
//!
//! [`tracefs`] needs root and records the kernel's own events; [`ptrace`] needs no rights and records the calls of a command and of all
//! that it makes. What is recorded while the machine works is bytes: nothing is parsed before the end.

mod events;
mod failure;
mod hands;
mod machine;
mod passing;
pub mod ptrace;
mod readers;
mod tasks;
pub mod tracefs;
mod workload;

pub use failure::Failure;
pub use freehold_harness::child::Ended;
pub use machine::Machine;
pub use workload::Workload;

use crate::folder::{Meta, RECORDING};
use std::path::Path;

/// What was recorded.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// What the file `recording` of the folder says.
    pub meta: Meta,
    /// What is missing or odd, a sentence each.
    pub warnings: Vec<String>,
    /// How the command ended, if there was one and it did.
    pub ended: Option<Ended>,
    /// The signal that ended the recording, if one did.
    pub signal: Option<&'static str>,
}

/// Writes the file that makes a folder a recording.
fn write_meta(meta: &Meta, folder: &Path) -> Result<(), Failure> {
    let file = folder.join(RECORDING);
    let mut text = Vec::new();
    let written = meta.write(&mut text).and_then(|()| std::fs::write(&file, text));
    written.map_err(Failure::file(&file, "written"))
}
