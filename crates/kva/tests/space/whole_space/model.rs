//! What a space must be: half-open intervals in 128 bits, all of them looked at for every question.

use super::cases::Case;
use freehold_kva::{AllocError, FreeError, Placement, Request};
use freehold_units::{Align, Span};
use std::collections::BTreeMap;

/// Addresses from `first` up to, but not including, `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) first: u128,
    pub(super) end: u128,
}

impl Interval {
    pub(super) fn of(span: Span) -> Self {
        Self { first: span.first().into(), end: u128::from(span.last()) + 1 }
    }

    pub(super) fn sized(first: u128, bytes: u128) -> Self {
        Self { first, end: first + bytes }
    }

    pub(super) fn shifted(self, by: u128) -> Self {
        Self { first: self.first + by, end: self.end + by }
    }

    fn covers(self, other: Self) -> bool {
        self.first <= other.first && other.end <= self.end
    }

    pub(super) fn contains(self, address: u64) -> bool {
        (self.first..self.end).contains(&address.into())
    }

    pub(super) fn span(self) -> Span {
        Span::new(self.first.try_into().unwrap(), (self.end - 1).try_into().unwrap()).unwrap()
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) usable: Interval,
    pub(super) with_guard: Interval,
    /// What it was allocated at a multiple of.
    pub(super) align: Align,
    pub(super) value: u64,
    pub(super) is_carved: bool,
}

#[derive(Clone)]
pub(super) struct Model {
    granule: Align,
    hull: Span,
    /// In address order, never touching.
    pub(super) free: Vec<Interval>,
    pub(super) taken: BTreeMap<u128, Taken>,
}

impl Model {
    pub(super) fn new(case: &Case) -> Self {
        let first = case.layout.iter().map(|span| span.first()).min().unwrap();
        let last = case.layout.iter().map(|span| span.last()).max().unwrap();
        let hull = Span::new(first, last).unwrap();
        let mut model = Self { granule: case.granule, hull, free: Vec::new(), taken: BTreeMap::new() };
        case.layout.iter().for_each(|&span| model.give(Interval::of(span)));
        model
    }

    pub(super) fn give(&mut self, back: Interval) {
        self.free.push(back);
        self.free.sort_by_key(|block| block.first);
        self.free.dedup_by(|next, block| {
            let touches = block.end == next.first;
            block.end = if touches { next.end } else { block.end };
            touches
        });
    }

    pub(super) fn take(&mut self, taken: Taken) {
        let Taken { usable, with_guard, .. } = taken;
        let at = self.free.iter().position(|block| block.covers(with_guard)).unwrap();
        let block = self.free[at];
        let rest = [Interval { end: with_guard.first, ..block }, Interval { first: with_guard.end, ..block }];
        self.free.splice(at..=at, rest.into_iter().filter(|rest| rest.first < rest.end));
        self.taken.insert(usable.first, taken);
    }

    /// An ordinary region without guard, which was given its place.
    pub(super) fn placed(&self, usable: Interval, value: u64) -> Taken {
        Taken { usable, with_guard: usable, align: self.granule, value, is_carved: false }
    }

    /// Whether a sub-space hands out a region's addresses.
    pub(super) fn mark(&mut self, usable: Interval, is_carved: bool) {
        self.taken.get_mut(&usable.first).unwrap().is_carved = is_carved;
    }

    /// A region is gone.
    pub(super) fn forget(&mut self, taken: Taken) {
        self.taken.remove(&taken.usable.first);
        self.give(taken.with_guard);
    }

    pub(super) fn is_free(&self, interval: Interval) -> bool {
        self.free.iter().any(|block| block.covers(interval))
    }

    fn align(&self, align: Align) -> u128 {
        align.max(self.granule).bytes().into()
    }

    /// The lowest place in each block that has one, with the block's size.
    fn places(&self, bytes: u128, align: Align, window: Span) -> impl Iterator<Item = (u128, u128)> {
        let (align, window) = (self.align(align), Interval::of(window));
        self.free.iter().filter_map(move |block| {
            let place = Interval::sized(block.first.max(window.first).next_multiple_of(align), bytes);
            let fits = block.covers(place) && window.covers(place);
            fits.then_some((block.end - block.first, place.first))
        })
    }

    /// The highest base for which all areas are free and in the window. At the highest one some area is as
    /// far up as its block or the window lets it be.
    pub(super) fn highest_base(&self, areas: &[Interval], align: Align, window: Span) -> Option<u128> {
        let (align, window) = (self.align(align), Interval::of(window));
        let ends = self.free.iter().map(|block| block.end).chain([window.end]);
        let bases = ends.flat_map(|end| areas.iter().filter_map(move |area| end.checked_sub(area.end)));
        let suits = |base: &u128| {
            let places = areas.iter().map(|area| area.shifted(*base));
            places.into_iter().all(|place| window.covers(place) && self.is_free(place))
        };
        bases.map(|base| base / align * align).filter(suits).max()
    }

    pub(super) fn largest_free(&self) -> u128 {
        self.free.iter().map(|block| block.end - block.first).max().unwrap_or(0)
    }

