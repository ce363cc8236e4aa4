//! Histories of per-CPU objects: lifetimes of objects, and `# unit ...` vectors of them.

use super::{Groups, History, Referee, Scened, Smaller, less, ranks, renamed};
use crate::engine::percpu::{ChunkSetEngine, EngineEntry, Scene};
use crate::failure::usage;
use crate::family::{Judge, Percpu, PercpuJudge};
use crate::workload::percpu::from_file;
use freehold::percpu::{MIN_UNIT_BYTES, PAGE_BYTES, Population};
use freehold::units::Align;
use freehold_linux::percpu::Linux;
use freehold_trace::percpu::{Answer, Driver, Op, Session};
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;

/// The least that an object takes, in bytes.
const GRAIN: Align = match Align::new(4) {
    Some(grain) => grain,
    None => Align::ONE,
};

impl Referee<Percpu> for PercpuJudge {
    fn hear(&mut self, op: &Op, answer: Answer, session: &(dyn Session + 'static)) -> Result<(), String> {
        self.check(op, answer)?;
        self.check_refusal(op, answer, session)
    }

    fn look(&mut self, session: &(dyn Session + 'static)) -> Result<(), String> {
        self.check_state(session)
    }
}

impl History for Percpu {
    const GROUPS: &'static [Groups<Op>] = &[|ops| ops.iter().map(|op| op.object().into()).collect()];
    const COUNTED: bool = true;
    const SMALLER: &'static [Smaller<Self>] = &[
        |scene, ops, _| changed(scene, ops, 0..ops.len(), |_, _, atomic| *atomic = false),
        |scene, ops, _| changed(scene, ops, 0..ops.len(), |_, align, _| *align = GRAIN),
        ranked_sizes,
        shorter,
    ];
    const SMALLER_EACH: &'static [Smaller<Self>] = &[
        |scene, ops, at| changed(scene, ops, at..at + 1, |_, _, atomic| *atomic = false),
        |scene, ops, at| changed(scene, ops, at..at + 1, |_, align, _| *align = GRAIN),
        |scene, ops, at| changed(scene, ops, at..at + 1, |size, _, _| *size = GRAIN.bytes()),
        |scene, ops, at| {
            changed(scene, ops, at..at + 1, |size, _, _| *size = GRAIN.up(*size / 2).unwrap_or(*size))
        },
        |scene, ops, at| changed(scene, ops, at..at + 1, |size, _, _| *size = less(*size, GRAIN)),
    ];

    fn read(file: &Path) -> anyhow::Result<Scened<Self>> {
        let workload = from_file(file)?;
        Ok((workload.scene, workload.ops))
    }

    fn tidy(ops: Vec<Op>) -> Vec<Op> {
        renamed(ops, |op| match op {
            Op::Alloc { object, .. } => (object, false),
            Op::Free { object } => (object, true),
        })
    }

    fn referee(entry: &EngineEntry, scene: &Scene) -> Result<Box<dyn Referee<Self>>, String> {
        Ok(Box::new(<PercpuJudge as Judge<Self>>::new(entry, scene)))
    }

    fn pages(entry: &EngineEntry, scene: &Scene, ops: &[Op]) -> anyhow::Result<(usize, u64)> {
        if !entry.knows_pages {
            return usage(format!("{} does not tell which pages have memory", entry.label()));
        }
        let mut session = entry.start(scene).map_err(anyhow::Error::msg)?;
        let mut most = (0, 0);
        for (at, op) in ops.iter().enumerate() {
            session.run_one(op);
            let pages = session.populated_pages();
            if pages > most.1 {
                most = (at + 1, pages);
            }
        }
        Ok(most)
    }

    fn text(_: &EngineEntry, scene: &Scene, ops: &[Op]) -> anyhow::Result<String> {
        let engine = ChunkSetEngine::<Linux>::new(&scene.config).map_err(anyhow::Error::msg)?;
        let mut driver = Driver::new(engine, scene.balances);
        let (unit, cpus, seed, every) = (scene.config.unit_bytes, scene.config.cpus, 0, 1_000_000);
        // One CPU's flavour has all its memory from the start.
        let cpus = if scene.config.population == Population::Whole { 1 } else { cpus.max(2) };
        let balance = if scene.balances { "sync" } else { "off" };
        let mut text = format!(
            "# unit {unit} page {PAGE_BYTES} cpus {cpus} variant stock balance {balance} seed {seed} digest_every {every}\n"
        );
        let (mut handles, mut live) = (0, 0);
        for op in ops {
            match (op, driver.run(op, &mut ())) {
                (Op::Alloc { size_bytes, align, atomic, .. }, answer) => {
                    handles += 1;
                    let word = if *atomic { 'A' } else { 'a' };
                    write!(text, "{word} {size_bytes} {}", align.bytes())?;
                    match answer {
                        Answer::At { chunk, offset_bytes } => {
                            live += 1;
                            writeln!(text, " {chunk} {offset_bytes}")?;
                        }
                        _ => writeln!(text, " !")?,
                    }
                }
                (Op::Free { object }, answer) => {
                    live -= i64::from(answer == Answer::Freed);
                    writeln!(text, "f {object}")?;
                }
            }
            if driver.balanced() {
                writeln!(text, "b")?;
            }
        }
        writeln!(text, "# end ops {} handles {handles} live {live}", ops.len())?;
        Ok(text)
    }
}

/// The operations of these numbers with other numbers, if they are others.
fn changed(
    scene: &Scene,
    ops: &[Op],
    which: Range<usize>,
    change: impl Fn(&mut u64, &mut Align, &mut bool),
) -> Option<Scened<Percpu>> {
    let mut changed = ops.to_vec();
    for op in changed.get_mut(which)? {
        if let Op::Alloc { size_bytes, align, atomic, .. } = op {
            change(size_bytes, align, atomic);
        }
    }
    (changed != ops).then_some((*scene, changed))
}

/// The smallest size becomes a grain, the next two.
fn ranked_sizes(scene: &Scene, ops: &[Op], _: usize) -> Option<Scened<Percpu>> {
    let size = |op: &Op| if let Op::Alloc { size_bytes, .. } = op { Some(*size_bytes) } else { None };
    let ranks = ranks(ops.iter().filter_map(size), GRAIN);
    changed(scene, ops, 0..ops.len(), |size, _, _| *size = ranks.get(size).copied().unwrap_or(*size))
}

/// Units of half the bytes.
fn shorter(scene: &Scene, ops: &[Op], _: usize) -> Option<Scened<Percpu>> {
    let half = (scene.config.unit_bytes / 2).next_multiple_of(PAGE_BYTES).max(MIN_UNIT_BYTES);
    let mut shorter = *scene;
    shorter.config.unit_bytes = half;
    (half < scene.config.unit_bytes).then(|| (shorter, ops.to_vec()))
}
