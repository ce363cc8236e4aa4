//! Workloads of `bench kva`: every answer checked and its work counted, then whole rounds timed in loops.
//!
//! An engine that is too slow gets fewer operations, or is left out; both are said.

use super::Sheet;
use super::plan::{self, Plan, Ran, Stop};
use crate::engine::EngineEntry;
use crate::family::{Family, Judge, Kva, KvaJudge};
use crate::record::Counts;
use crate::workload::bench::BenchWorkload;
use crate::workload::whole_scene;
use freehold::units::{Span, Tally, Work};
use freehold_trace::kva::{Answer, Op, Session};
use std::time::{Duration, Instant};

/// How long an engine may take, checks included but for those of refusals: in all, and for each operation beside.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Setting up.
    pub setup: [Duration; 2],
    /// All rounds.
    pub rounds: [Duration; 2],
}

/// An engine's results.
pub struct BenchRun {
    /// The engine.
    pub entry: EngineEntry,
    /// Operations in a round.
    pub round: usize,
    /// Whether the state was set up without fixed addresses.
    pub natural: bool,
    /// Allocations that found no room.
    pub failures: u64,
    /// Work of each allocation, and of each free.
    pub work: [Counts; 2],
    /// Nodes that each allocation's search visits, without what keeps them up.
    pub alloc_nodes: Counts,
    /// Bytes of the engine's own structures at the end of the checked run.
    pub metadata_bytes: usize,
    /// Live regions then.
    pub live: u64,
    /// Free blocks then.
    pub free_blocks: u64,
    /// Bytes of what knows the free blocks, where that can be told.
    pub free_index_bytes: Option<usize>,
    /// Times of a pair of an allocation and a free, and of either where they come in batches.
    pub sheet: Sheet,
    /// The answers of all rounds, checked.
    answers: Vec<Answer>,
    /// What is timed: a fresh engine in the state to start from.
    session: Box<dyn Session>,
}

struct Bench<'a> {
    workload: &'a BenchWorkload,
    rounds: usize,
    budget: &'a Budget,
}

/// Runs the workload on every engine, the one that does no work among them if it is asked for.
///
/// # Errors
/// An engine answers wrong.
pub fn bench(
    workload: &BenchWorkload,
    engines: &[EngineEntry],
    rounds: usize,
    budget: &Budget,
    tick: &mut dyn FnMut(&str),
) -> anyhow::Result<Ran<Kva, BenchRun>> {
    plan::run(&Bench { workload, rounds, budget }, engines, tick)
}

/// An engine in the state to start from, and its judge.
type Ready = (Box<dyn Session>, KvaJudge);

/// How long so many operations may take.
fn limit([all, each]: [Duration; 2], operations: usize) -> Duration {
    all + each.saturating_mul(u32::try_from(operations).unwrap_or(u32::MAX))
}

const NO_REQUESTS: &str = "does not have these requests";

impl Plan<Kva> for Bench<'_> {
    type Run = BenchRun;

    fn name(&self) -> String {
        self.workload.case.name.to_owned()
    }

    fn rounds(&self) -> [usize; 2] {
        [self.rounds, 1]
    }

    /// Runs as many rounds as are wanted and fit in the budget, and checks every answer. The engine that does no work is not
    /// judged.
    fn prepare(&self, entry: &EngineEntry) -> Result<BenchRun, Stop> {
        let workload = self.workload;
        if entry.is_floor() {
            let mut run = BenchRun::new(entry, false, self.ready(entry, false)?);
            run.round = workload.round;
            for piece in workload.pieces(0, self.rounds * run.round) {
                let mut answers = vec![Answer::default(); piece.len()];
                run.session.run(piece, &mut answers);
                run.answers.extend(answers);
            }
            run.session = self.ready(entry, false)?;
            return Ok(run);
        }
        let placed = self.set_up(entry, &workload.placed)?;
        let natural = placed.is_err();
        let ready = if natural { self.set_up(entry, &workload.natural)? } else { placed };
        let (session, judge) = ready.map_err(Stop::LeftOut)?;
        let mut run = BenchRun::new(entry, natural, session);
        self.check(&mut run, judge)?;
        run.session = self.ready(entry, natural)?;
        Ok(run)
    }

    /// Where operations come in batches of a kind, each batch is timed by itself.
    fn turn(&self, run: &mut BenchRun, [round, _]: [usize; 2]) -> Result<(), String> {
        let alone = |a: &Op, b: &Op| !self.workload.case.sized || a.is_free() == b.is_free();
        let pieces = self.workload.pieces(round * run.round, run.round);
        let mut answers = vec![Answer::default(); run.round];
        let mut rest = answers.as_mut_slice();
        let mut all = Duration::ZERO;
        for batch in pieces.into_iter().flat_map(|piece| piece.chunk_by(alone)) {
            let (now, later) = rest.split_at_mut(batch.len());
            let took = Duration::from_nanos(run.session.run_clocked(batch, now));
            if self.workload.case.sized {
                let op = if batch.first().is_some_and(Op::is_free) { "free" } else { "alloc" };
                run.sheet.note((op, None), took, batch.len());
            }
            all += took;
            rest = later;
        }
        run.sheet.note(("pair", None), all, run.round / 2);
        run.sheet.close();
        if run.entry.outside.is_some() {
            run.session.validate()?;
        }
        let expected = run.answers.get(round * run.round..(round + 1) * run.round);
        let same = expected.is_some_and(|expected| run.entry.takes.repeats(expected, &answers));
        if same { Ok(()) } else { Err("another answer than in the checked run".to_owned()) }
    }
}

