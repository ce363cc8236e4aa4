//! What is asked of `freehold bench`, whatever is benched.

use crate::choices::{Choices, benched_engines, workloads};
use freehold::units::Bytes;

/// What is asked for.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// Be done within a minute, not ten.
    #[arg(long)]
    pub quick: bool,
    /// Measure the wishes of the 2019 talk, each alone and together, in work, instructions and time, and say
    /// which pays, for kva alone. Takes some minutes with valgrind.
    #[arg(long, conflicts_with_all = ["quick", "engines", "sizes", "growth", "unit", "instructions"])]
    pub wishes: bool,
    /// Count instructions instead of time, under valgrind's callgrind: for maple, and for look-ups of kva and readers.
    #[arg(long)]
    pub instructions: bool,
    /// Time single operations between which 48 MiB are read, so that nothing of an engine is in a cache, and count the lines
    /// that each touches, under callgrind: for kva, percpu and maple.
    #[arg(long, conflicts_with_all = ["wishes", "instructions", "workloads", "growth", "unit"])]
    pub cold: bool,
    /// An engine, `rbtree`, or one placement of it, `rbtree:linux`, or one from outside, `so:PATH`; again for more.
    #[arg(long = "engine", value_name = "NAME", value_parser = Choices(benched_engines))]
    pub engines: Vec<String>,
    /// A workload, like `churn`; again for more.
    #[arg(long = "workload", value_name = "NAME", value_parser = Choices(workloads))]
    pub workloads: Vec<String>,
    /// A size for workloads that have sizes; again for more. Of percpu, the number of objects; of maple, of ranges.
    #[arg(long = "n", value_name = "N")]
    pub sizes: Vec<u32>,
    /// Measure how time, work and memory grow from a hundred objects to ten million, or to a hundred thousand if it is to
    /// be quick: of one workload of the family, or of those named.
    #[arg(long, conflicts_with = "sizes")]
    pub growth: bool,
    /// Bytes of a chunk for each CPU, for percpu alone: 256K unless it is said.
    #[arg(long, value_name = "BYTES")]
    pub unit: Option<Bytes>,
}
