//! `replay`: recorded areas of the kernel as memory: each is taken, a byte of each of its pages written, and given back.

use super::held::{Block, Memory, PAGE};
use super::rounds::{Took, Turn, in_rounds};
use super::{Bench, SUITE};
use crate::concurrent::apart;
use crate::data::data_folder;
use crate::record::count;
use crate::workload::{Workload, check_memory, from_file};
use freehold::units::Bytes;
use freehold::vmalloc::RetainPolicy;
use freehold_trace::kva::Op;
use std::mem;
use std::path::{Path, PathBuf};

/// The recordings, in the folder of bundled data.
const FILES: [&str; 2] = ["traces/bpfvm.kva.csv.zst", "memory/pthread.kva.csv.zst"];
/// Steps after which all areas are held against each other, where they are judged.
const LOOK_EVERY: usize = 4096;
/// One in so many rounds is enough: each is long. If it is to be quick, a recording is cut to a part of the operations.
const FEWER: usize = 3;
const QUICK_PART: usize = 40;

/// What is held of a recording: blocks with their lengths, by number.
struct Held<'a, M: Memory + ?Sized + 'a> {
    memory: &'a M,
    blocks: Vec<Option<(M::Block<'a>, usize)>>,
    judged: bool,
}

/// What is written into an area.
fn mark(object: u32) -> u8 {
    (object % 251) as u8 + 1
}

impl<'a, M: Memory + ?Sized> Held<'a, M> {
    fn run(&mut self, ops: &[Op]) -> anyhow::Result<()> {
        for (at, op) in ops.iter().enumerate() {
            match *op {
                Op::Alloc { object, size_bytes, .. } => {
                    let len = usize::try_from(size_bytes)?;
                    let block = self.memory.take(len, false);
                    let mut block =
                        block.ok_or_else(|| anyhow::anyhow!("an area of {len} bytes was refused"))?;
                    block.write_every(PAGE, mark(object));
                    self.blocks[object as usize] = Some((block, len));
                }
                Op::Free { object } => {
                    let held = self.blocks[object as usize].take();
                    let (block, _) = held.ok_or_else(|| anyhow::anyhow!("area {object} is not there"))?;
                    let kept = !self.judged || block.has_every(PAGE, mark(object));
                    anyhow::ensure!(kept, "area {object} lost what was written");
                }
                Op::Congruent { .. } => anyhow::bail!("areas at several places at once"),
            }
            if self.judged && at % LOOK_EVERY == 0 {
                self.check()?;
            }
        }
        Ok(())
    }

    fn check(&self) -> anyhow::Result<()> {
        let places = self.blocks.iter().flatten().map(|(block, len)| (block.address(), *len as u64));
        apart(places)
    }
}

/// Reads a recording, its first operations up to `most`.
pub(super) fn read(file: &Path, most: usize) -> anyhow::Result<Workload> {
    let mut areas = from_file(file)?;
    areas.ops.truncate(most);
    let congruent = areas.setup.iter().chain(&areas.ops).any(|op| matches!(op, Op::Congruent { .. }));
    anyhow::ensure!(!congruent, "{}: areas at several places at once", file.display());
    Ok(areas)
}

/// Most bytes that are held at once.
fn most_bytes(areas: &Workload) -> u64 {
    let (mut lens, mut now, mut most) = (vec![0; areas.objects as usize], 0, 0);
    for op in areas.setup.iter().chain(&areas.ops) {
        now -= mem::take(&mut lens[op.object() as usize]);
        if let Op::Alloc { object, size_bytes, .. } = *op {
            lens[object as usize] = size_bytes;
            now += size_bytes;
        }
        most = most.max(now);
    }
    most
}

/// Replays areas; what the operations took. Calls `at_end` while what is left is held.
pub fn replay<M: Memory + ?Sized>(
    areas: &Workload,
    memory: &M,
    judged: bool,
    at_end: &mut dyn FnMut(),
) -> anyhow::Result<Took> {
    let blocks = (0..areas.objects).map(|_| None).collect();
    let mut held = Held { memory, blocks, judged };
    held.run(&areas.setup)?;
    let took = Took::here(|| held.run(&areas.ops))?;
    if judged {
        held.check()?;
    }
    at_end();
    Ok(took)
}

/// As much as by default, and no shorter: engines take turns, and none is idle.
const KEPT: RetainPolicy = RetainPolicy::bytes(256 << 20);

/// How many steps of a recording are replayed.
pub(super) fn most_steps(bench: &Bench) -> usize {
    if bench.options.quick { bench.amount.operations / QUICK_PART } else { usize::MAX }
}

/// The recordings for which there is memory; for others it is said that there is none.
pub(super) fn recordings(bench: &mut Bench) -> anyhow::Result<Vec<(PathBuf, Workload)>> {
    let mut all = Vec::new();
    let most = most_steps(bench);
    for file in FILES {
        let file = data_folder()?.join(file);
        let areas = read(&file, most)?;
        let (steps, bytes) = (count(areas.ops.len() as u64), most_bytes(&areas));
        let held = Bytes::from(bytes);
        bench.results.note(format!("{}: {steps} operations, at most {held} held at once", areas.name));
        // What is free and warm comes on top.
        match check_memory(areas.objects.into(), 2 * bytes / u64::from(areas.objects.max(1))) {
            Ok(()) => all.push((file, areas)),
            Err(error) => bench.results.note(format!("{}: left out: {error}", areas.name)),
        }
    }
    Ok(all)
}

pub(super) fn run(bench: &mut Bench) -> anyhow::Result<()> {
    for (_, areas) in recordings(bench)? {
        let engines = bench.memories(KEPT)?;
        let mut turns = Vec::new();
        for (who, engine) in &engines {
            bench.progress.tick(&format!("replay: {}, checking {}", areas.name, who.label()));
            engine.replay(&areas, true, &mut || ()).map_err(|wrong| wrong.context(who.label()))?;
            let key = who.key(SUITE, &areas.name, "areas");
            let run = |_| engine.replay(&areas, false, &mut || ());
            turns.push(Turn { key, threads: 1, each: areas.ops.len(), run: Box::new(run) });
        }
        let rounds = bench.amount.rounds.div_ceil(FEWER);
        in_rounds(bench, &format!("replay: {}", areas.name), true, rounds, turns)?;
    }
    Ok(())
}