impl Bench<'_> {
    fn start(&self, entry: &EngineEntry) -> Result<Box<dyn Session>, Stop> {
        let mut session = entry.start(&whole_scene()).map_err(Stop::LeftOut)?;
        session.expect_objects(self.workload.objects);
        Ok(session)
    }

    /// A fresh engine in the state to start from.
    fn ready(&self, entry: &EngineEntry, natural: bool) -> Result<Box<dyn Session>, Stop> {
        let mut session = self.start(entry)?;
        let setup = if natural { &self.workload.natural } else { &self.workload.placed };
        session.run(setup, &mut vec![Answer::default(); setup.len()]);
        Ok(session)
    }

    /// The same, every answer checked; or why it cannot set up in this way, since it has no such requests or no room.
    fn set_up(&self, entry: &EngineEntry, ops: &[Op]) -> Result<Result<Ready, String>, Stop> {
        let (mut session, mut judge) = (self.start(entry)?, KvaJudge::new(entry, &whole_scene()));
        let (all, started, limit) = (ops.len(), Instant::now(), limit(self.budget.setup, ops.len()));
        for (at, op) in ops.iter().enumerate() {
            let (answer, _) = session.run_counted(op);
            if answer == Answer::Unsupported {
                session.validate().map_err(Stop::Wrong)?;
                return Ok(Err(NO_REQUESTS.to_owned()));
            }
            let checked = judge.placed(op, answer, session.as_ref());
            checked.map_err(|reason| Stop::Wrong(format!("set-up operation {at}: {reason}")))?;
            if answer == Answer::NoRoom {
                return Ok(Err(format!("no room after {at} of {all} operations of the set-up")));
            }
            if at % 64 == 0 && started.elapsed() > limit {
                let took = format!("took {:.1} s", limit.as_secs_f64());
                return Err(Stop::LeftOut(format!("{at} of {all} operations of the set-up {took}")));
            }
        }
        Ok(Ok((session, judge)))
    }

    fn check(&self, run: &mut BenchRun, mut judge: KvaJudge) -> Result<(), Stop> {
        let Self { workload, rounds, .. } = *self;
        let wanted = workload.round * rounds;
        let (mut done, started, limit) = (0, Instant::now(), limit(self.budget.rounds, wanted));
        // The judge looks through a whole window for a place that was passed over.
        let mut judging = Duration::ZERO;
        while done < wanted && started.elapsed().saturating_sub(judging) <= limit {
            for op in workload.pieces(done, workload.period).into_iter().flatten() {
                let (answer, tally) = run.session.run_counted(op);
                let at = run.answers.len();
                if answer == Answer::Unsupported {
                    run.session.validate().map_err(Stop::Wrong)?;
                }
                let refused = (answer == Answer::NoRoom).then(Instant::now);
                let checked = judge.placed(op, answer, run.session.as_ref());
                judging += refused.map_or(Duration::ZERO, |refused| refused.elapsed());
                checked.map_err(|reason| Stop::Wrong(format!("operation {at}: {reason}")))?;
                match answer {
                    Answer::Unsupported => return Err(Stop::LeftOut(NO_REQUESTS.to_owned())),
                    // The space is far larger than what is asked of it: it is the engine that is full.
                    Answer::NoRoom if matches!(op, Op::Alloc { window, .. } if *window == Span::ALL) => {
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
            let (few, seconds) = (rounds * workload.period, limit.as_secs_f64());
            return Err(Stop::LeftOut(format!("{few} operations took more than {seconds:.2} s")));
        }
        run.metadata_bytes = run.session.metadata_bytes();
        run.live = judge.live();
        run.session.free_blocks(&mut |_| run.free_blocks += 1);
        run.free_index_bytes = run.session.free_index_bytes();
        let state = run.session.validate().and_then(|()| judge.check_state(run.session.as_ref()));
        state.map_err(Stop::Wrong)
    }
}

impl BenchRun {
    fn new(entry: &EngineEntry, natural: bool, session: Box<dyn Session>) -> Self {
        Self {
            entry: *entry,
            round: 0,
            natural,
            failures: 0,
            work: Default::default(),
            alloc_nodes: Counts::default(),
            metadata_bytes: 0,
            live: 0,
            free_blocks: 0,
            free_index_bytes: None,
            sheet: Sheet::default(),
            answers: Vec::new(),
            session,
        }
    }

    fn note(&mut self, op: &Op, answer: Answer, tally: &Tally) {
        self.answers.push(answer);
        self.failures += u64::from(answer == Answer::NoRoom);
        self.work[Kva::kind(op)].add(Kva::work(tally));
        if !op.is_free() {
            self.alloc_nodes.add(tally.of(Work::NodeVisited));
        }
    }

    /// Bytes of index for each free block and for each region, where a part of it knows the blocks.
    pub fn bytes_each(&self) -> Option<(f64, f64)> {
        let of_blocks = self.free_index_bytes?;
        let of_regions = self.metadata_bytes.saturating_sub(of_blocks);
        let each = |bytes: usize, items: u64| bytes as f64 / items.max(1) as f64;
        Some((each(of_blocks, self.free_blocks), each(of_regions, self.live)))
    }
}
