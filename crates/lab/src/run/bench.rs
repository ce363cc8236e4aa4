//! One workload of the bench on several engines: every answer checked and its work counted, then whole rounds
//! timed in loops, the engines taking turns, A B C, C B A.
//!
//! An engine that is too slow gets fewer operations, or is left out; both are said.

use super::turns::in_turn;
use crate::engine::{EngineEntry, FLOOR, Session};
use crate::family::Checker;
use crate::family::{Family, Kva};
use crate::record::Counts;
use crate::workload::bench::BenchWorkload;
use freehold::units::{Align, Span, Tally, Work};
use freehold_trace::kva::{Answer, Op};
use std::time::{Duration, Instant};

/// How long an engine may take, checks included.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Setting up, beside `per_setup_op`.
    pub setup: Duration,
    /// Each operation of setting up.
    pub per_setup_op: Duration,
    /// All rounds, beside `per_round_op`.
    pub rounds: Duration,
    /// Each operation of all rounds.
    pub per_round_op: Duration,
}

/// An engine's results.
#[derive(Clone, Debug)]
pub struct BenchRun {
    /// The engine.
    pub entry: EngineEntry,
    /// Operations in a round.
    pub round: usize,
    /// Whether the state was set up without fixed addresses.
    pub natural: bool,
    /// The answers of all rounds, checked.
    answers: Vec<Answer>,
    /// Allocations that found no room.
    pub failures: u64,
    /// Work of each allocation.
    pub alloc_work: Counts,
    /// Nodes that each allocation's search visits, without what keeps them up.
    pub alloc_nodes: Counts,
    /// Work of each free.
    pub free_work: Counts,
    /// Bytes of the engine's own structures at the end of the checked run.
    pub metadata_bytes: usize,
    /// Live regions then.
    pub live: u64,
    /// Free blocks then.
    pub free_blocks: u64,
    /// Bytes of what knows the free blocks, where that can be told.
    pub free_index_bytes: Option<usize>,
    /// Nanoseconds of an allocation, by round; empty where it is not timed by itself.
    pub alloc_ns: Vec<f64>,
    /// Nanoseconds of a free, by round; empty where it is not timed by itself.
    pub free_ns: Vec<f64>,
    /// Nanoseconds of an allocation and a free, by round.
    pub pair_ns: Vec<f64>,
}

/// A workload and what each engine made of it.
#[derive(Debug)]
pub struct Bench {
    /// The workload.
    pub workload: BenchWorkload,
    /// The engines that ran.
    pub runs: Vec<BenchRun>,
    /// The engine that does no work: neither checked nor counted.
    pub floor: BenchRun,
    /// The others, and why.
    pub left_out: Vec<(EngineEntry, String)>,
}

/// Why there is no run.
enum Stop {
    /// The engine cannot do it, or not in time.
    LeftOut(String),
    /// It cannot set up in this way, since it has no such requests or no room.
    Refused(String),
    /// It answers wrong.
    Wrong(String),
}

/// Runs the workload on every engine.
///
/// # Errors
/// An engine answers wrong.
pub fn bench(
    workload: BenchWorkload,
    engines: &[EngineEntry],
    rounds: usize,
    budget: &Budget,
    tick: &mut dyn FnMut(&str),
) -> anyhow::Result<Bench> {
    let (floor, mut floor_session) = floor(&workload, rounds).map_err(anyhow::Error::msg)?;
    let mut bench = Bench { workload, runs: Vec::new(), floor, left_out: Vec::new() };
    let name = bench.workload.case.name;
    let mut sessions = Vec::new();
    for entry in engines {
        tick(&format!("{name}: checking {}", entry.label()));
        match check(entry, &bench.workload, rounds, budget) {
            Ok(run) => {
                sessions.push(ready(&run, &bench.workload).map_err(anyhow::Error::msg)?);
                bench.runs.push(run);
            }
            Err(Stop::LeftOut(reason) | Stop::Refused(reason)) => bench.left_out.push((*entry, reason)),
            Err(Stop::Wrong(reason)) => anyhow::bail!("{name}: {}: {reason}", entry.label()),
        }
    }
    for round in 0..rounds {
        tick(&format!("{name}: timing, round {} of {rounds}", round + 1));
        let floor = (&mut bench.floor, &mut floor_session);
        let engines = bench.runs.iter_mut().zip(&mut sessions).chain([floor]);
        in_turn(round, engines, |(run, session)| {
            let timed = run.time(&bench.workload, session.as_mut(), round);
            timed.map_err(|reason| anyhow::anyhow!("{name}: {}: {reason}", run.entry.label()))
        })?;
    }
    Ok(bench)
}

