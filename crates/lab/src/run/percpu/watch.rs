//! A run to look at: how full each chunk is over time, and the longest free run that its engine believes in beside
//! the longest that there is.
//!
//! ```text
//!   used here      |####..##.......#####...#......|      longest: what the answers so far leave
//!   engine's line                      contig  ...|      hint: what the engine knows of it
//! ```
//!
//! The truth is kept apart from the engine, from its answers alone: which grains of which chunk each object has. So each
//! placement is checked as it is answered, and so is that no hint promises more than there is, and no bound less. Nothing
//! is timed.

use crate::engine::percpu::{EngineEntry, Scene, Session};
use crate::workload::percpu::{Stage, Work};
use freehold::percpu::{Config, MIN_UNIT_BYTES};
use freehold_trace::percpu::{Answer, Op};
use std::collections::{BTreeMap, HashMap};

/// Objects take whole multiples of this, in bytes.
const GRAIN_BYTES: u32 = 4;
/// The largest object in bytes: an engine need not tell longer runs apart.
const MOST_BYTES: u32 = MIN_UNIT_BYTES;
/// How often a run is looked at in each of its phases.
pub const LOOKS: usize = 60;

/// A chunk at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkSeen {
    /// Its number, in the order in which chunks first held an object.
    pub number: u32,
    /// Bytes in objects.
    pub used_bytes: u32,
    /// The longest free run, in bytes.
    pub longest_bytes: u32,
    /// What the engine believes it to be, in bytes: never more where it tells of a place, never less where it tells of a
    /// bound.
    pub hint_bytes: u32,
    /// Its pages that have memory, in each unit.
    pub pages: u32,
}

impl ChunkSeen {
    /// How far hint and truth agree, from 0 to 1: the lesser as a part of the greater, runs longer than any object taken as
    /// that long. `None` where there is no room to know of.
    pub fn known(&self) -> Option<f64> {
        let (hint, truth) = (self.hint_bytes.min(MOST_BYTES), self.longest_bytes.min(MOST_BYTES));
        (truth > 0).then(|| f64::from(hint.min(truth)) / f64::from(hint.max(truth)))
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
    /// How many looks there were when each phase ended.
    pub phases: Vec<usize>,
}

/// Runs what comes before the rounds of a case, and all replacements of a churn; each run of operations is a phase. With
/// `balances` the work that frees leave is done at once.
///
/// # Errors
/// An engine cannot be made, cannot place an object, places one where it may not be, or promises too much.
pub fn watch(entry: &EngineEntry, config: &Config, balances: bool, work: &Work) -> Result<Watched, String> {
    let unit_bytes = config.unit_bytes;
    let mut watch = Watch {
        session: entry.start(&Scene { config: *config, balances })?,
        unit_bytes,
        places: HashMap::new(),
        chunks: Vec::new(),
        ops: 0,
        looks: Vec::new(),
        phases: Vec::new(),
    };
    let ran = work.prepare(&mut watch, 0, unit_bytes).and_then(|()| match work {
        Work::Churn(churn) => watch.run(None, &churn.pairs),
        _ => Ok(()),
    });
    let ran = ran.and_then(|()| watch.session.validate());
    ran.map_err(|reason| format!("{}: {reason}", entry.engine))?;
    Ok(Watched { entry: *entry, unit_bytes, looks: watch.looks, phases: watch.phases })
}

struct Watch {
    session: Box<dyn Session>,
    unit_bytes: u32,
    /// Chunk and first grain of live objects, by name.
    places: HashMap<u32, (u32, u32)>,
    /// For each chunk the grain after the last of each object, by its first.
    chunks: Vec<BTreeMap<u32, u32>>,
    ops: usize,
    looks: Vec<Look>,
    phases: Vec<usize>,
}

impl Stage for Watch {
    /// Runs a phase, and looks at it time and again.
    fn run(&mut self, _: Option<(&'static str, Option<&'static str>)>, ops: &[Op]) -> Result<(), String> {
        let length = ops.len().div_ceil(LOOKS).max(1);
        let mut answers = vec![Answer::default(); length];
        for stretch in ops.chunks(length) {
            for (op, answer) in stretch.iter().zip(&mut answers) {
                self.session.run(std::slice::from_ref(op), std::slice::from_mut(answer));
                self.note(op, answer)?;
            }
            self.ops += stretch.len();
            self.see()?;
        }
        self.phases.push(self.looks.len());
        Ok(())
    }

