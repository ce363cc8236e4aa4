//! `freehold doctor`: what this machine offers to engines on real memory, and what falls back to what.
//!
//! Everything is tried here and now, by this process; nothing is guessed from versions.

use crate::view::text::{MAIL, wrap};
use freehold::units::Bytes;
use freehold_percpu::heap::{Index, PerCpuHeap, Rung};
use freehold_sys::machine::{self, Overcommit};
use freehold_sys::membarrier::Membarrier;
use freehold_sys::{Guard, Reservation, rseq, topology};
use serde::Serialize;

/// Columns before what is said.
const INDENT: usize = 23;

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

/// A thing that is there or not, and what follows from either.
fn either<T: ToString, E: ToString>(name: &'static str, found: Result<T, E>, follows: [&str; 2]) -> Check {
    let available = found.is_ok();
    let found = found.map_or_else(|lacking| lacking.to_string(), |found| found.to_string());
    Check { name, available, found, follows: follows[usize::from(!available)].to_owned() }
}

/// A thing that is there, and what follows.
fn told(name: &'static str, found: String, follows: String) -> Check {
    Check { name, available: true, found, follows }
}

/// Asks everything.
pub fn run() -> Vec<Check> {
    let kernel = machine::kernel().unwrap_or_else(|| "not told".to_owned());
    let barrier = |barrier: Result<Membarrier, _>| barrier.and_then(Membarrier::issue).map(|()| "issued");
    let has_mm_cid = rseq::detect().is_ok_and(|found| found.has_mm_cid());
    let mm_cid = if has_mm_cid { Ok("written by the kernel") } else { Err("not written") };
    let tracefs = machine::tracefs().ok_or("not mounted, or not for this user");
    let restarted = "sequences of other CPUs can be restarted";
    let never = "sequences are never restarted from outside; no engine needs it";
    let fences = ["readers need no fence", "readers fence themselves"];
    let recorded = ["the kernel's events can be recorded, if you may", "recorded traces are replayed"];
    vec![
        told("kernel", kernel, String::new()),
        cpus(),
        sequences(),
        either("mm_cid", mm_cid, ["heaps may be indexed by it", "heaps are indexed by cpu_id only"]),
        heap(),
        either("membarrier", barrier(Membarrier::memory()), fences),
        either("membarrier, rseq", barrier(Membarrier::restarting()), [restarted, never]),
        reservation(),
        overcommit(),
        guards(),
        page_scan(),
        mappings(),
        either("tracefs", tracefs, recorded),
    ]
}

fn cpus() -> Check {
    let online = topology::online_cpus().map_or_else(|| "?".to_owned(), |cpus| cpus.len().to_string());
    let nodes =
        topology::nodes().map_or_else(|| "no nodes".to_owned(), |nodes| format!("{} nodes", nodes.len()));
    let possible = topology::possible_cpus();
    let found = format!("{possible} possible, {online} online, {nodes}");
    let follows = format!("a heap has {possible} units and 2 more; what never runs costs nothing");
    told("CPUs", found, follows)
}

fn sequences() -> Check {
    let found = rseq::detect().map(|found| {
        let abi = match found.registered_bytes() {
            0 => "size not told".to_owned(),
            32 => "32 bytes, the ABI of Linux 4.18".to_owned(),
            bytes => format!("{bytes} bytes, the ABI of 2026"),
        };
        format!("registered with {abi}; the kernel has {} bytes of fields", found.feature_bytes())
    });
    either("rseq", found, ["adds are restartable sequences", "adds are atomic, on a slot for each thread"])
}

/// The heap that counters of statics would get.
fn heap() -> Check {
    let name = "per-CPU heap";
    let heap = match PerCpuHeap::new() {
        Ok(heap) => heap,
        Err(error) => return either(name, Err::<&str, _>(error), ["", "counters count in themselves"]),
    };
    let compact = PerCpuHeap::builder().index(Index::MmCid).build().is_ok();
    let follows = match heap.rung() {
        Rung::Sticky => "threads have slots of their own",
        Rung::Sequence | Rung::Indexed if compact => "indexed by cpu_id or mm_cid",
        Rung::Sequence | Rung::Indexed => "indexed by cpu_id",
    };
    let rung = if heap.rung() == Rung::Sequence { Ok(heap.rung()) } else { Err(heap.rung()) };
    either(name, rung, [follows; 2])
}

/// The largest reservation of a power of two, up to 64 TiB.
fn reservation() -> Check {
    let largest = (20..=46_u32).rev().find(|&bits| Reservation::new(1 << bits).is_ok());
    let text = |bits| Bytes::from(1_u64 << bits).to_string();
    let found = match largest {
        Some(bits @ 40..) => Ok(text(bits)),
        few => Err(few.map_or_else(|| "less than 1 MiB".to_owned(), text)),
    };
    either("address space", found, ["spaces are reserved whole", "smaller spaces are reserved"])
}

fn overcommit() -> Check {
    let touched = "committed memory is charged when touched";
    let (found, without) = match machine::overcommit() {
        Some(Overcommit::Heuristic) => (Ok("heuristic (0)"), ""),
        Some(Overcommit::Always) => (Ok("always (1)"), ""),
        Some(Overcommit::Never) => {
            (Err("never (2)"), "memory is charged chunk by chunk, when it is committed")
        }
        None => {
            return told(
                "overcommit",
                "not told".to_owned(),
                "memory is committed chunk by chunk".to_owned(),
            );
        }
    };
    either("overcommit", found, [touched, without])
}

fn guards() -> Check {
    let (found, without) = match machine::guards() {
        Ok(Guard::Marked) => (Ok("marks in the page table"), ""),
        Ok(Guard::Protected) => (Err("no marks".to_owned()), "guards are mappings without access"),
        Err(error) => (Err(error.to_string()), "there are no guards"),
    };
    either("guards", found, ["a guard costs no mapping", without])
}

fn page_scan() -> Check {
    let (found, without) = match machine::page_scan() {
        Ok(true) => (Ok("one call for a range"), ""),
        Ok(false) => (Err("no such call".to_owned()), "a word is read for each page"),
        Err(error) => (Err(error.to_string()), "memory in use is not told"),
    };
    either("page scan", found, ["pages with memory are found at once", without])
}

fn mappings() -> Check {
    let most = machine::max_mappings();
    let found = most.map_or_else(|| "not told".to_owned(), |most| format!("at most {most}"));
    let found = if most.is_some_and(|most| most >= 65_530) { Ok(found) } else { Err(found) };
    let needed = "a heap has 2 for each unit";
    either("mappings", found, [needed, if most.is_some() { needed } else { "" }])
}

/// Lines for people and for mails.
pub fn text(checks: &[Check]) -> String {
    let mut text = String::new();
    for Check { name, available, found, follows } in checks {
        let mut said = String::new();
        for part in [found, follows].into_iter().filter(|part| !part.is_empty()) {
            wrap(&mut said, part, MAIL - INDENT);
        }
        let mut before = format!("{name:<17} {:<3}  ", if *available { "yes" } else { "no" });
        for line in said.lines() {
            text.push_str(&format!("{before}{line}\n"));
            before = " ".repeat(INDENT);
        }
    }
    text
}

/// The same as one document, which has no records.
pub fn json(checks: &[Check]) -> String {
    format!("{}\n", serde_json::json!({ "schema": "freehold-doctor/1", "checks": checks }))
}
