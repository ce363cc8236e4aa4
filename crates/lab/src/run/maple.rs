//! Measuring maps of ranges: every answer of a first round checked one by one, then rounds timed in loops whose sums
//! must agree, the engines taking turns.

use super::instructions::measured;
use super::turns::in_turn;
use crate::engine::maple::{EngineEntry, MakeMap, Map, Steps};
use crate::workload::maple::{Timed, Workload};
use freehold_rivals::maple::ListRanges;
use freehold_trace::maple::{Answer, Op, RangeDriver, Step};
use std::time::{Duration, Instant};

/// Operations of each phase that are checked one by one.
const CHECKED: usize = 1 << 12;
/// Everything in the map.
const WALK: Op = Op::StepMany { step: Step::Find, index: 0, limit: u64::MAX, most: None };

/// What an engine made of a workload.
#[derive(Clone, Debug)]
pub struct Run {
    /// The engine.
    pub entry: EngineEntry,
    /// Nanoseconds of an operation, by operation and round.
    pub ns: Vec<(&'static str, Vec<f64>)>,
    /// Operations timed, by operation and over all rounds.
    pub counts: Vec<u64>,
    /// Ranges of the map before anything was timed; of a map that was filled.
    pub ranges: usize,
    /// Bytes that it then held.
    pub bytes: usize,
    /// Whether it looks for gaps one by one.
    pub gap_is_linear: bool,
}

/// Runs the workload on every engine.
///
/// # Errors
/// An engine answers wrong, or breaks one of its invariants.
pub fn bench(
    workload: &Workload,
    engines: &[(EngineEntry, MakeMap)],
    rounds: usize,
    tick: &mut dyn FnMut(&str),
) -> Result<Vec<Run>, String> {
    let name = format!("{} n {}", workload.case.name, workload.n);
    let expected = Expected::of(workload);
    let mut benches = Vec::new();
    for &(entry, make) in engines {
        tick(&format!("{name}: checking {}", entry.engine));
        let bench = Bench::new(entry, make, &expected);
        benches.push(bench.map_err(|reason| format!("{name}: {}: {reason}", entry.engine))?);
    }
    for round in 0..rounds {
        tick(&format!("{name}: round {} of {rounds}", round + 1));
        let timed = workload.round(round);
        let mut first = None;
        in_turn(round, &mut benches, |bench: &mut Bench| {
            let sum = bench.time(&timed);
            if *first.get_or_insert(sum) != sum {
                return Err(format!("{name}: the answers of {} are not the others'", bench.run.entry.engine));
            }
            Ok(())
        })?;
    }
    benches.into_iter().map(|bench| bench.finish(&name)).collect()
}

/// What the model's list answers, which no engine has anything of: to the phases of the first round, as far as they are checked one by one.
struct Expected {
    initial: Steps,
    ops: Vec<Op>,
    answers: Vec<Answer>,
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
        list.run(&ops, &mut answers);
        Self { initial, ops, answers }
    }
}

struct Bench {
    make: MakeMap,
    map: Box<dyn Map>,
    run: Run,
}

impl Bench {
    /// Checks the engine, and gives it a map to be timed.
    fn new(entry: EngineEntry, make: MakeMap, expected: &Expected) -> Result<Self, String> {
        let mut map = make();
        map.perform(&expected.initial);
        let (ranges, bytes) = (map.count(), map.metadata_bytes());
        // Not a copy of the one that is checked: some lie in memory in the order of their keys, however the map was built.
        let mut timed = make();
        timed.perform(&expected.initial);
        let mut answers = vec![Answer::default(); expected.ops.len()];
        map.run(&expected.ops, &mut answers);
        let pairs = expected.ops.iter().zip(expected.answers.iter().zip(&answers));
        for (op, (right, answer)) in pairs {
            if right != answer {
                return Err(format!("{answer:?} to {op:?}, not {right:?}"));
            }
        }
        map.validate()?;
        let gap_is_linear = map.gap_is_linear();
        let run = Run { entry, ns: Vec::new(), counts: Vec::new(), ranges, bytes, gap_is_linear };
        Ok(Self { make, map: timed, run })
    }

