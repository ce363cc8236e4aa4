//! A run to look at: how full each chunk is over time, and the longest free run that its engine believes in beside
//! the longest that there is.
//!
//! ```text
//!   used here      |####..##.......#####...#......|      longest: what the answers so far leave
//!   engine's line                      contig  ...|      hint: what the engine knows of it
//! ```
//!
//! The truth is the judge's, which knows the engine by its answers alone: it checks each placement, and here it is checked that no
//! hint promises more than there is, and no bound less. Nothing is timed.

use super::Bench;
use crate::engine::percpu::{EngineEntry, Scene};
use crate::family::{Judge, PercpuJudge};
use crate::workload::percpu::Work;
use freehold::percpu::{Config, MIN_UNIT_BYTES};
use freehold_trace::percpu::Session;

/// The largest object in bytes: an engine need not tell longer runs apart.
const MOST_BYTES: u64 = MIN_UNIT_BYTES as u64;
/// How often a run is looked at in each of its phases.
pub const LOOKS: usize = 60;

/// A chunk at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkSeen {
    /// Its number, in the order in which chunks first held an object.
    pub number: u32,
    /// The longest free run, in bytes.
    pub longest_bytes: u64,
    /// What the engine believes it to be, in bytes: never more where it tells of a place, never less where it tells of a
    /// bound.
    pub hint_bytes: u64,
}

impl ChunkSeen {
    /// How far hint and truth agree, from 0 to 1: the lesser as a part of the greater, runs longer than any object taken as
    /// that long. `None` where there is no room to know of.
    pub fn known(&self) -> Option<f64> {
        let (hint, truth) = (self.hint_bytes.min(MOST_BYTES), self.longest_bytes.min(MOST_BYTES));
        (truth > 0).then(|| hint.min(truth) as f64 / hint.max(truth) as f64)
    }
}

/// All chunks at some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// Operations until then.
    pub ops: usize,
    /// Pages of a unit that had memory.
    pub pages: u64,
    /// Chunks that have ever held an object, and are there.
    pub chunks: Vec<ChunkSeen>,
}

impl Look {
    /// The mean of what hints say of the truth, over the chunks that have room; `None` if none has.
    pub fn mean_known(&self) -> Option<f64> {
        let known: Vec<f64> = self.chunks.iter().filter_map(ChunkSeen::known).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    }
}

/// What was seen of an engine.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The engine.
    pub entry: EngineEntry,
    /// Bytes of a chunk for each CPU.
    pub unit_bytes: u32,
    /// In order.
    pub looks: Vec<Look>,
}

/// Runs what comes before the rounds of a case, and all replacements of a churn; each run of operations is a phase. With
/// `balances` the work that frees leave is done at once.
///
/// # Errors
/// An engine cannot be made, cannot place an object, places one where it may not be, or promises too much.
pub fn watch(entry: &EngineEntry, config: &Config, balances: bool, work: &Work) -> Result<Watched, String> {
    let scene = Scene { config: *config, balances };
    let mut bench = Bench::new(entry, &scene, work, 0)?;
    let (judge, unit_bytes) = (PercpuJudge::new(entry, &scene), config.unit_bytes);
    let watch = Watch { judge, unit_bytes: unit_bytes.into(), ops: 0, looks: Vec::new() };
    bench.watch = Some(watch);
    let ran = bench.prepare(work).and_then(|()| match work {
        Work::Churn(churn) => bench.run(None, &churn.pairs),
        _ => Ok(()),
    });
    let ran = ran.and_then(|()| bench.session.validate());
    ran.map_err(|reason| format!("{}: {reason}", entry.engine))?;
    let Watch { looks, .. } = bench.watch.ok_or("nobody looked on until the end")?;
    Ok(Watched { entry: *entry, unit_bytes, looks })
}

/// Who looks on.
pub(super) struct Watch {
    pub(super) judge: PercpuJudge,
    unit_bytes: u64,
    ops: usize,
    pub(super) looks: Vec<Look>,
}

impl Watch {
    /// Looks at every chunk, so many operations after the last time.
    pub(super) fn see(&mut self, session: &dyn Session, ops: usize) -> Result<(), String> {
        self.ops += ops;
        let lines = session.chunk_lines().ok_or("its hints cannot be looked at")?;
        let mut chunks = Vec::new();
        for line in lines {
            let Some(number) = line.chunk else { continue };
            let longest_bytes = longest(self.unit_bytes, self.judge.objects(number));
            let hint_bytes = line.contig_bytes;
            // A hint without a start is a bound from above.
            let is_bound = hint_bytes > 0 && line.contig_start_bytes.is_none();
            let (is_wrong, how) = if is_bound {
                (hint_bytes < longest_bytes.min(MOST_BYTES), "at most ")
            } else {
                (hint_bytes > longest_bytes, "")
            };
            if is_wrong {
                return Err(format!(
                    "chunk {number} is said to have {how}{hint_bytes} bytes in a row, and has {longest_bytes}"
                ));
            }
            chunks.push(ChunkSeen { number, longest_bytes, hint_bytes });
        }
        chunks.sort_unstable_by_key(|chunk| chunk.number);
        self.looks.push(Look { ops: self.ops, pages: session.populated_pages(), chunks });
        Ok(())
    }
}

/// Bytes of a chunk's longest run without objects, which are told by their first byte and the one after their last.
pub fn longest(unit_bytes: u64, objects: impl Iterator<Item = (u64, u64)>) -> u64 {
    let (mut longest, mut before) = (0, 0);
    for (first, end) in objects.chain([(unit_bytes, unit_bytes)]) {
        (longest, before) = (longest.max(first - before), end);
    }
    longest
}
