//! What is seen of a replay of address ranges.

use super::{Bucket, EngineRun, Replay, Replayable};
use crate::engine::Takes;
use crate::family::{Kva, KvaJudge};
use crate::record::{Figures, Grid, Metric, Results, Stat, Strip, Strips, Time, byte_ticks, count};
use crate::workload::{self, Workload};
use freehold::units::{Bytes, Span};
use freehold_rivals::kva::Checker;
use freehold_trace::kva::{Answer, Op, Session};
use std::path::Path;

impl Replayable for Kva {
    type Seen = KvaSeen;
    type State = Fragmentation;

    fn workload(name: &Path) -> anyhow::Result<Workload> {
        workload::named(name)
    }

    fn begin(workload: &Workload, points: usize) -> KvaSeen {
        KvaSeen { picture: Grid::new(workload.ops.len(), points), bytes_per_free_block: None }
    }

    fn note(
        seen: &mut KvaSeen,
        judge: &mut KvaJudge,
        session: &(dyn Session + 'static),
        (op, at): (&Op, Option<usize>),
        answer: Answer,
    ) -> Result<(), String> {
        let spans = judge.placed(op, answer, session)?;
        if at.is_none() && spans.is_empty() {
            return Err("found no room: two objects at one place?".to_owned());
        }
        seen.picture.placed(op, &spans, at.unwrap_or(0));
        Ok(())
    }

    fn state(workload: &Workload, judge: &KvaJudge, session: &(dyn Session + 'static)) -> Fragmentation {
        Fragmentation::of(session, &judge.checker, space_first(workload))
    }

    fn end(
        seen: KvaSeen,
        workload: &Workload,
        _: &KvaJudge,
        session: &(dyn Session + 'static),
        buckets: &[Bucket<Self>],
    ) -> KvaSeen {
        let most = buckets.iter().map(|bucket| bucket.state.free_blocks).max().unwrap_or(0);
        let bytes = session.free_index_bytes().filter(|_| most > 0);
        let bytes_per_free_block = bytes.map(|bytes| bytes as f64 / most as f64);
        let spread = buckets.iter().map(|bucket| bucket.state.span_bytes).max().unwrap_or(0);
        let spread = u64::try_from(spread).unwrap_or(u64::MAX);
        KvaSeen { picture: seen.picture.finish(space_first(workload), spread), bytes_per_free_block }
    }

    /// All engines of exact lowest placement must answer alike.
    fn agree(runs: &[EngineRun<Self>]) -> Result<(), String> {
        let mut exact = runs.iter().filter(|run| run.entry.takes == Takes::Lowest);
        let Some(first) = exact.next() else { return Ok(()) };
        for other in exact {
            let differs = |(a, b): (&Answer, &Answer)| a != b;
            let at = first.counted.answers.iter().zip(&other.counted.answers).position(differs);
            if let Some(at) = at {
                let (a, b) = (first.entry.label(), other.entry.label());
                return Err(format!("{a} and {b} differ at operation {at}"));
            }
        }
        Ok(())
    }

    fn seen(run: &EngineRun<Self>, figures: &mut Figures<'_>) {
        let state = run.counted.last_state();
        figures
            .total(Metric::FreeBlocks, state.free_blocks)
            .put(Metric::LargestFree, Stat::Total, state.largest_ratio(), 1)
            .put(Metric::SpanRatio, Stat::Total, state.span_ratio(), 1)
            .some(Metric::BytesPerItem, Stat::Total, run.counted.seen.bytes_per_free_block);
    }

    const STEPS: &'static str = "Nodes visited, changed or rotated, and list steps";
    const STATE: &'static [(&'static str, fn(&Fragmentation) -> f64)] = &[
        ("free-blocks", |state| state.free_blocks as f64),
        ("span", Fragmentation::span_ratio),
        ("largest-free", Fragmentation::largest_ratio),
    ];

    /// The address space over time, one picture for engines that placed everything alike; nothing if no engine has one.
    fn pictures(replay: &Replay, results: &mut Results) {
        let workload = &replay.workload;
        let (title, time) = (workload.title(), workload.time());
        let hulls = || replay.runs.iter().filter_map(|run| run.counted.seen.picture.hull);
        let longest_bytes = hulls().map(Span::size_saturating).max().unwrap_or(0);
        let Some(first) = hulls().next().map(Span::first).filter(|_| longest_bytes > 0) else { return };
        results.fact(&format!("from:{title}"), format!("{first:#x}"));
        results.fact(&format!("spread:{title}"), Bytes::from(longest_bytes).to_string());
        results.fact(&format!("time:{title}"), time.title());
        let strips = alike(replay).into_iter();
        let strips = strips.filter_map(|group| strip(replay, &group, &time, longest_bytes));
        let (heights, ticks) = (byte_ticks(longest_bytes), time.ticks());
        let strips = Strips { heights, ticks, strips: strips.collect() };
        results.pictures.push(("space", title, strips));
    }
}

fn space_first(workload: &Workload) -> u64 {
    workload.scene.layout.iter().map(|span| span.first()).min().unwrap_or(0)
}

/// What is left of a run.
#[derive(Clone, Debug, Default)]
pub struct KvaSeen {
    /// Busy and free addresses over time.
    picture: Grid,
    /// Bytes of the free-space index per free block, when there were most; `None` for engines without one.
    bytes_per_free_block: Option<f64>,
}

/// How scattered the free space is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fragmentation {
    /// Live objects.
    pub live: u64,
    /// Free blocks.
    pub free_blocks: u64,
    /// Bytes of the largest.
    pub largest_free_bytes: u128,
    /// Bytes free.
    pub free_bytes: u128,
    /// Bytes from the start of the space to the largest free block: what the engine has spread over. (What
    /// lies behind that block was put there by a fixed address or a window.)
    pub span_bytes: u128,
    /// Bytes in use within that span.
    pub used_bytes: u128,
}

