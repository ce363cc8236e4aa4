//! `resident`: the memory that a process has while it replays areas, and once it needs it no more. Each is a process of its own, so that
//! no other engine's memory is in it: the program calls itself.

use super::engines::{ENTRIES, Loops, kept_for};
use super::replay::{Areas, recordings};
use super::{Bench, SUITE};
use crate::concurrent::Who;
use crate::counters::threads::resident_bytes;
use crate::failure::Failure;
use crate::record::{Key, Metric, Stat};
use anyhow::Context;
use freehold::vmalloc::Keep;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

/// What the program is called with, before what is done and the engine.
const OF_ITS_OWN: &str = "measure-resident";
/// What begins the name of the workload without a file: blocks of so many bytes are held, then none for twice the decay.
const IDLE: &str = "idle";
const IDLE_BYTES: usize = 64 << 10;
/// What each workload tells, in order.
pub(super) const OF_IDLE: [&str; 3] = ["peak", "after the decay", "after twice the decay"];
const OF_REPLAY: [&str; 2] = ["peak", "end"];
/// The part of the operations that are blocks that are held, and how often `Amount::together` fits into the decay.
const PER_BLOCK: usize = 50;
const DECAY: u32 = 25;

pub(super) fn run(bench: &mut Bench) -> anyhow::Result<()> {
    let (blocks, decay) = (bench.amount.operations / PER_BLOCK, bench.amount.together * DECAY);
    let idle = format!("{IDLE}:{blocks}:{}", decay.as_millis());
    bench.results.fact("decay", format!("{} ms", decay.as_millis()));
    bench.results.fact("idle", crate::record::count(blocks as u64));
    let whos = bench.wanted(&ENTRIES.map(|entry| entry.who));
    for who in &whos {
        tell(bench, who, &idle, &OF_IDLE, who.key(SUITE, IDLE, ""))?;
    }
    for (file, areas) in recordings(bench)? {
        for who in &whos {
            let key = who.key(SUITE, "replay", "").param("file", areas.name.clone());
            tell(bench, who, &file.display().to_string(), &OF_REPLAY, key)?;
        }
    }
    Ok(())
}

/// Runs it in a process of its own, and notes what that tells.
fn tell(bench: &mut Bench, who: &Who, what: &str, ops: &[&str], key: Key) -> anyhow::Result<()> {
    bench.progress.tick(&format!("resident: {what}, {}", who.label()));
    let ran = Command::new(std::env::current_exe()?).args([OF_ITS_OWN, what, &who.label()]).output()?;
    let said = String::from_utf8_lossy(&ran.stderr);
    anyhow::ensure!(ran.status.success(), "{}: {}", who.label(), said.trim());
    let told = String::from_utf8_lossy(&ran.stdout);
    let bytes = told.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>()?;
    anyhow::ensure!(bytes.len() == ops.len(), "{}: told {told:?}", who.label());
    for (op, bytes) in ops.iter().zip(bytes) {
        bench.results.of(key.clone().op(*op)).put(Metric::Resident, Stat::Max, bytes as f64, 1);
    }
    Ok(())
}

/// What such a process does; the bytes that it tells, beyond those that it began with.
///
/// # Errors
/// There is no such engine or workload, or a block is refused.
pub fn measure(what: &str, engine: &str) -> anyhow::Result<Vec<u64>> {
    let entry = ENTRIES.iter().find(|entry| entry.who.label() == engine);
    let entry = entry.ok_or_else(|| Failure::Usage(format!("no engine {engine:?}")))?;
    match what.split(':').collect::<Vec<_>>()[..] {
        [IDLE, blocks, millis] => {
            let decay = Duration::from_millis(millis.parse()?);
            idle((entry.make)(kept_for(decay))?.as_ref(), blocks.parse()?, decay)
        }
        _ => {
            let areas = Areas::read(Path::new(what))?;
            replayed((entry.make)(Keep::default())?.as_ref(), &areas)
        }
    }
}

fn idle(engine: &dyn Loops, blocks: usize, decay: Duration) -> anyhow::Result<Vec<u64>> {
    let before = resident_bytes()?;
    let mut seen = Vec::new();
    engine.idle(blocks, IDLE_BYTES, &mut || {
        if !seen.is_empty() {
            sleep(decay);
            seen.push(resident_bytes());
            sleep(decay);
        }
        seen.push(resident_bytes());
    })?;
    seen.into_iter().map(|bytes| Ok(bytes?.saturating_sub(before))).collect()
}

fn replayed(engine: &dyn Loops, areas: &Areas) -> anyhow::Result<Vec<u64>> {
    // The most so far is what there is now.
    std::fs::write("/proc/self/clear_refs", "5").context("/proc/self/clear_refs")?;
    let before = resident_bytes()?;
    let mut end = Ok(0);
    engine.replay(areas, true, &mut || end = resident_bytes())?;
    Ok([most_resident_bytes()?, end?].map(|bytes| bytes.saturating_sub(before)).to_vec())
}

/// The most memory that this process has had.
fn most_resident_bytes() -> anyhow::Result<u64> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let kib = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB"));
    Ok(kib.context("/proc/self/status has no VmHWM")?.trim().parse::<u64>()? * 1024)
}
