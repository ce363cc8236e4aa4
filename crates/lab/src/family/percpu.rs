//! Objects that exist once per CPU: the family `percpu`.

use super::{ALLOC_AND_FREE, Entry, Family, Judge, Life, OpKind, Outcome, Replayable, Suite, Watch};
use crate::engine::percpu::{ENGINES, EngineEntry, FLOOR, Scene, Session};
use crate::measure::percpu::Checker;
use crate::measure::{Bucket, EngineRun};
use crate::output::{Document, Row, Table, count};
use crate::workload::Workload;
use crate::workload::percpu::Recorded;
use freehold::percpu::PAGE_BYTES;
use freehold::units::{Bytes, Tally, Work};
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

    fn scene_row(scene: &Scene, row: Row) -> Row {
        Row { unit: Some(u64::from(scene.config.unit_bytes)), ..row }
    }
}

impl Replayable for Percpu {
    type Watch = PercpuWatch;

    fn workload(name: &str) -> anyhow::Result<Workload<Self>> {
        let file = Path::new(name);
        Ok(Recorded::read(file)?.into_workload(file))
    }

    const SEEN: &'static [&'static str] = &["chunks", "peak pages", "mean pages", "page fill", "B/object"];

    fn seen_cells(run: &EngineRun<Self>) -> Vec<String> {
        let seen = &run.counted.seen;
        // Requests that were refused or had a chunk made for them, though there was a place.
        let missed = if seen.missed > 0 { format!(", {} missed", count(seen.missed)) } else { String::new() };
        vec![
            count(seen.chunks_peak) + &missed,
            count(seen.pages_peak),
            count(seen.pages_mean.round() as u64),
            seen.fill().map_or_else(|| "-".to_owned(), |fill| format!("{fill:.3}")),
            seen.bytes_per_object.map_or_else(|| "-".to_owned(), crate::output::fixed),
        ]
    }

    fn seen_row(run: &EngineRun<Self>, row: Row) -> Row {
        let seen = &run.counted.seen;
        Row {
            pages: Some(seen.pages_peak),
            pages_mean: Some(seen.pages_mean),
            bytes_per_item: seen.bytes_per_object,
            missed: Some(seen.missed),
            ..row
        }
    }

    fn inspect(workload: &Workload<Self>, document: &mut Document) {
        let requests = Requests::of(workload);
        document.tables.push(requests.table(&workload.name));
        document.rows.extend(requests.rows(workload));
    }
}

impl Entry<Percpu> for EngineEntry {
    const ALL: &'static [Self] = ENGINES;
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

/// Allocations of one size and alignment.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    count: u64,
    /// Of these, the ones that could not wait.
    atomic: u64,
}

/// What a workload asks for, by size and alignment in bytes.
struct Requests {
    by_shape: BTreeMap<(u64, u64), Asked>,
    total: Asked,
}

impl Requests {
    fn of(workload: &Workload<Percpu>) -> Self {
        let mut requests = Self { by_shape: BTreeMap::new(), total: Asked::default() };
        for op in workload.setup.iter().chain(&workload.ops) {
            let Op::Alloc { size_bytes, align, atomic, .. } = *op else { continue };
            let asked = requests.by_shape.entry((size_bytes, align.bytes())).or_default();
            for asked in [asked, &mut requests.total] {
                asked.count += 1;
                asked.atomic += u64::from(atomic);
            }
        }
        requests
    }

    fn table(&self, name: &str) -> Table {
        let header = ["size", "align", "count", "share", "bytes", "atomic"];
        let mut table = Table::new(format!("{name}: sizes and alignments, and what could not wait"), &header);
        table.name_columns = 2;
        let share = |of: u64, all: u64| format!("{:.1} %", 100.0 * of as f64 / all.max(1) as f64);
        for (&(size, align), asked) in &self.by_shape {
            table.row(vec![
                count(size),
                count(align),
                count(asked.count),
                share(asked.count, self.total.count),
                Bytes::from(size.saturating_mul(asked.count)).to_string(),
                share(asked.atomic, asked.count),
            ]);
        }
        let bytes = self.by_shape.iter().map(|(&(size, _), asked)| size.saturating_mul(asked.count));
        table.row(vec![
            "all".to_owned(),
            String::new(),
            count(self.total.count),
            String::new(),
            Bytes::from(bytes.fold(0, u64::saturating_add)).to_string(),
            share(self.total.atomic, self.total.count),
        ]);
        table
    }

    fn rows(&self, workload: &Workload<Percpu>) -> Vec<Row> {
        let shapes = self.by_shape.iter().flat_map(|(&shape, asked)| {
            let waiting = ("allocation", asked.count - asked.atomic);
            [waiting, ("allocation that cannot wait", asked.atomic)].map(|(note, count)| (shape, note, count))
        });
        let row = |((size, align), note, count): ((u64, u64), &str, u64)| Row {
            suite: Suite::Percpu.name(),
            workload: Some(workload.name.clone()),
            file: workload.file.clone(),
            size: Some(size),
            align: Some(align),
            count: Some(count),
            note: Some(note.to_owned()),
            ..Row::default()
        };
        shapes.filter(|(_, _, count)| *count > 0).map(row).collect()
    }
}
