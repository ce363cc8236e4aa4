//! Threads on CPUs of their own, that begin at once.

use crate::counters::threads::cpus;
use freehold_sys::harness::Thread;
use freehold_sys::topology;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Moves this thread to the CPU of that number, if there are as many CPUs as threads; elsewhere it runs where it may.
pub(super) fn on_cpu(number: u32, threads: u32) {
    let online = topology::online_cpus().unwrap_or_default();
    if let Some(&cpu) = online.get(number as usize).filter(|_| threads <= cpus()) {
        // A CPU that this process may not use leaves the thread where it is.
        let _ = Thread::current().move_to(cpu);
    }
}

/// Threads at once: one, and two where there are two CPUs.
pub(super) fn threads() -> Vec<u32> {
    (1..=cpus().min(2)).collect()
}

/// What a thread does, told its number.
pub(super) type Work<'a> = dyn Fn(u32) -> anyhow::Result<()> + Sync + 'a;

/// Runs `work` on so many threads, which begin at once; the time until the last is done.
pub(super) fn wall_clock(threads: u32, work: &Work) -> anyhow::Result<Duration> {
    wall_clock_after(threads, &|_| Ok(()), work)
}

/// The same, after each thread has done something that is not timed.
pub(super) fn wall_clock_after(threads: u32, before: &Work, work: &Work) -> anyhow::Result<Duration> {
    let begin = Barrier::new(threads as usize);
    let times: Vec<anyhow::Result<(Instant, Instant)>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|number| {
                let begin = &begin;
                scope.spawn(move || {
                    on_cpu(number, threads);
                    let ready = before(number);
                    // Others wait for this thread, ready or not.
                    begin.wait();
                    ready?;
                    let started = Instant::now();
                    work(number)?;
                    Ok((started, Instant::now()))
                })
            })
            .collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined.map(|times| times.unwrap_or_else(|_| Err(panicked()))).collect()
    });
    let times = times.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
    let (started, ended) = (times.iter().map(|at| at.0).min(), times.iter().map(|at| at.1).max());
    Ok(started.zip(ended).map_or(Duration::ZERO, |(started, ended)| ended - started))
}

/// What is said of a thread that panicked.
pub(super) fn panicked() -> anyhow::Error {
    anyhow::anyhow!("a thread of a case panicked")
}
