//! Whether there is memory for a workload, which is said before it is made.

use crate::failure::Failure;
use crate::record::count;
use freehold::units::Bytes;
use std::fs::read_to_string;

/// Holds what so many objects take in the lab and in the engines, about, against what the machine has left. A machine that
/// does not tell is tried.
///
/// # Errors
/// It is too little.
pub fn check_memory(objects: u64, bytes_each: u64) -> Result<(), Failure> {
    let told = read_to_string("/proc/meminfo").unwrap_or_default();
    check(objects, bytes_each, available_bytes(&told))
}

fn check(objects: u64, bytes_each: u64, available: Option<u64>) -> Result<(), Failure> {
    let needed = objects.saturating_mul(bytes_each);
    let Some(left) = available.filter(|&left| left < needed) else { return Ok(()) };
    let [needed, left] = [needed, left].map(Bytes::from);
    let objects = count(objects);
    Err(Failure::Lacking(format!("{objects} objects take about {needed} of memory, and {left} are left")))
}

fn available_bytes(told: &str) -> Option<u64> {
    let line = told.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_is_refused_and_the_unknown_is_tried() {
        let told = "MemTotal:  100 kB\nMemAvailable:   64 kB\n";
        assert_eq!((available_bytes(told), available_bytes("")), (Some(64 << 10), None));
        assert!(check(64, 1 << 10, Some(64 << 10)).is_ok() && check(u64::MAX, 9, None).is_ok());
        let said = check(65, 1 << 10, Some(64 << 10)).unwrap_err().to_string();
        assert!(said.contains("65 KiB") && said.contains("64 KiB"), "{said}");
    }
}
