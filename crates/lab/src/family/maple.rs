//! Address spaces of processes, kept in maps of ranges: the family `maple`, as far as recorded programs drive it.

use super::{Entry, Family, Judge, Life, OpKind, Outcome, Replayable, Suite, Watch};
use crate::engine::vma::{ENGINES, EngineEntry, Footprint, Session, SortedAreas, Spaces};
use crate::kind::Kind;
use crate::measure::vma::{Calls, Developed, Film};
use crate::measure::{Bucket, EngineRun, Replay};
use crate::record::{Figures, Metric, Picture, Results, Stat};
use crate::workload::Workload;
use crate::workload::vma::{
    Answer, Call, Caller, Fault, Op, Scene, contradictions, from_file, tree_from_file,
};
use freehold::units::{Tally, Work};
use freehold_rivals::RivalWork;
use freehold_trace::Drive;
use std::collections::BTreeMap;
use std::path::Path;

/// The family.
#[derive(Clone, Copy, Debug, Default)]
pub struct Maple;

/// The last of the kinds of operations: whatever is not one of the others.
const KINDS: &[OpKind] = &[
    OpKind { op: "mmap", noun: "mapping" },
    OpKind { op: "munmap", noun: "unmapping" },
    OpKind { op: "mprotect", noun: "change of protection" },
    OpKind { op: "madvise", noun: "advice" },
    OpKind { op: "gap-search", noun: "search for a gap" },
    OpKind { op: "store", noun: "store into a tree" },
    OpKind { op: "look-up", noun: "look-up in a tree, or a walk" },
    OpKind { op: "other", noun: "other call" },
];

impl Family for Maple {
    const SUITE: Suite = Suite::Maple;
    const KINDS: &'static [OpKind] = KINDS;
    type Op = Op;
    type Answer = Answer;
    type Scene = Scene;
    type Session = dyn Session;
    type Entry = EngineEntry;
    type Judge = MapleJudge;

    fn kind(op: &Op) -> usize {
        match op.call {
            Call::Map { by: Caller::Program | Caller::Kernel, .. } => 0,
            Call::Unmap { by: Caller::Program | Caller::Kernel, .. } => 1,
            Call::Protect { .. } => 2,
            Call::Advise { .. } => 3,
            Call::Search { .. } => 4,
            Call::Store { .. } => 5,
            Call::Load { .. } | Call::Find { .. } => 6,
            Call::Map { by: Caller::Break, .. }
            | Call::Unmap { by: Caller::Break, .. }
            | Call::Remap { .. }
            | Call::Fork { .. }
            | Call::Exec
            | Call::Destroy => 7,
        }
    }

    fn life(op: &Op) -> Life {
        match op.call {
            Call::Map { span, .. } | Call::Store { span, value: Some(_) } => {
                Life::Comes(span.size_saturating())
            }
            _ => Life::Neither,
        }
    }

    /// Areas looked at, and areas stored or removed.
    fn work(tally: &Tally) -> u64 {
        RivalWork::EntryScanned.of(tally).saturating_add(tally.of(Work::EntryStored))
    }

    /// Everything is done, as the recorded kernel did it.
    fn outcome(_: Answer) -> Outcome {
        Outcome::Done
    }
}

impl Replayable for Maple {
    type Watch = MapleWatch;

    fn workload(name: &str) -> anyhow::Result<Workload<Self>> {
        let file = Path::new(name);
        Ok(if Kind::of(file)? == Some(Kind::TreeEvents) { tree_from_file(file)? } else { from_file(file)? })
    }

