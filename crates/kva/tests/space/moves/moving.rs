//! Moves that begin and end, and regions that change places.

use super::cases::{Spoil, Travels};
use super::model::{Model, Region};
use super::{Stale, Twins};
use freehold_kva::MoveError;
use freehold_units::Span;

/// Who goes where, as it is asked.
type Asked = Vec<(u64, Span)>;

impl Twins {
    pub(super) fn begin(&mut self, first: u64, to: u64) {
        let answer = self.space.begin_move(first, to);
        let number = match self.model.why_not_free(first) {
            Ok(number) => number,
            Err(error) => return assert_eq!(answer, Err(MoveError::Address(error))),
        };
        let region = self.model.regions[&number];
        match answer {
            Ok(token) => {
                assert_eq!((token.first(), token.to()), (first, to));
                assert!(first != to && region.align.divides(to));
                // It is the model that notices if part of the place is another's.
                self.model.begin(number, to);
                self.tokens.push((token, number));
            }
            Err(error) => assert!(self.is_why_not_there(number, to, &[number], error), "{to:#x}: {error:?}"),
        }
    }

    /// Whether it is a right answer that a region cannot go to a place, where some regions are not in its way.
    fn is_why_not_there(&self, number: u64, to: u64, but: &[u64], error: MoveError) -> bool {
        let region = self.model.regions[&number];
        let place = Span::from_size(to, self.model.with_guard(region).size_saturating());
        match error {
            MoveError::SamePlace { region: named } => {
                self.start_of(number) == to && named == self.model.usable(region)
            }
            MoveError::Misaligned { region: mover, place: named, align } => {
                mover == self.model.usable(region)
                    && Some(named) == place
                    && align == region.align
                    && !align.divides(to)
            }
            MoveError::PastTheEnd { region: mover, first } => {
                mover == self.model.usable(region) && place.is_none() && first == to
            }
            MoveError::Place(cause) => {
                let aligned = place.filter(|_| region.align.divides(to));
                aligned.is_some_and(|place| self.model.is_why_not(place, but, cause))
            }
            _ => false,
        }
    }

    pub(super) fn end(&mut self, which: usize, commit: bool) {
        if self.tokens.is_empty() {
            return;
        }
        let (token, number) = self.tokens.remove(which % self.tokens.len());
        if commit {
            let span = self.model.commit(number);
            assert_eq!(self.space.commit_move(token), Ok(span));
        } else {
            self.model.cancel(number);
            assert_eq!(self.space.cancel_move(token), Ok(()));
        }
        self.stale.push((token, Stale::Ended));
    }

    pub(super) fn end_all(&mut self, commit: bool) {
        for at in (0..self.tokens.len()).rev() {
            self.end(at / 2, commit);
        }
    }

    /// Every region that is there, and where it is to go.
    fn travels(&self, travels: &Travels) -> Asked {
        let regions: Vec<(u64, Region)> = self.model.in_order().collect();
        let Some(at) = (match *travels {
            Travels::Rotate(which, _) | Travels::Pack(which, ..) => which.checked_rem(regions.len()),
            Travels::Anywhere(_) => Some(0),
        }) else {
            return Vec::new();
        };
        let to = |region: Region, to: u64| {
            let size = self.model.usable(region).size_saturating();
            let place = Span::from_size(to, size).unwrap_or(Span::new(to, u64::MAX).unwrap());
            (self.model.address_of(region.first), place)
        };
        match travels {
            Travels::Rotate(_, count) => {
                let some = &regions[at..regions.len().min(at + count)];
                let starts = some.iter().cycle().skip(1).map(|(_, region)| region.first);
                some.iter()
                    .zip(starts)
                    .map(|(&(_, region), first)| to(region, self.model.address_of(first)))
                    .collect()
            }
            Travels::Pack(_, count, order, by) => {
                let mut some = regions[at..regions.len().min(at + count)].to_vec();
                let mut first = some[0].1.first.wrapping_add_signed(*by);
                for place in 1..some.len() {
                    some.swap(place, (order >> (8 * place)) as usize % (place + 1));
                }
                let place = |&(_, region): &(u64, Region)| {
                    let address = first.wrapping_mul(self.model.granule.bytes());
                    let address = region.align.up(address).unwrap_or(address);
                    first = (address / self.model.granule.bytes()).wrapping_add(region.size + region.guard);
                    to(region, address)
                };
                some.iter().map(place).collect()
            }
            Travels::Anywhere(list) if regions.is_empty() => {
                list.iter().map(|&(_, address)| (address, Span::new(address, address).unwrap())).collect()
            }
            Travels::Anywhere(list) => {
                list.iter().map(|&(which, address)| to(regions[which % regions.len()].1, address)).collect()
            }
        }
    }

