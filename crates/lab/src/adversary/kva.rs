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
use super::sequence::Sequence;
use crate::workload::SplitMix;
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
    Sequence::amortized("one-short", "congruent", congruent_short).in_instructions(),
    // Documented as linear in the blocks that are long enough and misaligned.
    Sequence::amortized("wrong-alignment", "congruent", congruent_misaligned)
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
    // Linear by nature: what is written grows with n.
    Sequence::amortized("one-granule-gaps", "snapshot", snapshot)
        .in_instructions()
        .single(Bound::Linear, Bound::Linear),
];

/// Measured operations of a sequence that repeats itself.
const MEASURED: u64 = 24;

/// Equal gaps.
#[derive(Clone, Copy)]
struct Gaps {
    count: u32,
    /// Granules taken before each gap, which keep its start off multiples.
    offset: u64,
    gap: u64,
    /// Granules from one gap to the next.
    period: u64,
}

impl Gaps {
    /// Gaps of `gap` granules in periods of `period`, a power of two, one granule off.
    fn misaligned(count: u32, gap: u64, period: u64) -> Self {
        Self { count, offset: 1, gap, period }
    }

    fn end(&self) -> u64 {
        u64::from(self.count) * self.period
    }

    /// A space of granules with these gaps and `room` free granules behind them, made by requests alone; how many operations that took.
    fn space(&self, room: u64, tally: &mut Tally) -> Result<(Space, u64), String> {
        self.space_under(Placement::Lowest, room, tally)
    }

    fn space_under(
        &self,
        placement: Placement,
        room: u64,
        tally: &mut Tally,
    ) -> Result<(Space, u64), String> {
        let span = Span::from_size(0, self.end() + room).ok_or("the space is too long")?;
        let mut space = Space::new(span, Align::ONE, placement).map_err(|error| error.to_string())?;
        let wall = self.period - self.offset - self.gap;
        for at in 0..u64::from(self.count) {
            let base = at * self.period;
            expect(take(&mut space, self.offset, tally), base)?;
            expect(take(&mut space, self.gap, tally), base + self.offset)?;
            expect(take(&mut space, wall, tally), base + self.offset + self.gap)?;
        }
        for at in 0..u64::from(self.count) {
            let first = at * self.period + self.offset;
            space.free_probed(first, tally).map_err(|error| error.to_string())?;
        }
        Ok((space, 4 * u64::from(self.count)))
    }
}

fn take(space: &mut Space, granules: u64, tally: &mut Tally) -> Option<u64> {
    ask(space, &Request::new(granules), tally)
}

/// A request; where it was granted.
fn ask(space: &mut Space, request: &Request, tally: &mut Tally) -> Option<u64> {
    space.alloc_probed(request, 0, tally).ok().map(|span| span.first())
}

/// Which answer is right is known of every sequence.
fn expect(answer: Option<u64>, right: u64) -> Result<(), String> {
    match answer {
        Some(first) if first == right => Ok(()),
        other => Err(format!("{other:x?}, but {right:#x} is right")),
    }
}

fn expect_none(answer: Option<u64>) -> Result<(), String> {
    answer.map_or(Ok(()), |first| Err(format!("{first:#x}, but there is no room")))
}

fn align(bytes: u64) -> Result<Align, String> {
    Align::new(bytes).ok_or_else(|| format!("{bytes} is no power of two"))
}

fn whole(space: &Space) -> Result<(), String> {
    space.validate().map_err(|broken| broken.to_string())
}

/// Granted behind all gaps, again and again.
fn behind_all(gaps: Gaps, request: &Request, right: u64, meter: &mut Meter) -> Result<(), String> {
    let mut space = meter.ready(|tally| gaps.space(1 << 20, tally))?;
    for _ in 0..MEASURED {
        expect(meter.measure(|tally| ask(&mut space, request, tally)), right)?;
        space.free(right).map_err(|error| error.to_string())?;
    }
    whole(&space)
}

/// Each gap has the right size, and no place at the alignment.
fn wrong_alignment(n: u32, meter: &mut Meter) -> Result<(), String> {
    let gaps = Gaps::misaligned(n, 12, 16);
    behind_all(gaps, &Request::new(12).align(align(16)?), gaps.end(), meter)
}

/// Each gap is one granule short.
fn one_short(n: u32, meter: &mut Meter) -> Result<(), String> {
    let gaps = Gaps::misaligned(n, 11, 16);
    behind_all(gaps, &Request::new(12), gaps.end(), meter)
}

