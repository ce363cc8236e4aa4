//! Sequences against address spaces.
//!
//! Most begin with n gaps that are equal, between walls that stay:
//!
//! ```text
//!   |#|............|###|#|............|###|#|............|###|         room at the end, or none
//!     offset  gap   wall
//! ```

use super::growth::Bound;
use super::meter::Meter;
use super::parts;
use super::sequence::{Run, Sequence};
use crate::workload::SplitMix;
use anyhow::{Context, Result, ensure};
use freehold::kva::{AddressSpace, AllocError, Placement, Request};
use freehold::units::{Align, Span, Tally};

type Space = AddressSpace<u32>;

/// All sequences.
pub(super) const SEQUENCES: &[Sequence] = &[
    Sequence::amortized("wrong-alignment", "alloc", wrong_alignment),
    Sequence::amortized("one-short", "alloc", one_short),
    Sequence::amortized("last-window", "alloc", last_window),
    Sequence::amortized("alignments-5", "alloc", |n, meter| alignments(n, 5, meter)),
    Sequence::amortized("alignments-11", "alloc", |n, meter| alignments(n, 11, meter)),
    Sequence::amortized("alignments-20", "alloc", |n, meter| alignments(n, 20, meter)),
    Sequence::amortized("alignments-40", "alloc", |n, meter| alignments(n, 40, meter)),
    // Each free and each cut may be paid for by a later search: of a churn the mean alone is promised.
    Sequence::amortized("aligned-churn", "alloc, free", |n, meter| {
        aligned_churn(n, Placement::Lowest, meter)
    })
    .single(Bound::Linear, Bound::Linear),
    Sequence::amortized("leaf-ends", "alloc", leaf_ends),
    Sequence::amortized("mass-frees", "alloc", mass_frees),
    Sequence::amortized("refused", "alloc", refused),
    Sequence::amortized("cut-largest", "refusal", cut_largest),
    Sequence::amortized("cut-largest", "stats", stats_after_cuts).in_instructions(),
    Sequence::amortized("long-gaps", "alloc", long_gaps),
    Sequence::amortized("one-short", "congruent", |n, meter| {
        congruent(Gaps::misaligned(n, 11, 16), 12, Align::ONE, meter)
    })
    .in_instructions(),
    // Documented as linear in the blocks that are long enough and misaligned.
    Sequence::amortized("wrong-alignment", "congruent", |n, meter| {
        congruent(Gaps::misaligned(n, 12, 16), 12, align(16)?, meter)
    })
    .in_instructions()
    .single(Bound::Linear, Bound::Linear),
    Sequence::amortized("learned", "find", |n, meter| find_misaligned(n, true, meter)).in_instructions(),
    Sequence::amortized("unlearned", "find", |n, meter| find_misaligned(n, false, meter))
        .in_instructions()
        .single(Bound::Linear, Bound::Linear),
    Sequence::amortized("equal-blocks", "best fit", |n, meter| best_fit(n, 1, meter)),
    Sequence::amortized("wrong-alignment", "best fit", |n, meter| best_fit(n, 16, meter)),
    Sequence::amortized("last-window", "best fit", best_fit_last_window),
    Sequence::amortized("aligned-churn", "best fit, free", |n, meter| {
        aligned_churn(n, Placement::BestFit, meter)
    })
    .single(Bound::Linear, Bound::Linear),
    // Documented as linear in the lesser of the regions in the window and the blocks outside it that would do.
    Sequence::amortized("half-window", "best fit", best_fit_half_window).single(Bound::Linear, Bound::Linear),
    of_parts("full-leaves", "split_at, merge", parts::cut_and_merge),
    of_parts("full-leaves", "free_range in one", parts::free_within_one),
    of_parts("full-leaves", "free_range over 64", parts::free_over_several),
    // Linear by nature: what is freed grows with n.
    of_parts("all-at-once", "free_range", parts::free_all).single(Bound::Linear, Bound::Linear),
    of_parts("last-moves", "free_range, refused", parts::free_all_refused),
    Sequence::amortized("wrong-alignment", "reserve", parts::hold).in_instructions(),
    of_parts("full-leaves", "alloc_at_guarded", parts::guarded),
    of_parts("nobody-reads", "shared free, alloc_at", parts::shared_free),
    of_parts("stalled-reader", "shared free, alloc_at", parts::shared_free_read),
    // Linear by nature: what is written grows with n.
    Sequence::amortized("one-granule-gaps", "snapshot", snapshot)
        .in_instructions()
        .single(Bound::Linear, Bound::Linear),
];