    /// Why areas, given for base 0, have no place: in no way that is free, or in no way at all.
    pub(super) fn no_space(&self, areas: &[Interval], align: Align, window: Span) -> AllocError {
        let bytes: u128 = areas.iter().map(|area| area.end - area.first).sum();
        let low = areas.iter().map(|area| area.first).min().unwrap();
        let high = areas.iter().map(|area| area.end).max().unwrap();
        let (hull, within) = (Interval::of(self.hull), Interval::of(window));
        let reach = Interval { first: hull.first.max(within.first), end: hull.end.min(within.end) };
        let busy = self.taken.values().map(|taken| taken.with_guard.end - taken.with_guard.first);
        let all: u128 = self.free.iter().map(|block| block.end - block.first).chain(busy).sum();
        let room_bytes = saturated(all.min(reach.end - reach.first));
        if bytes > all || high - low > reach.end - reach.first {
            let window = reach.span();
            return AllocError::TooLarge { size_bytes: saturated(high - low), room_bytes, window };
        }
        let lowest = reach.first.saturating_sub(low).next_multiple_of(self.align(align));
        let (size_bytes, fits) = (saturated(bytes), lowest + high <= reach.end);
        let (align, window) = (align.max(self.granule), self.hull.intersection(window).unwrap());
        if !fits {
            return AllocError::NoMultiple { size_bytes, align, window };
        }
        let largest_free_bytes = saturated(self.largest_free());
        AllocError::NoSpace { size_bytes, align, window, largest_free_bytes }
    }

    /// Everything that is wrong with a request in itself; any of it may be the answer.
    pub(super) fn faults(&self, request: &Request) -> Vec<AllocError> {
        let &Request { size_bytes, guard_bytes, window, .. } = request;
        let granule = self.granule;
        let not_granular = |size_bytes| AllocError::NotGranular { size_bytes, granule };
        let outside = AllocError::WindowOutside { window, space: self.hull };
        [
            (size_bytes == 0, AllocError::ZeroSize),
            (!granule.divides(size_bytes), not_granular(size_bytes)),
            (!granule.divides(guard_bytes), not_granular(guard_bytes)),
            (size_bytes.checked_add(guard_bytes).is_none(), AllocError::SizeOverflow),
            (guard_bytes / granule.bytes() >= 1 << 31, AllocError::GuardTooLarge { guard_bytes }),
            (!window.overlaps(self.hull), outside),
        ]
        .into_iter()
        .filter_map(|(wrong, fault)| wrong.then_some(fault))
        .collect()
    }

    pub(super) fn faults_of_areas(&self, areas: &[Span], window: Span) -> Vec<AllocError> {
        let mut faults = Vec::new();
        if !window.overlaps(self.hull) {
            faults.push(AllocError::WindowOutside { window, space: self.hull });
        }
        for (at, &area) in areas.iter().enumerate() {
            let overlapping = (0..at).filter(|&other| areas[other].overlaps(area));
            faults.extend(overlapping.map(|other| AllocError::AreasOverlap { area: other, other: at }));
        }
        faults
    }

    /// Whether `answer` is right for `request` under a placement.
    pub(super) fn judge(&self, request: &Request, placement: Placement, answer: Result<Span, AllocError>) {
        let &Request { size_bytes, guard_bytes, align_bytes, window, .. } = request;
        let align = Align::new(align_bytes).unwrap();
        let faults = self.faults(request);
        if !faults.is_empty() {
            return assert!(
                answer.is_err_and(|cause| faults.contains(&cause)),
                "{answer:?}, not of {faults:?}"
            );
        }
        let bytes = u128::from(size_bytes) + u128::from(guard_bytes);
        let best = match placement {
            Placement::Highest => self.highest_base(&[Interval::sized(0, bytes)], align, window),
            Placement::Lowest => self.places(bytes, align, window).next().map(|(_, place)| place),
            Placement::BestFit => self.places(bytes, align, window).min().map(|(_, place)| place),
        };
        match answer {
            Ok(span) => {
                let place = Interval::sized(span.first().into(), bytes);
                assert_eq!(span.size_bytes(), u128::from(size_bytes));
                assert_eq!(place.first % self.align(align), 0);
                assert!(Interval::of(window).covers(place) && self.is_free(place));
                assert!(best == Some(place.first), "{span}, best is {best:x?}");
            }
            Err(cause) => {
                let is_fixed = bytes == window.size_bytes()
                    && u128::from(window.first()).is_multiple_of(self.align(align));
                let expected = if is_fixed {
                    self.why_not_at(window)
                } else {
                    self.no_space(&[Interval::sized(0, bytes)], align, window)
                };
                assert_eq!(cause, expected);
                assert!(best.is_none(), "nothing found, best is {best:x?}");
            }
        }
    }

    /// Why a fixed place cannot be had.
    pub(super) fn why_not_at(&self, place: Span) -> AllocError {
        let wanted = Interval::of(place);
        if !wanted.first.is_multiple_of(self.align(Align::ONE))
            || !wanted.end.is_multiple_of(self.align(Align::ONE))
        {
            return AllocError::PlaceNotGranular { place, granule: self.granule };
        }
        let in_the_way =
            |taken: &&Taken| taken.with_guard.first < wanted.end && wanted.first < taken.with_guard.end;
        match self.taken.values().rfind(in_the_way) {
            Some(taken) => AllocError::Occupied { region: taken.usable.span() },
            None => AllocError::PlaceOutside { place, space: self.hull },
        }
    }

    pub(super) fn owner(&self, address: u64) -> Option<Taken> {
        self.taken.values().copied().find(|taken| taken.with_guard.contains(address))
    }

    /// Why nothing can be freed at an address at which no region starts, or a carved one.
    pub(super) fn why_not(&self, address: u64) -> FreeError {
        if let Some(owner) = self.owner(address) {
            let region = owner.usable.span();
            let starts = region.first() == address;
            return if starts {
                FreeError::Carved { region }
            } else {
                FreeError::Interior { address, region }
            };
        }
        match self.free.iter().find(|block| block.contains(address)) {
            Some(block) => FreeError::AlreadyFree { address, block: block.span() },
            None => FreeError::Unknown { address },
        }
    }
}

pub(super) fn saturated(bytes: u128) -> u64 {
    bytes.try_into().unwrap_or(u64::MAX)
}
