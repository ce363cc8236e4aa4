//! What a machine is asked about itself, for a report of what it offers.

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

/// Bytes of addresses that this process may still map; `None` without a limit.
#[must_use]
#[doc(alias = "RLIMIT_AS")]
pub fn addresses_left() -> Option<u64> {
    // The first figure of `statm` is what is mapped now, the sixth what of it is data.
    left(limits()[0].1?, 0)
}

/// Bytes that this process may still make writable and its own; `None` without a limit.
#[must_use]
#[doc(alias = "RLIMIT_DATA")]
pub fn data_left() -> Option<u64> {
    left(limits()[1].1?, 5)
}

/// What a figure of `statm`, in pages, leaves of a limit in bytes.
fn left(limit: u64, figure: usize) -> Option<u64> {
    let used = read("/proc/self/statm").and_then(|all| all.split(' ').nth(figure)?.parse::<u64>().ok());
    Some(limit.saturating_sub(used.unwrap_or(0).saturating_mul(crate::page_bytes() as u64)))
}

/// The limits of this process on its addresses and on its own writable memory, in bytes; `None` where there is none.
#[must_use]
#[doc(alias = "getrlimit")]
pub fn limits() -> [(&'static str, Option<u64>); 2] {
    #[cfg(not(any(miri, not(target_os = "linux"))))]
    let limit = |resource| {
        let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: the call writes to the limit and to nothing else.
        let failed = unsafe { libc::getrlimit(resource, &raw mut limit) };
        (failed == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
    };
    #[cfg(any(miri, not(target_os = "linux")))]
    let limit = |_| None;
    [("RLIMIT_AS", limit(libc::RLIMIT_AS)), ("RLIMIT_DATA", limit(libc::RLIMIT_DATA))]
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
        for left in [super::addresses_left(), super::data_left()].into_iter().flatten() {
            assert!(left > 0, "this runs");
        }
        assert!(super::kernel().is_some_and(|kernel| kernel.starts_with("Linux ")));
    }
}
