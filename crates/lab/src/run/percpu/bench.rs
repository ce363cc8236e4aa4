//! The bench of the family: a case on every engine, the engines in turn; and its records.
//!
//! An engine runs operations as `replay` does. Where its objects are is checked before anything is timed, and at the end,
//! against what any allocator must do: each aligned, within its unit, and apart from the others.

use super::watch::{LOOKS, Watch};
use crate::engine::percpu::{EngineEntry, Scene};
use crate::family::{Family, Percpu};
use crate::record::{Counts, Field, Figures, Key, Metric, Results, Stat};
use crate::run::Sheet;
use crate::run::plan::{self, Plan, Stop};
use crate::workload::percpu::{Size, Work};
use freehold::percpu::Config;
use freehold::units::Align;
use freehold_trace::percpu::{Answer, Footprint, Op, Session};
use std::time::Duration;

/// Where a live object is: its chunk, its first byte and one past its last; and the alignment that was asked for.
type Placed = (u32, u64, u64, Align);

/// Operations whose work is counted.
const COUNTED: usize = 2000;

/// A case of some size, to be run under this name.
#[derive(Clone)]
pub struct Job<'a> {
    /// What records call it.
    pub workload: &'static str,
    /// The chunks. Work for later is done when the case says so.
    pub config: Config,
    /// What is done.
    pub work: Work,
    /// How many objects of one size an engine places: fewer where it is too slow.
    pub objects: &'a dyn Fn(&EngineEntry) -> u32,
    /// Timed rounds, where they are not the case's own.
    pub rounds: usize,
}

/// An engine at work, where its live objects are, and what was measured.
pub struct Bench {
    /// The engine.
    pub entry: EngineEntry,
    /// Objects of one size that it places.
    pub objects: u32,
    /// Its times.
    pub sheet: Sheet,
    /// What it took at some times.
    pub looks: Vec<(&'static str, Footprint)>,
    pub(super) config: Config,
    pub(super) session: Box<dyn Session>,
    /// Who looks on, if somebody does.
    pub(super) watch: Option<Watch>,
    /// By name.
    placed: Vec<Option<Placed>>,
    answers: Vec<Answer>,
}

impl Plan<Percpu> for Job<'_> {
    type Run = Bench;

    fn name(&self) -> String {
        self.workload.to_owned()
    }

    fn rounds(&self) -> [usize; 2] {
        [self.work.rounds(self.rounds), 1]
    }

    fn prepare(&self, entry: &EngineEntry) -> Result<Bench, Stop> {
        let scene = Scene { config: self.config, balances: false };
        let mut bench = Bench::new(entry, &scene, &self.work, (self.objects)(entry)).map_err(Stop::Wrong)?;
        bench.prepare(&self.work).map_err(Stop::Wrong)?;
        Ok(bench)
    }

    fn turn(&self, bench: &mut Bench, [round, _]: [usize; 2]) -> Result<(), String> {
        if self.work.is_fresh() {
            let scene = Scene { config: self.config, balances: false };
            bench.session = session(&bench.entry, &scene, bench.placed.len() as u32)?;
            bench.placed.fill(None);
        }
        bench.round(&self.work, round)?;
        bench.sheet.close();
        Ok(())
    }
}

