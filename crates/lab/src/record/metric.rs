//! What can be measured: each metric's name, unit, and which way is better.

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// A number of things.
    Count,
    /// Bytes.
    Bytes,
    /// A part of a whole, from 0 to 1.
    Share,
    /// A quotient.
    Ratio,
    /// So many in a second.
    PerSecond,
}

impl Unit {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Count => "count",
            Self::Bytes => "bytes",
            Self::Share => "share",
            Self::Ratio => "ratio",
            Self::PerSecond => "1/s",
        }
    }
}

/// Which way a figure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less is.
    Less,
    /// Neither is: it is not compared.
    Neither,
}

macro_rules! metrics {
    ($($(#[$about:meta])* $id:ident $name:literal $unit:ident $better:ident $exact:literal)*) => {
        /// What is measured.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Metric { $($(#[$about])* $id,)* }

        impl Metric {
            /// Every metric.
            pub const ALL: &'static [Self] = &[$(Self::$id,)*];

            /// Its name in JSON and in definitions of views.
            pub fn name(self) -> &'static str {
                match self { $(Self::$id => $name,)* }
            }

            /// The unit of its values.
            pub fn unit(self) -> Unit {
                match self { $(Self::$id => Unit::$unit,)* }
            }

            /// Which way is better.
            pub fn better(self) -> Better {
                match self { $(Self::$id => Better::$better,)* }
            }

            /// Whether it is the same in every run.
            pub fn is_exact(self) -> bool {
                match self { $(Self::$id => $exact,)* }
            }
        }
    };
}

metrics! {
    /// Nanoseconds of an operation.
    Time "time" Nanoseconds Less false
    /// Steps of an operation, as its family counts them.
    Work "work" Count Less true
    /// Nodes that a search visits, without what keeps them up.
    NodesVisited "nodes_visited" Count Less true
    /// Instructions of an operation, by callgrind.
    Instructions "instructions" Count Less true
    /// Bytes of an engine's own structures for each item: a free block, an object, an area, a range.
    BytesPerItem "bytes_per_item" Bytes Less true
    /// Bytes of what knows the free blocks, for each of them.
    BytesPerFreeBlock "bytes_per_free_block" Bytes Less true
    /// Bytes of what knows the regions, for each of them.
    BytesPerRegion "bytes_per_region" Bytes Less true
    /// Bytes of an engine's own structures, at most.
    Metadata "metadata" Bytes Less true
    /// Metadata as a part of a unit's bytes.
    MetadataShare "metadata_share" Share Less true
    /// Pages that have memory; of a zone, pages that others took.
    Pages "pages" Count Less true
    /// Pages that would do.
    IdealPages "ideal_pages" Count Neither true
    /// Live bytes as a part of the pages with memory.
    PageFill "page_fill" Share Neither true
    /// Chunks, at most.
    Chunks "chunks" Count Less true
    /// Free blocks at the end.
    FreeBlocks "free_blocks" Count Neither true
    /// The largest free block as a part of all that is free.
    LargestFree "largest_free_share" Share Neither true
    /// How much longer the used span is than what it holds.
    SpanRatio "span_ratio" Ratio Less true
    /// The largest free piece of a zone as a part of it.
    LargestLeft "largest_left_share" Share Neither true
    /// The part of a zone that others took.
    Taken "taken_share" Share Neither true
    /// The load, in hundredths, from which a zone has no room for its largest request.
    FullFrom "full_from" Count Neither true
    /// Requests that were refused.
    Refused "refused" Count Less true
    /// Requests refused, or with a chunk made for them, though there was a place.
    MissedPlaces "missed_places" Count Less true
    /// Answers that were held against what is right.
    Checked "checked" Count Neither true
    /// Those that differ.
    Mismatches "mismatches" Count Less true
    /// Repeats that went well.
    Passed "passed" Count Neither true
    /// Repeats that went wrong.
    Failed "failed" Count Less true
    /// Repeats that were refused as the case expects.
    Xfailed "xfailed" Count Neither true
    /// How many there were.
    Count "count" Count Neither true
    /// Their part of all.
    Share "share" Share Neither true
    /// How many in a second.
    Rate "rate" PerSecond Neither true
    /// How many in the busiest window.
    Busiest "busiest" Count Neither true
    /// Allocations of the size of the one before, as a part of all.
    Repeats "repeats_share" Share Neither true
    /// Lengths of runs of one size.
    RunLength "run_length" Count Neither true
    /// Bytes asked for.
    Bytes "bytes" Bytes Neither true
    /// How long objects live, in operations or nanoseconds.
    Lifetime "lifetime" Count Neither true
    /// Live objects.
    Live "live" Count Neither true
    /// Address spaces, at most.
    Spaces "spaces" Count Neither true
    /// Areas, at most.
    Areas "areas" Count Neither true
    /// Areas of one space, at most.
    AreasMost "areas_most" Count Neither true
    /// Areas that calls met.
    Met "met" Count Neither true
    /// Calls that met more than one.
    MetSeveral "met_several" Count Neither true
    /// Ranges that calls stored or emptied.
    Stores "stores" Count Neither true
    /// Calls that stored nothing.
    Idle "idle" Count Neither true
    /// Levels of a tree, at most.
    Height "height" Count Less true
    /// Nodes in use, at most.
    Nodes "nodes" Count Less true
    /// Nodes that stores asked for.
    NodesRequested "nodes_requested" Count Less true
    /// Nodes that they took.
    NodesUsed "nodes_used" Count Less true
    /// Of these, old ones handed back.
    NodesReturned "nodes_returned" Count Neither true
    /// Requests for so many nodes.
    Requests "requests" Count Neither true
    /// Deadlines there were.
    Deadlines "deadlines" Count Neither true
    /// Deadlines missed.
    MissedDeadlines "missed_deadlines" Count Less false
    /// Nanoseconds of a unit of work.
    StepPrice "step_price" Nanoseconds Neither false
    /// The part of a CPU that a workload needs at its rate.
    CpuShare "cpu_share" Share Less false
    /// Hints of chunks that have room.
    Hints "hints" Count Neither true
    /// What hints say as a part of the truth.
    HintShare "hint_share" Share Neither true
    /// Bytes that a hint is from the truth, at most.
    HintError "hint_error" Bytes Less true
    /// Page faults of an operation that need no disk.
    Faults "faults" Count Less false
    /// Mappings of the process that something adds.
    Mappings "mappings" Count Less false
    /// Locks taken that all threads share.
    Locks "locks" Count Less false
    /// Locks that a thread waited for.
    LockWaits "lock_waits" Count Less false
    /// Bytes of memory that a process has, as its page tables say.
    Resident "resident" Bytes Less false
    /// One figure of the run by another.
    Ratio "ratio" Ratio Neither false
}

/// Which figure of all samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stat {
    /// The middle.
    Median,
    /// The mean.
    Mean,
    /// The mean of each operation's least round.
    LeastMean,
    /// The least.
    Min,
    /// One in a hundred is more.
    P99,
    /// One in a thousand is more.
    P999,
    /// The largest.
    Max,
    /// All together.
    Total,
}

impl Stat {
    /// Every one.
    pub const ALL: [Self; 8] =
        [Self::Median, Self::Mean, Self::LeastMean, Self::Min, Self::P99, Self::P999, Self::Max, Self::Total];

    /// Its name in JSON and in definitions of views.
    pub fn name(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::Mean => "mean",
            Self::LeastMean => "least_mean",
            Self::Min => "min",
            Self::P99 => "p99",
            Self::P999 => "p999",
            Self::Max => "max",
            Self::Total => "total",
        }
    }
}
