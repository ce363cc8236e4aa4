//! Sound and pictures over a fragmented space: what misses its deadline if an allocation takes too long.
//!
//! ```text
//!   audio     a    a    a    a    a    a    a       a buffer for each period, the one before freed
//!   others   ff aa                                  a few of the live objects freed, as many others allocated
//!   frame    wwwwwwwwwwwwwwww                       buffers for a frame, every fiftieth period, those before freed
//! ```
//!
//! All sizes are drawn from what the churned objects have, 1 to 64 pages. The space starts in the steady state of a
//! churn of `n` live objects, each placed where it then lies.

use super::random::SplitMix;
use super::suite::{Pairs, random_alloc};
use super::{Piece, Source, Workload, churn};
use freehold::units::Span;
use freehold_trace::kva::Op;
use std::sync::Arc;

/// Periods of audio in a frame of video: 64 samples at 192 kHz are a third of a millisecond, a frame at 60 Hz is fifty
/// of these.
const PERIODS_PER_FRAME: u32 = 50;
/// Buffers that a frame allocates.
pub const FRAME_BUFFERS: u32 = 16;
/// Pairs of a free and an allocation by others in each period.
const OTHERS: u32 = 2;

/// The part that has one allocation for each period.
pub const AUDIO: &str = "audio";
/// The part that has [`FRAME_BUFFERS`] allocations for each frame.
pub const FRAME: &str = "frame";
/// What goes on meanwhile.
pub const BACKGROUND: &str = "others";

/// The operations, from the set-up on.
#[derive(Clone, Debug)]
pub struct Playback {
    /// The space.
    pub layout: Vec<Span>,
    n: u32,
    setup: Arc<[Op]>,
    set_up: bool,
    others: Pairs,
    random: SplitMix,
    /// What comes next: the period, and the part of it.
    period: u32,
    part: u32,
    periods: u32,
}

impl Playback {
    /// So many periods over `n` live objects.
    ///
    /// # Errors
    /// The objects do not fit.
    pub fn new(n: u32, periods: u32, seed: u64) -> anyhow::Result<Self> {
        let Workload { scene, setup, .. } = churn(n.into(), 0, seed)?;
        Ok(Self {
            layout: scene.layout,
            n,
            setup: setup.into(),
            set_up: false,
            others: Pairs::new(0, n, random_alloc),
            random: SplitMix::new(!seed),
            period: 0,
            part: 0,
            periods,
        })
    }

    /// Objects are named below this.
    #[must_use]
    pub fn objects(&self) -> u32 {
        self.n + 1 + FRAME_BUFFERS
    }

    /// Operations after the set-up.
    #[must_use]
    pub fn sampled_ops(&self) -> usize {
        let frames = self.periods.div_ceil(PERIODS_PER_FRAME);
        // The first buffers have none before them to free.
        let firsts = if self.periods > 0 { 1 + FRAME_BUFFERS } else { 0 };
        (self.periods * 2 * (1 + OTHERS) + frames * 2 * FRAME_BUFFERS - firsts) as usize
    }

    /// New buffers under these names; those before go first.
    fn renew(&mut self, ops: &mut Vec<Op>, first: u32, count: u32) {
        let names = first..first + count;
        if self.period > 0 {
            ops.extend(names.clone().map(|object| Op::Free { object }));
        }
        ops.extend(names.map(|object| random_alloc(object, &mut self.random)));
    }
}

impl Source for Playback {
    fn next_batch(&mut self, ops: &mut Vec<Op>) -> Option<Piece> {
        if !self.set_up {
            self.set_up = true;
            ops.extend(self.setup.iter().cloned());
            return Some(Piece::Around);
        }
        if self.period >= self.periods {
            return None;
        }
        self.part += 1;
        match self.part {
            1 => {
                ops.extend((0..2 * OTHERS).map(|_| self.others.next_op(&mut self.random)));
                Some(Piece::Part(BACKGROUND))
            }
            2 if self.period.is_multiple_of(PERIODS_PER_FRAME) => {
                self.renew(ops, self.n + 1, FRAME_BUFFERS);
                Some(Piece::Part(FRAME))
            }
            _ => {
                self.renew(ops, self.n, 1);
                (self.period, self.part) = (self.period + 1, 0);
                Some(Piece::Part(AUDIO))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_period_has_a_buffer_and_every_fiftieth_a_frame() {
        let mut playback = Playback::new(20, 101, 4).unwrap();
        let (mut ops, mut live) = (Vec::new(), std::collections::HashSet::new());
        let mut allocs = std::collections::BTreeMap::new();
        let mut from = 0;
        while let Some(piece) = playback.next_batch(&mut ops) {
            let name = match piece {
                Piece::Around => "setup",
                Piece::Part(name) => name,
            };
            for op in &ops[from..] {
                match op {
                    Op::Free { object } => assert!(live.remove(object), "{object} was not live"),
                    Op::Alloc { object, .. } | Op::Congruent { object, .. } => {
                        assert!(*object < playback.objects() && live.insert(*object), "{object} was live");
                        *allocs.entry(name).or_insert(0) += 1;
                    }
                }
            }
            from = ops.len();
        }
        let expected = [(AUDIO, 101), (FRAME, 48), (BACKGROUND, 202), ("setup", 20)];
        assert_eq!(allocs.into_iter().collect::<Vec<_>>(), expected);
        assert_eq!(ops.len(), 20 + playback.sampled_ops());
    }
}
