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
use super::{Batches, Piece, Workload, churn};
use freehold_trace::kva::Op;
use std::ops::Range;

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

/// So many periods over `n` live objects, in samples.
///
/// # Errors
/// The objects do not fit.
pub fn playback(n: u32, periods: u32, seed: u64, samples: usize) -> anyhow::Result<Workload> {
    let mut batches = Batches::default();
    batches.ops = churn(n.into(), 0, seed)?.setup;
    batches.end(Piece::Around);
    let (mut others, mut random) = (Pairs::new(0, n, random_alloc), SplitMix::new(!seed));
    for period in 0..periods {
        batches.ops.extend((0..2 * OTHERS).map(|_| others.next_op(&mut random)));
        batches.end(Piece::Part(BACKGROUND));
        if period.is_multiple_of(PERIODS_PER_FRAME) {
            renew(&mut batches.ops, period == 0, n + 1..n + 1 + FRAME_BUFFERS, &mut random);
            batches.end(Piece::Part(FRAME));
        }
        renew(&mut batches.ops, period == 0, n..n + 1, &mut random);
        batches.end(Piece::Part(AUDIO));
    }
    let name = format!("playing over {n} live objects");
    Ok(batches.sampled(&name, n + 1 + FRAME_BUFFERS, samples, samples))
}

/// New buffers under these names; those before go first.
fn renew(ops: &mut Vec<Op>, first: bool, names: Range<u32>, random: &mut SplitMix) {
    if !first {
        ops.extend(names.clone().map(|object| Op::Free { object }));
    }
    ops.extend(names.map(|object| random_alloc(object, random)));
}
