//! What a process has, and processes that have one thing alone.

use crate::Answer;
use std::process::Command;

/// Bytes of this process that are in memory.
pub fn resident_bytes() -> Answer<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = pages.split(' ').nth(1).ok_or("statm has no second field")?.parse()?;
    Ok(pages * freehold_vmalloc::page_bytes() as u64)
}

/// Mappings of this process.
pub fn mappings() -> Answer<u64> {
    Ok(std::fs::read_to_string("/proc/self/maps")?.lines().count() as u64)
}

/// What this program says of `what` in a process of its own.
pub fn apart(what: &str) -> Answer<u64> {
    let output = Command::new(std::env::current_exe()?).args(["apart", what]).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{what} in a process of its own: {}: {said}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}