/// Of a single operation, too, logarithmic cost is promised.
const fn of_parts(name: &'static str, op: &'static str, run: Run) -> Sequence {
    Sequence::amortized(name, op, run).in_instructions().single(Bound::Log, Bound::Log)
}

/// Measured operations of a sequence that repeats itself.
pub(super) const MEASURED: u64 = 24;

/// Equal gaps.
#[derive(Clone, Copy)]
struct Gaps {
    count: u32,
    /// Granules below the first period, which are free.
    below: u64,
    /// Granules taken before each gap, which keep its start off multiples.
    offset: u64,
    gap: u64,
    /// Granules from one gap to the next.
    period: u64,
}

impl Gaps {
    /// Gaps of `gap` granules in periods of `period`, a power of two, one granule off.
    fn misaligned(count: u32, gap: u64, period: u64) -> Self {
        Self { count, below: 0, offset: 1, gap, period }
    }

    fn end(&self) -> u64 {
        self.below + u64::from(self.count) * self.period
    }

    /// A space of granules with these gaps and `room` free granules behind them, made by requests alone; how many operations that took.
    fn space(&self, placement: Placement, room: u64, tally: &mut Tally) -> Result<(Space, u64)> {
        let mut space = empty(self.end() + room, placement)?;
        let wall = self.period - self.offset - self.gap;
        if self.below > 0 {
            expect(take(&mut space, self.below, tally), 0)?;
        }
        let bases = || (0..u64::from(self.count)).map(|at| self.below + at * self.period);
        for base in bases() {
            expect(take(&mut space, self.offset, tally), base)?;
            expect(take(&mut space, self.gap, tally), base + self.offset)?;
            expect(take(&mut space, wall, tally), base + self.offset + self.gap)?;
        }
        for base in bases() {
            space.free_probed(base + self.offset, tally)?;
        }
        if self.below > 0 {
            space.free_probed(0, tally)?;
        }
        Ok((space, 4 * u64::from(self.count) + 2 * u64::from(self.below > 0)))
    }
}

/// A space of so many granules.
pub(super) fn empty(granules: u64, placement: Placement) -> Result<Space> {
    let span = Span::from_size(0, granules).context("the space is too long")?;
    Ok(Space::new(span, Align::ONE, placement)?)
}

/// The same with n regions of four granules at its beginning.
pub(super) fn packed(n: u32, room: u64, tally: &mut Tally) -> Result<Space> {
    let mut space = empty(4 * u64::from(n) + room, Placement::Lowest)?;
    (0..u64::from(n)).try_for_each(|at| expect(take(&mut space, 4, tally), 4 * at))?;
    Ok(space)
}

fn take(space: &mut Space, granules: u64, tally: &mut Tally) -> Option<u64> {
    ask(space, &Request::new(granules), tally)
}

/// A request; where it was granted.
fn ask(space: &mut Space, request: &Request, tally: &mut Tally) -> Option<u64> {
    space.alloc_probed(request, 0, tally).ok().map(|span| span.first())
}

/// Which answer is right is known of every sequence.
fn expect(answer: Option<u64>, right: u64) -> Result<()> {
    ensure!(answer == Some(right), "{answer:x?}, but {right:#x} is right");
    Ok(())
}

pub(super) fn align(bytes: u64) -> Result<Align> {
    Align::new(bytes).with_context(|| format!("{bytes} is no power of two"))
}