    /// Times one round; the sum of its answers.
    fn time(&mut self, timed: &Timed) -> u64 {
        match timed {
            Timed::Steps { phases, fresh } => self.time_steps(phases, *fresh),
            Timed::Copies(copies) => {
                let mut spent = Duration::ZERO;
                for _ in 0..*copies {
                    let before = Instant::now();
                    let copy = self.map.duplicate();
                    spent += before.elapsed();
                    drop(copy);
                }
                self.note(&[("dup", spent, copies * self.run.ranges)]);
                self.map.duplicate().perform(&Steps::Iterate(1))
            }
        }
    }

    fn time_steps(&mut self, phases: &[(&'static str, Steps)], fresh: bool) -> u64 {
        let mut spent: Vec<(&'static str, Duration, usize)> = Vec::new();
        let mut sum = 0_u64;
        for (op, steps) in phases {
            let mut own = fresh.then(self.make);
            let map = own.as_mut().unwrap_or(&mut self.map);
            let before = Instant::now();
            let answers = map.perform(steps);
            let took = before.elapsed();
            sum = sum.wrapping_mul(31).wrapping_add(answers);
            let times = if let Steps::Iterate(times) = steps { times * self.run.ranges } else { steps.len() };
            match spent.iter_mut().find(|(known, ..)| known == op) {
                Some((_, total, count)) => (*total, *count) = (*total + took, *count + times),
                None => spent.push((op, took, times)),
            }
        }
        self.note(&spent);
        sum
    }

    fn note(&mut self, spent: &[(&'static str, Duration, usize)]) {
        for (at, &(op, took, count)) in spent.iter().enumerate() {
            if self.run.ns.len() <= at {
                self.run.ns.push((op, Vec::new()));
                self.run.counts.push(0);
            }
            if let (Some((_, ns)), Some(total)) = (self.run.ns.get_mut(at), self.run.counts.get_mut(at)) {
                ns.push(took.as_nanos() as f64 / count.max(1) as f64);
                *total += count as u64;
            }
        }
    }

    fn finish(self, name: &str) -> Result<Run, String> {
        let valid = self.map.validate();
        valid.map_err(|reason| format!("{name}: {}: {reason}", self.run.entry.engine))?;
        Ok(self.run)
    }
}

/// The operations of a workload's first round, and how many there are of each, for maps of so many ranges.
#[must_use]
pub fn operations(workload: &Workload) -> Vec<(&'static str, u64)> {
    let ranges = workload.initial().len();
    let mut all: Vec<(&'static str, u64)> = Vec::new();
    let mut add = |op, count: usize| match all.iter_mut().find(|(known, _)| *known == op) {
        Some((_, total)) => *total += count as u64,
        None => all.push((op, count as u64)),
    };
    match workload.round(0) {
        Timed::Steps { phases, .. } => phases.iter().for_each(|(op, steps)| {
            add(op, if let Steps::Iterate(times) = steps { times * ranges } else { steps.len() });
        }),
        Timed::Copies(copies) => add("dup", copies * ranges),
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
                    measured(&mut || copy = Some(map.duplicate()), left == 0);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::maple::find_maps;
    use crate::run::stress::liar::{MapleLiar, SHIFTED};
    use crate::workload::maple::find_cases;

    fn lookups(make: MakeMap) -> Result<Vec<Run>, String> {
        let case = find_cases(&["lookup".to_owned()]).unwrap()[0];
        let mut engines = find_maps(&["std-btreemap".to_owned()]).unwrap();
        engines.push((engines[0].0, make));
        bench(&Workload { case, n: 100 }, &engines, 2, &mut |_| ())
    }

    #[test]
    fn a_wrong_answer_is_found_in_the_checked_round_and_in_a_timed_one() {
        assert!(lookups(MapleLiar::<SHIFTED, 0>::boxed).is_ok());
        assert!(lookups(MapleLiar::<SHIFTED, 7>::boxed).unwrap_err().contains("not Value(Number("));
        assert!(lookups(MapleLiar::<SHIFTED, 20_000>::boxed).unwrap_err().contains("are not the others'"));
    }
}
