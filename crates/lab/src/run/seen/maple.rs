//! What is seen of a replay of address spaces.

use super::{EngineRun, Replayable};
use crate::family::{Judge, Maple, MapleJudge};
use crate::record::{Field, Figures, Metric, Results, Stat};
use crate::run::Calls;
use crate::workload::Workload;
use crate::workload::vma::from_file;
use freehold_trace::vma::{Answer, Call, Fault, Footprint, Op, Session, contradictions};
use std::collections::BTreeMap;
use std::path::Path;

impl Replayable for Maple {
    type Seen = MapleSeen;
    type State = Footprint;

    fn workload(name: &Path) -> anyhow::Result<Workload<Self>> {
        Ok(from_file(name)?)
    }

    /// A space is looked at as a whole before it goes.
    fn before(judge: &MapleJudge, session: &(dyn Session + 'static), op: &Op) -> Result<(), String> {
        if op.call == Call::Destroy { judge.check_state(session) } else { Ok(()) }
    }

    fn note(
        seen: &mut MapleSeen,
        judge: &mut MapleJudge,
        _: &(dyn Session + 'static),
        (op, _): (&Op, Option<usize>),
        answer: Answer,
    ) -> Result<(), String> {
        judge.check(op, answer)?;
        if let Some(fault) = answer.fault {
            *seen.faults.entry(fault).or_default() += 1;
        }
        Ok(())
    }

    fn state(_: &Workload<Self>, _: &MapleJudge, session: &(dyn Session + 'static)) -> Footprint {
        session.footprint()
    }

    fn seen(run: &EngineRun<Self>, figures: &mut Figures<'_>) {
        let counted = &run.counted;
        let each = counted.fullest(|state| state.areas).map(|state| state.bytes as f64 / state.areas as f64);
        figures
            .put(Metric::Spaces, Stat::Max, counted.peak(|state| state.spaces) as f64, 1)
            .put(Metric::Areas, Stat::Max, counted.peak(|state| state.areas) as f64, 1)
            .put(Metric::AreasMost, Stat::Max, counted.peak(|state| state.areas_most) as f64, 1)
            .some(Metric::BytesPerItem, Stat::Total, each)
            .total(Metric::Mismatches, contradictions(&counted.seen.faults));
        let told = [
            (Metric::Height, counted.peak(|state| state.nodes.height)),
            (Metric::Nodes, counted.peak(|state| state.nodes.in_use)),
        ];
        for (metric, value) in told.into_iter().filter(|(_, value)| *value > 0) {
            figures.put(metric, Stat::Max, value as f64, 1);
        }
    }

    const STEPS: &'static str = "Areas looked at, and areas stored or removed";
    const STATE: &'static [(&'static str, fn(&Footprint) -> f64)] = &[
        ("areas", |state| state.areas as f64),
        ("nodes", |state| if state.nodes.in_use > 0 { state.nodes.in_use as f64 } else { f64::NAN }),
        ("bytes", |state| state.bytes as f64),
    ];

    /// What calls meet and store, what meets something else than it was recorded to, and the busiest spaces.
    fn inspect(workload: &Workload<Self>, results: &mut Results) {
        let calls = Calls::of(workload);
        for (name, counts) in &calls.by_name {
            let faults = || calls.faults.iter().filter(|((call, _), _)| call == name);
            let contradictions: u64 =
                faults().filter(|((_, fault), _)| fault.contradicts()).map(|(_, number)| number).sum();
            let mut figures = results.of(workload.key().op(*name));
            for &(metric, count) in counts {
                figures.total(metric, count);
                if metric == Metric::Stores {
                    let calls = counts[0].1;
                    figures.put(metric, Stat::Mean, count as f64 / calls.max(1) as f64, calls);
                }
            }
            figures.total(Metric::Mismatches, contradictions);
            for ((_, fault), number) in faults() {
                let key = workload.key().op(*name).param(Field::Met, fault.name());
                results.of(key).total(Metric::Count, *number);
            }
        }
        let mut spaces: Vec<(&u32, &(u64, u64))> = calls.spaces.iter().collect();
        spaces.sort_by_key(|(number, (ops, _))| (std::cmp::Reverse(*ops), **number));
        for (&number, &(ops, areas)) in spaces.into_iter().take(10) {
            let key = workload.key().param(Field::Space, number);
            results.of(key).total(Metric::Count, ops).put(Metric::Areas, Stat::Max, areas as f64, 1);
        }
    }
}

/// What is left of a run.
#[derive(Clone, Debug, Default)]
pub struct MapleSeen {
    faults: BTreeMap<Fault, u64>,
}
