//! Threads on CPUs of their own, that begin at once; what time and what memory they take.

use crate::failure::Failure;
use crate::record::told_bytes;
use anyhow::Context;
use freehold_harness::threads::{Thread, cpu_time};
use freehold_sys::topology;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// CPUs that this process may use.
pub fn cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(u32::MAX))
}

/// Threads at once: one, and two where there are two CPUs.
pub(super) fn threads() -> Vec<u32> {
    (1..=cpus().min(2)).collect()
}

/// Moves this thread to the CPU of that number, if there are as many CPUs as threads; elsewhere it runs where it may.
pub(super) fn on_cpu(number: u32, threads: u32) {
    let online = topology::online_cpus().unwrap_or_default();
    if let Some(&cpu) = online.get(number as usize).filter(|_| threads <= cpus()) {
        // A CPU that this process may not use leaves the thread where it is.
        let _ = Thread::current().move_to(cpu);
    }
}

/// CPU nanoseconds of `work` on this thread.
pub(super) fn cpu_ns(work: impl FnOnce()) -> anyhow::Result<f64> {
    let before = cpu_time()?;
    work();
    Ok((cpu_time()? - before).as_nanos() as f64)
}

/// What a thread does, told its number.
pub(super) type Work<'a, T = ()> = dyn Fn(u32) -> anyhow::Result<T> + Sync + 'a;

/// Where threads wait for each other, as at a barrier, unless not all of them could be started.
struct Start {
    /// Threads that are not there yet; `None` if some never come.
    missing: Mutex<Option<u32>>,
    changed: Condvar,
}

impl Start {
    fn of(threads: u32) -> Self {
        Self { missing: Mutex::new(Some(threads)), changed: Condvar::new() }
    }

    /// Waits for all, which wait for this thread, `ready` or not. An error if it is not, or if others do not come.
    fn wait_after(&self, ready: anyhow::Result<()>) -> anyhow::Result<()> {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        *missing = missing.map(|missing| missing - 1);
        self.changed.notify_all();
        let others = |missing: &mut Option<u32>| missing.is_some_and(|missing| missing > 0);
        let missing = self.changed.wait_while(missing, others).unwrap_or_else(PoisonError::into_inner);
        anyhow::ensure!(missing.is_some(), "other threads did not start");
        ready
    }

    fn call_off(&self) {
        *self.missing.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.changed.notify_all();
    }
}

/// A thread that was started, or none.
type Started<'scope, T> = anyhow::Result<ScopedJoinHandle<'scope, anyhow::Result<T>>>;

/// Starts a thread. A system that lets there be no more, as under `RLIMIT_NPROC`, is said to lack it, and `start` is called off.
fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    start: &Start,
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'scope,
) -> Started<'scope, T> {
    std::thread::Builder::new().spawn_scoped(scope, work).map_err(|error| {
        start.call_off();
        Failure::Lacking(format!("no thread can be started: {error}")).into()
    })
}

/// A leader at work: with the last that ends, or panics, all is done.
struct AtWork<'a> {
    leaders: &'a AtomicU32,
    done: &'a AtomicBool,
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        if self.leaders.fetch_sub(1, SeqCst) == 1 {
            self.done.store(true, SeqCst);
        }
    }
}

/// What a thread does beside others, told its number and when these are done.
type Beside<'a, T> = dyn Fn(u32, &AtomicBool) -> anyhow::Result<T> + Sync + 'a;

/// What each of so many leading threads gives, and what each of those gives that are beside them until no leader is at work any
/// more, which they are told. All begin at once, after each has done something that does not count, told its number among all.
pub(super) fn beside<L: Send, B: Send>(
    before: &Work,
    (leaders, lead): (u32, &Work<L>),
    (others, work): (u32, &Beside<B>),
) -> anyhow::Result<(Vec<L>, Vec<B>)> {
    let (begin, done) = (Start::of(leaders + others), AtomicBool::new(false));
    let at_work = AtomicU32::new(leaders);
    std::thread::scope(|scope| {
        let (begin, done, at_work) = (&begin, &done, &at_work);
        let leader = |number| {
            // Also if it is not started, it is at work no more.
            let leading = AtWork { leaders: at_work, done };
            spawn(scope, begin, move || {
                let _at_work = leading;
                begin.wait_after(before(number))?;
                lead(number)
            })
        };
        let other = |number| {
            spawn(scope, begin, move || {
                begin.wait_after(before(leaders + number))?;
                work(number, done)
            })
        };
        let leading: Vec<_> = (0..leaders).map(leader).collect();
        let others: Vec<_> = (0..others).map(other).collect();
        let led = joined(leading);
        let beside = joined(others);
        Ok((led?, beside?))
    })
}

