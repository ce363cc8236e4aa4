//! Running the percpu family: every placement checked before anything is timed, engines in turn; and runs to look at.

mod bench;
mod steps;
mod watch;

pub use bench::{Bench, Job};
pub use watch::{ChunkSeen, LOOKS, Look, Watched, longest, watch};
