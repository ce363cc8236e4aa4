//! Objects that exist once per CPU: the family `percpu`.

use super::{ALLOC_AND_FREE, Entry, Family, Judge, Life, OpKind, Outcome, Replayable, Suite, Watch};
use crate::engine::percpu::{ENGINES, EngineEntry, FLOOR, Scene, Session};
use crate::measure::percpu::Checker;
use crate::measure::{Bucket, EngineRun, Replay};
use crate::record::{Figures, Key, Metric, Picture, Results, Stat};
use crate::workload::Workload;
use crate::workload::percpu::Recorded;
use freehold::percpu::PAGE_BYTES;
use freehold::units::{Tally, Work};
use freehold_rivals::RivalWork;
use freehold_trace::percpu::{Answer, Footprint, Op};
use std::collections::BTreeMap;
use std::path::Path;

/// The family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Percpu;

impl Family for Percpu {
    const SUITE: Suite = Suite::Percpu;
    const KINDS: &'static [OpKind] = ALLOC_AND_FREE;
    type Op = Op;
    type Answer = Answer;
    type Scene = Scene;
    type Session = dyn Session;
    type Entry = EngineEntry;
    type Judge = PercpuJudge;

    fn kind(op: &Op) -> usize {
        usize::from(op.is_free())
    }

    fn life(op: &Op) -> Life {
        match *op {
            Op::Alloc { object, size_bytes, .. } => Life::Begins(object, size_bytes),
            Op::Free { object } => Life::Ends(object),
        }
    }

    /// Chunks and blocks looked at, words of bits scanned, entries of area maps looked at, and integers moved.
    fn work(tally: &Tally) -> u64 {
        use RivalWork::{EntryProbed, EntryScanned, IntCopied, IntMoved};
        let words = tally.of(Work::BitScanned).div_ceil(u64::from(u64::BITS));
        let looked = [Work::ChunkVisited, Work::BlockVisited].map(|work| tally.of(work));
        let listed = [EntryScanned, EntryProbed, IntMoved, IntCopied].map(|work| work.of(tally));
        looked.into_iter().chain(listed).fold(words, u64::saturating_add)
    }

    fn outcome(answer: Answer) -> Outcome {
        match answer {
            Answer::At { .. } | Answer::Freed | Answer::NotLive => Outcome::Done,
            Answer::NoRoom => Outcome::Refused,
            Answer::Unsupported => Outcome::Unsupported,
        }
    }

    fn scene_key(scene: &Scene, key: Key) -> Key {
        key.param("unit_bytes", scene.config.unit_bytes)
    }
}

impl Replayable for Percpu {
    type Watch = PercpuWatch;

    fn workload(name: &str) -> anyhow::Result<Workload<Self>> {
        let file = Path::new(name);
        Ok(Recorded::read(file)?.into_workload(file))
    }

    fn seen(run: &EngineRun<Self>, figures: &mut Figures<'_>) {
        let seen = &run.counted.seen;
        figures
            .put(Metric::Pages, Stat::Max, seen.pages_peak as f64, 1)
            .put(Metric::Pages, Stat::Mean, seen.pages_mean, 1)
            .put(Metric::Chunks, Stat::Max, seen.chunks_peak as f64, 1)
            .some(Metric::PageFill, Stat::Mean, seen.fill())
            .some(Metric::BytesPerItem, Stat::Total, seen.bytes_per_object)
            .total(Metric::MissedPlaces, seen.missed);
    }

    const STATE: &'static [(&'static str, fn(&PercpuState) -> f64)] = &[
        ("pages", |state| state.footprint.populated_pages as f64),
        ("fill", PercpuState::fill),
        ("metadata", |state| state.footprint.metadata_bytes as f64),
    ];

    fn pictures(_: &Replay<Self>) -> Vec<(&'static str, Picture)> {
        Vec::new()
    }

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
                let key = workload.key().op(op).param("size", size).param("align", align);
                results.of(key).total(Metric::Count, count).total(Metric::Bytes, size.saturating_mul(count));
            }
        }
    }
}

impl Entry<Percpu> for EngineEntry {
    const ALL: &'static [Self] = ENGINES;
    const OURS: &'static [&'static str] = &["bitmap"];
    const ESTIMATED: &'static [&'static str] = &["area-map"];
    const FLOOR: Option<Self> = Some(FLOOR);

    fn engine(&self) -> &'static str {
        self.engine
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn start(&self, scene: &Scene) -> Result<Box<dyn Session>, String> {
        (self.make)(&scene.config, scene.balances)
    }
}

/// Knows which objects are where.
#[derive(Clone, Debug)]
pub struct PercpuJudge {
    checker: Checker,
    knows_pages: bool,
}