    fn each(&mut self, ops: &[Op]) -> Result<(), String> {
        self.run(None, ops)
    }

    fn offset_bytes(&self, object: u32) -> Option<u64> {
        self.places.get(&object).map(|&(_, grain)| u64::from(grain * GRAIN_BYTES))
    }

    fn balance(&mut self) {
        self.session.balance();
    }

    /// It has been looked at.
    fn look(&mut self, _: &'static str) -> Result<(), String> {
        Ok(())
    }
}

impl Watch {
    fn note(&mut self, op: &Op, answer: &Answer) -> Result<(), String> {
        match (*op, *answer) {
            (Op::Alloc { object, size_bytes, .. }, Answer::At { chunk, offset_bytes }) => {
                let misplaced = || format!("{size_bytes} bytes at {offset_bytes} of chunk {chunk}: not free");
                let grain = u32::try_from(offset_bytes).map_err(|_| misplaced())? / GRAIN_BYTES;
                let end = grain.saturating_add((size_bytes as u32).div_ceil(GRAIN_BYTES));
                let units = self.chunks.len().max(chunk as usize + 1);
                self.chunks.resize_with(units, BTreeMap::new);
                let taken = &mut self.chunks[chunk as usize];
                let whole = u64::from(GRAIN_BYTES) * u64::from(grain) == offset_bytes;
                let is_free = taken.range(..end).next_back().is_none_or(|(_, &before)| before <= grain);
                if !whole || !is_free || end > self.unit_bytes / GRAIN_BYTES {
                    return Err(misplaced());
                }
                taken.insert(grain, end);
                self.places.insert(object, (chunk, grain));
                Ok(())
            }
            (Op::Free { object }, Answer::Freed) => {
                let gone = || format!("object {object} was freed, and was not there");
                let (chunk, grain) = self.places.remove(&object).ok_or_else(gone)?;
                self.chunks[chunk as usize].remove(&grain).map(drop).ok_or_else(gone)
            }
            _ => Err(format!("{answer:?} to {op:?}")),
        }
    }

    fn see(&mut self) -> Result<(), String> {
        let lines = self.session.chunk_lines().ok_or("its hints cannot be looked at")?;
        let mut chunks = Vec::new();
        for line in lines {
            let Some(number) = line.chunk else { continue };
            let Some(taken) = self.chunks.get(number as usize) else { continue };
            let (used_bytes, longest_bytes) = used_and_longest(self.unit_bytes, taken);
            let hint_bytes = u32::try_from(line.contig_bytes).unwrap_or(u32::MAX);
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
            let pages = u32::try_from(line.populated_pages).unwrap_or(u32::MAX);
            chunks.push(ChunkSeen { number, used_bytes, longest_bytes, hint_bytes, pages });
        }
        chunks.sort_unstable_by_key(|chunk| chunk.number);
        let pages = self.session.populated_pages();
        self.looks.push(Look { ops: self.ops, pages, chunks });
        Ok(())
    }
}

/// Bytes of a chunk in objects, and of its longest run without. Of each object the grain after its last is known by its first.
pub fn used_and_longest(unit_bytes: u32, taken: &BTreeMap<u32, u32>) -> (u32, u32) {
    let (mut used, mut longest, mut before) = (0, 0, 0);
    let unit = unit_bytes / GRAIN_BYTES;
    for (first, end) in taken.iter().chain([(&unit, &unit)]) {
        (used, longest, before) = (used + end - first, longest.max(first - before), *end);
    }
    (used * GRAIN_BYTES, longest * GRAIN_BYTES)
}
