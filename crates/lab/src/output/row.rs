//! The flat rows of the JSON document: the same keys everywhere, absent where they do not apply.

use serde::Serialize;

/// One row. Keys of time are in nanoseconds, of work in nodes and list steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names are the documentation, and are listed in ARCHITECTURE.md")]
pub struct Row {
    /// The family of engines; empty if that cannot be told of a file.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub suite: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// Bytes of each object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// What each object's offset is a multiple of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<u64>,
    /// In which order objects are freed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<&'static str>,
    /// Bytes of a chunk for each CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mismatches: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ns_median: Option<f64>,
    /// The least and the largest median of a round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ns_median_range: Option<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ns_p99: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ns_p999: Option<u64>,
    /// To the first engine named, in the same run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_mean: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_p99: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_p999: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_max: Option<u64>,
    /// Nodes that a search visits, without what keeps them up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes_p999: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions_mean: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<u64>,
    /// Repeats of a case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xfailed: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_blocks: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_free_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata_peak_bytes: Option<u64>,
    /// Of a zone, taken by others; of chunks, that have memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<u64>,
    /// Of chunks, that have memory, in the mean over all operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages_mean: Option<f64>,
    /// Requests that were refused, or had a chunk made for them, though there was a place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_item: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_free_block: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_region: Option<f64>,
    /// By whose formula nodes are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planner: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes_requested: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes_used: Option<u64>,
    /// What others have published of it, in `published_unit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_unit: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