/// A session with its checker.
struct Checked {
    session: Box<dyn Session>,
    checker: Checker,
}

impl Checked {
    fn new(entry: &EngineEntry, workload: &BenchWorkload) -> Result<Self, Stop> {
        let mut session = (entry.make)(&workload.layout, Align::PAGE).map_err(Stop::LeftOut)?;
        session.expect_objects(workload.objects);
        Ok(Self { session, checker: Checker::new(&entry.takes.reach(&workload.layout)) })
    }

    fn set_up(mut self, ops: &[Op], budget: &Budget) -> Result<Self, Stop> {
        let operations = u32::try_from(ops.len()).unwrap_or(u32::MAX);
        let limit = budget.setup + budget.per_setup_op.saturating_mul(operations);
        let started = Instant::now();
        for (at, op) in ops.iter().enumerate() {
            let (answer, _) = self.session.run_counted(op);
            match answer {
                Answer::Unsupported => return Err(no_requests()),
                Answer::NoRoom => {
                    let reason = format!("no room after {at} of {} operations of the set-up", ops.len());
                    return Err(Stop::Refused(reason));
                }
                _ => {}
            }
            let checked = self.checker.check(op, answer);
            checked.map_err(|reason| Stop::Wrong(format!("set-up operation {at}: {reason}")))?;
            if at % 64 == 0 && started.elapsed() > limit {
                let seconds = limit.as_secs_f64();
                let reason = format!("{at} of {} operations of the set-up took {seconds:.1} s", ops.len());
                return Err(Stop::LeftOut(reason));
            }
        }
        Ok(self)
    }
}

fn no_requests() -> Stop {
    Stop::Refused("does not have these requests".to_owned())
}

/// Runs as many rounds as are wanted and fit in the budget, and checks every answer.
fn check(
    entry: &EngineEntry,
    workload: &BenchWorkload,
    rounds: usize,
    budget: &Budget,
) -> Result<BenchRun, Stop> {
    let placed = Checked::new(entry, workload)?.set_up(&workload.placed, budget);
    let natural = matches!(placed, Err(Stop::Refused(_)));
    let ready =
        if natural { Checked::new(entry, workload)?.set_up(&workload.natural, budget) } else { placed };
    let Checked { mut session, mut checker } = ready?;
    let mut run = BenchRun::new(entry, natural);
    let started = Instant::now();
    let wanted = workload.round * rounds;
    let operations = u32::try_from(wanted).unwrap_or(u32::MAX);
    let limit = budget.rounds + budget.per_round_op.saturating_mul(operations);
    let mut done = 0;
    while done < wanted && started.elapsed() < limit {
        for op in workload.pieces(done, workload.period).into_iter().flatten() {
            let (answer, tally) = session.run_counted(op);
            let at = run.answers.len();
            let checked = checker.check(op, answer);
            checked.map_err(|reason| Stop::Wrong(format!("operation {at}: {reason}")))?;
            match answer {
                Answer::Unsupported => return Err(no_requests()),
                // The space is far larger than what is asked of it: it is the engine that is full.
                Answer::NoRoom if is_unconstrained(op) => {
                    return Err(Stop::LeftOut(format!("no room after {at} operations")));
                }
                _ => {}
            }
            run.note(op, answer, &tally);
        }
        done += workload.period;
    }
    run.round = (done / rounds / workload.period * workload.period).min(workload.round);
    if run.round == 0 {
        let seconds = limit.as_secs_f64();
        let reason = format!("{} operations took more than {seconds:.2} s", rounds * workload.period);
        return Err(Stop::LeftOut(reason));
    }
    run.metadata_bytes = session.metadata_bytes();
    run.live = checker.live();
    session.free_blocks(&mut |_| run.free_blocks += 1);
    run.free_index_bytes = session.free_index_bytes();
    session.validate().map_err(Stop::Wrong)?;
    Ok(run)
}

fn is_unconstrained(op: &Op) -> bool {
    matches!(op, Op::Alloc { window, .. } if *window == Span::ALL)
}

