//! Workloads that are cut into samples: a source's batches, put together.

use super::{Workload, whole_scene};
use crate::family::Family;
use freehold_trace::kva::Op;
use std::ops::Range;
use std::time::Duration;

/// What a batch is a piece of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Setting up or tearing down: run, checked and timed with the sample that it falls into, and neither in its length nor
    /// in its spread.
    Around,
    /// What is sampled: a part of that name.
    Part(&'static str),
}

/// How a workload is cut; if it says nothing, it is one sample of one part.
#[derive(Clone, Debug, Default)]
pub struct Cut {
    /// Where each sample ends.
    samples: Vec<usize>,
    /// Where each run of batches of one kind ends.
    pieces: Vec<(usize, Piece)>,
    /// How long an engine's checked run may take; a sample that was begun is ended.
    pub limit: Option<Duration>,
    /// There were more operations than these.
    pub more: bool,
}

/// Operations in batches.
#[derive(Default)]
pub struct Batches {
    /// The operations.
    pub ops: Vec<Op>,
    ends: Vec<(usize, Piece)>,
}

impl Batches {
    /// What came since the last batch is one.
    pub fn end(&mut self, piece: Piece) {
        self.ends.push((self.ops.len(), piece));
    }

    /// Cut into `samples` of as many sampled operations, about: batches are not cut. The first `keep` of them are kept.
    pub fn sampled(self, name: &str, objects: u32, samples: usize, keep: usize) -> Workload {
        let Self { mut ops, ends } = self;
        let starts = || std::iter::once(0).chain(ends.iter().map(|&(end, _)| end));
        let length = |(from, &(end, piece)): (usize, &(usize, Piece))| {
            if piece == Piece::Around { 0 } else { end - from }
        };
        let all: usize = starts().zip(&ends).map(length).sum();
        let per_sample = all.div_ceil(samples.max(1)).max(1);
        let (mut cut, mut sampled, mut kept) = (Cut::default(), 0, 0);
        for (from, batch) in starts().zip(&ends) {
            sampled += length((from, batch));
            kept = batch.0;
            match cut.pieces.last_mut() {
                Some(last) if last.1 == batch.1 => last.0 = kept,
                _ => cut.pieces.push(*batch),
            }
            if sampled >= per_sample || kept == ops.len() {
                cut.samples.push(kept);
                sampled = 0;
                if cut.samples.len() == keep {
                    break;
                }
            }
        }
        cut.more = kept < ops.len();
        ops.truncate(kept);
        Workload { cut, ..Workload::new(name, "", whole_scene(), ops, objects) }
    }
}

impl<F: Family> Workload<F> {
    /// The operations of each sample.
    pub fn samples(&self) -> Vec<Range<usize>> {
        let ends = if self.cut.samples.is_empty() { &[self.ops.len()][..] } else { &self.cut.samples };
        let starts = std::iter::once(0).chain(ends.iter().copied());
        starts.zip(ends).map(|(from, &end)| from..end).collect()
    }

    /// Runs of batches of one kind among these operations.
    pub fn pieces(&self, within: Range<usize>) -> impl Iterator<Item = (Range<usize>, Piece)> {
        const WHOLE: &[(usize, Piece)] = &[(usize::MAX, Piece::Part(""))];
        let cut = if self.cut.pieces.is_empty() { WHOLE } else { &self.cut.pieces };
        let first = cut.partition_point(|&(end, _)| end <= within.start);
        let mut from = within.start;
        cut.iter().skip(first).map_while(move |&(end, piece)| {
            let piece = (from..end.min(within.end), piece);
            from = end;
            (!piece.0.is_empty()).then_some(piece)
        })
    }

    /// The same operations, parts together, and whether they are around what is sampled.
    pub fn stretches(&self, within: Range<usize>) -> impl Iterator<Item = (&[F::Op], bool)> {
        let mut stretches: Vec<(Range<usize>, bool)> = Vec::new();
        for (range, piece) in self.pieces(within) {
            let around = piece == Piece::Around;
            match stretches.last_mut() {
                Some(last) if last.1 == around => last.0.end = range.end,
                _ => stretches.push((range, around)),
            }
        }
        stretches.into_iter().map(|(range, around)| (self.ops.get(range).unwrap_or_default(), around))
    }
}