/// Every gap would do, and the window has the last alone; then from inside of a gap to inside of the next.
fn last_window(n: u32, meter: &mut Meter) -> Result<(), String> {
    let gaps = Gaps::misaligned(n, 12, 16);
    let mut space = meter.ready(|tally| gaps.space(0, tally))?;
    let last = gaps.end() - 16 + 1;
    for at in 0..MEASURED {
        let within = |first, last| Request::new(12).within(first, last).map_err(|error| error.to_string());
        let window = within(last - at % 8, last + 11)?;
        expect(meter.measure(|tally| ask(&mut space, &window, tally)), last)?;
        space.free(last).map_err(|error| error.to_string())?;
        if n > 2 {
            let cut = within(2, last - 6)?;
            expect(meter.measure(|tally| ask(&mut space, &cut, tally)), 17)?;
            space.free(17).map_err(|error| error.to_string())?;
        }
    }
    whole(&space)
}

/// Alignments take turns, and no gap has a place for any of them.
fn alignments(n: u32, kinds: u64, meter: &mut Meter) -> Result<(), String> {
    let gaps = Gaps::misaligned(n, 600, 1024);
    let mut space = meter.ready(|tally| gaps.space(1 << 42, tally))?;
    for _ in 0..4 {
        for log2 in 1..=kinds {
            let align = align(1 << log2)?;
            let right = align.up(gaps.end()).ok_or("no such place")?;
            let request = Request::new(600).align(align);
            expect(meter.measure(|tally| ask(&mut space, &request, tally)), right)?;
            space.free(right).map_err(|error| error.to_string())?;
        }
    }
    whole(&space)
}

/// Random sizes of eleven alignments; n are live.
fn aligned_churn(n: u32, placement: Placement, meter: &mut Meter) -> Result<(), String> {
    let span = Span::from_size(0, u64::from(n) * 4096).ok_or("the space is too long")?;
    let mut random = SplitMix::new(u64::from(n));
    let mut live = Vec::new();
    let request = |random: &mut SplitMix| {
        let log2 = random.uniform(11);
        align(1 << log2).map(|align| Request::new(1 + random.uniform(10)).align(align))
    };
    let mut space = meter.ready(|tally| {
        let mut space = Space::new(span, Align::ONE, placement).map_err(|error| error.to_string())?;
        for _ in 0..n {
            live.extend(ask(&mut space, &request(&mut random)?, tally));
        }
        for _ in 0..n {
            let at = random.uniform(live.len() as u64) as usize;
            let first = live.swap_remove(at);
            space.free_probed(first, tally).map_err(|error| error.to_string())?;
            live.extend(ask(&mut space, &request(&mut random)?, tally));
        }
        Ok((space, 3 * u64::from(n)))
    })?;
    if live.len() != n as usize {
        return Err("a request was refused".to_owned());
    }
    for _ in 0..4 * MEASURED {
        let first = live.swap_remove(random.uniform(live.len() as u64) as usize);
        meter.measure(|tally| space.free_probed(first, tally)).map_err(|error| error.to_string())?;
        let request = request(&mut random)?;
        live.extend(meter.measure(|tally| ask(&mut space, &request, tally)));
    }
    whole(&space)
}

/// Regions without gaps, then one in 31 is freed: gaps wander through the ends of leaves. Requests are one granule longer.
fn leaf_ends(n: u32, meter: &mut Meter) -> Result<(), String> {
    let end = 4 * u64::from(n);
    let mut space = meter.ready(|tally| {
        let span = Span::from_size(0, end + 64).ok_or("the space is too long")?;
        let mut space = Space::new(span, Align::ONE, Placement::Lowest).map_err(|error| error.to_string())?;
        (0..u64::from(n)).try_for_each(|at| expect(take(&mut space, 4, tally), 4 * at))?;
        for at in (0..u64::from(n)).step_by(31) {
            space.free_probed(4 * at, tally).map_err(|error| error.to_string())?;
        }
        Ok((space, u64::from(n) + u64::from(n.div_ceil(31))))
    })?;
    let longer = Request::new(5);
    let right = if (u64::from(n) - 1).is_multiple_of(31) { end - 4 } else { end };
    for _ in 0..MEASURED {
        expect(meter.measure(|tally| ask(&mut space, &longer, tally)), right)?;
        space.free(right).map_err(|error| error.to_string())?;
    }
    whole(&space)
}

