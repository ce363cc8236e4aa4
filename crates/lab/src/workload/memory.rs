//! Whether there is memory for a workload, which is said before it is made.

use crate::failure::Failure;
use crate::record::{count, told_bytes};
use freehold::units::Bytes;
use std::fs::read_to_string;

/// Holds what so many objects take in the lab and in the engines, about, against what the machine and the limits of this process
/// leave. A machine that does not tell is tried.
///
/// # Errors
/// It is too little.
pub fn check_memory(objects: u64, bytes_each: u64) -> Result<(), Failure> {
    let told = |file: &str| read_to_string(file).unwrap_or_default();
    let status = told("/proc/self/status");
    let used = ["VmSize:", "VmData:"].map(|name| told_bytes(&status, name).unwrap_or(0));
    let limits = freehold_sys::machine::limits().into_iter().zip(used);
    let left = limits.filter_map(|((_, most), used)| Some(most?.saturating_sub(used)));
    check_memory_told(&told("/proc/meminfo"), left.min(), objects, bytes_each)
}

/// The same, of a machine that tells this in `/proc/meminfo`, and of limits that leave so much.
///
/// # Errors
/// It is too little.
pub fn check_memory_told(
    told: &str,
    limit: Option<u64>,
    objects: u64,
    bytes_each: u64,
) -> Result<(), Failure> {
    let needed = objects.saturating_mul(bytes_each);
    let left = told_bytes(told, "MemAvailable:").into_iter().chain(limit).min();
    let Some(left) = left.filter(|&left| left < needed) else { return Ok(()) };
    let (needed, left) = (Bytes::from(needed).beside(left), Bytes::from(left).beside(needed));
    let objects = count(objects);
    Err(Failure::Lacking(format!("{objects} objects take about {needed} of memory, and {left} are left")))
}