/// A request is granted at one place, measured, and given back.
fn grant(space: &mut Space, request: &Request, right: u64, meter: &mut Meter) -> Result<()> {
    expect(meter.measure(|tally| ask(space, request, tally)), right)?;
    space.free(right)?;
    Ok(())
}

/// The same again and again.
fn granted(mut space: Space, request: &Request, right: u64, meter: &mut Meter) -> Result<()> {
    (0..MEASURED).try_for_each(|_| grant(&mut space, request, right, meter))?;
    Ok(space.validate()?)
}

/// Granted in the room behind all gaps.
fn behind_all(gaps: Gaps, room: u64, request: &Request, meter: &mut Meter) -> Result<()> {
    let space = meter.ready(|tally| gaps.space(Placement::Lowest, room, tally))?;
    granted(space, request, gaps.end(), meter)
}

/// Each gap has the right size, and no place at the alignment.
fn wrong_alignment(n: u32, meter: &mut Meter) -> Result<()> {
    behind_all(Gaps::misaligned(n, 12, 16), 1 << 20, &Request::new(12).align(align(16)?), meter)
}

/// Each gap is one granule short.
fn one_short(n: u32, meter: &mut Meter) -> Result<()> {
    behind_all(Gaps::misaligned(n, 11, 16), 1 << 20, &Request::new(12), meter)
}

/// Gaps of 2^40 - 1 granules, and a request of 2^40.
fn long_gaps(n: u32, meter: &mut Meter) -> Result<()> {
    let gaps = Gaps { period: (1 << 40) + 1, ..Gaps::misaligned(n, (1 << 40) - 1, 0) };
    behind_all(gaps, 1 << 41, &Request::new(1 << 40), meter)
}

/// Every gap would do, and the window has the last alone; then from inside of a gap to inside of the next.
fn last_window(n: u32, meter: &mut Meter) -> Result<()> {
    let gaps = Gaps::misaligned(n, 12, 16);
    let mut space = meter.ready(|tally| gaps.space(Placement::Lowest, 0, tally))?;
    let last = gaps.end() - 16 + 1;
    for at in 0..MEASURED {
        grant(&mut space, &Request::new(12).within(last - at % 8, last + 11)?, last, meter)?;
        if n > 2 {
            grant(&mut space, &Request::new(12).within(2, last - 6)?, 17, meter)?;
        }
    }
    Ok(space.validate()?)
}

/// Alignments take turns, and no gap has a place for any of them.
fn alignments(n: u32, kinds: u64, meter: &mut Meter) -> Result<()> {
    let gaps = Gaps::misaligned(n, 600, 1024);
    let mut space = meter.ready(|tally| gaps.space(Placement::Lowest, 1 << 42, tally))?;
    for log2 in (1..=kinds).cycle().take(4 * kinds as usize) {
        let align = align(1 << log2)?;
        let right = align.up(gaps.end()).context("no such place")?;
        grant(&mut space, &Request::new(600).align(align), right, meter)?;
    }
    Ok(space.validate()?)
}

/// Random sizes of eleven alignments; n are live.
fn aligned_churn(n: u32, placement: Placement, meter: &mut Meter) -> Result<()> {
    let mut random = SplitMix::new(u64::from(n));
    let mut live = Vec::new();
    let request = |random: &mut SplitMix| {
        let log2 = random.uniform(11);
        align(1 << log2).map(|align| Request::new(1 + random.uniform(10)).align(align))
    };
    let mut space = meter.ready(|tally| {
        let mut space = empty(u64::from(n) * 4096, placement)?;
        for _ in 0..n {
            live.extend(ask(&mut space, &request(&mut random)?, tally));
        }
        for _ in 0..n {
            let at = random.uniform(live.len() as u64) as usize;
            space.free_probed(live.swap_remove(at), tally)?;
            live.extend(ask(&mut space, &request(&mut random)?, tally));
        }
        Ok((space, 3 * u64::from(n)))
    })?;
    ensure!(live.len() == n as usize, "a request was refused");
    for _ in 0..4 * MEASURED {
        let first = live.swap_remove(random.uniform(live.len() as u64) as usize);
        meter.measure(|tally| space.free_probed(first, tally))?;
        let request = request(&mut random)?;
        live.extend(meter.measure(|tally| ask(&mut space, &request, tally)));
    }
    Ok(space.validate()?)
}