impl Fragmentation {
    /// The largest free block's part of all free bytes.
    pub fn largest_ratio(&self) -> f64 {
        self.largest_free_bytes as f64 / self.free_bytes.max(1) as f64
    }

    /// How much longer the used span is than what it holds; 1 is without holes.
    pub fn span_ratio(&self) -> f64 {
        self.span_bytes.max(1) as f64 / self.used_bytes.max(1) as f64
    }

    /// Now; `space_first` is the space's first address.
    fn of(session: &dyn Session, checker: &Checker, space_first: u64) -> Self {
        let mut state = Self { live: checker.live(), ..Self::default() };
        let mut largest: Option<Span> = None;
        session.free_blocks(&mut |block: Span| {
            state.free_blocks += 1;
            state.free_bytes += block.size_bytes();
            if largest.is_none_or(|largest| block.size_bytes() > largest.size_bytes()) {
                largest = Some(block);
            }
        });
        let end = largest.map_or(u64::MAX, Span::first);
        state.largest_free_bytes = largest.map_or(0, Span::size_bytes);
        state.span_bytes = u128::from(end.saturating_sub(space_first));
        state.used_bytes = checker.used_below(end);
        state
    }
}

/// Pixels across a picture.
const PIXELS: usize = 400;

/// The engines, those that placed everything alike together.
fn alike(replay: &Replay) -> Vec<Vec<&EngineRun>> {
    let mut groups: Vec<Vec<&EngineRun>> = Vec::new();
    for run in replay.runs.iter().filter(|run| run.counted.seen.picture.hull.is_some()) {
        let alike = |group: &&mut Vec<&EngineRun>| {
            group.first().is_some_and(|first| {
                let (a, b) = (&first.counted.seen.picture, &run.counted.seen.picture);
                first.counted.answers == run.counted.answers && a.hull == b.hull && a.busy == b.busy
            })
        };
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    groups
}

fn strip(replay: &Replay, alike: &[&EngineRun], time: &Time<'_>, longest_bytes: u64) -> Option<Strip> {
    let picture = alike.first()?.counted.seen.picture.clone();
    let column = |at: usize| {
        let op = time.operation_at((at as f64 + 0.5) / PIXELS as f64);
        (op * picture.columns / replay.workload.ops.len().max(1)).min(picture.columns.saturating_sub(1))
    };
    Some(Strip {
        engines: alike.iter().map(|run| run.entry.label()).collect(),
        text: placed(replay, alike),
        columns: (0..PIXELS).map(column).collect(),
        height: picture.hull?.size_saturating() as f64 / longest_bytes as f64,
        picture,
    })
}

/// How the placements of these engines relate to the first engine's.
fn placed(replay: &Replay, alike: &[&EngineRun]) -> String {
    let (Some(reference), Some(run)) = (replay.runs.first(), alike.first()) else { return String::new() };
    let answers = || reference.counted.answers.iter().zip(&run.counted.answers);
    let placed = |answer: &Answer| matches!(answer, Answer::At(_));
    let elsewhere = answers().filter(|(a, b)| a != b && (placed(a) || placed(b))).count();
    let allocations = count(replay.workload.ops.iter().filter(|op| !op.is_free()).count() as u64);
    let others = if alike.len() > 1 { ", all alike" } else { "" };
    if std::ptr::eq(reference, *run) {
        return format!("{allocations} allocations{others}");
    }
    let first = reference.entry.label();
    match elsewhere {
        0 => format!("{allocations} allocations, all where {first} put them{others}"),
        _ => {
            format!("{} of {allocations} allocations elsewhere than {first}{others}", count(elsewhere as u64))
        }
    }
}