impl Job<'_> {
    /// Runs it on every engine, which take turns.
    ///
    /// # Errors
    /// An engine cannot be made, cannot place an object, or places one where it may not be.
    pub fn run(&self, engines: &[EngineEntry], tick: &mut dyn FnMut(&str)) -> anyhow::Result<Vec<Bench>> {
        let (benches, _) = plan::run(self, engines, tick)?;
        benches.iter().try_for_each(Bench::check).map_err(anyhow::Error::msg)?;
        Ok(benches)
    }

    /// Adds what an engine made of it.
    pub fn record(&self, bench: &Bench, results: &mut Results) {
        let scene = Scene { config: self.config, balances: false };
        let key = Percpu::scene_key(&scene, bench.entry.key(self.workload));
        let sized = |size: &Size| {
            key.clone().param(Field::Size, size.bytes).param(Field::Align, u64::from(size.align_bytes))
        };
        match &self.work {
            Work::Fill(size) | Work::MassFree(size) => {
                bench.sheet.record(results, &sized(size).param(Field::N, bench.objects))
            }

            Work::Churn(churn) => {
                let key = key.clone().param(Field::N, churn.first.len() as u64);
                bench.sheet.record(results, &key);
                if !bench.entry.is_floor() {
                    let footprint = bench.session.footprint();
                    let pages = footprint.populated_pages as f64;
                    let ratio = pages / churn.ideal_pages.max(1) as f64;
                    let mut figures = results.of(key.clone());
                    figures.put(Metric::Pages, Stat::Total, pages, 1);
                    figures.put(Metric::SpanRatio, Stat::Total, ratio, 1);
                    bench.record_held(&mut figures, &footprint);
                    bench.record_work(&churn.pairs, &key, results);
                }
            }
            Work::StaleHint(_) | Work::Deletion(..) => {
                for (op, footprint) in &bench.looks {
                    let pages = footprint.populated_pages as f64;
                    results.of(key.clone().op(*op)).put(Metric::Pages, Stat::Total, pages, 1);
                }
            }
        }
    }

    /// Adds what an engine held while all objects were live.
    pub fn record_footprint(&self, bench: &Bench, results: &mut Results) {
        let Work::Fill(size) = &self.work else { return };
        let Some((_, full)) = bench.looks.iter().find(|(at, _)| *at == "full") else { return };
        let units = full.chunks.max(1) as f64 * f64::from(self.config.unit_bytes);
        let key: Key = bench.entry.key("footprint").param(Field::UnitBytes, self.config.unit_bytes);
        let key = key.param(Field::Size, size.bytes).param(Field::Align, u64::from(size.align_bytes));
        let mut figures = results.of(key.param(Field::N, full.objects));
        figures.put(Metric::Chunks, Stat::Max, full.chunks as f64, 1);
        figures.put(Metric::Pages, Stat::Total, full.populated_pages as f64, 1);
        bench.record_held(&mut figures, full);
        figures.put(Metric::MetadataShare, Stat::Total, full.metadata_bytes as f64 / units, 1);
    }
}

/// A fresh engine for objects that are named below that.
fn session(entry: &EngineEntry, scene: &Scene, names: u32) -> Result<Box<dyn Session>, String> {
    let mut session = entry.start(scene)?;
    session.expect_objects(names);
    Ok(session)
}

impl Bench {
    /// A fresh engine, for so many objects of one size.
    pub(super) fn new(entry: &EngineEntry, scene: &Scene, work: &Work, objects: u32) -> Result<Self, String> {
        let names = work.names(objects, scene.config.unit_bytes);
        Ok(Self {
            entry: *entry,
            objects,
            sheet: Sheet::default(),
            looks: Vec::new(),
            config: scene.config,
            session: session(entry, scene, names)?,
            watch: None,
            placed: vec![None; names as usize],
            answers: Vec::new(),
        })
    }

    /// Adds what the engine held for its own structures.
    fn record_held(&self, figures: &mut Figures<'_>, held: &Footprint) {
        let bytes = held.metadata_bytes as f64;
        let each = bytes / held.objects.max(1) as f64;
        figures.origin(self.entry.memory()).put(Metric::Metadata, Stat::Max, bytes, 1);
        figures.put(Metric::BytesPerItem, Stat::Total, each, held.objects);
    }

    /// Adds the work of the first of these operations, done on a copy of the engine if it can be copied.
    fn record_work(&self, ops: &[Op], key: &Key, results: &mut Results) {
        let Some(mut copy) = self.session.duplicate() else { return };
        let mut work = [Counts::default(), Counts::default()];
        for op in ops.iter().take(COUNTED) {
            work[Percpu::kind(op)].add(Percpu::work(&copy.run_counted(op).1));
        }
        for (kind, work) in Percpu::KINDS.iter().zip(&mut work) {
            results.of(key.clone().op(kind.op)).counts(Metric::Work, work);
        }
    }