/// Regions without gaps, then one in 31 is freed: gaps wander through the ends of leaves. Requests are one granule longer.
fn leaf_ends(n: u32, meter: &mut Meter) -> Result<()> {
    let end = 4 * u64::from(n);
    let space = meter.ready(|tally| {
        let mut space = packed(n, 64, tally)?;
        for at in (0..u64::from(n)).step_by(31) {
            space.free_probed(4 * at, tally)?;
        }
        Ok((space, u64::from(n) + u64::from(n.div_ceil(31))))
    })?;
    let right = if (u64::from(n) - 1).is_multiple_of(31) { end - 4 } else { end };
    granted(space, &Request::new(5), right, meter)
}

/// All but one in 64 regions are freed, from both ends by turns; then what fits no gap, and what fits all.
fn mass_frees(n: u32, meter: &mut Meter) -> Result<()> {
    let mut space = meter.ready(|tally| {
        let (mut space, mut frees) = (packed(n, 1024, tally)?, 0);
        for at in 0..u64::from(n) {
            let at = if at % 2 == 0 { at / 2 } else { u64::from(n) - 1 - at / 2 };
            if at % 64 != 0 {
                space.free_probed(4 * at, tally)?;
                frees += 1;
            }
        }
        Ok((space, u64::from(n) + frees))
    })?;
    for _ in 0..MEASURED {
        let first = meter.measure(|tally| take(&mut space, 4 * 63 + 1, tally)).context("refused")?;
        space.free(first)?;
        grant(&mut space, &Request::new(4), 4, meter)?;
    }
    Ok(space.validate()?)
}

/// No gap has a place and there is no room behind: each request is refused, and the refusal names the largest gap.
fn refused(n: u32, meter: &mut Meter) -> Result<()> {
    let gaps = Gaps::misaligned(n, 12, 16);
    let mut space = meter.ready(|tally| gaps.space(Placement::Lowest, 0, tally))?;
    for at in 0..MEASURED {
        let request = if at % 2 == 0 { Request::new(12).align(align(16)?) } else { Request::new(13) };
        let answer = meter.measure(|tally| ask(&mut space, &request, tally));
        ensure!(answer.is_none(), "{answer:x?}, but there is no room");
    }
    Ok(space.validate()?)
}

/// A space whose largest gaps were all cut by aligned requests. Free at its largest: 8 granules.
fn cut(n: u32, tally: &mut Tally) -> Result<(Space, u64)> {
    let gaps = Gaps::misaligned(n, 15, 32);
    let (mut space, ops) = gaps.space(Placement::Lowest, 0, tally)?;
    let request = Request::new(8).align(align(8)?);
    for at in 0..u64::from(n) {
        expect(ask(&mut space, &request, tally), 32 * at + 8)?;
    }
    Ok((space, ops + u64::from(n)))
}

fn cut_largest(n: u32, meter: &mut Meter) -> Result<()> {
    let mut space = meter.ready(|tally| cut(n, tally))?;
    for _ in 0..MEASURED {
        let refused = meter.measure(|tally| space.alloc_probed(&Request::new(9), 0, tally)).err();
        let cause = refused.context("there is no room")?.cause;
        let right = matches!(cause, AllocError::NoSpace { largest_free_bytes: 7, .. });
        ensure!(right, "7 granules are the largest, not: {cause}");
    }
    Ok(space.validate()?)
}

