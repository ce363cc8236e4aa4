//! `freehold stress kva --mode stress`: every CPU runs all cases at once, each in an order of its own, in one space that threads
//! share.
//!
//! What threads get is held against what all of them hold: a block is noted after it was handed out and forgotten before
//! it is given back, in stripes of addresses with a lock each, so that threads seldom meet there.

use super::place::{at_once, cpus};
use super::pools::engines::{ENTRIES, Entry};
use super::pools::pool::{Pool, whole};
use super::{Who, add_counts, end};
use crate::Progress;
use crate::failure::Failure;
use crate::record::{Field, Results, count};
use crate::run::stress::{Options, SIZE, cases_of};
use crate::workload::SplitMix;
use crate::workload::suite::{Case, CaseInfo, Params, Phase, Refusal};
use freehold::kva::Request;
use freehold::units::Span;
use freehold_trace::kva::Op;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

/// Addresses of a stripe, as a power of two.
const STRIPE_BITS: u32 = 20;
/// Locks that stripes share.
const LOCKS: usize = 64;
/// Operations of a batch.
const BATCH: usize = 256;
/// Loops of a case, unless others are asked for.
const LOOPS: u64 = 10_000;

/// The blocks that threads hold.
struct Claims(Vec<Mutex<BTreeMap<u64, u64>>>);

impl Claims {
    fn new() -> Self {
        Self((0..LOCKS).map(|_| Mutex::default()).collect())
    }

    /// The part of a span in each stripe that it meets, under its lock.
    fn each(span: Span) -> impl Iterator<Item = (usize, Span)> {
        let stripes = span.first() >> STRIPE_BITS..=span.last() >> STRIPE_BITS;
        stripes.filter_map(move |stripe| {
            let first = stripe << STRIPE_BITS;
            let whole = Span::new(first, first | ((1 << STRIPE_BITS) - 1))?;
            Some((stripe as usize % LOCKS, whole.intersection(span)?))
        })
    }

    /// Notes a block; what of it somebody has.
    fn take(&self, span: Span) -> Result<(), Span> {
        for (at, part) in Self::each(span) {
            let mut stripe = self.0[at].lock();
            let below = stripe.range(..=part.last()).next_back();
            let taken = below.and_then(|(&first, &last)| Span::new(first, last)?.intersection(part));
            if let Some(taken) = taken {
                return Err(taken);
            }
            stripe.insert(part.first(), part.last());
        }
        Ok(())
    }

    fn give(&self, span: Span) {
        for (at, part) in Self::each(span) {
            self.0[at].lock().remove(&part.first());
        }
    }
}

/// What a thread did.
#[derive(Clone, Debug, Default)]
pub struct Done {
    passed: u32,
    cut: u32,
    operations: u64,
    refused: u64,
    lacking: Vec<&'static str>,
}

impl Done {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.cut += other.cut;
        self.operations += other.operations;
        self.refused += other.refused;
        self.lacking
            .extend(other.lacking.iter().filter(|name| !self.lacking.contains(name)).collect::<Vec<_>>());
    }
}

/// A thread at work.
struct Worker<'a> {
    pool: &'a dyn Pool,
    claims: &'a Claims,
    /// Blocks of this thread by the names of their objects.
    held: HashMap<u32, Span>,
    done: Done,
}

/// Runs all cases on every CPU, engine by engine.
///
/// # Errors
/// No engine has such a name, or one cannot be made.
pub fn stress_every_cpu(options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    Who::check(&ENTRIES.map(|(who, _)| who), &options.engines)?;
    let wanted = |who: &Who| options.engines.is_empty() || options.engines.iter().any(|name| who.is(name));
    let entries: Vec<&Entry> = ENTRIES.iter().filter(|(who, _)| wanted(who)).collect();
    let (threads, cases) = (options.threads.unwrap_or_else(cpus), cases_of(options)?);
    let mut results = Results::default();
    results.fact("threads", threads.to_string());
    let mut operations = 0;
    for (who, make) in &entries {
        let label = who.label();
        progress.tick(&format!("all cases on {threads} threads: {label}"));
        let until = options.duration.map(|all| Instant::now() + all / entries.len() as u32);
        let found = on_engine(make()?.as_ref(), options, &cases, threads, until);
        let found = match found {
            // No thread: the machine lacks it, and the engine is not at fault.
            Err(error) if error.is::<Failure>() => return Err(error),
            found => found.map_err(|wrong| wrong.to_string()),
        };
        let done = found.as_ref().cloned().unwrap_or_default();
        operations += done.operations;
        if let Err(reason) = &found {
            results.note(format!("FAILED: {label}, seed {}: {reason}", options.seed));
            results.failed = true;
        }
        if !done.lacking.is_empty() {
            results.note(format!("{label} does not have the requests of: {}", done.lacking.join(", ")));
        }
        if done.cut > 0 {
            results.note(format!("{label}: {} repeats were cut by --duration", done.cut));
        }
        let counts = [
            ("operations", done.operations),
            ("repeats of a case", done.passed.into()),
            ("refused", done.refused),
        ];
        let counts = if found.is_ok() { &counts[..] } else { &[] };
        let key = who.key("kva", "all CPUs", "").param(Field::Threads, threads);
        add_counts(&mut results, &key, counts, ("checked", found.is_err().into()));
    }
    let operations = count(operations);
    end(
        &mut results,
        &format!("{} spaces, {operations} operations of {threads} threads checked", entries.len()),
    );
    Ok(results)
}

