//! What kinds of stores there are: the kernel's tree as its own trace points tell it, beside ours, under the same stress
//! test.

use super::planned::Program;
use crate::engine::maple::TYPES;
use crate::record::{Field, Key, Metric, Results, Stat};
use freehold::maple::StoreType;
use freehold_trace::TraceError;
use freehold_trace::mt::{Action, Events};
use std::path::{Path, PathBuf};

/// A kind of store: its name, the function of the kernel that does it, and our types.
type Kind = (&'static str, &'static str, &'static [StoreType]);

/// Stores that change a tree's nodes. What replaces one slot alone has no trace point of its own.
const KINDS: [Kind; 5] = [
    ("node store, append", "mas_wr_node_store", &[StoreType::NodeStore, StoreType::Append]),
    ("slot store", "mas_wr_slot_store", &[StoreType::SlotStore]),
    ("split", "mas_split", &[StoreType::Split]),
    ("rebalance", "mas_rebalance", &[StoreType::Rebalance]),
    ("spanning", "mas_wr_spanning_store", &[StoreType::Spanning]),
];

/// A tree: its name, how many seconds it was watched for, and its stores of each kind.
type Source = (String, f64, [u64; 5]);

/// The kernel's tree, by a trace.
fn recorded(file: &Path) -> Result<Source, TraceError> {
    let mut events = Events::open(file)?;
    let name = format!("kernel, {}", events.header().workload);
    let (mut stores, mut span_ns) = ([0; 5], None);
    while let Some(event) = events.next().transpose()? {
        let (first, _) = span_ns.unwrap_or((event.stamp.at_ns, 0));
        span_ns = Some((first, event.stamp.at_ns));
        for ((_, function, _), stores) in KINDS.iter().zip(&mut stores) {
            *stores += u64::from(event.action != Action::Read && event.function == *function);
        }
    }
    let seconds = span_ns.map_or(0.0, |(first, last)| last.saturating_sub(first) as f64 / 1e9);
    Ok((name, seconds, stores))
}

/// Ours, under the same test.
fn ours(Program { workload, ledger, .. }: &Program) -> Source {
    let at_ns = workload.at_ns.as_deref().unwrap_or_default();
    let seconds = at_ns.first().zip(at_ns.last()).map_or(0.0, |(first, last)| (last - first) as f64 / 1e9);
    let stores = KINDS.map(|(_, _, types)| {
        let of_kind = TYPES.iter().zip(&ledger.types).filter(|((of, _), _)| types.contains(of));
        of_kind.map(|(_, of_type)| of_type.calls).sum()
    });
    (format!("ours, {}", workload.name), seconds, stores)
}

/// Adds the kinds of stores of the kernel's tree and of ours, with their shares.
pub(super) fn add(files: &[PathBuf], stress: &Program, results: &mut Results) -> Result<(), TraceError> {
    let kernels = files.iter().map(|file| recorded(file));
    for source in kernels.chain([Ok(ours(stress))]) {
        let (name, seconds, stores) = source?;
        let all: u64 = stores.iter().sum();
        let key = Key::new("maple", "stress-mmap").param(Field::Who, name);
        for ((kind, ..), number) in KINDS.into_iter().zip(stores) {
            let share = number as f64 / all.max(1) as f64;
            let mut figures = results.of(key.clone().op(kind));
            figures.total(Metric::Count, number).put(Metric::Share, Stat::Total, share, number);
        }
        let rate = (seconds > 0.0).then(|| all as f64 / seconds);
        results.of(key.op("all kinds")).total(Metric::Count, all).some(Metric::Rate, Stat::Total, rate);
    }
    Ok(())
}
