//! Whether there is memory for a workload, which is said before it is made.

use crate::failure::Failure;
use crate::record::{count, told_bytes};
use freehold::units::Bytes;
use std::fs::read_to_string;

/// Holds what so many objects take in the lab and in the engines, about, against what the machine has left. A machine that
/// does not tell is tried.
///
/// # Errors
/// It is too little.
pub fn check_memory(objects: u64, bytes_each: u64) -> Result<(), Failure> {
    check_memory_told(&read_to_string("/proc/meminfo").unwrap_or_default(), objects, bytes_each)
}

/// The same, of a machine that tells this in `/proc/meminfo`.
///
/// # Errors
/// It is too little.
pub fn check_memory_told(told: &str, objects: u64, bytes_each: u64) -> Result<(), Failure> {
    let needed = objects.saturating_mul(bytes_each);
    let Some(left) = told_bytes(told, "MemAvailable:").filter(|&left| left < needed) else { return Ok(()) };
    let (needed, left) = (Bytes::from(needed).beside(left), Bytes::from(left).beside(needed));
    let objects = count(objects);
    Err(Failure::Lacking(format!("{objects} objects take about {needed} of memory, and {left} are left")))
}
