//! What kinds of stores there are: the kernel's tree as its own trace points tell it, beside ours, under the same stress
//! test.

use super::ledger::TYPES;
use super::percent;
use super::planned::Program;
use crate::commands::reproduce::Part;
use crate::output::{Row, Table, count};
use crate::report::Section;
use freehold::maple::linux::StoreType;
use freehold_trace::TraceError;
use freehold_trace::mt::{Action, Events};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How traces of the kernel's tree end.
pub(super) const ENDING: &str = ".mt.csv.zst";

/// A kind of store: the functions of the kernel that do it, each once, and our types.
struct Kind {
    name: &'static str,
    functions: &'static [&'static str],
    types: &'static [StoreType],
}

/// Stores that change a tree's nodes. What replaces one slot alone has no trace point of its own.
const KINDS: [Kind; 5] = [
    Kind {
        name: "node store, append",
        functions: &["mas_wr_node_store"],
        types: &[StoreType::NodeStore, StoreType::Append],
    },
    Kind { name: "slot store", functions: &["mas_wr_slot_store"], types: &[StoreType::SlotStore] },
    Kind { name: "split", functions: &["mas_split"], types: &[StoreType::Split] },
    Kind { name: "rebalance", functions: &["mas_rebalance"], types: &[StoreType::Rebalance] },
    Kind { name: "spanning", functions: &["mas_wr_spanning_store"], types: &[StoreType::Spanning] },
];

/// Events of a trace of the kernel's tree.
pub(super) struct Recorded {
    name: String,
    seconds: f64,
    by_function: BTreeMap<String, u64>,
}

impl Recorded {
    /// Reads a trace.
    pub(super) fn read(file: &Path) -> Result<Self, TraceError> {
        let mut events = Events::open(file)?;
        let name = format!("kernel, {}", events.header().workload);
        let (mut by_function, mut span_ns) = (BTreeMap::new(), None);
        while let Some(event) = events.next().transpose()? {
            let (first, _) = span_ns.unwrap_or((event.at_ns, 0));
            span_ns = Some((first, event.at_ns));
            if event.action != Action::Read {
                *by_function.entry(event.function).or_default() += 1;
            }
        }
        let seconds = span_ns.map_or(0.0, |(first, last)| last.saturating_sub(first) as f64 / 1e9);
        Ok(Self { name, seconds, by_function })
    }

    fn stores(&self, kind: &Kind) -> u64 {
        kind.functions.iter().filter_map(|name| self.by_function.get(*name)).sum()
    }
}

fn ours(program: &Program, kind: &Kind) -> u64 {
    let types = TYPES.iter().zip(&program.ledger.types);
    types.filter(|((of, _), _)| kind.types.contains(of)).map(|(_, of_type)| of_type.calls).sum()
}

/// The part.
pub(super) fn part(files: &[PathBuf], stress: &Program) -> Result<Part, TraceError> {
    let recorded: Vec<Recorded> =
        files.iter().map(|file| Recorded::read(file)).collect::<Result<_, TraceError>>()?;
    let at_ns = stress.workload.at_ns.as_deref().unwrap_or_default();
    let seconds = at_ns.first().zip(at_ns.last()).map_or(0.0, |(first, last)| (last - first) as f64 / 1e9);
    let mut sources: Vec<(String, f64, Vec<u64>)> = recorded
        .iter()
        .map(|recorded| {
            let stores = KINDS.iter().map(|kind| recorded.stores(kind)).collect();
            (recorded.name.clone(), recorded.seconds, stores)
        })
        .collect();
    let stores = KINDS.iter().map(|kind| ours(stress, kind)).collect();
    sources.push((format!("ours, {}", stress.workload.name), seconds, stores));
    let mut table = Table::new("Kinds of stores under stress-ng --mmap, and their shares", &["kind"]);
    for (name, ..) in &sources {
        table.header.extend([name.clone(), "share".to_owned()]);
    }
    for (at, kind) in KINDS.iter().enumerate() {
        let mut cells = vec![kind.name.to_owned()];
        for (_, _, stores) in &sources {
            let number = stores.get(at).copied().unwrap_or(0);
            cells.extend([count(number), percent(number, stores.iter().sum())]);
        }
        table.row(cells);
    }
    let mut cells = vec!["all, per second".to_owned()];
    for (_, seconds, stores) in &sources {
        let all: u64 = stores.iter().sum();
        let rate = if *seconds > 0.0 { (all as f64 / seconds) as u64 } else { 0 };
        cells.extend([count(rate), String::new()]);
    }
    table.row(cells);
    let rows = sources.iter().flat_map(|(name, _, stores)| rows(name, stores)).collect();
    let section = Section {
        id: "rates",
        title: "What kinds of stores there are".to_owned(),
        about: vec![
            "The kernel's tree was traced under the same stress test, in a run of its own, function by function; no \
             tree is named there, and all trees of the program are in it. Ours are the calls of the other recording. \
             Shares compare; rates are of two different recordings, and tracing the tree slows the kernel down. The \
             kernel's trees have readers without locks, so that it rewrites a leaf for what we change in place, and \
             splits and merges where that is its choice."
                .to_owned(),
        ],
        tables: vec![table],
        ..Section::default()
    };
    Ok(Part { section, rows, ..Part::default() })
}

fn rows(name: &str, stores: &[u64]) -> Vec<Row> {
    let rows = KINDS.iter().zip(stores).map(|(kind, &number)| Row {
        suite: "maple",
        workload: Some("stress-mmap".to_owned()),
        engine: name.starts_with("ours").then_some("range-map"),
        op: Some(kind.name),
        count: Some(number),
        note: Some(name.to_owned()),
        ..Row::default()
    });
    rows.collect()
}