    fn seen(run: &EngineRun<Self>, figures: &mut Figures<'_>) {
        let seen = &run.counted.seen;
        figures
            .put(Metric::Spaces, Stat::Max, seen.spaces_peak as f64, 1)
            .put(Metric::Areas, Stat::Max, seen.areas_peak as f64, 1)
            .put(Metric::AreasMost, Stat::Max, seen.areas_most as f64, 1)
            .some(Metric::BytesPerItem, Stat::Total, seen.bytes_per_area)
            .total(Metric::Mismatches, seen.mismatches());
        let told = [(Metric::Height, seen.height), (Metric::Nodes, seen.nodes_peak)];
        for (metric, value) in told.into_iter().filter(|(_, value)| *value > 0) {
            figures.put(metric, Stat::Max, value as f64, 1);
        }
    }

    const STATE: &'static [(&'static str, fn(&Footprint) -> f64)] = &[
        ("areas", |state| state.areas as f64),
        ("nodes", |state| if state.nodes.in_use > 0 { state.nodes.in_use as f64 } else { f64::NAN }),
        ("bytes", |state| state.bytes as f64),
    ];

    fn pictures(replay: &Replay<Self>) -> Vec<(&'static str, Picture)> {
        let workload = &replay.workload;
        let film = replay.runs.iter().find_map(|run| run.counted.seen.film.clone());
        let film = film.map(|film| workload.film(film));
        film.map(|film| ("film", Picture::Film(film))).into_iter().collect()
    }

    /// What calls meet and store, what meets something else than it was recorded to, and the busiest spaces.
    fn inspect(workload: &Workload<Self>, results: &mut Results) {
        let calls = Calls::of(workload);
        for (name, counts) in &calls.by_name {
            let faults = || calls.faults.iter().filter(|((call, _), _)| call == name);
            let contradictions: u64 =
                faults().filter(|((_, fault), _)| fault.contradicts()).map(|(_, number)| number).sum();
            results
                .of(workload.key().op(*name))
                .total(Metric::Count, counts.calls)
                .total(Metric::Met, counts.met)
                .total(Metric::MetSeveral, counts.met_several)
                .total(Metric::Stores, counts.stored)
                .put(
                    Metric::Stores,
                    Stat::Mean,
                    counts.stored as f64 / counts.calls.max(1) as f64,
                    counts.calls,
                )
                .total(Metric::Idle, counts.idle)
                .total(Metric::Mismatches, contradictions);
            for ((_, fault), number) in faults() {
                let what =
                    Fault::ALL.iter().find(|(known, _)| known == fault).map_or("other", |(_, what)| *what);
                results.of(workload.key().op(*name).param("met", what)).total(Metric::Count, *number);
            }
        }
        let mut spaces: Vec<(&u32, &(u64, u64))> = calls.spaces.iter().collect();
        spaces.sort_by_key(|(number, (ops, _))| (std::cmp::Reverse(*ops), **number));
        for (&number, &(ops, areas)) in spaces.into_iter().take(10) {
            let key = workload.key().param("space", number);
            results.of(key).total(Metric::Count, ops).put(Metric::Areas, Stat::Max, areas as f64, 1);
        }
    }
}

impl Entry<Maple> for EngineEntry {
    const ALL: &'static [Self] = ENGINES;
    const OURS: &'static [&'static str] = &["range-map"];
    const ESTIMATED: &'static [&'static str] = &["std-btreemap"];

    fn engine(&self) -> &'static str {
        self.engine
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn start(&self, scene: &Scene) -> Result<Box<dyn Session>, String> {
        Ok((self.make)(scene.kinds.clone()))
    }
}

/// Keeps the same spaces as sorted lists of areas.
#[derive(Clone, Debug)]
pub struct MapleJudge {
    spaces: Spaces<SortedAreas>,
}

impl Judge<Maple> for MapleJudge {
    fn new(_: &EngineEntry, scene: &Scene) -> Self {
        Self { spaces: Spaces::new(scene.kinds.clone()) }
    }

    fn check(&mut self, op: &Op, answer: Answer) -> Result<(), String> {
        let expected = self.spaces.run(op, &mut ());
        if answer == expected {
            Ok(())
        } else {
            Err(format!("{op:?}: {answer:?}, where a sorted list of areas says {expected:?}"))
        }
    }

