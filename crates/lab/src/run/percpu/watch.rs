//! A run to look at: how full each chunk is over time, and the longest free run that its engine believes in beside
//! the longest that there is.
//!
//! ```text
//!   used here      |####..##.......#####...#......|      longest: what the answers so far leave
//!   engine's line                      contig  ...|      hint: what the engine knows of it
//! ```
//!
//! The truth is kept apart from the engine, from its answers alone: a bit for every 4 bytes of every chunk. So each
//! placement is checked as it is answered, and so is that no hint promises more than there is, and no bound less. Nothing
//! is timed.

use crate::engine::percpu::{EngineEntry, Scene, Session};
use crate::workload::percpu::{Stage, Work};
use freehold::percpu::{Config, MIN_UNIT_BYTES};
use freehold_trace::percpu::{Answer, Op};

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
        places: Vec::new(),
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

/// Where an object is: its first grain, and how many.
#[derive(Clone, Copy, Debug)]
struct Taken {
    chunk: u32,
    grain: u32,
    grains: u32,
}

struct Watch {
    session: Box<dyn Session>,
    unit_bytes: u32,
    /// Live objects by name.
    places: Vec<Option<Taken>>,
    /// Which grains are taken, by chunk.
    chunks: Vec<Grains>,
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
        let place = self.places.get(object as usize).copied().flatten()?;
        Some(u64::from(place.grain * GRAIN_BYTES))
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
                let grains = (size_bytes as u32).div_ceil(GRAIN_BYTES);
                let taken = Taken { chunk, grain, grains };
                let units = self.chunks.len().max(chunk as usize + 1);
                self.chunks.resize_with(units, || Grains::new(self.unit_bytes / GRAIN_BYTES));
                let whole = u64::from(GRAIN_BYTES) * u64::from(grain) == offset_bytes;
                if !whole || !self.grains(taken, true) {
                    return Err(misplaced());
                }
                let names = self.places.len().max(object as usize + 1);
                self.places.resize(names, None);
                if let Some(place) = self.places.get_mut(object as usize) {
                    *place = Some(taken);
                }
                Ok(())
            }
            (Op::Free { object }, Answer::Freed) => {
                let place = self.places.get_mut(object as usize).and_then(Option::take);
                match place {
                    Some(taken) if self.grains(taken, false) => Ok(()),
                    _ => Err(format!("object {object} was freed, and was not there")),
                }
            }
            _ => Err(format!("{answer:?} to {op:?}")),
        }
    }

    fn grains(&mut self, taken: Taken, used: bool) -> bool {
        let chunk = self.chunks.get_mut(taken.chunk as usize);
        chunk.is_some_and(|chunk| chunk.change(taken.grain, taken.grains, used))
    }

    fn see(&mut self) -> Result<(), String> {
        let lines = self.session.chunk_lines().ok_or("its hints cannot be looked at")?;
        let mut chunks = Vec::new();
        for line in lines {
            let Some(number) = line.chunk else { continue };
            let Some(grains) = self.chunks.get(number as usize) else { continue };
            let longest_bytes = grains.longest_free() * GRAIN_BYTES;
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
            let used_bytes = grains.used * GRAIN_BYTES;
            let pages = u32::try_from(line.populated_pages).unwrap_or(u32::MAX);
            chunks.push(ChunkSeen { number, used_bytes, longest_bytes, hint_bytes, pages });
        }
        chunks.sort_unstable_by_key(|chunk| chunk.number);
        let pages = self.session.populated_pages();
        self.looks.push(Look { ops: self.ops, pages, chunks });
        Ok(())
    }
}

/// A bit for each grain of a chunk, set if an object has it.
#[derive(Clone, Debug)]
struct Grains {
    words: Vec<u64>,
    grains: u32,
    used: u32,
}

impl Grains {
    fn new(grains: u32) -> Self {
        Self { words: vec![0; grains.div_ceil(u64::BITS) as usize], grains, used: 0 }
    }

    /// Takes or gives back grains; `false` if one of them is not there or is so already.
    fn change(&mut self, first: u32, count: u32, used: bool) -> bool {
        let end = first.saturating_add(count);
        if end > self.grains {
            return false;
        }
        for grain in first..end {
            let Some(word) = self.words.get_mut((grain / u64::BITS) as usize) else { return false };
            let bit = 1 << (grain % u64::BITS);
            if (*word & bit != 0) == used {
                return false;
            }
            *word ^= bit;
        }
        self.used = if used { self.used + count } else { self.used - count };
        true
    }