/// The engine that does no work, and what it says in every round.
fn floor(workload: &BenchWorkload, rounds: usize) -> Result<(BenchRun, Box<dyn Session>), String> {
    let mut run = BenchRun { round: workload.round, ..BenchRun::new(&FLOOR, false) };
    let mut session = ready(&run, workload)?;
    for piece in workload.pieces(0, rounds * run.round) {
        let mut answers = vec![Answer::default(); piece.len()];
        session.run(piece, &mut answers);
        run.answers.extend(answers);
    }
    let session = ready(&run, workload)?;
    Ok((run, session))
}

/// A fresh engine in the state to start from.
fn ready(run: &BenchRun, workload: &BenchWorkload) -> Result<Box<dyn Session>, String> {
    let mut session = (run.entry.make)(&workload.layout, Align::PAGE)?;
    session.expect_objects(workload.objects);
    let setup = if run.natural { &workload.natural } else { &workload.placed };
    session.run(setup, &mut vec![Answer::default(); setup.len()]);
    Ok(session)
}

impl BenchRun {
    fn new(entry: &EngineEntry, natural: bool) -> Self {
        Self {
            entry: *entry,
            round: 0,
            natural,
            answers: Vec::new(),
            failures: 0,
            alloc_work: Counts::default(),
            alloc_nodes: Counts::default(),
            free_work: Counts::default(),
            metadata_bytes: 0,
            live: 0,
            free_blocks: 0,
            free_index_bytes: None,
            alloc_ns: Vec::new(),
            free_ns: Vec::new(),
            pair_ns: Vec::new(),
        }
    }

    fn note(&mut self, op: &Op, answer: Answer, tally: &Tally) {
        self.answers.push(answer);
        self.failures += u64::from(answer == Answer::NoRoom);
        let work = if op.is_free() { &mut self.free_work } else { &mut self.alloc_work };
        work.add(Kva::work(tally));
        if !op.is_free() {
            self.alloc_nodes.add(tally.of(Work::NodeVisited));
        }
    }

    /// Times one round. Where operations come in batches of a kind, each batch is timed by itself.
    fn time(
        &mut self,
        workload: &BenchWorkload,
        session: &mut dyn Session,
        round: usize,
    ) -> Result<(), String> {
        let pieces = workload.pieces(round * self.round, self.round);
        let mut batches: Vec<&[Op]> = Vec::new();
        for piece in pieces {
            if workload.case.sized {
                batches.extend(piece.chunk_by(|a, b| a.is_free() == b.is_free()));
            } else {
                batches.push(piece);
            }
        }
        let mut answers = vec![Answer::default(); self.round];
        let mut spent = [Duration::ZERO; 2];
        let mut counts = [0usize; 2];
        let mut rest = answers.as_mut_slice();
        for batch in batches {
            let (now, later) = rest.split_at_mut(batch.len());
            let free = usize::from(workload.case.sized && batch.first().is_some_and(Op::is_free));
            let before = Instant::now();
            session.run(batch, now);
            let took = before.elapsed();
            for (kind, (spent, count)) in spent.iter_mut().zip(&mut counts).enumerate() {
                if kind == free {
                    *spent += took;
                    *count += batch.len();
                }
            }
            rest = later;
        }
        let expected = self.answers.get(round * self.round..(round + 1) * self.round);
        if !expected.is_some_and(|expected| self.entry.takes.repeats(expected, &answers)) {
            return Err("another answer than in the checked run".to_owned());
        }
        let each = |spent: Duration, count: usize| spent.as_nanos() as f64 / count.max(1) as f64;
        let [alloc, free] = spent;
        self.pair_ns.push(2.0 * each(alloc + free, self.round));
        if workload.case.sized {
            self.alloc_ns.push(each(alloc, counts[0]));
            self.free_ns.push(each(free, counts[1]));
        }
        Ok(())
    }

    /// Bytes of index for each free block and for each region, where a part of it knows the blocks.
    #[must_use]
    pub fn bytes_each(&self) -> Option<(f64, f64)> {
        let of_blocks = self.free_index_bytes?;
        let of_regions = self.metadata_bytes.saturating_sub(of_blocks);
        let each = |bytes: usize, items: u64| bytes as f64 / items.max(1) as f64;
        Some((each(of_blocks, self.free_blocks), each(of_regions, self.live)))
    }

    /// The operations that were timed, with the times of each round.
    #[must_use]
    pub fn timed(&self) -> [(&'static str, &[f64]); 3] {
        [("alloc", &self.alloc_ns), ("free", &self.free_ns), ("pair", &self.pair_ns)]
    }
}
