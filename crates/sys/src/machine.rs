//! What a machine is asked about itself, for a report of what it offers.

use crate::{Guard, Reservation, SysError, page_bytes};
use std::fs;

/// How the kernel promises memory that it may not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overcommit {
    /// It refuses only what is plainly too much. Reservations cost nothing.
    Heuristic,
    /// It refuses nothing.
    Always,
    /// It charges every committed page. Reservations without access still cost nothing.
    Never,
}

/// The kernel's way; `None` if it does not say.
#[must_use]
#[doc(alias = "overcommit_memory")]
pub fn overcommit() -> Option<Overcommit> {
    match read("/proc/sys/vm/overcommit_memory")?.as_str() {
        "0" => Some(Overcommit::Heuristic),
        "1" => Some(Overcommit::Always),
        "2" => Some(Overcommit::Never),
        _ => None,
    }
}

/// Mappings that a process may have; `None` if the kernel does not say.
#[must_use]
pub fn max_mappings() -> Option<u64> {
    read("/proc/sys/vm/max_map_count")?.parse().ok()
}

/// The kernel's name and release, such as `Linux 6.12.0`; `None` if it does not say.
#[must_use]
pub fn kernel() -> Option<String> {
    Some(format!("{} {}", read("/proc/sys/kernel/ostype")?, read("/proc/sys/kernel/osrelease")?))
}

/// Where the kernel's trace events are, if they are mounted; they may still be closed to this user.
#[must_use]
pub fn tracefs() -> Option<&'static str> {
    ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"]
        .into_iter()
        .find(|path| fs::metadata(format!("{path}/events")).is_ok_and(|events| events.is_dir()))
}

/// How this kernel makes guards, tried on a page.
///
/// # Errors
/// It makes none.
pub fn guards() -> Result<Guard, SysError> {
    let memory = Reservation::new(page_bytes())?;
    memory.commit(0..page_bytes())?;
    // SAFETY: the page is committed, and nobody else knows it.
    unsafe { memory.guard(0..page_bytes()) }
}

/// Whether one call tells which pages of a range have memory, tried on a page. If not, a word is read for each.
///
/// # Errors
/// The kernel does not tell at all.
#[doc(alias = "PAGEMAP_SCAN")]
pub fn page_scan() -> Result<bool, SysError> {
    let memory = Reservation::new(page_bytes())?;
    memory.resident(0..page_bytes(), |_| ())?;
    Ok(crate::memory::scans_at_once(&memory))
}

/// A file's text without white space around it.
fn read(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    #[test]
    fn linux_says() {
        assert!(super::overcommit().is_some());
        assert!(super::max_mappings().is_some_and(|count| count > 0));
        assert!(super::guards().is_ok());
        assert!(super::page_scan().is_ok());
        assert!(super::kernel().is_some_and(|kernel| kernel.starts_with("Linux ")));
    }
}
