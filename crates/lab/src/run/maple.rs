//! Measuring maps of ranges: every answer of a first round checked one by one, then rounds timed in loops whose sums
//! must agree, the engines taking turns. Stores have no answers: what the maps hold in the end must agree, too.

use super::Sheet;
use super::instructions::measured;
use super::plan::{self, Plan, Ran, Stop};
use crate::engine::maple::{EngineEntry, MakeMap, Map, Two};
use crate::family::{Family, Tree};
use crate::record::{Counts, under};
use crate::workload::maple::{Timed, Workload};
use freehold_rivals::maple::ListRanges;
use freehold_trace::maple::{Answer, Op, RangeDriver, Step, Steps};
use std::hint::black_box;
use std::time::Instant;

/// Operations of each phase that are checked one by one.
const CHECKED: usize = 1 << 12;
/// Everything in the map.
const WALK: Op = Op::StepMany { step: Step::Find, index: 0, limit: u64::MAX, most: None };

/// What an engine made of a workload.
pub struct Run {
    /// The engine.
    pub entry: EngineEntry,
    /// Its times.
    pub sheet: Sheet,
    /// Ranges of the map before anything was timed; of a map that was filled.
    pub ranges: usize,
    /// Bytes that it then held.
    pub bytes: usize,
    /// Work of the operations that were checked one by one.
    pub work: Counts,
    /// What is timed, where two maps are.
    two: Option<Box<dyn Two>>,
    /// What is timed elsewhere.
    map: Box<dyn Map>,
    /// The sum of its answers of each round.
    sums: Vec<u64>,
}

struct Bench<'a> {
    workload: &'a Workload,
    expected: Expected,
    rounds: usize,
}

/// Runs the workload on every engine; those that are left out, and why.
///
/// # Errors
/// An engine answers wrong, or breaks one of its invariants.
pub fn bench(
    workload: &Workload,
    engines: &[EngineEntry],
    rounds: usize,
    tick: &mut dyn FnMut(&str),
) -> anyhow::Result<Ran<Tree, Run>> {
    let bench = Bench { workload, expected: Expected::of(workload), rounds };
    let (mut runs, left_out) = plan::run(&bench, engines, tick)?;
    for run in &mut runs {
        // What was stored while nobody looked.
        let stored = run.map.perform(&Steps::Iterate(1));
        run.sums.push(stored);
        let (name, engine) = (bench.name(), run.entry.engine);
        run.map.validate().map_err(|reason| anyhow::anyhow!("{name}: {engine}: {reason}"))?;
        let is_left = !workload.keeps_ranges() || stored == bench.expected.sum;
        anyhow::ensure!(is_left, "{name}: {engine}: other ranges than before the rounds");
    }
    for run in &runs {
        let (name, engine) = (bench.name(), run.entry.engine);
        let same = runs.first().is_some_and(|first| first.sums == run.sums);
        anyhow::ensure!(same, "{name}: the answers of {engine} are not the others'");
    }
    Ok((runs, left_out))
}

/// What the model's list answers, which no engine has anything of: to the phases of the first round, as far as they are checked one by one.
struct Expected {
    initial: Steps,
    ops: Vec<Op>,
    answers: Vec<Answer>,
    /// The sum over all ranges.
    sum: u64,
}

impl Expected {
    fn of(workload: &Workload) -> Self {
        let initial = workload.initial();
        let mut ops = vec![WALK];
        if let Timed::Steps { phases, fresh: false } = workload.round(0) {
            ops.extend(phases.iter().take(4).flat_map(|(_, steps)| steps.ops(CHECKED)));
            ops.push(WALK);
        }
        let mut answers = vec![Answer::default(); ops.len()];
        let mut list: Box<dyn Map> = Box::new(RangeDriver::new(ListRanges::<u64>::new()));
        // What is inserted into free ranges is the same in any order, and a list grows at its end without moving anything.
        let mut ascending = initial.clone();
        if let Steps::Insert(stores) = &mut ascending {
            stores.sort_unstable_by_key(|(span, _)| span.first());
        }
        list.perform(&ascending);
        let sum = list.perform(&Steps::Iterate(1));
        list.run(&ops, &mut answers);
        Self { initial, ops, answers, sum }
    }
}