/// All but one in 64 regions are freed, from both ends by turns; then what fits no gap, and what fits all.
fn mass_frees(n: u32, meter: &mut Meter) -> Result<(), String> {
    let end = 4 * u64::from(n);
    let mut space = meter.ready(|tally| {
        let span = Span::from_size(0, end + 1024).ok_or("the space is too long")?;
        let mut space = Space::new(span, Align::ONE, Placement::Lowest).map_err(|error| error.to_string())?;
        (0..u64::from(n)).try_for_each(|at| expect(take(&mut space, 4, tally), 4 * at))?;
        let mut frees = 0;
        for at in 0..u64::from(n) {
            let at = if at % 2 == 0 { at / 2 } else { u64::from(n) - 1 - at / 2 };
            if at % 64 != 0 {
                space.free_probed(4 * at, tally).map_err(|error| error.to_string())?;
                frees += 1;
            }
        }
        Ok((space, u64::from(n) + frees))
    })?;
    for _ in 0..MEASURED {
        let first = meter.measure(|tally| take(&mut space, 4 * 63 + 1, tally)).ok_or("refused")?;
        space.free(first).map_err(|error| error.to_string())?;
        expect(meter.measure(|tally| take(&mut space, 4, tally)), 4)?;
        space.free(4).map_err(|error| error.to_string())?;
    }
    whole(&space)
}

/// No gap has a place and there is no room behind: each request is refused, and the refusal names the largest gap.
fn refused(n: u32, meter: &mut Meter) -> Result<(), String> {
    let gaps = Gaps::misaligned(n, 12, 16);
    let mut space = meter.ready(|tally| gaps.space(0, tally))?;
    for at in 0..MEASURED {
        let request = if at % 2 == 0 { Request::new(12).align(align(16)?) } else { Request::new(13) };
        expect_none(meter.measure(|tally| ask(&mut space, &request, tally)))?;
    }
    whole(&space)
}

/// A space whose largest gaps were all cut by aligned requests. Free at its largest: 8 granules.
fn cut(n: u32, tally: &mut Tally) -> Result<(Space, u64), String> {
    let gaps = Gaps::misaligned(n, 15, 32);
    let (mut space, ops) = gaps.space(0, tally)?;
    let request = Request::new(8).align(align(8)?);
    for at in 0..u64::from(n) {
        expect(ask(&mut space, &request, tally), 32 * at + 8)?;
    }
    Ok((space, ops + u64::from(n)))
}

fn cut_largest(n: u32, meter: &mut Meter) -> Result<(), String> {
    let mut space = meter.ready(|tally| cut(n, tally))?;
    for _ in 0..MEASURED {
        match meter.measure(|tally| space.alloc_probed(&Request::new(9), 0, tally)) {
            Err(refused) => match refused.cause {
                AllocError::NoSpace { largest_free_bytes: 7, .. } => {}
                other => return Err(format!("7 granules are the largest, not: {other}")),
            },
            Ok(span) => return Err(format!("{span}, but there is no room")),
        }
    }
    whole(&space)
}

fn stats_after_cuts(n: u32, meter: &mut Meter) -> Result<(), String> {
    let space = meter.ready(|tally| cut(n, tally))?;
    for _ in 0..MEASURED {
        let stats = meter.measure(|_| space.stats());
        if stats.largest_free_bytes != 7 {
            return Err(format!("{} granules, but 7 are the largest", stats.largest_free_bytes));
        }
    }
    whole(&space)
}

/// Gaps of 2^40 - 1 granules, and a request of 2^40.
fn long_gaps(n: u32, meter: &mut Meter) -> Result<(), String> {
    let gaps = Gaps { count: n, offset: 1, gap: (1 << 40) - 1, period: (1 << 40) + 1 };
    let mut space = meter.ready(|tally| gaps.space(1 << 41, tally))?;
    for _ in 0..MEASURED {
        expect(meter.measure(|tally| take(&mut space, 1 << 40, tally)), gaps.end())?;
        space.free(gaps.end()).map_err(|error| error.to_string())?;
    }
    whole(&space)
}