    /// The longest run of grains that no object has.
    fn longest_free(&self) -> u32 {
        let (mut longest, mut run, mut left) = (0, 0, self.grains);
        for &word in &self.words {
            let bits = left.min(u64::BITS);
            left -= bits;
            let (mut word, mut rest) = (word, bits);
            while rest > 0 {
                let free = word.trailing_zeros().min(rest);
                run += free;
                longest = longest.max(run);
                rest -= free;
                if rest == 0 {
                    break;
                }
                word >>= free;
                let taken = word.trailing_ones().min(rest);
                run = 0;
                rest -= taken;
                word = word.checked_shr(taken).unwrap_or(0);
            }
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::{Family, Percpu};
    use crate::workload::percpu::{Churn, Deletion, StaleHint};

    fn engine(name: &str) -> EngineEntry {
        Percpu::engines(&[name.to_owned()]).unwrap()[0]
    }

    const WORKLOAD: Work = Work::StaleHint(StaleHint { objects: 32_768, refilled: 16_384 });

    #[test]
    fn the_longest_free_run_is_that_of_a_linear_scan() {
        let mut random = crate::workload::SplitMix::new(7);
        for grains in [64, 100, 1024] {
            let mut map = Grains::new(grains);
            for _ in 0..200 {
                let (first, count) = (random.uniform(u64::from(grains)) as u32, random.uniform(80) as u32);
                let free = (first..(first + count).min(grains))
                    .take_while(|grain| map.words[(grain / 64) as usize] >> (grain % 64) & 1 == 0)
                    .count() as u32;
                assert!(map.change(first, free, true), "{first} {free}");
                assert!(free == 0 || !map.change(first, 1, true), "taken twice");
                if random.uniform(3) > 0 {
                    assert!(map.change(first, free, false));
                }
                let (mut longest, mut run) = (0, 0);
                for grain in 0..grains {
                    run = if map.words[(grain / 64) as usize] >> (grain % 64) & 1 == 0 { run + 1 } else { 0 };
                    longest = longest.max(run);
                }
                assert_eq!(map.longest_free(), longest);
            }
        }
        assert!(!Grains::new(64).change(60, 5, true), "beyond the end");
    }

    /// What the page is to show: the kernel's hints are stale; ours, which are bounds, miss no hole.
    #[test]
    fn stale_hints_are_seen_and_bounds_too() {
        let config = Config::new(32 << 10, 2);
        let seen = |name: &str| watch(&engine(name), &config, false, &WORKLOAD).unwrap();
        let (ours, stock, fixed) = (seen("bitmap"), seen("bitmap-linux"), seen("bitmap-linux-fixed"));
        assert_eq!(ours.phases, [LOOKS, 2 * LOOKS, 3 * LOOKS]);
        let seen = ours.looks.iter().flat_map(|look| &look.chunks);
        assert!(seen.clone().all(|chunk| chunk.hint_bytes >= chunk.longest_bytes.min(MOST_BYTES)));
        assert!(
            seen.clone().any(|chunk| chunk.hint_bytes > chunk.longest_bytes),
            "bounds, not the truth itself"
        );
        let holes = |watched: &Watched| watched.looks[2 * LOOKS - 1].mean_known().unwrap();
        assert_eq!(holes(&stock), 0.0, "seven of eight objects are gone, and it knows of none");
        assert!(holes(&fixed) > 0.99);
        let chunks = |watched: &Watched| watched.looks.last().unwrap().chunks.len();
        assert!(chunks(&stock) > chunks(&fixed), "holes that are not known are not filled");
        assert_eq!(chunks(&ours), chunks(&fixed));
    }

    #[test]
    fn pages_go_only_where_chunks_are_emptied() {
        let config = Config::new(64 << 10, 2);
        let work = Work::Deletion(Deletion { groups: 400, one_in: 11 }, false);
        let pages = |name: &str| {
            let looks = watch(&engine(name), &config, true, &work).unwrap().looks;
            (looks[LOOKS - 1].pages, looks.last().unwrap().pages)
        };
        let (before, after) = pages("bitmap");
        assert!(2 * after < before, "{before} pages, then {after}");
        let churn = Work::Churn(Churn::new(1024, 500, 2_000));
        let looks = watch(&engine("bitmap-2017"), &config, false, &churn).unwrap().looks;
        assert_eq!(looks.last().map(|look| look.ops), Some(4_500));
    }
}
