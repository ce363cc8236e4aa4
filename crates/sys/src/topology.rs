//! CPUs and NUMA nodes of the machine.

use crate::fork::get_or_init;
use crate::machine::read;
use std::sync::OnceLock;

/// CPUs that the kernel may ever use: its largest CPU number, plus 1. Arrays that are indexed by CPU have this length,
/// whatever CPUs this process may run on today.
///
/// If the kernel does not say, the number of configured CPUs. At least 1.
#[must_use]
#[doc(alias = "nr_cpu_ids")]
pub fn possible_cpus() -> u32 {
    static CPUS: OnceLock<u32> = OnceLock::new();
    *get_or_init(&CPUS, || {
        let listed = list("/sys/devices/system/cpu/possible").and_then(|cpus| cpus.into_iter().max());
        listed.and_then(|last| last.checked_add(1)).unwrap_or_else(configured)
    })
}

/// The CPUs that are online, ascending; `None` if the kernel does not say.
#[must_use]
pub fn online_cpus() -> Option<Vec<u32>> {
    list("/sys/devices/system/cpu/online")
}

/// The CPUs of each NUMA node that is online, ascending; `None` if the kernel has no nodes or does not say.
#[must_use]
pub fn nodes() -> Option<Vec<(u32, Vec<u32>)>> {
    let nodes = list("/sys/devices/system/node/online")?;
    let cpus = |node: u32| Some((node, list(&format!("/sys/devices/system/node/node{node}/cpulist"))?));
    nodes.into_iter().map(cpus).collect()
}

#[cfg(not(any(miri, not(target_os = "linux"))))]
fn configured() -> u32 {
    // SAFETY: `sysconf` reads a figure of the system.
    let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    u32::try_from(count).unwrap_or(1).max(1)
}

#[cfg(any(miri, not(target_os = "linux")))]
fn configured() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX))
}

/// The numbers in a file of the kernel.
fn list(path: &str) -> Option<Vec<u32>> {
    if cfg!(miri) {
        return None;
    }
    parse(&read(path)?)
}

/// The numbers of a list such as `0-3,8`; `None` if the text is no such list.
fn parse(text: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let part = first.parse::<u32>().ok()?..=last.parse::<u32>().ok()?;
        numbers.try_reserve(part.size_hint().0).ok()?;
        numbers.extend(part);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        assert_eq!(parse("0-3,8\n"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(parse("5"), Some(vec![5]));
        assert_eq!(parse("\n"), Some(vec![]));
        assert_eq!(parse("0-"), None);
        assert_eq!(parse("x"), None);
    }

    #[test]
    fn all_that_run_are_possible() {
        assert!(possible_cpus() >= 1);
        for cpu in online_cpus().unwrap_or_default() {
            assert!(cpu < possible_cpus());
        }
        for (_, cpus) in nodes().unwrap_or_default() {
            assert!(cpus.into_iter().all(|cpu| cpu < possible_cpus()));
        }
    }
}
