//! `freehold stress counters`: exact sums on every rung, by more threads than CPUs that are interrupted by signals and moved
//! from CPU to CPU; approximate reads within their bound meanwhile.

use super::SUITE;
use super::engines::RUNGS;
use crate::Progress;
use crate::concurrent::place::{beside, cpus};
use crate::concurrent::{Who, add_counts, end};
use crate::record::{Field, Results};
use crate::run::stress::Options;
use freehold_harness::threads::{Thread, interruptions};
use freehold_percpu::heap::{Builder, PerCpuHeap};
use freehold_percpu::{ApproxCounter, Counter, Histogram};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// One add in so many is to the approximate counter, and is recorded, too.
const EACH_RECORD: u64 = 64;
/// Adds on each rung, if there is time, unless another number is asked for.
const ADDS: u64 = 100_000_000;
/// Adds between two looks at the clock.
const STEP: i64 = 1 << 12;

/// What one thread has begun to add to the approximate counter, and what it has added.
#[derive(Default)]
#[repr(align(128))]
struct Progressed {
    begun: AtomicU64,
    added: AtomicU64,
}

/// What all threads of a storm share.
struct Shared {
    counter: Counter,
    approximate: ApproxCounter,
    histogram: Histogram,
    progressed: Vec<Progressed>,
    /// Below 0 by what threads asked for in vain.
    adds_left: AtomicI64,
    until: Option<Instant>,
    /// Threads that add, while they do.
    adding: Mutex<Vec<Thread>>,
    /// Whether the first thread was interrupted.
    begun: AtomicBool,
}

/// What a thread has added to the counter, to the approximate one, and how often to the latter; by its own count.
#[derive(Clone, Copy, Default)]
struct Added {
    adds: u64,
    counter: u64,
    approximate: u64,
    records: u64,
}

/// Runs the storm on every rung that this machine has.
///
/// # Errors
/// There is no memory for it, or threads cannot be moved and interrupted.
pub fn stress(options: &Options, progress: &mut Progress) -> anyhow::Result<Results> {
    let mut results = Results::default();
    // More than there are CPUs.
    let threads = options.threads.unwrap_or(2 * cpus() + 2);
    results.fact("threads", threads.to_string());
    let mut ran = 0;
    for (who, rung, index) in RUNGS {
        progress.tick(&format!("storm: {}", who.label()));
        match Builder::new().capacity(1 << 18).add_mode(rung).index(index).build() {
            Ok(heap) => {
                on_heap(options, threads, &who, heap.leak(), &mut results)?;
                ran += 1;
            }
            Err(absent) => results.note(format!("{}: not run: {rung}: {absent}", who.label())),
        }
    }
    let text = format!("{ran} rungs and indexes; sums are exact, approximate reads within their bound");
    end(&mut results, &text);
    Ok(results)
}

