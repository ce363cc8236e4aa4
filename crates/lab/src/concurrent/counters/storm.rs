//! `freehold stress counters`: exact sums on every rung, by more threads than CPUs that are interrupted by signals and moved
//! from CPU to CPU; approximate reads within their bound meanwhile.

use super::SUITE;
use super::engines::RUNGS;
use crate::Progress;
use crate::concurrent::place::{cpus, panicked};
use crate::concurrent::{Who, add_counts, end};
use crate::record::Results;
use freehold_percpu::heap::{Builder, PerCpuHeap};
use freehold_percpu::{ApproxCounter, Counter, Histogram};
use freehold_sys::harness::{Thread, interruptions};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// One add in so many is to the approximate counter, and is recorded, too.
const EACH_RECORD: u64 = 64;
/// Adds between two looks at the clock.
const STEP: u64 = 1 << 12;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Storm {
    /// Threads that add; `None` is two for each CPU and two more.
    pub threads: Option<u32>,
    /// Adds on each rung, if there is time.
    pub adds: u64,
    /// How long all rungs may take together.
    pub duration: Option<Duration>,
}

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
    adds_left: AtomicU64,
    until: Option<Instant>,
    /// Threads that add, while they do.
    adding: Mutex<Vec<Thread>>,
    /// Whether the first thread was interrupted.
    begun: AtomicBool,
    done: AtomicBool,
}

/// What a thread has added to the counter, to the approximate one, and how often to the latter; by its own count.
#[derive(Clone, Copy, Default)]
struct Added {
    adds: u64,
    counter: u64,
    approximate: u64,
    records: u64,
}

/// What a storm did to the threads.
#[derive(Default)]
struct Weather {
    signals: u64,
    moves: u64,
}

/// Runs the storm on every rung that this machine has.
///
/// # Errors
/// There is no memory for it, or threads cannot be moved and interrupted.
pub fn stress(storm: &Storm, progress: &mut Progress) -> anyhow::Result<Results> {
    let mut results = Results::default();
    let threads = storm.threads.unwrap_or(2 * cpus() + 2);
    results.fact("threads", threads.to_string());
    let mut ran = 0;
    for (who, rung, index) in RUNGS {
        progress.tick(&format!("storm: {}", who.label()));
        match Builder::new().capacity(1 << 18).rung(rung).index(index).build() {
            Ok(heap) => {
                on_heap(storm, threads, &who, heap.leak(), &mut results)?;
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
    storm: &Storm,
    threads: u32,
    who: &Who,
    heap: &'static PerCpuHeap,
    results: &mut Results,
) -> anyhow::Result<()> {
    let share = storm.duration.map(|all| all / RUNGS.len() as u32);
    let shared = Shared {
        counter: Counter::in_heap(heap)?,
        approximate: ApproxCounter::in_heap(heap, 8)?,
        histogram: Histogram::in_heap(heap)?,
        progressed: (0..threads).map(|_| Progressed::default()).collect(),
        adds_left: AtomicU64::new(storm.adds),
        until: share.map(|share| Instant::now() + share),
        adding: Mutex::default(),
        begun: AtomicBool::new(false),
        done: AtomicBool::new(false),
    };
    let before = interruptions();
    let (added, reads, weather) = std::thread::scope(|scope| {
        let shared = &shared;
        let adders: Vec<_> =
            shared.progressed.iter().map(|at| scope.spawn(move || shared.adds(at))).collect();
        let reader = scope.spawn(move || shared.reads(threads));
        let weather = scope.spawn(move || {
            let weather = shared.weather();
            // If it failed before it began, nobody waits for it.
            shared.begun.store(true, SeqCst);
            weather
        });
        let added = adders.into_iter().map(|adder| adder.join()).collect::<Result<Vec<Added>, _>>();
        shared.done.store(true, SeqCst);
        (added, reader.join(), weather.join())
    });
    let (added, reads) = (added.map_err(|_| panicked())?, reads.map_err(|_| panicked())?);
    let weather = weather.map_err(|_| panicked())??;
    let sum = |of: fn(&Added) -> u64| added.iter().map(of).sum::<u64>();
    let seen = shared.histogram.snapshot();
    let wrong = [
        ("the sum", sum(|added| added.counter), shared.counter.get()),
        ("the approximate counter's exact sum", sum(|added| added.approximate), shared.approximate.get()),
        ("values recorded", sum(|added| added.records), seen.count()),
        ("their sum", sum(|added| added.approximate), seen.sum()),
        ("approximate reads beyond their bound", 0, reads.beyond),
    ];
    let wrong: Vec<_> = wrong.into_iter().filter(|(_, wanted, found)| wanted != found).collect();
    for (what, wanted, found) in &wrong {
        results.note(format!("FAILED: {}: {what}: {found}, not {wanted}", who.label()));
    }
    let signals = interruptions() - before;
    if signals == 0 || weather.moves == 0 {
        results.note(format!(
            "FAILED: {}: {signals} signals and {} moves are no storm",
            who.label(),
            weather.moves
        ));
        results.failed = true;
    }
    results.failed |= !wrong.is_empty();
    let counts = [
        ("adds", sum(|added| added.adds)),
        ("signals", signals),
        ("signals sent", weather.signals),
        ("moves", weather.moves),
        ("approximate reads", reads.all),
    ];
    let key = who.key(SUITE, "storm", "").param("threads", threads);
    add_counts(results, &key, &counts, ("checked", wrong.len() as u64));
    Ok(())
}

/// Approximate reads, and how many were beyond their bound.
#[derive(Clone, Copy, Default)]
struct Reads {
    all: u64,
    beyond: u64,
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
            let left = self.adds_left.fetch_update(SeqCst, SeqCst, |left| Some(left.saturating_sub(STEP)));
            let step = left.unwrap_or(0).min(STEP);
            if step == 0 || self.until.is_some_and(|until| Instant::now() > until) {
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

    /// Reads the approximate counter until all is done, and holds it against what threads have begun and done.
    fn reads(&self, threads: u32) -> Reads {
        let mut reads = Reads::default();
        while !self.done.load(SeqCst) {
            let least: u64 = self.progressed.iter().map(|at| at.added.load(SeqCst)).sum();
            let seen = self.approximate.approx();
            let most: u64 = self.progressed.iter().map(|at| at.begun.load(SeqCst)).sum();
            let error = self.approximate.max_error(threads);
            reads.all += 1;
            reads.beyond += u64::from(seen > most || seen.saturating_add(error) < least);
            pause();
        }
        reads
    }

    /// Interrupts and moves the threads that add, until all is done.
    fn weather(&self) -> anyhow::Result<Weather> {
        let mut weather = Weather::default();
        let cpus = freehold_sys::topology::online_cpus().unwrap_or_else(|| vec![0]);
        let mut next = cpus.iter().cycle();
        while !self.done.load(SeqCst) {
            // None of them ends meanwhile: it would have to leave the list first.
            for thread in self.adding.lock().iter() {
                thread.interrupt()?;
                weather.signals += 1;
                let moved = next.next().is_some_and(|&cpu| thread.move_to(cpu).is_ok());
                weather.moves += u64::from(moved);
            }
            self.begun.fetch_or(weather.signals > 0, SeqCst);
            pause();
        }
        Ok(weather)
    }
}

/// A pause that lets other threads run.
fn pause() {
    std::thread::sleep(Duration::from_micros(50));
}