impl Plan<Tree> for Bench<'_> {
    type Run = Run;

    fn name(&self) -> String {
        format!("{} n {}", self.workload.name, self.workload.n)
    }

    fn rounds(&self) -> [usize; 2] {
        [self.rounds, 1]
    }

    fn prepare(&self, entry: &EngineEntry) -> Result<Run, Stop> {
        let no_map = || Stop::LeftOut("it is verified, and no map to compare with".to_owned());
        let new_map = || entry.new_map().map_err(Stop::Wrong)?.ok_or_else(no_map);
        let round = self.workload.round(0);
        if entry.outside.is_some() && !matches!(round, Timed::Steps { .. }) {
            return Err(Stop::LeftOut("an engine from outside has no copies of itself".to_owned()));
        }
        let mut checked = new_map()?;
        checked.perform(&self.expected.initial);
        let (ranges, bytes) = (checked.count(), checked.metadata_bytes());
        // Not a copy of the one that is checked: some lie in memory in the order of their keys, however the map was built.
        let mut map = new_map()?;
        map.perform(&self.expected.initial);
        let mut work = Counts::default();
        for (op, right) in self.expected.ops.iter().zip(&self.expected.answers) {
            let (answer, tally) = checked.run_counted(op);
            if *right != answer {
                // One that is gone answers nothing.
                checked.validate().map_err(Stop::Wrong)?;
                return Err(Stop::Wrong(format!("{answer:?} to {op:?}, not {right:?}")));
            }
            work.add(Tree::work(&tally));
        }
        checked.validate().map_err(Stop::Wrong)?;
        let (sheet, sums) = (Sheet::default(), Vec::new());
        let two = matches!(round, Timed::Two(_)).then(|| map.two(&self.expected.initial)).flatten();
        Ok(Run { entry: *entry, sheet, ranges, bytes, work, two, map, sums })
    }

    fn turn(&self, run: &mut Run, [round, _]: [usize; 2]) -> Result<(), String> {
        let mut sum = 0_u64;
        match self.workload.round(round) {
            Timed::Steps { phases, fresh } => {
                for (op, steps) in &phases {
                    let mut own = if fresh { run.entry.new_map()? } else { None };
                    let map = own.as_mut().unwrap_or(&mut run.map);
                    let (answers, took) = map.perform_clocked(steps);
                    sum = sum.wrapping_mul(31).wrapping_add(answers);
                    run.sheet.note((op, None), took, times(steps, run.ranges));
                    if own.is_some_and(|mut own| own.perform(&Steps::Iterate(1)) != self.expected.sum) {
                        return Err("other ranges than were inserted".to_owned());
                    }
                }
            }
            Timed::Copies(copies) => {
                for _ in 0..copies {
                    let before = Instant::now();
                    let copy = run.map.duplicate();
                    run.sheet.note(("dup", None), before.elapsed(), run.ranges);
                    drop(copy);
                }
                sum = run.map.duplicate().map_or(0, |mut copy| copy.perform(&Steps::Iterate(1)));
            }
            Timed::Two(times) => {
                let Some(two) = &run.two else { return Err("no two maps".to_owned()) };
                let before = Instant::now();
                sum = two.perform(times);
                run.sheet.note(("iterate", None), before.elapsed(), 2 * times * run.ranges);
                if sum != self.expected.sum.wrapping_mul(2 * times as u64) {
                    return Err("other ranges in one of two maps".to_owned());
                }
            }
        }
        run.sheet.close();
        run.sums.push(sum);
        Ok(())
    }
}

/// Operations of these steps on a map of so many ranges.
fn times(steps: &Steps, ranges: usize) -> usize {
    if let Steps::Iterate(times) = steps { times * ranges } else { steps.count() }
}

/// The operations of a workload's first round, and how many there are of each, for maps of so many ranges.
pub fn operations(workload: &Workload) -> Vec<(&'static str, u64)> {
    let ranges = workload.initial().count();
    let mut all: Vec<(&'static str, u64)> = Vec::new();
    let mut add = |op, count: usize| *under(&mut all, op) += count as u64;
    match workload.round(0) {
        Timed::Steps { phases, .. } => phases.iter().for_each(|(op, steps)| {
            add(op, times(steps, ranges));
        }),
        Timed::Copies(copies) => add("dup", copies * ranges),
        Timed::Two(times) => add("iterate", 2 * times * ranges),
    }
    all
}

/// What is run under callgrind: a workload's first round, once for each of its operations, whose steps alone count.
pub fn run_counted(workload: &Workload, make: MakeMap) {
    for (counted, _) in operations(workload) {
        let mut map = make();
        map.perform(&workload.initial());
        match workload.round(0) {
            Timed::Steps { phases, fresh } => {
                let last = phases.iter().rposition(|(op, _)| *op == counted);
                for (at, (op, steps)) in phases.iter().enumerate() {
                    let mut own = fresh.then(make);
                    let map = own.as_mut().unwrap_or(&mut map);
                    let mut run = || {
                        map.perform(steps);
                    };
                    if *op == counted { measured(&mut run, Some(at) == last) } else { run() }
                }
            }
            Timed::Copies(copies) => {
                for left in (0..copies).rev() {
                    let mut copy = None;
                    measured(&mut || copy = map.duplicate(), left == 0);
                }
            }
            Timed::Two(times) => {
                let Some(two) = map.two(&workload.initial()) else { continue };
                let mut run = || {
                    black_box(two.perform(times));
                };
                measured(&mut run, true);
            }
        }
    }
}