    fn spoil(&self, asked: &mut Asked, spoil: Spoil) {
        let Some(&(first, place)) = asked.first() else { return };
        let granule = self.model.granule.bytes();
        let last = asked[asked.len() - 1].1;
        let size = place.size_saturating();
        asked[0] = match spoil {
            Spoil::Nothing => return,
            Spoil::Twice(same) => return asked.push((first, if same { place } else { last })),
            Spoil::OtherSize(longer) => {
                let size = if longer { size.saturating_add(granule) } else { size.saturating_sub(granule) };
                (first, Span::from_size(place.first(), size).unwrap_or(place))
            }
            Spoil::NoStart => (first.wrapping_add(1), place),
            Spoil::OffGranule => (first, place.shifted(1).unwrap_or(place)),
            Spoil::SamePlace => (first, Span::from_size(first, size).unwrap_or(place)),
        };
    }

    pub(super) fn rearrange(&mut self, travels: &Travels, spoil: Spoil) {
        let mut asked = self.travels(travels);
        self.spoil(&mut asked, spoil);
        let answer = self.space.rearrange(&asked);
        let found: Result<Vec<u64>, MoveError> = asked
            .iter()
            .map(|&(first, _)| self.model.why_not_free(first).map_err(MoveError::Address))
            .collect();
        let leaving: Vec<u64> =
            asked.iter().filter_map(|&(first, _)| self.model.why_not_free(first).ok()).collect();
        match answer {
            Ok(()) => {
                let numbers = found.unwrap();
                let regions: Vec<Region> = numbers.iter().map(|&number| self.model.free(number)).collect();
                for ((&number, region), &(_, place)) in numbers.iter().zip(regions).zip(&asked) {
                    assert_eq!(self.model.usable(region).size_bytes(), place.size_bytes());
                    assert!(region.align.divides(place.first()));
                    let first = place.first() / self.model.granule.bytes();
                    self.model.insert(number, Region { first, ..region });
                }
            }
            Err(error) => {
                let is_why = self.is_why_not_arranged(&asked, &leaving, error);
                assert!(is_why, "{asked:x?} {error:?}");
            }
        }
    }

    /// Whether it is a right answer that regions cannot go where it is asked.
    fn is_why_not_arranged(&self, asked: &Asked, leaving: &[u64], error: MoveError) -> bool {
        let places = asked.iter().filter_map(|&(first, place)| {
            let number = self.model.why_not_free(first).ok()?;
            let region = self.model.regions[&number];
            Some((number, region, place))
        });
        let places: Vec<(u64, Region, Span)> = places.collect();
        let with_guard = |(_, region, place): (u64, Region, Span)| {
            Span::from_size(place.first(), self.model.with_guard(region).size_saturating())
        };
        match error {
            MoveError::Address(error) => {
                asked.iter().any(|&(first, _)| self.model.why_not_free(first) == Err(error))
            }
            MoveError::OtherSize { region: named, place: given } => {
                places.iter().any(|&(_, region, place)| {
                    let usable = self.model.usable(region);
                    (usable, place) == (named, given) && usable.size_bytes() != place.size_bytes()
                })
            }
            MoveError::Twice { region: named } => {
                places.iter().filter(|(_, region, _)| self.model.usable(*region) == named).count() > 1
            }
            MoveError::PlacesOverlap { place, other } => {
                let all: Vec<Option<Span>> = places.iter().map(|&travel| with_guard(travel)).collect();
                let is_there = |at: usize, span: Span| all[at] == Some(span);
                let pairs = (0..all.len()).flat_map(|a| (0..all.len()).map(move |b| (a, b)));
                let named =
                    pairs.filter(|(a, b)| a != b).any(|(a, b)| is_there(a, place) && is_there(b, other));
                named && place.overlaps(other)
            }
            error => places
                .iter()
                .any(|&(number, _, place)| self.is_why_not_there(number, place.first(), leaving, error)),
        }
    }

    /// The tokens of a copy, or of what was restored: other ones, for the same moves.
    pub(super) fn new_tokens(&mut self) {
        let pending: Vec<_> = self.space.pending_moves().collect();
        let old = std::mem::take(&mut self.tokens);
        assert_eq!(pending.len(), old.len());
        for (token, number) in old {
            let region = self.model.regions[&number];
            let moved = Model::moved(region).unwrap();
            let ends = (self.start_of(number), self.model.address_of(moved.first));
            let own = pending.iter().find(|token| (token.first(), token.to()) == ends).unwrap();
            assert_ne!(*own, token);
            self.tokens.push((*own, number));
            self.stale.push((token, Stale::Foreign));
        }
    }
}