fn stats_after_cuts(n: u32, meter: &mut Meter) -> Result<()> {
    let space = meter.ready(|tally| cut(n, tally))?;
    for _ in 0..MEASURED {
        let largest = meter.measure(|_| space.stats()).largest_free_bytes;
        ensure!(largest == 7, "{largest} granules, but 7 are the largest");
    }
    Ok(space.validate()?)
}

/// Two areas at one base, which is low; above it are gaps for `area` granules or fewer, of which what is congruent comes first.
fn congruent(gaps: Gaps, area: u64, align: Align, meter: &mut Meter) -> Result<()> {
    let gaps = Gaps { below: 4096, ..gaps };
    let mut space = meter.ready(|tally| gaps.space(Placement::Lowest, 0, tally))?;
    for _ in 0..8 {
        let areas: Option<Vec<_>> =
            [0, 256].map(|at| Some((Span::from_size(at, area)?, 0))).into_iter().collect();
        let areas = areas.context("no such areas")?;
        let base = meter.measure(|_| space.alloc_congruent(areas, align, Span::ALL))?;
        ensure!(base < 4096, "{base:#x}, but the gaps are too short");
        space.free(base).and_then(|_| space.free(base + 256))?;
    }
    Ok(space.validate()?)
}

/// `find`, which takes `&self`: after an allocation with the alignment, or without one.
fn find_misaligned(n: u32, learned: bool, meter: &mut Meter) -> Result<()> {
    let gaps = Gaps::misaligned(n, 12, 16);
    let request = Request::new(12).align(align(16)?);
    let space = meter.ready(|tally| {
        let (mut space, ops) = gaps.space(Placement::Lowest, 1 << 20, tally)?;
        if learned {
            expect(ask(&mut space, &request, tally), gaps.end())?;
            space.free_probed(gaps.end(), tally)?;
        }
        Ok((space, ops + 2 * u64::from(learned)))
    })?;
    for _ in 0..8 {
        let found = meter.measure(|_| space.find(&request, Placement::Lowest));
        expect(found.ok().map(|span| span.first()), gaps.end())?;
    }
    Ok(space.validate()?)
}

/// Blocks of equal size, and requests for that size: the first block, or if none has a place the room at the end.
fn best_fit(n: u32, multiple: u64, meter: &mut Meter) -> Result<()> {
    let gaps = Gaps::misaligned(n, 12, 16);
    let right = if multiple == 1 { 1 } else { gaps.end() };
    best_fit_at(gaps, &Request::new(12).align(align(multiple)?), right, meter)
}

/// Blocks of equal size, of which the window has the last alone.
fn best_fit_last_window(n: u32, meter: &mut Meter) -> Result<()> {
    let gaps = Gaps::misaligned(n, 12, 16);
    let last = gaps.end() - 16 + 1;
    best_fit_at(gaps, &Request::new(12).within(last - 5, last + 11)?, last, meter)
}

/// Blocks of equal size, of which the window has the upper half.
fn best_fit_half_window(n: u32, meter: &mut Meter) -> Result<()> {
    let gaps = Gaps::misaligned(n, 12, 16);
    let half = u64::from(n / 2) * 16;
    best_fit_at(gaps, &Request::new(12).within(half, gaps.end())?, half + 1, meter)
}

/// Granted at one place, again and again.
fn best_fit_at(gaps: Gaps, request: &Request, right: u64, meter: &mut Meter) -> Result<()> {
    let space = meter.ready(|tally| gaps.space(Placement::BestFit, 64, tally))?;
    granted(space, request, right, meter)
}

/// A snapshot of regions with a gap of one granule behind each.
fn snapshot(n: u32, meter: &mut Meter) -> Result<()> {
    let gaps = Gaps { period: 3, ..Gaps::misaligned(n, 1, 0) };
    let space = meter.ready(|tally| gaps.space(Placement::Lowest, 0, tally))?;
    for _ in 0..4 {
        let bytes = meter.measure(|_| space.to_bytes(|value, to| to.put(&value.to_le_bytes())));
        ensure!(!bytes?.is_empty(), "an empty snapshot");
    }
    Ok(space.validate()?)
}
