//! Many threads at once, and the CPU time that they take.

use freehold_sys::harness::{self, Thread};
use freehold_sys::topology;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// CPUs that this process may use.
pub(crate) fn cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(u32::MAX))
}

/// CPU nanoseconds of `work` on this thread.
pub(crate) fn cpu_ns(work: impl FnOnce()) -> anyhow::Result<f64> {
    let before = harness::cpu_time()?;
    work();
    Ok((harness::cpu_time()? - before).as_nanos() as f64)
}

/// Tries of work on threads that each have a CPU, until none of them has to wait for it.
const TRIES: u32 = 8;
/// A thread has not waited if it took no more time than this by its CPU time.
const ALONE: f64 = 1.1;

/// What `work` took on so many threads at once.
#[derive(Clone, Copy, Debug)]
struct Together {
    /// CPU nanoseconds of all threads.
    cpu_ns: f64,
    /// The time that passed for a thread by its CPU time, the largest of all threads.
    waited: f64,
}

/// CPU nanoseconds that `work` takes on all of `threads` threads together, which begin at once, and how often it was done. Each
/// is told its number.
///
/// If there is a CPU for each thread, each has one to itself, as far as this process can say. Where others use these CPUs,
/// threads take turns with them and do not run at once: such work is done again, and the try with the least waiting counts.
pub(super) fn together_ns(threads: u32, work: &(dyn Fn(u32) + Sync)) -> anyhow::Result<(f64, u32)> {
    let mut best = together(threads, work)?;
    let mut tries = 1;
    while threads > 1 && threads <= cpus() && best.waited > ALONE && tries < TRIES {
        let next = together(threads, work)?;
        tries += 1;
        if next.waited < best.waited {
            best = next;
        }
    }
    Ok((best.cpu_ns, tries))
}

fn together(threads: u32, work: &(dyn Fn(u32) + Sync)) -> anyhow::Result<Together> {
    let begin = Barrier::new(threads as usize);
    let online = topology::online_cpus().unwrap_or_default();
    let own = |number: u32| online.get(number as usize).copied().filter(|_| threads <= cpus());
    let all: Vec<anyhow::Result<Together>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|number| {
                let (begin, own) = (&begin, own(number));
                scope.spawn(move || {
                    // A CPU that this process may not use leaves the thread where it may run.
                    let _ = own.map(|cpu| Thread::current().move_to(cpu));
                    begin.wait();
                    let started = Instant::now();
                    let cpu_ns = cpu_ns(|| work(number))?;
                    Ok(Together { cpu_ns, waited: started.elapsed().as_nanos() as f64 / cpu_ns })
                })
            })
            .collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined.map(|ns| ns.unwrap_or_else(|_| Err(anyhow::anyhow!("a thread of a case panicked")))).collect()
    });
    let none = Together { cpu_ns: 0.0, waited: 0.0 };
    all.into_iter().try_fold(none, |all, one| {
        let one = one?;
        Ok(Together { cpu_ns: all.cpu_ns + one.cpu_ns, waited: all.waited.max(one.waited) })
    })
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
        let joined = std::thread::scope(|scope| scope.spawn(on_cpu).join());
        // A CPU that this process may not use is passed over.
        if joined.map_err(|_| anyhow::anyhow!("a thread of a case panicked"))?.is_ok() {
            ran += 1;
            then()?;
        }
    }
    anyhow::ensure!(ran > 0, "this process may use no CPU that the kernel tells");
    Ok(ran)
}

/// The bytes of memory that this process has, as its page tables say.
pub(crate) fn resident_bytes() -> anyhow::Result<u64> {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup")?;
    let kib = text.lines().find_map(|line| line.strip_prefix("Rss:")?.trim().strip_suffix("kB"));
    let kib: u64 =
        kib.ok_or_else(|| anyhow::anyhow!("/proc/self/smaps_rollup has no Rss"))?.trim().parse()?;
    Ok(kib * 1024)
}

/// Numbers of engines for a round: forward, then backward.
pub(crate) fn in_turn(round: usize, engines: usize) -> Vec<usize> {
    if round.is_multiple_of(2) { (0..engines).collect() } else { (0..engines).rev().collect() }
}

/// A pause that lets other threads run.
pub(super) fn pause() {
    std::thread::sleep(Duration::from_micros(50));
}
