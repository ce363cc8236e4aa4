//! The engines of each family, in a steady state, with the operations that are done cold: allocators free and allocate, maps
//! look up, erase and insert.

use super::{Cold, Subject, WORKLOAD};
use crate::engine::maple::{EngineEntry as MapEntry, Map};
use crate::engine::percpu::{EngineEntry as PercpuEntry, Scene};
use crate::engine::{EngineEntry, Listed};
use crate::family::{Family, Judge, Kva, Outcome, Percpu};
use crate::record::Field;
use crate::workload::bench::{BenchWorkload, cases};
use crate::workload::maple::{Kind, Workload as MapWorkload};
use crate::workload::percpu::Churn;
use crate::workload::{SplitMix, Workload, whole_scene};
use freehold::percpu::Config;
use freehold::units::Span;
use freehold_rivals::maple::ListRanges;
use freehold_trace::Driven;
use freehold_trace::maple::{RangeDriver, Steps};
use std::hint::black_box;

/// Operations of an allocator, as many frees as allocations.
const OPERATIONS: usize = 128;
/// Look-ups of a map, as many erases and as many inserts.
const OF_EACH: usize = 64;
/// The largest object of per-CPU memory.
const MOST_BYTES: u32 = 64;

/// An allocator at work.
struct Allocator<F: Family> {
    session: Box<F::Session>,
    /// Nobody judges the engine that does no work, nor who is run under callgrind.
    judge: Option<F::Judge>,
    ops: Vec<F::Op>,
    answers: Vec<F::Answer>,
}

impl<F: Family> Cold for Allocator<F> {
    fn count(&self) -> usize {
        self.ops.len()
    }

    fn op(&self, at: usize) -> &'static str {
        F::KINDS.get(F::kind(&self.ops[at])).map_or("", |kind| kind.op)
    }

    fn warm(&self, at: usize) {
        black_box((F::kind(&self.ops[at]), self.answers[at]));
    }

    fn run(&mut self, at: usize) {
        self.session.run(&self.ops[at..=at], &mut self.answers[at..=at]);
    }

    fn check(&mut self, at: usize) -> Result<(), String> {
        let (op, answer) = (&self.ops[at], self.answers[at]);
        if let Some(judge) = &mut self.judge {
            if F::outcome(answer) != Outcome::Done {
                self.session.validate()?;
                return Err(format!("{}: it was not done", F::told(op)));
            }
            judge.check(op, answer)?;
        }
        Ok(())
    }
}

/// An engine in the state that the set-up leaves, every answer checked if `judged`; `None` if it has no such requests.
fn allocator<F: Family>(
    entry: &Listed<F::Facts>,
    workload: &Workload<F>,
    judged: bool,
) -> anyhow::Result<Option<Allocator<F>>> {
    let Ok(mut session) = entry.start(&workload.scene) else { return Ok(None) };
    session.expect_objects(workload.objects);
    let ops = workload.ops.clone();
    let mut judge = (judged && !entry.is_floor()).then(|| F::Judge::new(entry, &workload.scene));
    let wrong = |reason| anyhow::anyhow!("{WORKLOAD}: {}: set-up: {reason}", entry.label());
    for op in &workload.setup {
        let (answer, _) = session.run_counted(op);
        if F::outcome(answer) != Outcome::Done && !entry.is_floor() {
            session.validate().map_err(wrong)?;
            return Ok(None);
        }
        if let Some(judge) = &mut judge {
            judge.check(op, answer).map_err(wrong)?;
        }
    }
    let answers = vec![F::Answer::default(); ops.len()];
    Ok(Some(Allocator { session, judge, ops, answers }))
}

/// Allocators under their names, each in the first of these states that it can set up; `None` of those that can set up none.
fn allocators<F: Family>(
    entries: &[Listed<F::Facts>],
    n: u32,
    states: &[Workload<F>],
    judged: bool,
) -> anyhow::Result<Vec<Option<Subject>>> {
    let ready = |entry: &Listed<F::Facts>| {
        let of_state = |state| allocator(entry, state, judged).transpose();
        let made = states.iter().find_map(of_state).transpose()?;
        let key = entry.key(WORKLOAD).param(Field::N, n);
        Ok(made.map(|made| Subject { label: entry.label(), key, cold: Box::new(made) }))
    };
    entries.iter().map(ready).collect()
}

