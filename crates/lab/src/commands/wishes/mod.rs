//! `freehold bench kva --wishes`: what the 2019 talk wished for, each wish alone and together, and which pays.
//!
//! Every variant gives the same answers, which is checked; so what differs is work, instructions and time.

mod tables;

use super::Progress;
use super::instructions::UNDER_CALLGRIND;
use crate::engine::{Compared, ENGINES, EngineEntry, VARIANTS, find_engines};
use crate::failure::Failure;
use crate::family::Kva;
use crate::measure::bench::{Bench, Budget, bench};
use crate::measure::instructions::{self, Instructions};
use crate::output::Document;
use crate::workload::bench::{BenchWorkload, cases};
use crate::workload::suite::CaseInfo;
use std::time::Duration;

/// Operations of a timed round.
const OPERATIONS: usize = 1 << 14;
const ROUNDS: usize = 9;
/// Operations whose instructions are counted.
const COUNTED: usize = 1 << 12;

/// The workloads, and the size of those that have one.
const WORKLOADS: [(&str, u32); 9] = [
    ("fix_size", 1),
    ("full_fit", 1),
    ("random_size", 1),
    ("long_busy_list", 1),
    ("churn", 10_000),
    ("churn", 100_000),
    ("holes", 10_000),
    ("zone", 10_000),
    ("burst", 10_000),
];

/// A wish come true.
struct Wish {
    /// What was wished for.
    name: &'static str,
    /// The engine that has it.
    engine: &'static str,
    /// The engine without it, by which it is judged.
    beside: &'static str,
}

/// The engine that has none of them.
const PLAIN: &str = "rbtree:lowest";

const WISHES: [Wish; 5] = [
    Wish { name: "hot block", engine: "rbtree:lowest+hot", beside: PLAIN },
    Wish { name: "lazy fix-ups", engine: "rbtree:lowest+lazy", beside: PLAIN },
    Wish { name: "hot block and lazy fix-ups", engine: "rbtree:lowest+hot+lazy", beside: PLAIN },
    Wish { name: "B-tree", engine: "btree:lowest", beside: PLAIN },
    Wish { name: "splay tree", engine: "splay", beside: PLAIN },
];

/// One workload measured.
struct Measured {
    bench: Bench,
    /// Instructions per operation of each engine that ran, in their order; empty without valgrind.
    instructions: Vec<f64>,
}

/// Measures and describes.
///
/// # Errors
/// An engine answers wrong, or valgrind fails.
pub fn run(progress: &mut Progress) -> anyhow::Result<Document> {
    let engines = engines()?;
    let can_count = instructions::can_count();
    let mut all = Vec::new();
    for (name, n) in WORKLOADS {
        let workload = BenchWorkload::new(case(name)?, n, OPERATIONS, ROUNDS)?;
        let bench = bench(workload, &engines, ROUNDS, &BUDGET, &mut |what| progress.tick(what))?;
        let mut counted = Vec::new();
        if can_count {
            progress.tick(&format!("{name}: counting instructions"));
            counted = count_instructions(&bench, name, n)?;
        }
        all.push(Measured { bench, instructions: counted });
    }
    let mut document = Document::default();
    tables::describe(&mut document, &all);
    if !can_count {
        let note =
            "Instructions are not counted, for valgrind is not installed; what pays is judged by time alone.";
        document.notes.push(note.to_owned());
    }
    Ok(document)
}

/// More than any of these engines needs, on a machine that others use too.
const BUDGET: Budget = Budget {
    setup: Duration::from_secs(5),
    per_setup_op: Duration::from_micros(10),
    rounds: Duration::from_secs(20),
    per_round_op: Duration::from_micros(10),
};

/// The plain engine and those of the wishes, as far as the lists have them.
fn engines() -> Result<Vec<EngineEntry>, Failure> {
    let names = [PLAIN].into_iter().chain(WISHES.iter().map(|wish| wish.engine));
    let listed = |name: &&str| ENGINES.iter().chain(VARIANTS).any(|entry| entry.label() == *name);
    let names: Vec<String> = names.filter(listed).map(str::to_owned).collect();
    in_order(&names)
}

/// The engines of these names, in the order of the names.
fn in_order(names: &[String]) -> Result<Vec<EngineEntry>, Failure> {
    let each = names.iter().map(|name| find_engines(std::slice::from_ref(name), Compared::IfNamed));
    Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
}

fn case(name: &str) -> Result<&'static CaseInfo, Failure> {
    let case = cases().find(|case| case.name == name);
    case.ok_or_else(|| Failure::Usage(format!("no workload {name:?}")))
}

/// Instructions per operation of the engines that ran.
fn count_instructions(bench: &Bench, name: &str, n: u32) -> anyhow::Result<Vec<f64>> {
    let workload = BenchWorkload::new(bench.workload.case, n, COUNTED, 1)?;
    let size = format!("--n={n}");
    let count =
        |label: &str| instructions::count::<Kva>(&[UNDER_CALLGRIND, name, label, &size], &workload.ops);
    let mut means = Vec::new();
    for run in &bench.runs {
        means.extend(Instructions::sum(&count(&run.entry.label())?).mean());
    }
    Ok(means)
}

/// What is run under callgrind: the operations whose instructions are counted, on an engine.
///
/// # Errors
/// No workload or engine has such a name, or the engine answers otherwise in another run.
pub fn run_under_callgrind(workload: &str, n: u32, engine: &str) -> anyhow::Result<()> {
    let workload = BenchWorkload::new(case(workload)?, n, COUNTED, 1)?.into_workload();
    for entry in find_engines(&[engine.to_owned()], Compared::IfNamed)? {
        instructions::run::<Kva>(&entry, &workload).map_err(anyhow::Error::msg)?;
    }
    Ok(())
}
