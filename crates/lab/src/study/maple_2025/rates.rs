//! What kinds of stores there are: the kernel's tree as its own trace points tell it, beside ours, under the same stress
//! test.

use super::ledger::TYPES;
use super::planned::Program;
use crate::record::{Key, Metric, Results, Stat};
use freehold::maple::linux::StoreType;
use freehold_trace::TraceError;
use freehold_trace::mt::{Action, Events};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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

/// Adds the kinds of stores of the kernel's tree and of ours, with their shares.
pub(super) fn add(files: &[PathBuf], stress: &Program, results: &mut Results) -> Result<(), TraceError> {
    let mut sources: Vec<(String, f64, Vec<u64>)> = Vec::new();
    for file in files {
        let recorded = Recorded::read(file)?;
        let stores = KINDS.iter().map(|kind| recorded.stores(kind)).collect();
        sources.push((recorded.name, recorded.seconds, stores));
    }
    let at_ns = stress.workload.at_ns.as_deref().unwrap_or_default();
    let seconds = at_ns.first().zip(at_ns.last()).map_or(0.0, |(first, last)| (last - first) as f64 / 1e9);
    let stores = KINDS.iter().map(|kind| ours(stress, kind)).collect();
    sources.push((format!("ours, {}", stress.workload.name), seconds, stores));
    for (name, seconds, stores) in sources {
        let all: u64 = stores.iter().sum();
        let key = Key::new("maple", "stress-mmap").param("who", name);
        for (kind, &number) in KINDS.iter().zip(&stores) {
            results.of(key.clone().op(kind.name)).total(Metric::Count, number).put(
                Metric::Share,
                Stat::Total,
                number as f64 / all.max(1) as f64,
                number,
            );
        }
        let rate = (seconds > 0.0).then(|| all as f64 / seconds);
        results.of(key.op("all kinds")).total(Metric::Count, all).some(Metric::Rate, Stat::Total, rate);
    }
    Ok(())
}
