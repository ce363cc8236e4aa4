//! The recorded streams: every store of the kernel's own test suite, on our trees, every store planned.

use super::SAMPLES;
use super::ledger::{Histogram, Ledger};
use crate::engine::maple::PlannedRanges;
use freehold_trace::TraceError;
use freehold_trace::maple::{Digest, Ranges, Stream, StreamRecord, StreamWrite};
use std::collections::HashMap;
use std::path::Path;

/// Points of the lines over time, for each sample.
const POINTS: u64 = 2;

/// Nodes up to a point of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Point {
    pub(super) stores: u64,
    /// Asked for by the recorded kernel's own formula, and by that of 6.12.
    pub(super) kernel: [u64; 2],
    /// Taken by the recorded kernel.
    pub(super) kernel_taken: u64,
    /// Asked for by each planner on our trees.
    pub(super) ours: [u64; 3],
}

/// A stream, replayed.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamRun {
    /// The kernel that it is of.
    pub(super) version: String,
    /// Stores.
    pub(super) stores: u64,
    /// Requests as recorded: the version's own, and by the formula of 6.12.
    pub(super) recorded: [Histogram; 2],
    /// Nodes that the kernel took, and handed back, for stores that are none of many at once.
    pub(super) kernel_used: [u64; 2],
    /// Requests of our trees, of the calls that the kernel reckoned for.
    pub(super) ours: Ledger,
    /// Nodes that our trees took for the same.
    pub(super) taken: u64,
    /// The largest difference between the nodes that a plan held and those that its store took.
    pub(super) largest_difference: u64,
    /// Trees whose content at the end was right, and wrong.
    pub(super) contents: [u64; 2],
    /// Over time.
    pub(super) points: Vec<Point>,
}

/// Trees and what comes of them.
#[derive(Default)]
struct Replay {
    trees: HashMap<u32, PlannedRanges>,
    run: StreamRun,
}

impl StreamRun {
    /// Replays the first samples of a stream.
    pub(super) fn of(file: &Path, samples: usize, tick: &mut dyn FnMut(&str)) -> Result<Self, TraceError> {
        let mut stream = Stream::open(file)?;
        let mut replay = Replay::default();
        replay.run.version.clone_from(&stream.header().version);
        let stretch = stream.header().records.div_ceil(POINTS * SAMPLES as u64).max(1);
        let last = stretch.saturating_mul(POINTS * samples as u64);
        while stream.record() < last {
            let Some(record) = stream.next().transpose()? else { break };
            replay.record(&record);
            if stream.record().is_multiple_of(stretch) {
                tick(&format!("stream of {}: record {}", replay.run.version, stream.record()));
                replay.point();
            }
        }
        replay.point();
        Ok(replay.run)
    }
}

impl Replay {
    fn record(&mut self, record: &StreamRecord) {
        match *record {
            StreamRecord::Group(_) => {}
            StreamRecord::Appear { tree, .. } => drop(self.trees.insert(tree, PlannedRanges::default())),
            StreamRecord::Destroy { tree, entries, digest } => {
                let right = self.trees.remove(&tree).is_some_and(|tree| content(&tree) == (entries, digest));
                if let Some(number) = self.run.contents.get_mut(usize::from(!right)) {
                    *number += 1;
                }
            }
            StreamRecord::Duplicate { tree, source } => {
                let copy = self.trees.get(&source).map(Ranges::duplicate).unwrap_or_default();
                self.trees.insert(tree, copy);
            }
            StreamRecord::Forget { tree } => drop(self.trees.remove(&tree)),
            StreamRecord::Write { tree, write } => self.write(tree, &write),
        }
    }

    fn write(&mut self, tree: u32, write: &StreamWrite) {
        let run = &mut self.run;
        let Some(map) = self.trees.get_mut(&tree) else { return };
        let times = write.calculation.as_ref().map_or(0, |calculation| u64::from(calculation.times));
        if let Some(calculation) = &write.calculation {
            let requests = [calculation.requested, calculation.requested_6_12];
            for (histogram, requested) in run.recorded.iter_mut().zip(requests) {
                histogram.add(u64::from(requested), times);
            }
        }
        let Some(used) = &write.used else {
            let facts = map.plan(write.span, !write.null);
            run.ours.note(&facts, times);
            return;
        };
        run.stores += 1;
        // A copy is stored in bulk, from nodes that were asked for all at once: no store asked for these.
        if !write.bulk {
            run.kernel_used = [run.kernel_used[0] + used.taken, run.kernel_used[1] + used.handed_back];
        }
        let before = map.map().nodes_taken();
        if write.null {
            map.clear(write.span);
        } else {
            map.store(write.span, 1);
        }
        let taken = map.map().nodes_taken() - before;
        run.taken += if write.bulk { 0 } else { taken };
        if let Some(facts) = map.take_committed().pop() {
            run.largest_difference = run.largest_difference.max(facts.nodes.abs_diff(taken));
            run.ours.note(&facts, times);
        }
    }

    fn point(&mut self) {
        let run = &mut self.run;
        run.points.push(Point {
            stores: run.stores,
            kernel: run.recorded.each_ref().map(Histogram::total),
            kernel_taken: run.kernel_used[0],
            ours: run.ours.totals(),
        });
    }
}

/// Entries of a tree, and the hash over their ends.
fn content(tree: &PlannedRanges) -> (u64, u64) {
    let (mut entries, mut digest) = (0, Digest::default());
    for (first, last, _) in tree.iter() {
        entries += 1;
        digest.push(first);
        digest.push(last);
    }
    (entries, digest.value())
}
