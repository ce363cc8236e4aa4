//! What can be measured: each metric's name, unit, and which way is better.

use crate::named::named;

macro_rules! metrics {
    ($($id:ident $name:literal $unit:ident $better:ident $exact:ident $about:literal)*) => {
        named! {
            /// What is measured.
            Metric { $($id $name $about)* }
        }

        impl Metric {
            /// The unit of its values.
            pub fn unit(self) -> Unit {
                match self { $(Self::$id => Unit::$unit,)* }
            }

            /// Whether less is better; otherwise it is not compared.
            pub fn is_compared(self) -> bool {
                match self { $(Self::$id => metrics!(@ $better),)* }
            }

            /// Whether it is the same in every run.
            pub fn is_exact(self) -> bool {
                match self { $(Self::$id => metrics!(@ $exact),)* }
            }
        }
    };
    (@ less) => { true };
    (@ neither) => { false };
    (@ exact) => { true };
    (@ varies) => { false };
}

named! {
    /// The unit of a figure.
    Unit {
        Nanoseconds "ns"    "Nanoseconds."
        Count       "count" "A number of things."
        Bytes       "bytes" "Bytes."
        Share       "share" "A part of a whole, from 0 to 1."
        Ratio       "ratio" "A quotient."
        PerSecond   "1/s"   "So many in a second."
    }
}

named! {
    /// Which figure of all samples.
    Stat {
        Median    "median"     "The middle."
        Mean      "mean"       "The mean."
        LeastMean "least_mean" "The mean of each operation's least round."
        Min       "min"        "The least."
        P99       "p99"        "One in a hundred is more."
        P999      "p999"       "One in a thousand is more."
        Max       "max"        "The largest."
        Total     "total"      "All together."
    }
}

metrics! {
    Time "time" Nanoseconds less varies "Nanoseconds of an operation."
    Work "work" Count less exact "Steps of an operation, as its family counts them."
    NodesVisited "nodes_visited" Count less exact "Nodes that a search visits, without what keeps them up."
    Instructions "instructions" Count less exact "Instructions of an operation, by callgrind."
    Lines "lines" Count less exact "Cache lines of data that an operation touches, by callgrind."
    BytesPerItem "bytes_per_item" Bytes less exact
        "Bytes of an engine's own structures for each item: a free block, an object, an area, a range."
    BytesPerFreeBlock "bytes_per_free_block" Bytes less exact
        "Bytes of what knows the free blocks, for each of them."
    BytesPerRegion "bytes_per_region" Bytes less exact "Bytes of what knows the regions, for each of them."
    Metadata "metadata" Bytes less exact "Bytes of an engine's own structures, at most."
    MetadataShare "metadata_share" Share less exact "Metadata as a part of a unit's bytes."
    Pages "pages" Count less exact "Pages that have memory; of a zone, pages that others took."
    PageFill "page_fill" Share neither exact "Live bytes as a part of the pages with memory."
    Chunks "chunks" Count less exact "Chunks, at most."
    FreeBlocks "free_blocks" Count neither exact "Free blocks at the end."
    LargestFree "largest_free_share" Share neither exact
        "The largest free block as a part of all that is free."
    SpanRatio "span_ratio" Ratio less exact "How much longer the used span is than what it holds."
    LargestLeft "largest_left_share" Share neither exact "The largest free piece of a zone as a part of it."
    Taken "taken_share" Share neither exact "The part of a zone that others took."
    Refused "refused" Count less exact "Requests that were refused."
    MissedPlaces "missed_places" Count less exact
        "Requests refused, or with a chunk made for them, though there was a place."
    Checked "checked" Count neither exact "Answers that were held against what is right."
    Mismatches "mismatches" Count less exact "Those that differ."
    Passed "passed" Count neither exact "Repeats that went well."
    Failed "failed" Count less exact "Repeats that went wrong."
    Xfailed "xfailed" Count neither exact "Repeats that were refused as the case expects."
    Count "count" Count neither exact "How many there were."
    Share "share" Share neither exact "Their part of all."
    Rate "rate" PerSecond neither exact "How many in a second."
    Busiest "busiest" Count neither exact "How many in the busiest window."
    Repeats "repeats_share" Share neither exact "Allocations of the size of the one before, as a part of all."
    RunLength "run_length" Count neither exact "Lengths of runs of one size."
    Bytes "bytes" Bytes neither exact "Bytes asked for."
    Lifetime "lifetime" Count neither exact "How long objects live, in operations or nanoseconds."
    Live "live" Count neither exact "Live objects."
    Spaces "spaces" Count neither exact "Address spaces, at most."
    Areas "areas" Count neither exact "Areas, at most."
    AreasMost "areas_most" Count neither exact "Areas of one space, at most."
    Met "met" Count neither exact "Areas that calls met."
    MetSeveral "met_several" Count neither exact "Calls that met more than one."
    Stores "stores" Count neither exact "Ranges that calls stored or emptied."
    Idle "idle" Count neither exact "Calls that stored nothing."
    Height "height" Count less exact "Levels of a tree, at most."
    Nodes "nodes" Count less exact "Nodes in use, at most."
    NodesRequested "nodes_requested" Count less exact "Nodes that stores asked for."
    NodesUsed "nodes_used" Count less exact "Nodes that they took."
    NodesReturned "nodes_returned" Count neither exact "Of these, old ones handed back."
    Requests "requests" Count neither exact "Requests for so many nodes."
    CpuShare "cpu_share" Share less varies "The part of a CPU that a workload needs at its rate."
    Hints "hints" Count neither exact "Hints of chunks that have room."
    HintShare "hint_share" Share neither exact "What hints say as a part of the truth."
    HintError "hint_error" Bytes less exact "Bytes that a hint is from the truth, at most."
    Faults "faults" Count less varies "Page faults of an operation that need no disk."
    Mappings "mappings" Count less varies "Mappings of the process that something adds."
    Locks "locks" Count less varies "Locks taken that all threads share."
    LockWaits "lock_waits" Count less varies "Locks that a thread waited for."
    Resident "resident" Bytes less varies "Bytes of memory that a process has, as its page tables say."
    LazyPages "lazy_pages" Count neither exact "Pages of areas that were freed and not purged, at most."
    HeldPages "held_pages" Count neither exact "Pages of areas that were freed or in pools, at most."
    Purges "purges" Count neither exact "Purges of what was freed."
    PoolHits "pool_hits" Count neither exact "Allocations from pools."
    Ratio "ratio" Ratio neither varies "One figure of the run by another."
}