    /// Runs operations; how long they took.
    fn play(&mut self, ops: &[Op]) -> Result<Duration, String> {
        self.answers.resize(ops.len(), Answer::default());
        let took = Duration::from_nanos(self.session.run_clocked(ops, &mut self.answers));
        if self.entry.outside.is_some() {
            self.session.validate()?;
        }
        let mut failed = 0;
        for (op, answer) in ops.iter().zip(&self.answers) {
            let place = match (*op, *answer) {
                (Op::Alloc { size_bytes, align, .. }, Answer::At { chunk, offset_bytes }) => {
                    let end = offset_bytes + size_bytes.next_multiple_of(self.entry.grain_bytes);
                    Some((chunk, offset_bytes, end, align))
                }
                (Op::Free { .. }, Answer::Freed) => None,
                _ => {
                    failed += 1;
                    None
                }
            };
            if let Some(watch) = &mut self.watch {
                watch.judge.check(op, *answer)?;
            }
            if let Some(slot) = self.placed.get_mut(op.object() as usize) {
                *slot = place;
            }
        }
        match failed {
            0 => Ok(took),
            _ => Err(format!("{failed} of {} operations failed", ops.len())),
        }
    }

    /// Checks the engine's invariants, and its objects if it is judged.
    fn check(&self) -> Result<(), String> {
        let engine = self.entry.engine;
        self.session.validate().map_err(|reason| format!("{engine}: {reason}"))?;
        if self.entry.is_floor() {
            return Ok(());
        }
        let mut placed: Vec<Placed> = self.placed.iter().copied().flatten().collect();
        let (live, told) = (placed.len() as u64, self.session.footprint().objects);
        if live != told {
            return Err(format!("{engine}: {told} objects are live, not {live}"));
        }
        placed.sort_unstable_by_key(|&(chunk, start, ..)| (chunk, start));
        for (at, &(chunk, start, end, align)) in placed.iter().enumerate() {
            if !align.divides(start) {
                let align = align.bytes();
                return Err(format!("{engine}: {start} of chunk {chunk} is not a multiple of {align}"));
            }
            let next = placed.get(at + 1).filter(|next| next.0 == chunk);
            if end > u64::from(self.config.unit_bytes) || next.is_some_and(|next| next.1 < end) {
                let reach = "reaches into the next object, or passes the unit";
                return Err(format!("{engine}: {start} to {end} of chunk {chunk} {reach}"));
            }
        }
        Ok(())
    }

    /// Runs operations, all of which must succeed; timed under that name. A `pair` is two of them.
    pub(super) fn run(
        &mut self,
        timed: Option<(&'static str, Option<&'static str>)>,
        ops: &[Op],
    ) -> Result<(), String> {
        let looks = if self.watch.is_some() { LOOKS } else { 1 };
        for ops in ops.chunks(ops.len().div_ceil(looks).max(1)) {
            let took = self.play(ops)?;
            if let Some(timed) = timed {
                self.sheet.note(timed, took, if timed.0 == "pair" { ops.len() / 2 } else { ops.len() });
            }
            if let Some(watch) = &mut self.watch {
                watch.see(self.session.as_ref(), ops.len())?;
            }
        }
        Ok(())
    }

    /// Runs operations one by one: the first of them, the longest, and one of them in the mean are timed.
    pub(super) fn each(&mut self, ops: &[Op]) -> Result<(), String> {
        let ns = |took: Duration| took.as_nanos() as f64;
        let times: Vec<f64> =
            ops.chunks(1).map(|one| self.play(one).map(ns)).collect::<Result<_, String>>()?;
        let (sum, count) = (times.iter().sum(), times.len() as u64);
        let most = times.iter().copied().fold(0.0, f64::max);
        self.sheet.add(("the first", None), times.first().copied().unwrap_or(0.0), 1);
        self.sheet.add(("longest of the first", None), most, 1);
        self.sheet.add(("first 1,000, each", None), sum, count);
        self.sheet.add(("all, each", None), sum, count);
        Ok(())
    }

    /// Where a live object starts in its units, in bytes.
    pub(super) fn offset_bytes(&self, object: u32) -> Option<u64> {
        self.placed.get(object as usize).copied().flatten().map(|(_, start, ..)| start)
    }

    /// Looks at what is taken now, under that name.
    pub(super) fn look(&mut self, at: &'static str) -> Result<(), String> {
        self.looks.push((at, self.session.footprint()));
        self.check()
    }
}
