//! The family of process address spaces: recorded system calls and what the kernel did besides, `*.vma.csv`.

mod events;
#[cfg(test)]
mod tests;

pub use events::{Action, Backing, Errno, Event, Events, Mapping, MappingSource, Outcome};