fn on_heap(
    options: &Options,
    threads: u32,
    who: &Who,
    heap: &'static PerCpuHeap,
    results: &mut Results,
) -> anyhow::Result<()> {
    let share = options.duration.map(|all| all / RUNGS.len() as u32);
    let shared = Shared {
        counter: Counter::in_heap(heap)?,
        approximate: ApproxCounter::in_heap(heap, 8)?,
        histogram: Histogram::in_heap(heap)?,
        progressed: (0..threads).map(|_| Progressed::default()).collect(),
        adds_left: AtomicI64::new(i64::try_from(options.loops.unwrap_or(ADDS))?),
        until: share.map(|share| Instant::now() + share),
        adding: Mutex::default(),
        begun: AtomicBool::new(false),
    };
    let before = interruptions();
    let adder = |number| Ok(shared.adds(&shared.progressed[number as usize]));
    let (added, seen) = beside(
        &|_| Ok(()),
        (threads, &adder),
        (2, &|number, done| match number {
            0 => Ok(shared.reads(threads, done)),
            _ => {
                let weather = shared.weather(done);
                // If it failed before it began, nobody waits for it.
                shared.begun.store(true, SeqCst);
                weather
            }
        }),
    )?;
    let ([reads, beyond], [sent, moves]) = (seen[0], seen[1]);
    let sum = |of: fn(&Added) -> u64| added.iter().map(of).sum::<u64>();
    let recorded = shared.histogram.snapshot();
    let wrong = [
        ("the sum", sum(|added| added.counter), shared.counter.get()),
        ("the approximate counter's exact sum", sum(|added| added.approximate), shared.approximate.get()),
        ("values recorded", sum(|added| added.records), recorded.count()),
        ("their sum", sum(|added| added.approximate), u64::try_from(recorded.sum()).unwrap_or(u64::MAX)),
        ("approximate reads beyond their bound", 0, beyond),
    ];
    let wrong: Vec<_> = wrong.into_iter().filter(|(_, wanted, found)| wanted != found).collect();
    for (what, wanted, found) in &wrong {
        results.note(format!("FAILED: {}: {what}: {found}, not {wanted}", who.label()));
    }
    let signals = interruptions() - before;
    if signals == 0 || moves == 0 {
        results.note(format!("FAILED: {}: {signals} signals and {moves} moves are no storm", who.label()));
        results.failed = true;
    }
    results.failed |= !wrong.is_empty();
    let counts = [
        ("adds", sum(|added| added.adds)),
        ("signals", signals),
        ("signals sent", sent),
        ("moves", moves),
        ("approximate reads", reads),
    ];
    let key = who.key(SUITE, "storm", "").param(Field::Threads, threads);
    add_counts(results, &key, &counts, ("checked", wrong.len() as u64));
    Ok(())
}

impl Shared {
    /// Adds, until there are enough or the time is over.
    fn adds(&self, at: &Progressed) -> Added {
        let me = Thread::current();
        self.adding.lock().push(me);
        // However few the adds are, they are interrupted.
        while !self.begun.load(SeqCst) {
            pause();
        }
        let mut added = Added::default();
        loop {
            let step = self.adds_left.fetch_sub(STEP, SeqCst).min(STEP);
            if step <= 0 || self.until.is_some_and(|until| Instant::now() > until) {
                break;
            }
            for _ in 0..step {
                let value = added.adds & 3;
                self.counter.add(value);
                added.counter += value;
                if added.adds % EACH_RECORD == 0 {
                    let value = (added.adds / EACH_RECORD) & 127;
                    at.begun.fetch_add(value, SeqCst);
                    self.approximate.add(value);
                    at.added.fetch_add(value, SeqCst);
                    self.histogram.record(value);
                    added.approximate += value;
                    added.records += 1;
                }
                added.adds += 1;
            }
        }
        self.adding.lock().retain(|&thread| thread != me);
        added
    }

    /// Reads the approximate counter until all is done, and holds it against what threads have begun and done. How often, and
    /// how many reads were beyond their bound.
    fn reads(&self, threads: u32, done: &AtomicBool) -> [u64; 2] {
        let [mut all, mut beyond] = [0; 2];
        while !done.load(SeqCst) {
            let least: u64 = self.progressed.iter().map(|at| at.added.load(SeqCst)).sum();
            let seen = self.approximate.approx();
            let most: u64 = self.progressed.iter().map(|at| at.begun.load(SeqCst)).sum();
            let error = self.approximate.max_error(threads);
            all += 1;
            beyond += u64::from(seen > most || seen.saturating_add(error) < least);
            pause();
        }
        [all, beyond]
    }

    /// Interrupts and moves the threads that add, until all is done. How often it did either.
    fn weather(&self, done: &AtomicBool) -> anyhow::Result<[u64; 2]> {
        let [mut signals, mut moves] = [0; 2];
        let cpus = freehold_sys::topology::online_cpus().unwrap_or_else(|| vec![0]);
        let mut next = cpus.iter().cycle();
        while !done.load(SeqCst) {
            // None of them ends meanwhile: it would have to leave the list first.
            for thread in self.adding.lock().iter() {
                thread.interrupt()?;
                signals += 1;
                moves += u64::from(next.next().is_some_and(|&cpu| thread.move_to(cpu).is_ok()));
            }
            self.begun.fetch_or(signals > 0, SeqCst);
            pause();
        }
        Ok([signals, moves])
    }
}

/// A pause that lets other threads run.
fn pause() {
    std::thread::sleep(Duration::from_micros(50));
}
