//! `freehold doctor`: what this machine offers to engines on real memory, and what falls back to what.
//!
//! Everything is tried here and now, by this process; nothing is guessed from versions.

use freehold_percpu::heap::{Index, PerCpuHeap, Rung};
use freehold_sys::machine::{self, Overcommit};
use freehold_sys::membarrier::Membarrier;
use freehold_sys::{Guard, Reservation, rseq, topology};
use serde::Serialize;

/// One thing that was asked of the machine.
#[derive(Debug, Serialize)]
pub struct Check {
    /// What was asked.
    pub name: &'static str,
    /// Whether it is there as an engine wants it.
    pub available: bool,
    /// What was found.
    pub found: String,
    /// What follows: what is used, or what is used instead.
    pub follows: String,
}

impl Check {
    fn new(
        name: &'static str,
        available: bool,
        found: impl Into<String>,
        follows: impl Into<String>,
    ) -> Self {
        Self { name, available, found: found.into(), follows: follows.into() }
    }
}

/// Asks everything.
pub fn run() -> Vec<Check> {
    let kernel = machine::kernel().unwrap_or_else(|| "not told".to_owned());
    vec![
        Check::new("kernel", true, kernel, ""),
        cpus(),
        sequences(),
        mm_cid(),
        heap(),
        barrier("membarrier", Membarrier::memory(), "readers need no fence", "readers fence themselves"),
        barrier(
            "membarrier, rseq",
            Membarrier::restarting(),
            "sequences of other CPUs can be restarted",
            "sequences are never restarted from outside; no engine needs it",
        ),
        reservation(),
        overcommit(),
        guards(),
        page_scan(),
        mappings(),
        tracefs(),
    ]
}

fn cpus() -> Check {
    let online = topology::online_cpus().map_or_else(|| "?".to_owned(), |cpus| cpus.len().to_string());
    let nodes =
        topology::nodes().map_or_else(|| "no nodes".to_owned(), |nodes| format!("{} nodes", nodes.len()));
    let possible = topology::possible_cpus();
    let found = format!("{possible} possible, {online} online, {nodes}");
    Check::new(
        "CPUs",
        true,
        found,
        format!("a heap has {possible} units and 2 more; what never runs costs nothing"),
    )
}

fn sequences() -> Check {
    match rseq::detect() {
        Ok(found) => {
            let registered = found.registered_bytes();
            let abi = match registered {
                0 => "size not told".to_owned(),
                32 => "32 bytes, the ABI of Linux 4.18".to_owned(),
                _ => format!("{registered} bytes, the ABI of 2026"),
            };
            let found =
                format!("registered with {abi}; the kernel has {} bytes of fields", found.feature_bytes());
            Check::new("rseq", true, found, "adds are restartable sequences")
        }
        Err(absent) => {
            Check::new("rseq", false, absent.to_string(), "adds are atomic, on a slot for each thread")
        }
    }
}

fn mm_cid() -> Check {
    let has = rseq::detect().is_ok_and(|found| found.has_mm_cid());
    let found = if has { "written by the kernel" } else { "not written" };
    let follows = if has { "heaps may be indexed by it" } else { "heaps are indexed by cpu_id only" };
    Check::new("mm_cid", has, found, follows)
}

/// The heap that counters of statics would get.
fn heap() -> Check {
    let heap = match PerCpuHeap::new() {
        Ok(heap) => heap,
        Err(error) => {
            return Check::new("per-CPU heap", false, error.to_string(), "counters count in themselves");
        }
    };
    let compact = PerCpuHeap::builder().index(Index::MmCid).build();
    let indexes = if compact.is_ok() { "cpu_id or mm_cid" } else { "cpu_id" };
    let follows = match heap.rung() {
        Rung::Sticky => "threads have slots of their own".to_owned(),
        Rung::Sequence | Rung::Indexed => format!("indexed by {indexes}"),
    };
    Check::new("per-CPU heap", heap.rung() == Rung::Sequence, heap.rung().to_string(), follows)
}

fn barrier(
    name: &'static str,
    barrier: Result<Membarrier, freehold_sys::SysError>,
    with: &str,
    without: &str,
) -> Check {
    match barrier.and_then(Membarrier::issue) {
        Ok(()) => Check::new(name, true, "issued", with),
        Err(error) => Check::new(name, false, error.to_string(), without),
    }
}

/// The largest reservation of a power of two, up to 64 TiB.
fn reservation() -> Check {
    let largest = (20..=46_u32).rev().find(|&bits| Reservation::new(1 << bits).is_ok());
    let available = largest.is_some_and(|bits| bits >= 40);
    let found = largest.map_or_else(
        || "less than 1 MiB".to_owned(),
        |bits| freehold::units::Bytes::from(1_u64 << bits).to_string(),
    );
    let follows = if available { "spaces are reserved whole" } else { "smaller spaces are reserved" };
    Check::new("address space", available, found, follows)
}

fn overcommit() -> Check {
    let (found, follows) = match machine::overcommit() {
        Some(Overcommit::Heuristic) => ("heuristic (0)", "committed memory is charged when touched"),
        Some(Overcommit::Always) => ("always (1)", "committed memory is charged when touched"),
        Some(Overcommit::Never) => ("never (2)", "memory is charged chunk by chunk, when it is committed"),
        None => ("not told", "memory is committed chunk by chunk"),
    };
    Check::new("overcommit", machine::overcommit() != Some(Overcommit::Never), found, follows)
}

fn guards() -> Check {
    match machine::guards() {
        Ok(Guard::Marked) => {
            Check::new("guards", true, "marks in the page table", "a guard costs no mapping")
        }
        Ok(Guard::Protected) => Check::new("guards", false, "no marks", "guards are mappings without access"),
        Err(error) => Check::new("guards", false, error.to_string(), "there are no guards"),
    }
}

fn page_scan() -> Check {
    match machine::page_scan() {
        Ok(true) => {
            Check::new("page scan", true, "one call for a range", "pages with memory are found at once")
        }
        Ok(false) => Check::new("page scan", false, "no such call", "a word is read for each page"),
        Err(error) => Check::new("page scan", false, error.to_string(), "memory in use is not told"),
    }
}

fn mappings() -> Check {
    match machine::max_mappings() {
        Some(most) => {
            Check::new("mappings", most >= 65_530, format!("at most {most}"), "a heap has 2 for each unit")
        }
        None => Check::new("mappings", false, "not told", ""),
    }
}

fn tracefs() -> Check {
    match machine::tracefs() {
        Some(path) => Check::new("tracefs", true, path, "the kernel's events can be recorded, if you may"),
        None => {
            Check::new("tracefs", false, "not mounted, or not for this user", "recorded traces are replayed")
        }
    }
}

/// Lines for people, at most 100 columns where values are short.
pub fn text(checks: &[Check]) -> String {
    let mut text = String::new();
    for Check { name, available, found, follows } in checks {
        let mark = if *available { "yes" } else { "no " };
        text.push_str(&format!("{name:<17} {mark}  {found}\n"));
        if !follows.is_empty() {
            text.push_str(&format!("{:<17}      {follows}\n", ""));
        }
    }
    text
}

/// The same as one document.
pub fn json(checks: &[Check]) -> String {
    format!("{}\n", serde_json::json!({ "schema": "freehold/1", "command": "doctor", "checks": checks }))
}