    fn wrongly_refused(&self, _: &Op, _: &dyn Session) -> Option<String> {
        None
    }

    /// Areas.
    fn live(&self) -> u64 {
        self.spaces.footprint().areas
    }

    fn check_state(&self, session: &dyn Session) -> Result<(), String> {
        if session.digest() == self.spaces.digest() {
            Ok(())
        } else {
            Err("other areas than a sorted list of them has".to_owned())
        }
    }
}

/// Counts what is not as it was recorded, and films one of the spaces.
#[derive(Clone, Debug)]
pub struct MapleWatch {
    judge: MapleJudge,
    faults: BTreeMap<Fault, u64>,
    /// What of the state is looked at again at the end.
    film: Option<Film>,
}

/// What was seen of a run.
#[derive(Clone, Debug)]
pub struct MapleSeen {
    /// Spaces, at most, where the run was sampled; so are all that follow but the nodes taken and the faults.
    pub spaces_peak: u64,
    /// Areas of all spaces, at most.
    pub areas_peak: u64,
    /// Areas of one space, at most.
    pub areas_most: u64,
    /// Levels, at most; 0 where the map does not tell.
    pub height: u64,
    /// Nodes, at most.
    pub nodes_peak: u64,
    /// Nodes taken, over the whole run.
    pub nodes_taken: u64,
    /// Bytes for an area, when there were most areas.
    pub bytes_per_area: Option<f64>,
    /// What was not as it was when it was recorded.
    pub faults: BTreeMap<Fault, u64>,
    /// The busiest space, of the default engine.
    pub film: Option<Developed>,
}

impl MapleSeen {
    /// Operations that met something else than when they were recorded.
    #[must_use]
    pub fn mismatches(&self) -> u64 {
        contradictions(&self.faults)
    }
}

impl Watch<Maple> for MapleWatch {
    type State = Footprint;
    type Seen = MapleSeen;

    fn new(entry: &EngineEntry, workload: &Workload<Maple>, _: usize) -> Self {
        Self {
            judge: MapleJudge::new(entry, &workload.scene),
            faults: BTreeMap::new(),
            film: entry.is_default().then(|| Film::of_busiest(&workload.ops)),
        }
    }

    fn note(
        &mut self,
        session: &(dyn Session + 'static),
        op: &Op,
        answer: Answer,
        at: Option<usize>,
    ) -> Result<(), String> {
        self.judge.check(op, answer)?;
        if let Some(fault) = answer.fault {
            *self.faults.entry(fault).or_default() += 1;
        }
        if let Some((film, at)) = self.film.as_mut().zip(at) {
            film.note(session, op, at);
        }
        // A space is looked at as a whole when it goes.
        if op.call == Call::Destroy { self.judge.check_state(session) } else { Ok(()) }
    }

    fn state(&self, session: &dyn Session) -> Footprint {
        session.footprint()
    }

    fn finish(self, session: &dyn Session, buckets: &[Bucket<Maple>]) -> MapleSeen {
        let most = |figure: fn(&Footprint) -> u64| {
            buckets.iter().map(|bucket| figure(&bucket.state)).max().unwrap_or(0)
        };
        let fullest = buckets.iter().map(|bucket| bucket.state).max_by_key(|state| state.areas);
        let fullest = fullest.filter(|state| state.areas > 0);
        MapleSeen {
            spaces_peak: most(|state| state.spaces),
            areas_peak: most(|state| state.areas),
            areas_most: most(|state| state.areas_most),
            height: most(|state| state.nodes.height),
            nodes_peak: most(|state| state.nodes.in_use),
            nodes_taken: session.footprint().nodes.taken,
            bytes_per_area: fullest.map(|state| state.bytes as f64 / state.areas as f64),
            faults: self.faults,
            film: self.film.map(Film::develop),
        }
    }
}