/// Two areas at one base, which is low; above it are gaps for `area` granules or fewer.
fn congruent(gaps: Gaps, area: u64, align: Align, meter: &mut Meter) -> Result<(), String> {
    let mut space = meter.ready(|tally| {
        let room = Span::from_size(0, gaps.end() + 4096).ok_or("the space is too long")?;
        let mut space = Space::new(room, Align::ONE, Placement::Lowest).map_err(|error| error.to_string())?;
        // Room at the bottom, gaps above: what is congruent comes from above.
        expect(take(&mut space, 4096, tally), 0)?;
        let wall = gaps.period - gaps.offset - gaps.gap;
        for at in 0..u64::from(gaps.count) {
            let base = 4096 + at * gaps.period;
            expect(take(&mut space, gaps.offset, tally), base)?;
            expect(take(&mut space, gaps.gap, tally), base + gaps.offset)?;
            expect(take(&mut space, wall, tally), base + gaps.offset + gaps.gap)?;
        }
        for at in 0..u64::from(gaps.count) {
            let first = 4096 + at * gaps.period + gaps.offset;
            space.free_probed(first, tally).map_err(|error| error.to_string())?;
        }
        space.free_probed(0, tally).map_err(|error| error.to_string())?;
        Ok((space, 2 + 4 * u64::from(gaps.count)))
    })?;
    let areas =
        || -> Option<Vec<_>> { Some(vec![(Span::from_size(0, area)?, 0), (Span::from_size(256, area)?, 0)]) };
    for _ in 0..8 {
        let areas = areas().ok_or("no such areas")?;
        let placed = meter.measure(|_| space.alloc_congruent(areas, align, Span::ALL));
        let base = placed.map_err(|refused| refused.cause.to_string())?;
        if base >= 4096 {
            return Err(format!("{base:#x}, but the gaps are too short"));
        }
        space.free(base).and_then(|_| space.free(base + 256)).map_err(|error| error.to_string())?;
    }
    whole(&space)
}

fn congruent_short(n: u32, meter: &mut Meter) -> Result<(), String> {
    congruent(Gaps::misaligned(n, 11, 16), 12, Align::ONE, meter)
}

fn congruent_misaligned(n: u32, meter: &mut Meter) -> Result<(), String> {
    congruent(Gaps::misaligned(n, 12, 16), 12, align(16)?, meter)
}

/// `find`, which takes `&self`: after an allocation with the alignment, or without one.
fn find_misaligned(n: u32, learned: bool, meter: &mut Meter) -> Result<(), String> {
    let gaps = Gaps::misaligned(n, 12, 16);
    let request = Request::new(12).align(align(16)?);
    let space = meter.ready(|tally| {
        let (mut space, ops) = gaps.space(1 << 20, tally)?;
        if learned {
            expect(ask(&mut space, &request, tally), gaps.end())?;
            space.free_probed(gaps.end(), tally).map_err(|error| error.to_string())?;
        }
        Ok((space, ops + 2 * u64::from(learned)))
    })?;
    for _ in 0..8 {
        let found = meter.measure(|_| space.find(&request, Placement::Lowest));
        expect(found.ok().map(|span| span.first()), gaps.end())?;
    }
    whole(&space)
}

/// Blocks of equal size, and requests for that size: the first block, or if none has a place the room at the end.
fn best_fit(n: u32, multiple: u64, meter: &mut Meter) -> Result<(), String> {
    let gaps = Gaps::misaligned(n, 12, 16);
    let right = if multiple == 1 { 1 } else { gaps.end() };
    best_fit_at(gaps, &Request::new(12).align(align(multiple)?), right, meter)
}

/// Blocks of equal size, of which the window has the last alone.
fn best_fit_last_window(n: u32, meter: &mut Meter) -> Result<(), String> {
    let gaps = Gaps::misaligned(n, 12, 16);
    let last = gaps.end() - 16 + 1;
    let request = Request::new(12).within(last - 5, last + 11).map_err(|error| error.to_string())?;
    best_fit_at(gaps, &request, last, meter)
}

/// Blocks of equal size, of which the window has the upper half.
fn best_fit_half_window(n: u32, meter: &mut Meter) -> Result<(), String> {
    let gaps = Gaps::misaligned(n, 12, 16);
    let half = u64::from(n / 2) * 16;
    let request = Request::new(12).within(half, gaps.end()).map_err(|error| error.to_string())?;
    best_fit_at(gaps, &request, half + 1, meter)
}

/// Granted at one place, again and again.
fn best_fit_at(gaps: Gaps, request: &Request, right: u64, meter: &mut Meter) -> Result<(), String> {
    let mut space = meter.ready(|tally| gaps.space_under(Placement::BestFit, 64, tally))?;
    for _ in 0..MEASURED {
        expect(meter.measure(|tally| ask(&mut space, request, tally)), right)?;
        space.free(right).map_err(|error| error.to_string())?;
    }
    whole(&space)
}

/// A snapshot of regions with a gap of one granule behind each.
fn snapshot(n: u32, meter: &mut Meter) -> Result<(), String> {
    let gaps = Gaps { count: n, offset: 1, gap: 1, period: 3 };
    let space = meter.ready(|tally| gaps.space(0, tally))?;
    for _ in 0..4 {
        let bytes = meter.measure(|_| space.to_bytes(|value, to| to.put(&value.to_le_bytes())));
        if bytes.map_err(|error| error.to_string())?.is_empty() {
            return Err("an empty snapshot".to_owned());
        }
    }
    whole(&space)
}
