//! Properties of a machine, for a report of what it offers.

use std::fs;
use std::io::Read;

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

/// The kernel's overcommit mode; `None` if it does not say.
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

/// The most mappings that a process may have; `None` if the kernel does not say.
#[must_use]
pub fn max_mappings() -> Option<u64> {
    read("/proc/sys/vm/max_map_count")?.parse().ok()
}

/// Bytes that this process may still map and write to: by its limits on addresses and data, and by what a kernel that
/// charges for memory has left. `None` if none of these limits it. A default reservation takes a part of it, and leaves
/// the rest to others.
///
/// Cost: up to three files of the kernel are read.
#[must_use]
#[doc(alias = "RLIMIT_AS")]
#[doc(alias = "RLIMIT_DATA")]
#[doc(alias = "CommitLimit")]
pub fn reservable_bytes() -> Option<u64> {
    let [(_, addresses), (_, data)] = limits();
    // The first number in `statm` is the pages mapped now, the sixth the data pages among them.
    let left = |limit: u64, figure: usize| {
        let used = read("/proc/self/statm").and_then(|all| all.split(' ').nth(figure)?.parse::<u64>().ok());
        limit.saturating_sub(used.unwrap_or(0).saturating_mul(crate::page_bytes() as u64))
    };
    let charged = match overcommit() {
        Some(Overcommit::Never) => uncharged(&read("/proc/meminfo").unwrap_or_default()),
        _ => None,
    };
    [addresses.map(|limit| left(limit, 0)), data.map(|limit| left(limit, 5)), charged]
        .into_iter()
        .flatten()
        .min()
}

/// Bytes that a kernel which charges for memory still grants, from its figures.
fn uncharged(meminfo: &str) -> Option<u64> {
    let kib = |name| -> Option<u64> {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line?.trim().strip_suffix(" kB")?.parse().ok()
    };
    Some(kib("CommitLimit")?.saturating_sub(kib("Committed_AS")?).saturating_mul(1024))
}

/// The limits of this process on its addresses and on its own writable memory, in bytes. `None` for a limit that is not
/// set.
#[must_use]
#[doc(alias = "getrlimit")]
pub fn limits() -> [(&'static str, Option<u64>); 2] {
    #[cfg(not(any(miri, not(target_os = "linux"))))]
    let limit = |resource| {
        let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: the call writes only to `limit`.
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

/// The directory of the kernel's trace events, if it is mounted. This user may lack access to it.
#[must_use]
pub fn tracefs() -> Option<&'static str> {
    ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"]
        .into_iter()
        .find(|path| fs::metadata(format!("{path}/events")).is_ok_and(|events| events.is_dir()))
}

/// A file's text without white space at its end; `None` if it cannot be read, or if there is no memory for it.
pub(crate) fn read(path: &str) -> Option<String> {
    // The standard library probes with a buffer whose growth cannot fail, unless there is space for a short file. As a
    // part of a file (`take`) it is read without calls that ask for its length, which a filter may forbid.
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(4096).ok()?;
    fs::File::open(path).ok()?.take(u64::MAX).read_to_end(&mut bytes).ok()?;
    bytes.truncate(bytes.trim_ascii_end().len());
    String::from_utf8(bytes).ok()
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    #[test]
    fn what_is_charged_is_subtracted() {
        let meminfo = "MemTotal:  9 kB\nCommitLimit:     1000 kB\nCommitted_AS:     400 kB\n";
        assert_eq!(super::uncharged(meminfo), Some(600 << 10));
        assert_eq!(super::uncharged("CommitLimit: 1 kB\nCommitted_AS: 2 kB"), Some(0));
        assert_eq!(super::uncharged("CommitLimit: 1 kB"), None);
    }

    #[test]
    fn linux_says() {
        assert!(super::overcommit().is_some());
        assert!(super::max_mappings().is_some_and(|count| count > 0));
        assert!(super::reservable_bytes().is_none_or(|bytes| bytes > 0), "this runs");
        assert!(super::kernel().is_some_and(|kernel| kernel.starts_with("Linux ")));
    }
}
