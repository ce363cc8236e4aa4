//! `resident`: the memory of a process while it replays areas, and after it has freed them. The program starts itself once for each
//! measurement, so that no other engine's memory is counted.

use super::engines::{ENTRIES, KEPT, Loops};
use super::replay::{most_steps, read, recordings};
use super::{Bench, SUITE};
use crate::concurrent::Who;
use crate::concurrent::place::{bytes_of, resident_bytes};
use crate::failure::{Failure, usage};
use crate::itself;
use crate::record::{Metric, Stat, count};
use crate::workload::{Workload, whole_scene};
use anyhow::Context;
use freehold::vmalloc::RetainPolicy;
use freehold_trace::kva::Op;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// The first argument of that process. The workload and the engine follow.
const OF_ITS_OWN: &str = "measure-resident";
/// The workloads. `idle:BLOCKS:MILLISECONDS` holds blocks, then none; `replay:STEPS:FILE` replays a recording.
pub(super) const IDLE: &str = "idle";
const REPLAY: &str = "replay";
/// The size of a block in `idle`.
const IDLE_BYTES: u64 = 64 << 10;
/// The figures that the process prints, in order.
pub(super) const OF_IDLE: [&str; 3] = ["peak", "after the decay", "after twice the decay"];
const OF_REPLAY: [&str; 2] = ["peak", "end"];
/// `idle` holds a block for that many of `Amount::operations`, and decays for that many times `Amount::together`.
const PER_BLOCK: usize = 50;
const DECAY: u32 = 25;

pub(super) fn run(bench: &mut Bench) -> anyhow::Result<()> {
    let (blocks, decay) = (bench.amount.operations / PER_BLOCK, bench.amount.together * DECAY);
    bench.results.fact("decay", format!("{} ms", decay.as_millis()));
    bench.results.fact("idle", count(blocks as u64));
    let mut all = vec![(IDLE.to_owned(), format!("{IDLE}:{blocks}:{}", decay.as_millis()), &OF_IDLE[..])];
    let steps = most_steps(bench);
    let replay = |(file, areas): (PathBuf, Workload)| {
        (areas.name, format!("{REPLAY}:{steps}:{}", file.display()), &OF_REPLAY[..])
    };
    all.extend(recordings(bench)?.into_iter().map(replay));
    for (workload, what, ops) in all {
        for (who, _) in bench.wanted(ENTRIES) {
            bench.progress.tick(&format!("resident: {workload}, {}", who.label()));
            for (op, bytes) in ops.iter().zip(told(&who, &what, ops.len())?) {
                let key = who.key(SUITE, &workload, op);
                bench.results.of(key).put(Metric::Resident, Stat::Max, bytes as f64, 1);
            }
        }
    }
    Ok(())
}

/// Runs the process and returns its figures.
fn told(who: &Who, what: &str, figures: usize) -> anyhow::Result<Vec<u64>> {
    let ran = itself::command()?.args([OF_ITS_OWN, what, &who.label()]).output()?;
    let said = String::from_utf8_lossy(&ran.stderr);
    anyhow::ensure!(ran.status.success(), "{}: {}", who.label(), said.trim());
    let told = String::from_utf8_lossy(&ran.stdout);
    let bytes = told.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>()?;
    anyhow::ensure!(bytes.len() == figures, "{}: told {told:?}", who.label());
    Ok(bytes)
}

/// Runs a workload in the present process. Returns resident bytes, without those at the start.
///
/// # Errors
/// There is no such engine or workload, or a block is refused.
pub fn measure(what: &str, engine: &str) -> anyhow::Result<Vec<u64>> {
    let entry = ENTRIES.iter().find(|(who, _)| who.label() == engine);
    let (_, make) = entry.ok_or_else(|| Failure::Usage(format!("no engine {engine:?}")))?;
    match what.splitn(3, ':').collect::<Vec<_>>()[..] {
        [IDLE, blocks, millis] => {
            let decay = Duration::from_millis(millis.parse()?);
            idle(make(KEPT.decay(decay))?.as_ref(), blocks.parse()?, decay)
        }
        [REPLAY, steps, file] => {
            let areas = read(Path::new(file), steps.parse()?)?;
            replayed(make(RetainPolicy::default())?.as_ref(), &areas)
        }
        _ => usage(format!("no workload {what:?}")),
    }
}

fn idle(engine: &dyn Loops, blocks: u32, decay: Duration) -> anyhow::Result<Vec<u64>> {
    let ops = (0..blocks).map(|object| Op::alloc(object, IDLE_BYTES)).collect();
    let areas = Workload::new(IDLE, "", whole_scene(), ops, blocks);
    let before = resident_bytes()?;
    let mut seen = vec![];
    engine.replay(&areas, true, &mut || seen.push(resident_bytes()))?;
    for _ in 0..2 {
        sleep(decay);
        seen.push(resident_bytes());
    }
    seen.into_iter().map(|bytes| Ok(bytes?.saturating_sub(before))).collect()
}

fn replayed(engine: &dyn Loops, areas: &Workload) -> anyhow::Result<Vec<u64>> {
    // Resets the peak to the present size.
    std::fs::write("/proc/self/clear_refs", "5").context("/proc/self/clear_refs")?;
    let before = resident_bytes()?;
    let mut end = Ok(0);
    engine.replay(areas, true, &mut || end = resident_bytes())?;
    Ok([bytes_of("/proc/self/status", "VmHWM:")?, end?].map(|bytes| bytes.saturating_sub(before)).to_vec())
}