/// What `work` gives on each of so many threads, which begin at once, after each has done something that does not count.
pub(super) fn at_once<T: Send>(threads: u32, before: &Work, work: &Work<T>) -> anyhow::Result<Vec<T>> {
    let placed = |number| {
        on_cpu(number, threads);
        before(number)
    };
    beside(&placed, (threads, work), (0, &|_, _| Ok(()))).map(|(done, _)| done)
}

/// What threads gave, once all have ended; or that one was not started, which others do not know the reason of.
fn joined<T>(workers: Vec<Started<'_, T>>) -> anyhow::Result<Vec<T>> {
    let (mut found, mut lacking) = (Vec::new(), None);
    for worker in workers {
        match worker {
            Ok(worker) => found.push(worker.join().unwrap_or_else(|_| Err(panicked()))),
            Err(error) => lacking = Some(error),
        }
    }
    lacking.map_or_else(|| found.into_iter().collect(), Err)
}

/// Runs `work` on so many threads, which begin at once, after each has done something that is not timed: the time until the last
/// is done, and what each gives.
pub(super) fn wall_clock<T: Send>(
    threads: u32,
    before: &Work,
    work: &Work<T>,
) -> anyhow::Result<(Duration, Vec<T>)> {
    let times = at_once(threads, before, &|number| {
        let started = Instant::now();
        let done = work(number)?;
        Ok((started, Instant::now(), done))
    })?;
    let (started, ended) = (times.iter().map(|at| at.0).min(), times.iter().map(|at| at.1).max());
    let took = started.zip(ended).map_or(Duration::ZERO, |(started, ended)| ended - started);
    Ok((took, times.into_iter().map(|(.., done)| done).collect()))
}

/// Tries of work on threads that each have a CPU, until none of them has to wait for it.
const TRIES: u32 = 8;
/// A thread has not waited if it took no more time than this by its CPU time.
const ALONE: f64 = 1.1;

/// CPU nanoseconds that `work` takes on all of `threads` threads together, which begin at once, and how often it was done. Each
/// is told its number.
///
/// If there is a CPU for each thread, each has one to itself, as far as this process can say. Where others use these CPUs,
/// threads take turns with them and do not run at once: such work is done again, and the try with the least waiting counts.
pub(super) fn together_ns(threads: u32, work: &(dyn Fn(u32) + Sync)) -> anyhow::Result<(f64, u32)> {
    // Nanoseconds of all, and the time that passed for a thread by its CPU time, the largest of all threads.
    let one = || {
        let each = at_once(threads, &|_| Ok(()), &|number| {
            let started = Instant::now();
            let cpu_ns = cpu_ns(|| work(number))?;
            Ok((cpu_ns, started.elapsed().as_nanos() as f64 / cpu_ns))
        })?;
        let add = |all: (f64, f64), one: (f64, f64)| (all.0 + one.0, all.1.max(one.1));
        anyhow::Ok(each.into_iter().fold((0.0, 0.0), add))
    };
    let (mut best, mut tries) = (one()?, 1);
    while threads > 1 && threads <= cpus() && best.1 > ALONE && tries < TRIES {
        let next = one()?;
        tries += 1;
        if next.1 < best.1 {
            best = next;
        }
    }
    Ok((best.0, tries))
}

/// Runs `work` on each of the first `most` CPUs that this process may use, one after the other, and `then` behind each.
/// Returns on how many.
pub(super) fn on_each_cpu(
    most: usize,
    work: &(dyn Fn() + Sync),
    then: &mut dyn FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<usize> {
    let mut ran = 0;
    for cpu in topology::online_cpus().unwrap_or_else(|| vec![0]) {
        if ran == most {
            break;
        }
        let on_cpu = || Thread::current().move_to(cpu).map(|()| work());
        let none = Start::of(0);
        let joined = std::thread::scope(|scope| joined(vec![spawn(scope, &none, || Ok(on_cpu()))]))?;
        // A CPU that this process may not use is passed over.
        if joined.iter().all(Result::is_ok) {
            ran += 1;
            then()?;
        }
    }
    anyhow::ensure!(ran > 0, "this process may use no CPU that the kernel tells");
    Ok(ran)
}

/// The bytes of memory that this process has, as its page tables say.
pub(super) fn resident_bytes() -> anyhow::Result<u64> {
    bytes_of("/proc/self/smaps_rollup", "Rss:")
}

/// The bytes that a file of the kernel has behind a name.
pub(super) fn bytes_of(file: &str, name: &str) -> anyhow::Result<u64> {
    let text = std::fs::read_to_string(file).with_context(|| file.to_owned())?;
    let bytes = told_bytes(&text, name);
    bytes.ok_or_else(|| anyhow::anyhow!("{file} has no {name}"))
}

/// What is said of a thread that panicked.
fn panicked() -> anyhow::Error {
    anyhow::anyhow!("a thread of a case panicked")
}