impl Judge<Percpu> for PercpuJudge {
    fn new(entry: &EngineEntry, scene: &Scene) -> Self {
        Self { checker: Checker::new(entry, &scene.config), knows_pages: entry.knows_pages }
    }

    fn check(&mut self, op: &Op, answer: Answer) -> Result<(), String> {
        self.checker.check(op, answer)
    }

    /// A request that can wait always fits: another chunk is made for it, if there is memory behind.
    fn wrongly_refused(&self, op: &Op, session: &dyn Session) -> Option<String> {
        let Op::Alloc { size_bytes, atomic, .. } = *op else { return None };
        if atomic && self.knows_pages {
            return None;
        }
        let needed = size_bytes.div_ceil(u64::from(PAGE_BYTES)) + 1;
        let left = session.pages_left();
        left.is_none_or(|left| left >= needed).then(|| match left {
            None => "a chunk could be made for it".to_owned(),
            Some(left) => format!("there is memory for {left} pages"),
        })
    }

    fn live(&self) -> u64 {
        self.checker.live()
    }

    fn check_state(&self, session: &dyn Session) -> Result<(), String> {
        self.checker.check_state(session)
    }
}

/// Counts pages after every operation.
#[derive(Clone, Debug)]
pub struct PercpuWatch {
    judge: PercpuJudge,
    pages_peak: u64,
    pages_sum: u128,
    /// Live bytes while that many pages had memory, as pages.
    live_sum: u128,
    operations: u64,
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
    #[must_use]
    pub fn fill(&self) -> f64 {
        let bytes = self.footprint.populated_pages * u64::from(PAGE_BYTES);
        if bytes == 0 { 1.0 } else { self.live_bytes as f64 / bytes as f64 }
    }
}

/// What was seen of a run. Pages are those of one unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PercpuSeen {
    /// Chunks, at most, where the run was sampled.
    pub chunks_peak: u64,
    /// Pages that have memory, at most.
    pub pages_peak: u64,
    /// Pages that have memory, in the mean over all operations.
    pub pages_mean: f64,
    /// Pages that the live objects would fill without any gap, in that mean.
    pub live_pages_mean: f64,
    /// Bytes of metadata for an object, when there were most objects; `None` if there were none.
    pub bytes_per_object: Option<f64>,
    /// Requests that were refused, or had a chunk made for them, though there was a place.
    pub missed: u64,
}

impl PercpuSeen {
    /// The share of the pages' memory that is objects, over the whole run; `None` if there were no pages.
    #[must_use]
    pub fn fill(&self) -> Option<f64> {
        (self.pages_mean > 0.0).then(|| self.live_pages_mean / self.pages_mean)
    }
}

impl Watch<Percpu> for PercpuWatch {
    type State = PercpuState;
    type Seen = PercpuSeen;

    fn new(entry: &EngineEntry, workload: &Workload<Percpu>, _: usize) -> Self {
        let judge = PercpuJudge::new(entry, &workload.scene);
        Self { judge, pages_peak: 0, pages_sum: 0, live_sum: 0, operations: 0 }
    }

    fn note(
        &mut self,
        session: &(dyn Session + 'static),
        op: &Op,
        answer: Answer,
        _: Option<usize>,
    ) -> Result<(), String> {
        self.judge.check(op, answer)?;
        self.judge.checker.see_pages(session);
        if answer == Answer::NoRoom
            && let Some(reason) = self.judge.wrongly_refused(op, session)
        {
            return Err(format!("{op:?} was refused, though {reason}"));
        }
        let pages = session.populated_pages();
        self.pages_peak = self.pages_peak.max(pages);
        self.pages_sum += u128::from(pages);
        self.live_sum += u128::from(self.judge.checker.live_bytes());
        self.operations += 1;
        Ok(())
    }

    fn state(&self, session: &dyn Session) -> PercpuState {
        PercpuState { footprint: session.footprint(), live_bytes: self.judge.checker.live_bytes() }
    }

    fn finish(self, _: &dyn Session, buckets: &[Bucket<Percpu>]) -> PercpuSeen {
        let footprints = || buckets.iter().map(|bucket| bucket.state.footprint);
        let fullest = footprints().max_by_key(|footprint| footprint.objects);
        let fullest = fullest.filter(|footprint| footprint.objects > 0);
        let mean = |sum: u128| sum as f64 / self.operations.max(1) as f64;
        PercpuSeen {
            chunks_peak: footprints().map(|footprint| footprint.chunks).max().unwrap_or(0),
            pages_peak: self.pages_peak,
            pages_mean: mean(self.pages_sum),
            live_pages_mean: mean(self.live_sum) / f64::from(PAGE_BYTES),
            bytes_per_object: fullest.map(|full| full.metadata_bytes as f64 / full.objects as f64),
            missed: self.judge.checker.missed(),
        }
    }
}
