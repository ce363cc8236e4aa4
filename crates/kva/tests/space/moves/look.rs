//! All that can be seen of a space, held against the model.

use super::Twins;
use super::model::{Cell, Model, Region};
use freehold_kva::Region as Seen;
use freehold_units::Span;

/// More granules than that are looked at one in so many.
const LOOKS: usize = 64;

impl Twins {
    /// Everything that can be seen, from scratch.
    pub(super) fn compare(&self) {
        let (space, model) = (&self.space, &self.model);
        space.validate().unwrap();
        assert_eq!((space.span(), space.granule()), (model.hull(), model.granule));
        assert!(space.free_blocks().eq(model.blocks()));
        assert!(space.free_blocks().rev().eq(model.blocks().into_iter().rev()));
        let mut seen = space.regions();
        for (_, region) in model.in_order() {
            self.is_seen(&seen.next().unwrap(), region);
        }
        assert!(seen.next().is_none());
        assert_eq!((space.len(), space.is_empty()), (model.regions.len(), model.regions.is_empty()));
        self.compare_figures();
        self.compare_moves();
        let granules: Vec<u64> = model.cells.keys().copied().collect();
        for &granule in granules.iter().step_by(granules.len().div_ceil(LOOKS)) {
            let place = model.span_of(granule, 1);
            [place.first(), place.last()].into_iter().for_each(|address| self.look_at(address));
        }
        for address in
            [0, u64::MAX, model.hull().first().wrapping_sub(1), model.hull().last().wrapping_add(1)]
        {
            self.look_at(address);
        }
    }

    fn is_seen(&self, seen: &Seen<'_, u64>, region: Region) {
        let model = &self.model;
        let (usable, guard) = (model.usable(region), model.guard(region));
        assert_eq!((seen.span(), seen.guard()), (usable, guard));
        assert_eq!((*seen.value(), seen.is_carved()), (region.value, region.is_carved));
        let to = Model::moved(region).map(|moved| model.usable(moved));
        assert_eq!(seen.moving_to(), to);
    }

    fn compare_figures(&self) {
        let stats = self.space.stats();
        let mut figures = stats;
        figures.regions = self.model.regions.len();
        figures.busy_bytes = self.model.all_bytes() - self.model.free_bytes();
        figures.free_blocks = self.model.blocks().len();
        figures.free_bytes = self.model.free_bytes();
        figures.largest_free_bytes = self.model.largest_free();
        assert_eq!(stats, figures);
    }

    /// Every token there is, once.
    fn compare_moves(&self) {
        let pending: Vec<_> = self.space.pending_moves().collect();
        assert_eq!(pending.len(), self.tokens.len());
        for &(token, number) in &self.tokens {
            assert_eq!(pending.iter().filter(|&&other| other == token).count(), 1);
            let region = self.model.regions[&number];
            let ends = (region.first, region.to.unwrap());
            assert_eq!(
                (token.first(), token.to()),
                (self.model.address_of(ends.0), self.model.address_of(ends.1))
            );
        }
        assert_eq!(self.model.regions.values().filter(|region| region.to.is_some()).count(), pending.len());
    }

    /// Who has an address, be it at the new place, and whose guard it is.
    fn look_at(&self, address: u64) {
        let (owner, overrun) = self.owners(address);
        let [seen, guard] = [self.space.region_at(address), self.space.guard_at(address)];
        assert_eq!((seen.is_some(), guard.is_some()), (owner.is_some(), overrun.is_some()), "{address:#x}");
        for (seen, number) in [(seen, owner), (guard, overrun)] {
            if let (Some(seen), Some(number)) = (seen, number) {
                self.is_seen(&seen, self.model.regions[&number]);
            }
        }
    }

    /// The region that has an address, or else the one that has it in its guard.
    fn owners(&self, address: u64) -> (Option<u64>, Option<u64>) {
        let here = Span::new(address, address).unwrap();
        let owner = self.model.cells_in(here).find_map(|(_, cell)| match cell {
            Cell::Here(number) | Cell::There(number) => Some(number),
            Cell::Free => None,
        });
        let is_usable = |number: &u64| {
            let region = self.model.regions[number];
            let places = [Some(region), Model::moved(region)];
            places.into_iter().flatten().any(|place| self.model.usable(place).contains(address))
        };
        (owner.filter(is_usable), owner.filter(|number| !is_usable(number)))
    }

    pub(super) fn touch(&mut self, at: u64, address: u64) {
        self.look_at(address);
        let (owner, _) = self.owners(address);
        let value = self.space.value_at_mut(address);
        assert_eq!(value.as_deref().copied(), owner.map(|number| self.model.regions[&number].value));
        if let (Some(value), Some(number)) = (value, owner) {
            *value = at;
            self.model.regions.entry(number).and_modify(|region| region.value = at);
        }
    }

    /// Every value is reached once.
    pub(super) fn change_all(&mut self, at: u64) {
        let change = |value: u64| value.wrapping_mul(2).wrapping_add(at);
        self.space.values_mut().for_each(|value| *value = change(*value));
        self.model.regions.values_mut().for_each(|region| region.value = change(region.value));
    }

    /// The regions that have an address in `span`, be it of the guard; from both ends. They count where they are shown.
    pub(super) fn within(&self, span: Span, ends: u64) {
        let is_in = |&(number, _): &(u64, Region)| {
            self.model.cells_in(span).any(|(_, cell)| cell == Cell::Here(number))
        };
        let mut wanted: Vec<Region> = self.model.in_order().filter(is_in).map(|(_, region)| region).collect();
        let mut seen = self.space.regions_in(span);
        let listed: Vec<Span> = seen.clone().map(|region| region.span()).collect();
        let spans: Vec<Span> = wanted.iter().map(|&region| self.model.usable(region)).collect();
        assert_eq!(listed, spans, "in {span}");
        for at in 0.. {
            let from_behind = ends >> (at % 64) & 1 == 1;
            let next = if from_behind { seen.next_back() } else { seen.next() };
            let Some(next) = next else { break };
            let region = if from_behind { wanted.pop().unwrap() } else { wanted.remove(0) };
            self.is_seen(&next, region);
        }
        assert!(wanted.is_empty() && seen.next().is_none() && seen.next_back().is_none());
    }

    /// A copy is taken apart from both ends.
    pub(super) fn take_out(&self) {
        let mut wanted: Vec<(Span, u64)> =
            self.model.in_order().map(|(_, region)| (self.model.usable(region), region.value)).collect();
        assert!((&self.space).into_iter().map(|region| (region.span(), *region.value())).eq(wanted.clone()));
        let mut taken = self.space.clone().into_iter();
        for at in 0..wanted.len() {
            let (next, expected) = match at % 3 {
                0 => (taken.next_back(), wanted.pop()),
                _ => (taken.next(), Some(wanted.remove(0))),
            };
            assert_eq!(next, expected);
        }
        assert!(taken.next().is_none() && taken.next_back().is_none());
    }
}