/// Allocators of address ranges: a churn of 1 to 64 pages. `None` of those that cannot set it up.
///
/// # Errors
/// It does not fit in the space, or an engine answers wrong.
pub fn kva(entries: &[EngineEntry], n: u32, judged: bool) -> anyhow::Result<Vec<Option<Subject>>> {
    let Some(case) = cases().find(|case| case.name == "churn") else { return Ok(Vec::new()) };
    let BenchWorkload { placed, natural, mut ops, objects, .. } = BenchWorkload::new(case, n, OPERATIONS, 1)?;
    ops.truncate(OPERATIONS);
    let of =
        |setup| Workload { setup, ..Workload::<Kva>::new(WORKLOAD, "", whole_scene(), ops.clone(), objects) };
    // Those without fixed places set up a like state.
    allocators(entries, n, &[of(placed), of(natural)], judged)
}

/// Allocators of per-CPU objects: a churn of 4 to 64 bytes. `None` of those that cannot set it up.
///
/// # Errors
/// An engine answers wrong.
pub fn percpu(
    entries: &[PercpuEntry],
    config: Config,
    n: u32,
    judged: bool,
) -> anyhow::Result<Vec<Option<Subject>>> {
    let Churn { mut first, pairs, .. } = Churn::new(MOST_BYTES, n, n + OPERATIONS as u32 / 2);
    let (before, ops) = pairs.split_at(2 * n as usize);
    first.extend_from_slice(before);
    let scene = Scene { config, balances: false };
    let new = Workload::<Percpu>::new(WORKLOAD, "", scene, ops.to_vec(), n);
    allocators(entries, n, &[Workload { setup: first, ..new }], judged)
}

/// A map at work.
struct ColdMap {
    map: Box<dyn Map>,
    steps: Vec<(&'static str, Steps)>,
    /// What sorted lists of the same ranges answer.
    right: Vec<u64>,
    answers: Vec<u64>,
}

impl Cold for ColdMap {
    fn count(&self) -> usize {
        self.steps.len()
    }

    fn op(&self, at: usize) -> &'static str {
        self.steps[at].0
    }

    fn warm(&self, at: usize) {
        black_box((self.steps[at].1.first(), self.answers[at]));
    }

    fn run(&mut self, at: usize) {
        self.answers[at] = self.map.perform(&self.steps[at].1);
    }

    fn check(&mut self, at: usize) -> Result<(), String> {
        let (answer, right) = (self.answers[at], self.right[at]);
        if answer == right { Ok(()) } else { Err(format!("{answer}, not {right}")) }
    }
}

/// Maps of `n` ranges: look-ups, and random ranges that are erased and inserted again. `None` of what is no map.
pub fn maps(entries: &[MapEntry], n: u32) -> Vec<Option<Subject>> {
    let initial = MapWorkload { name: WORKLOAD, kind: Kind::Lookup, n }.initial();
    let Steps::Insert(ranges) = &initial else { return Vec::new() };
    let mut random = SplitMix::new(u64::from(n));
    let mut any = || ranges[random.uniform(ranges.len() as u64) as usize];
    let mut steps = Vec::new();
    for _ in 0..OF_EACH {
        let (looked_up, taken): ((Span, u32), _) = (any(), any());
        steps.push(("lookup", Steps::Get(vec![looked_up.0.first()])));
        steps.push(("erase", Steps::Erase(vec![taken.0.first()])));
        steps.push(("insert", Steps::Insert(vec![taken])));
    }
    let mut ascending = ranges.clone();
    ascending.sort_unstable_by_key(|(span, _)| span.first());
    let mut list: Box<dyn Map> = Box::new(RangeDriver::new(ListRanges::<u64>::new()));
    list.perform(&Steps::Insert(ascending));
    let right: Vec<u64> = steps.iter().map(|(_, step)| list.perform(step)).collect();
    let made = |entry: &MapEntry| {
        let mut map = entry.map?();
        map.perform(&initial);
        let (steps, answers) = (steps.clone(), vec![0; steps.len()]);
        let cold = Box::new(ColdMap { map, steps, right: right.clone(), answers });
        Some(Subject { label: entry.label(), key: entry.key(WORKLOAD).param(Field::N, n), cold })
    };
    entries.iter().map(made).collect()
}