/// Runs the cases on every thread.
///
/// # Errors
/// What is wrong; that there can be no thread, as a [`Failure`].
pub fn on_engine(
    pool: &dyn Pool,
    options: &Options,
    cases: &[&'static CaseInfo],
    threads: u32,
    until: Option<Instant>,
) -> anyhow::Result<Done> {
    let claims = Claims::new();
    let found = at_once(threads, &|_| Ok(()), &|number| {
        let worker = Worker { pool, claims: &claims, held: HashMap::new(), done: Done::default() };
        worker.run(options, cases.to_vec(), number, until).map_err(anyhow::Error::msg)
    });
    let mut all = Done::default();
    found?.into_iter().for_each(|done| all.add(done));
    let blocks = pool.settle();
    anyhow::ensure!(blocks == 1, "{blocks} free blocks after everything was freed");
    Ok(all)
}

impl Worker<'_> {
    /// Every case so often, in an order that the seed and the thread decide.
    fn run(
        mut self,
        options: &Options,
        mut cases: Vec<&'static CaseInfo>,
        number: u32,
        until: Option<Instant>,
    ) -> Result<Done, String> {
        let mut random = SplitMix::new(options.seed.wrapping_add(u64::from(number)));
        let n = options.sizes.first().copied().unwrap_or(SIZE);
        for _ in 0..options.repeat.unwrap_or(1) {
            random.shuffle(&mut cases);
            for info in &cases {
                let params = Params { n, seed: random.next_u64(), ..options.params(LOOPS) };
                self.case(Case::new(info, &params, 0), until)
                    .map_err(|reason| format!("{} on thread {number}: {reason}", info.name))?;
            }
        }
        Ok(self.done)
    }

    fn case(&mut self, mut case: Case, until: Option<Instant>) -> Result<(), String> {
        let (mut ops, mut cut) = (Vec::new(), false);
        while let Some(phase) = case.phase() {
            ops.clear();
            if case.next_batch(&mut ops, BATCH).is_none() {
                break;
            }
            for op in &ops {
                if !self.op(op, case.info().refusal)? {
                    // What it has is given back.
                    self.done.lacking.push(case.info().name);
                    let held = std::mem::take(&mut self.held);
                    return held.into_values().try_for_each(|span| self.free(span));
                }
            }
            let late = until.is_some_and(|until| Instant::now() >= until);
            if late && phase != Phase::Teardown && case.phase() == Some(phase) {
                cut = true;
                case.stop();
            }
        }
        if !self.held.is_empty() {
            return Err(format!("{} objects are live after the teardown", self.held.len()));
        }
        self.done.passed += u32::from(!cut);
        self.done.cut += u32::from(cut);
        Ok(())
    }

    /// One operation; whether the space has such a request.
    fn op(&mut self, op: &Op, refusal: Refusal) -> Result<bool, String> {
        self.done.operations += 1;
        match op {
            Op::Congruent { .. } => return Ok(false),
            Op::Free { object } => {
                // A request that was refused left a name without an object.
                if let Some(span) = self.held.remove(object) {
                    self.free(span)?;
                }
            }
            Op::Alloc { object, size_bytes, align, window } => {
                let request = Request::new(*size_bytes).align(*align).window(*window);
                let Some(span) = self.pool.alloc_request(&request) else {
                    self.done.refused += 1;
                    return match refusal {
                        Refusal::Fails => Err(format!("the {op} was refused")),
                        Refusal::Allowed | Refusal::Expected => Ok(true),
                    };
                };
                let asked = Span::from_size(span.first(), *size_bytes);
                let fits = align.divides(span.first()) && asked.is_some_and(|asked| span.covers(asked));
                let inside = asked.is_some_and(|asked| window.covers(asked)) && whole().covers(span);
                if !fits || !inside {
                    return Err(format!("the {op} was given {span}"));
                }
                self.claims
                    .take(span)
                    .map_err(|taken| format!("the {op} was given {span}, of which {taken} is taken"))?;
                if self.held.insert(*object, span).is_some() {
                    return Err(format!("object {object} was allocated twice"));
                }
                if self.pool.locate(span.last()) != Some(span) {
                    return Err(format!("{span} is not found at its end"));
                }
            }
        }
        Ok(true)
    }

    fn free(&self, span: Span) -> Result<(), String> {
        self.claims.give(span);
        if self.pool.free(span.first()) { Ok(()) } else { Err(format!("{span} could not be freed")) }
    }
}
