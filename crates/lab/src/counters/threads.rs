//! Many threads at once, and the CPU time that they take.

use freehold_sys::harness::{self, Thread};
use freehold_sys::topology;
use std::sync::Barrier;
use std::time::Duration;

/// CPUs that this process may use.
pub(super) fn cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(u32::MAX))
}

/// CPU nanoseconds of `work` on this thread.
pub(super) fn cpu_ns(work: impl FnOnce()) -> anyhow::Result<f64> {
    let before = harness::cpu_time()?;
    work();
    Ok((harness::cpu_time()? - before).as_nanos() as f64)
}

/// CPU nanoseconds that `work` takes on all of `threads` threads together, which begin at once. Each is told its number. If
/// there is a CPU for each, each has one to itself, as far as this process can say.
pub(super) fn together_ns(threads: u32, work: &(dyn Fn(u32) + Sync)) -> anyhow::Result<f64> {
    let begin = Barrier::new(threads as usize);
    let online = topology::online_cpus().unwrap_or_default();
    let own = |number: u32| online.get(number as usize).copied().filter(|_| threads <= cpus());
    let all: Vec<anyhow::Result<f64>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|number| {
                let (begin, own) = (&begin, own(number));
                scope.spawn(move || {
                    // A CPU that this process may not use leaves the thread where it may run.
                    let _ = own.map(|cpu| Thread::current().move_to(cpu));
                    begin.wait();
                    cpu_ns(|| work(number))
                })
            })
            .collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined.map(|ns| ns.unwrap_or_else(|_| Err(anyhow::anyhow!("a thread of a case panicked")))).collect()
    });
    all.into_iter().sum()
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
pub(super) fn resident_bytes() -> anyhow::Result<u64> {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup")?;
    let kib = text.lines().find_map(|line| line.strip_prefix("Rss:")?.trim().strip_suffix("kB"));
    let kib: u64 =
        kib.ok_or_else(|| anyhow::anyhow!("/proc/self/smaps_rollup has no Rss"))?.trim().parse()?;
    Ok(kib * 1024)
}

/// Numbers of engines for a round: forward, then backward.
pub(super) fn in_turn(round: usize, engines: usize) -> Vec<usize> {
    if round.is_multiple_of(2) { (0..engines).collect() } else { (0..engines).rev().collect() }
}

/// A pause that lets other threads run.
pub(super) fn pause() {
    std::thread::sleep(Duration::from_micros(50));
}
