//! What is seen of a replay of per-CPU objects.

use super::{Bucket, EngineRun, Replay, Replayable};
use crate::family::{Judge, Percpu, PercpuJudge};
use crate::record::{Field, Figures, Metric, Results, Stat};
use crate::workload::Workload;
use crate::workload::percpu::from_file;
use freehold::percpu::PAGE_BYTES;
use freehold_trace::percpu::{Answer, Footprint, Op, Session};
use std::collections::BTreeMap;
use std::path::Path;

impl Replayable for Percpu {
    type Seen = PercpuSeen;
    type State = PercpuState;

    fn workload(name: &Path) -> anyhow::Result<Workload<Self>> {
        Ok(from_file(name)?)
    }

    /// Pages are counted after every operation.
    fn note(
        seen: &mut PercpuSeen,
        judge: &mut PercpuJudge,
        session: &(dyn Session + 'static),
        (op, _): (&Op, Option<usize>),
        answer: Answer,
    ) -> Result<(), String> {
        judge.check(op, answer)?;
        judge.see_pages(session);
        judge.check_refusal(op, answer, session)?;
        let pages = session.populated_pages();
        seen.pages_peak = seen.pages_peak.max(pages);
        seen.pages_sum += u128::from(pages);
        seen.live_sum += u128::from(judge.live_bytes());
        seen.operations += 1;
        Ok(())
    }

    fn state(_: &Workload<Self>, judge: &PercpuJudge, session: &(dyn Session + 'static)) -> PercpuState {
        PercpuState { footprint: session.footprint(), live_bytes: judge.live_bytes() }
    }

    fn end(
        seen: PercpuSeen,
        _: &Workload<Self>,
        judge: &PercpuJudge,
        _: &(dyn Session + 'static),
        _: &[Bucket<Self>],
    ) -> PercpuSeen {
        PercpuSeen { missed_places: judge.missed(), ..seen }
    }

    fn seen(run: &EngineRun<Self>, figures: &mut Figures<'_>) {
        let (counted, seen) = (&run.counted, &run.counted.seen);
        let fullest = counted.fullest(|state| state.footprint.objects).map(|state| state.footprint);
        let each = fullest.map(|full| full.metadata_bytes as f64 / full.objects as f64);
        figures
            .put(Metric::Pages, Stat::Max, seen.pages_peak as f64, 1)
            .put(Metric::Pages, Stat::Mean, seen.pages_mean(), 1)
            .put(Metric::Chunks, Stat::Max, counted.peak(|state| state.footprint.chunks) as f64, 1)
            .some(Metric::PageFill, Stat::Mean, seen.fill())
            .some(Metric::BytesPerItem, Stat::Total, each)
            .total(Metric::MissedPlaces, seen.missed_places);
    }

    const STEPS: &'static str = "Chunks and blocks looked at, words of bits scanned, entries of area maps looked at, and integers moved";
    const STATE: &'static [(&'static str, fn(&PercpuState) -> f64)] = &[
        ("pages", |state| state.footprint.populated_pages as f64),
        ("fill", PercpuState::fill),
        ("metadata", |state| state.footprint.metadata_bytes as f64),
    ];

    /// Sizes and alignments that are asked for, and how many of the requests cannot wait.
    fn inspect(workload: &Workload<Self>, results: &mut Results) {
        let mut by_shape: BTreeMap<(u64, u64), [u64; 2]> = BTreeMap::new();
        for op in workload.setup.iter().chain(&workload.ops) {
            let Op::Alloc { size_bytes, align, atomic, .. } = *op else { continue };
            let asked = by_shape.entry((size_bytes, align.bytes())).or_default();
            asked[usize::from(atomic)] += 1;
        }
        for ((size, align), asked) in by_shape {
            for (op, count) in
                ["can wait", "cannot wait"].into_iter().zip(asked).filter(|(_, count)| *count > 0)
            {
                let key = workload.key().op(op).param(Field::Size, size).param(Field::Align, align);
                results.of(key).total(Metric::Count, count).total(Metric::Bytes, size.saturating_mul(count));
            }
        }
    }
}

/// What is left of a run.
#[derive(Clone, Debug, Default)]
pub struct PercpuSeen {
    /// Pages of a unit that have memory, at most.
    pub pages_peak: u64,
    pages_sum: u128,
    /// Live bytes while that many pages had memory.
    live_sum: u128,
    operations: u64,
    missed_places: u64,
}

/// The state at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PercpuState {
    /// What the engine takes.
    pub footprint: Footprint,
    /// Bytes of live objects in a unit.
    pub live_bytes: u64,
}

impl PercpuState {
    /// The share of the pages' memory that is objects.
    pub fn fill(&self) -> f64 {
        let bytes = self.footprint.populated_pages * u64::from(PAGE_BYTES);
        if bytes == 0 { 1.0 } else { self.live_bytes as f64 / bytes as f64 }
    }
}

impl PercpuSeen {
    /// Pages of a unit that have memory, in the mean over all operations.
    pub fn pages_mean(&self) -> f64 {
        self.pages_sum as f64 / self.operations.max(1) as f64
    }

    /// The share of these pages' memory that is objects, over the whole run; `None` if there were no pages.
    pub fn fill(&self) -> Option<f64> {
        let bytes = self.pages_sum as f64 * f64::from(PAGE_BYTES);
        (self.pages_sum > 0).then(|| self.live_sum as f64 / bytes)
    }
}

/// Adds what a replay says of pages, by the name of its file.
pub fn record_pages(replay: &Replay<Percpu>, results: &mut Results) {
    for run in &replay.runs {
        let seen = &run.counted.seen;
        results
            .of(run.entry.key("pages").param(Field::File, replay.workload.name.as_str()))
            .put(Metric::Pages, Stat::Max, seen.pages_peak as f64, 1)
            .put(Metric::Pages, Stat::Mean, seen.pages_mean(), run.counted.answers.len() as u64)
            .total(Metric::Refused, run.counted.failures);
    }
}
