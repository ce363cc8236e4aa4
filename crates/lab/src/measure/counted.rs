//! The counted run: every answer checked, every operation's work noted, the state sampled on the way.

use super::{Checker, Counts, Picture};
use crate::engine::{EngineEntry, Session};
use crate::workload::Workload;
use freehold::units::Span;
use freehold_trace::kva::{Answer, Op};

/// Points in time at which a run is sampled.
pub(super) const BUCKETS: usize = 200;

/// What a run answered and did.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The answer to each measured operation.
    pub answers: Vec<Answer>,
    /// Allocations that failed.
    pub failures: u64,
    /// Operations that the engine does not have.
    pub unsupported: u64,
    /// Work of each allocation, in nodes and list steps.
    pub alloc_work: Counts,
    /// Work of each free.
    pub free_work: Counts,
    /// The state over time.
    pub buckets: Vec<Bucket>,
    /// Bytes of the engine's own structures, at most.
    pub metadata_peak_bytes: usize,
    /// Bytes of the free-space index per free block, when there were most; `None` for engines without one.
    pub bytes_per_free_block: Option<f64>,
    /// Busy and free addresses over time.
    pub picture: Picture,
}

/// A stretch of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bucket {
    /// The operation it ends before.
    pub end: usize,
    /// Mean work of an allocation in it; 0 if there was none.
    pub work_mean: f64,
    /// Largest work of an allocation in it.
    pub work_max: u64,
    /// The state at its end.
    pub state: Fragmentation,
}

/// How scattered the free space is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fragmentation {
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
    #[must_use]
    pub fn largest_ratio(&self) -> f64 {
        self.largest_free_bytes as f64 / self.free_bytes.max(1) as f64
    }

    /// How much longer the used span is than what it holds; 1 is without holes.
    #[must_use]
    pub fn span_ratio(&self) -> f64 {
        self.span_bytes.max(1) as f64 / self.used_bytes.max(1) as f64
    }

    fn of(session: &dyn Session, checker: &Checker, space_first: u64) -> Self {
        let mut state = Self::default();
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

/// Runs the workload once on a fresh engine. `buckets` is into how many stretches it is cut. An engine that cannot
/// be set up, since it has no fixed places, runs nothing.
///
/// # Errors
/// The engine cannot be made for this layout, or gives a wrong answer.
pub fn count_run(entry: &EngineEntry, workload: &Workload, buckets: usize) -> Result<Counted, String> {
    let mut session = (entry.make)(&workload.layout, workload.granule)?;
    session.expect_objects(workload.objects);
    let mut checker = Checker::new(&entry.takes.reach(&workload.layout));
    let mut picture = Picture::new(workload.ops.len(), BUCKETS);
    let mut counted = Counted {
        answers: Vec::with_capacity(workload.ops.len()),
        failures: 0,
        unsupported: 0,
        alloc_work: Counts::default(),
        free_work: Counts::default(),
        buckets: Vec::new(),
        metadata_peak_bytes: 0,
        bytes_per_free_block: None,
        picture: Picture::new(0, 0),
    };
    for (at, op) in workload.setup.iter().enumerate() {
        let (answer, _) = session.run_counted(op);
        if answer == Answer::Unsupported {
            counted.unsupported = 1;
            return Ok(counted);
        }
        let spans = checker.check(op, answer).map_err(|reason| format!("set-up operation {at}: {reason}"))?;
        if spans.is_empty() {
            return Err(format!("set-up operation {at} found no room: two objects at one place?"));
        }
        picture.placed(op, &spans, 0);
    }
    counted.metadata_peak_bytes = session.metadata_bytes();
    let space_first = workload.layout.iter().map(|span| span.first()).min().unwrap_or(0);
    let stretch = workload.ops.len().div_ceil(buckets.max(1)).max(1);
    for (number, ops) in workload.ops.chunks(stretch).enumerate() {
        let mut works = Counts::default();
        for (offset, op) in ops.iter().enumerate() {
            let at = number * stretch + offset;
            let (answer, tally) = session.run_counted(op);
            let spans = checker.check(op, answer).map_err(|reason| format!("operation {at}: {reason}"))?;
            picture.placed(op, &spans, at);
            counted.note(op, answer, tally.steps(), &mut works);
        }
        counted.metadata_peak_bytes = counted.metadata_peak_bytes.max(session.metadata_bytes());
        counted.buckets.push(Bucket {
            end: number * stretch + ops.len(),
            work_mean: works.mean(),
            work_max: works.percentile(1000),
            state: Fragmentation::of(session.as_ref(), &checker, space_first),
        });
    }
    session.validate()?;
    let most = counted.buckets.iter().map(|bucket| bucket.state.free_blocks).max().unwrap_or(0);
    let bytes = session.free_index_bytes().filter(|_| most > 0);
    counted.bytes_per_free_block = bytes.map(|bytes| bytes as f64 / most as f64);
    let spread = counted.buckets.iter().map(|bucket| bucket.state.span_bytes).max().unwrap_or(0);
    counted.picture = picture.finish(space_first, u64::try_from(spread).unwrap_or(u64::MAX));
    Ok(counted)
}

impl Counted {
    fn note(&mut self, op: &Op, answer: Answer, steps: u64, works: &mut Counts) {
        self.answers.push(answer);
        self.failures += u64::from(answer == Answer::NoRoom);
        self.unsupported += u64::from(answer == Answer::Unsupported);
        if op.is_free() {
            self.free_work.add(steps);
        } else {
            self.alloc_work.add(steps);
            works.add(steps);
        }
    }

    /// The state at the end of the run.
    #[must_use]
    pub fn last_state(&self) -> Fragmentation {
        self.buckets.last().map(|bucket| bucket.state).unwrap_or_default()
    }
}
