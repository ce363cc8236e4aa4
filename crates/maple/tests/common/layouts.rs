//! Ranges of maps whose iterators are checked, and bounds that begin and end in all places of them.

use freehold_units::Span;
use std::ops::RangeInclusive;

pub(crate) type Bounds = RangeInclusive<u64>;

pub(crate) const ALL: Bounds = 0..=u64::MAX;

/// How many ranges a map has: all small numbers, and some for high trees.
pub(crate) fn sizes() -> Vec<u64> {
    if cfg!(miri) { vec![16] } else { (0..=40).chain([97, 199]).collect() }
}

/// So many ranges in ascending order: with gaps and without, with and without a gap at either end of the indexes.
pub(crate) fn layouts(len: u64) -> Vec<Vec<Span>> {
    let laid = |range: fn(u64) -> (u64, u64)| -> Vec<Span> {
        (0..len).map(range).map(|(first, last)| Span::new(first, last).unwrap()).collect()
    };
    let spaced = laid(|at| (16 * at, 16 * at + 7));
    let touching = laid(|at| (16 * at, 16 * at + 15));
    let behind_a_gap = laid(|at| (100 + 16 * at, 107 + 16 * at));
    let pairs_of_one_index = laid(|at| (at + at / 2 * 3, at + at / 2 * 3));
    let mirrored = |spans: &[Span]| -> Vec<Span> {
        spans.iter().rev().map(|span| Span::new(!span.last(), !span.first()).unwrap()).collect()
    };
    let to_the_end = mirrored(&spaced);
    let mut everything = mirrored(&touching);
    if let Some(first) = everything.first_mut() {
        *first = Span::new(0, first.last()).unwrap();
    }
    if cfg!(miri) {
        return vec![spaced, everything];
    }
    vec![spaced, touching, behind_a_gap, pairs_of_one_index, to_the_end, everything]
}

/// The gaps between some ranges.
pub(crate) fn gaps_of(spans: &[Span]) -> Vec<Span> {
    let firsts = std::iter::once(Some(0)).chain(spans.iter().map(|span| span.last().checked_add(1)));
    let lasts = spans.iter().map(|span| span.first().checked_sub(1)).chain([Some(u64::MAX)]);
    firsts.zip(lasts).filter_map(|(first, last)| Span::new(first?, last?)).collect()
}

/// Bounds that begin and end at and within ranges and gaps, and some without an index.
pub(crate) fn bounds(spans: &[Span]) -> Vec<Bounds> {
    let at = |nth: usize| spans.get(nth).or(spans.last()).map_or(50, |span| span.first());
    let (low, middle, high) = (at(0), at(spans.len() / 2), at(spans.len().saturating_sub(1)));
    let of = |first: u64, last: u64| first..=last;
    let (in_range, in_gap) = (3, 11);
    let mut bounds = vec![
        of(low.saturating_add(in_range), high.saturating_add(in_range)),
        of(low.saturating_add(in_gap), high.saturating_sub(in_range)),
        of(0, middle),
        of(middle, u64::MAX),
        of(at(1).saturating_sub(1), middle.saturating_add(in_gap)),
        of(at(1), at(1)),
        of(middle.saturating_add(in_gap), middle.saturating_add(in_gap)),
        of(u64::MAX, u64::MAX),
        of(0, 0),
    ];
    if cfg!(miri) {
        bounds.truncate(2);
    }
    bounds
}

/// The spans that have an index within some bounds.
pub(crate) fn within(spans: &[Span], bounds: &Bounds) -> Vec<Span> {
    let is_in = |span: &Span| span.first() <= *bounds.end() && *bounds.start() <= span.last();
    spans.iter().copied().filter(|span| !bounds.is_empty() && is_in(span)).collect()
}
