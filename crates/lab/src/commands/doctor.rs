//! `freehold doctor`: what this machine offers to engines on real memory, and what falls back to what.
//!
//! Everything is tried here and now, by this process, as the libraries try it; nothing is guessed from versions.

use crate::view::text::{MAIL, wrap};
use freehold::units::Bytes;
use freehold_harness::ptrace;
use freehold_percpu::heap::{AddMode, Index, PerCpuHeap};
use freehold_sys::machine::{self, Overcommit};
use freehold_sys::{Ability, Lacking, Reservation, rseq, topology};
use serde::Serialize;

/// What stands for a figure that the system does not tell.
const NOT_TOLD: &str = "not told";
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

/// A thing of which the system says nothing.
fn not_told(name: &'static str, follows: &str) -> Check {
    told(name, NOT_TOLD.to_owned(), follows.to_owned())
}

/// Asks everything, one thing with each step. What may take long, as large reservations do in an emulator, comes last.
pub fn checks() -> impl Iterator<Item = Check> {
    let checks: [fn() -> Check; 17] = [
        kernel,
        cpus,
        sequences,
        mm_cid,
        || ability("membarrier", Ability::Barrier),
        || ability("membarrier, rseq", Ability::RestartingBarrier),
        overcommit,
        || ability("give back", Ability::GiveBack),
        || ability("guards", Ability::GuardMarks),
        || ability("page scan", Ability::PageScan),
        || ability("seals", Ability::Seals),
        mappings,
        tracefs,
        traced_children,
        limits,
        heap,
        reservation,
    ];
    checks.into_iter().map(|check| check())
}

/// What the library tried, too, and what it does with and without.
fn ability(name: &'static str, ability: Ability) -> Check {
    let (found, follows) = match ability {
        Ability::GuardMarks => {
            ("marks in the page table", ["a guard costs no mapping", "guards are mappings without access"])
        }
        Ability::GiveBack => (
            "zero when read again",
            ["memory that is not needed is given back", "memory stays in use; zeros are written"],
        ),
        Ability::Barrier => ("issued", ["readers need no fence", "readers fence themselves"]),
        Ability::RestartingBarrier => (
            "issued",
            [
                "sequences of other CPUs can be restarted",
                "sequences are never restarted from outside; no engine needs it",
            ],
        ),
        Ability::PageScan => (
            "one call for a range",
            [
                "pages with memory are found at once",
                "a word is read for each page, if the kernel lets it be read",
            ],
        ),
        Ability::Seals => (
            "a page is sealed",
            [
                "mappings can be made unchangeable; no engine does",
                "mappings can be changed; no engine seals any",
            ],
        ),
    };
    either(name, ability.is_there().map(|()| found), follows)
}

fn kernel() -> Check {
    match machine::kernel() {
        Some(kernel) => told("kernel", kernel, String::new()),
        None => not_told("kernel", ""),
    }
}

fn mm_cid() -> Check {
    let has_mm_cid = rseq::detect().is_ok_and(|found| found.has_mm_cid());
    let mm_cid = if has_mm_cid { Ok("written by the kernel") } else { Err("not written") };
    either("mm_cid", mm_cid, ["heaps may be indexed by it", "heaps are indexed by cpu_id only"])
}

fn tracefs() -> Check {
    let tracefs = machine::tracefs().ok_or("not mounted, or not for this user");
    let recorded =
        ["the kernel's events can be recorded, if you may", "as root, `record` mounts it for itself"];
    either("tracefs", tracefs, recorded)
}

/// Containers may forbid it: Docker does before Linux 4.8.
fn traced_children() -> Check {
    let traced = ptrace::try_it().map(|()| "children stop at system calls");
    let recorded =
        ["`record vma` needs no root", "`record vma` needs root and --tracefs; strace's text is imported"];
    either("ptrace", traced, recorded)
}

fn cpus() -> Check {
    let count = |count: Option<usize>| count.map_or_else(|| NOT_TOLD.to_owned(), |count| count.to_string());
    let online = count(topology::online_cpus().map(|cpus| cpus.len()));
    let nodes = count(topology::nodes().map(|nodes| nodes.len()));
    let possible = topology::possible_cpus();
    let found = format!("{possible} possible; online: {online}; nodes: {nodes}");
    let follows = format!("a heap has {possible} units and 2 more; what never runs costs nothing");
    told("CPUs", found, follows)
}

fn sequences() -> Check {
    let found = rseq::detect().map(|found| {
        let abi = match found.registered_bytes() {
            0 => format!("size {NOT_TOLD}"),
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
    let follows = match heap.add_mode() {
        AddMode::Sticky => "threads have slots of their own",
        AddMode::Sequence | AddMode::Indexed if compact => "indexed by cpu_id or mm_cid",
        AddMode::Sequence | AddMode::Indexed => "indexed by cpu_id",
    };
    let rung = if heap.add_mode() == AddMode::Sequence { Ok(heap.add_mode()) } else { Err(heap.add_mode()) };
    either(name, rung, [follows; 2])
}

/// Bits of the reservation that every space fits in, and of the largest that is tried in an emulator, which takes memory for each page.
const ENOUGH_BITS: u32 = 40;
const EMULATED_BITS: u32 = 34;

/// The largest reservation of a power of two, up to what is enough. Smaller ones first.
fn reservation() -> Check {
    // Kernels do what they say they did.
    let ignored = |ability: Ability| matches!(ability.is_there(), Err(Lacking::Ignored { .. }));
    let is_emulated = Ability::ALL.into_iter().any(ignored);
    let most = if is_emulated { EMULATED_BITS } else { ENOUGH_BITS };
    let largest = (20..=most).take_while(|&bits| Reservation::new(1 << bits).is_ok()).last();
    let text = |bits| Bytes::from(1_u64 << bits).to_string();
    let found = match largest {
        Some(bits) if bits == most => Ok(format!("{} or more", text(bits))),
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
        None => return not_told("overcommit", touched),
    };
    either("overcommit", found, [touched, without])
}

fn mappings() -> Check {
    let needed = "a heap has 2 for each unit";
    let Some(most) = machine::max_mappings() else { return not_told("mappings", needed) };
    let found = format!("at most {most}");
    either("mappings", if most >= 65_530 { Ok(found) } else { Err(found) }, [needed, needed])
}

/// What the process may have of addresses and of memory of its own.
fn limits() -> Check {
    let limited: Vec<_> =
        machine::limits().into_iter().filter_map(|(name, most)| Some((name, most?))).collect();
    let said = |(name, most): &(&str, u64)| format!("{name} {}", Bytes::from(*most));
    if limited.is_empty() {
        return told("limits", "none".to_owned(), "reservations have their usual size".to_owned());
    }
    let found = limited.iter().map(said).collect::<Vec<_>>().join(", ");
    either("limits", Err::<&str, _>(found), ["", "reservations are as small as they must be"])
}

/// Lines of a check for people and for mails.
pub fn text(Check { name, available, found, follows }: &Check) -> String {
    let (mut text, mut said) = (String::new(), String::new());
    for part in [found, follows].into_iter().filter(|part| !part.is_empty()) {
        wrap(&mut said, part, MAIL - INDENT);
    }
    let mut before = format!("{name:<17} {:<3}  ", if *available { "yes" } else { "no" });
    for line in said.lines() {
        text.push_str(&format!("{before}{line}\n"));
        before = " ".repeat(INDENT);
    }
    text
}

/// All of them as one document, which has no records.
pub fn json(checks: &[Check]) -> String {
    format!("{}\n", serde_json::json!({ "schema": "freehold-doctor/1", "checks": checks }))
}
