//! What a space must be: a map of its granules to who holds them, looked at whole for every question.

use freehold_kva::{AllocError, FreeError, Placement, Request};
use freehold_units::{Align, Span};
use std::collections::BTreeMap;

/// Who holds a granule. A number stands for a region as long as it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    Free,
    /// Part of a region, or of its guard.
    Here(u64),
    /// Not that, but part of where the region goes with its guard.
    There(u64),
}

/// A region, in granules counted from address 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) first: u64,
    pub(super) size: u64,
    pub(super) guard: u64,
    /// At least the granule.
    pub(super) align: Align,
    pub(super) value: u64,
    pub(super) is_carved: bool,
    /// Where it will start.
    pub(super) to: Option<u64>,
}

#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) granule: Align,
    pub(super) cells: BTreeMap<u64, Cell>,
    pub(super) regions: BTreeMap<u64, Region>,
    next: u64,
}

/// Equal if whoever does not know the numbers of regions sees no difference.
impl PartialEq for Model {
    fn eq(&self, other: &Self) -> bool {
        self.granule == other.granule
            && self.cells.keys().eq(other.cells.keys())
            && self.in_order().map(|(_, region)| region).eq(other.in_order().map(|(_, region)| region))
    }
}

fn end(span: Span) -> u128 {
    u128::from(span.last()) + 1
}

pub(super) fn saturated(bytes: u128) -> u64 {
    bytes.try_into().unwrap_or(u64::MAX)
}

impl Model {
    pub(super) fn new(layout: &[Span], granule: Align) -> Self {
        let mut model = Self { granule, cells: BTreeMap::new(), regions: BTreeMap::new(), next: 0 };
        layout.iter().for_each(|&span| model.add(span));
        model
    }

    fn number_of(&self, address: u64) -> u64 {
        address / self.granule.bytes()
    }

    pub(super) fn address_of(&self, granule: u64) -> u64 {
        granule * self.granule.bytes()
    }

    /// The addresses of so many granules, which are there.
    pub(super) fn span_of(&self, first: u64, count: u64) -> Span {
        Span::new(self.address_of(first), self.address_of(first + (count - 1)) | self.granule.mask()).unwrap()
    }

    fn is_granular(&self, span: Span) -> bool {
        self.granule.divides(span.first()) && span.last() & self.granule.mask() == self.granule.mask()
    }

    pub(super) fn usable(&self, region: Region) -> Span {
        self.span_of(region.first, region.size)
    }

    pub(super) fn with_guard(&self, region: Region) -> Span {
        self.span_of(region.first, region.size + region.guard)
    }

    pub(super) fn guard(&self, region: Region) -> Option<Span> {
        (region.guard > 0).then(|| self.span_of(region.first + region.size, region.guard))
    }

    /// The region as it will be.
    pub(super) fn moved(region: Region) -> Option<Region> {
        region.to.map(|to| Region { first: to, to: None, ..region })
    }

    /// From the lowest to the highest address of the layout.
    pub(super) fn hull(&self) -> Span {
        let (&first, _) = self.cells.first_key_value().unwrap();
        let (&last, _) = self.cells.last_key_value().unwrap();
        self.span_of(first, 1).hull(self.span_of(last, 1))
    }

    pub(super) fn in_order(&self) -> impl DoubleEndedIterator<Item = (u64, Region)> {
        let mut regions: Vec<(u64, Region)> =
            self.regions.iter().map(|(&number, &region)| (number, region)).collect();
        regions.sort_by_key(|(_, region)| region.first);
        regions.into_iter()
    }

    /// The granules of a span that the layout has, and who holds them.
    pub(super) fn cells_in(&self, span: Span) -> impl DoubleEndedIterator<Item = (u64, Cell)> {
        let granules = self.number_of(span.first())..=self.number_of(span.last());
        self.cells.range(granules).map(|(&granule, &cell)| (granule, cell))
    }

    /// Whether the layout has all of it.
    pub(super) fn has_all(&self, span: Span) -> bool {
        let wanted = u128::from(self.number_of(span.last()) - self.number_of(span.first())) + 1;
        self.cells_in(span).count() as u128 == wanted
    }

    pub(super) fn is_free(&self, span: Span) -> bool {
        self.has_all(span) && self.cells_in(span).all(|(_, cell)| cell == Cell::Free)
    }

    pub(super) fn blocks(&self) -> Vec<Span> {
        let mut blocks: Vec<Span> = Vec::new();
        for (&granule, _) in self.cells.iter().filter(|(_, cell)| **cell == Cell::Free) {
            let here = self.span_of(granule, 1);
            match blocks.last_mut() {
                Some(block) if block.touches(here) => *block = block.hull(here),
                _ => blocks.push(here),
            }
        }
        blocks
    }

    /// What is held beyond the old places: one piece for each region that moves.
    pub(super) fn placeholders(&self) -> Vec<Span> {
        let mut placeholders: BTreeMap<u64, Span> = BTreeMap::new();
        for (&granule, &cell) in &self.cells {
            if let Cell::There(number) = cell {
                let here = self.span_of(granule, 1);
                placeholders.entry(number).and_modify(|all| *all = all.hull(here)).or_insert(here);
            }
        }
        placeholders.into_values().collect()
    }

    pub(super) fn free_bytes(&self) -> u128 {
        let free = self.cells.values().filter(|cell| **cell == Cell::Free).count() as u128;
        free * u128::from(self.granule.bytes())
    }

    pub(super) fn all_bytes(&self) -> u128 {
        self.cells.len() as u128 * u128::from(self.granule.bytes())
    }

    pub(super) fn largest_free(&self) -> u64 {
        saturated(self.blocks().iter().map(|block| block.size_bytes()).max().unwrap_or(0))
    }

    // Changes. None may take what another has.

    pub(super) fn add(&mut self, span: Span) {
        for granule in self.number_of(span.first())..=self.number_of(span.last()) {
            assert_eq!(self.cells.insert(granule, Cell::Free), None);
        }
    }

    pub(super) fn remove(&mut self, span: Span) {
        for granule in self.number_of(span.first())..=self.number_of(span.last()) {
            assert_eq!(self.cells.remove(&granule), Some(Cell::Free));
        }
    }

    fn take(&mut self, place: Span, cell: Cell) {
        for granule in self.number_of(place.first())..=self.number_of(place.last()) {
            let before = self.cells.insert(granule, cell);
            assert_eq!(before, Some(Cell::Free), "{place} was given away twice");
        }
    }

    fn give(&mut self, number: u64, what: impl Fn(Cell) -> bool) {
        for cell in self.cells.values_mut() {
            if matches!(*cell, Cell::Here(owner) | Cell::There(owner) if owner == number) && what(*cell) {
                *cell = Cell::Free;
            }
        }
    }

    pub(super) fn place(&mut self, usable: Span, guard_bytes: u64, align: Align, value: u64) -> u64 {
        let granules = |bytes: u128| u64::try_from(bytes / u128::from(self.granule.bytes())).unwrap();
        let region = Region {
            first: self.number_of(usable.first()),
            size: granules(usable.size_bytes()),
            guard: granules(guard_bytes.into()),
            align: align.max(self.granule),
            value,
            is_carved: false,
            to: None,
        };
        assert!(region.align.divides(usable.first()) && self.is_granular(usable));
        self.insert(self.next, region);
        self.next += 1;
        self.next - 1
    }

    pub(super) fn insert(&mut self, number: u64, region: Region) {
        self.take(self.with_guard(region), Cell::Here(number));
        self.regions.insert(number, region);
    }

    pub(super) fn free(&mut self, number: u64) -> Region {
        self.give(number, |_| true);
        self.regions.remove(&number).unwrap()
    }

    pub(super) fn begin(&mut self, number: u64, to: u64) {
        let region = self.regions[&number];
        let there = self.span_of(self.number_of(to), region.size + region.guard);
        for granule in self.number_of(there.first())..=self.number_of(there.last()) {
            let cell = self.cells.get_mut(&granule).unwrap();
            match *cell {
                Cell::Free => *cell = Cell::There(number),
                cell => assert_eq!(cell, Cell::Here(number), "{there} was given away twice"),
            }
        }
        self.regions.entry(number).and_modify(|region| region.to = Some(to / self.granule.bytes()));
    }

    pub(super) fn commit(&mut self, number: u64) -> Span {
        let moved = Self::moved(self.free(number)).unwrap();
        self.insert(number, moved);
        self.usable(moved)
    }

    pub(super) fn cancel(&mut self, number: u64) {
        self.give(number, |cell| matches!(cell, Cell::There(_)));
        self.regions.entry(number).and_modify(|region| region.to = None);
    }

    // Questions.

    /// Every error that says why no region can be freed at an address; none if one can. Else, whose it is.
    pub(super) fn why_not_free(&self, address: u64) -> Result<u64, FreeError> {
        match self.cells.get(&self.number_of(address)) {
            None => Err(FreeError::Unknown { address }),
            Some(Cell::Free) => {
                let block = self.blocks().into_iter().find(|block| block.contains(address)).unwrap();
                Err(FreeError::AlreadyFree { address, block })
            }
            Some(&Cell::Here(number)) => {
                let region = self.regions[&number];
                let usable = self.usable(region);
                match address == usable.first() {
                    true if region.to.is_some() => Err(FreeError::Moving { region: usable }),
                    true if region.is_carved => Err(FreeError::Carved { region: usable }),
                    true => Ok(number),
                    false => Err(FreeError::Interior { address, region: usable }),
                }
            }
            Some(Cell::There(number)) => Err(FreeError::Moving { region: self.usable(self.regions[number]) }),
        }
    }

    /// The highest region in the way, but for those: where it is, or where it goes, whichever is in the way.
    pub(super) fn in_the_way(&self, place: Span, but: &[u64]) -> Option<Span> {
        self.cells_in(place).rev().find_map(|(_, cell)| match cell {
            Cell::Here(number) if !but.contains(&number) => Some(self.usable(self.regions[&number])),
            Cell::There(number) if !but.contains(&number) => {
                Some(self.usable(Self::moved(self.regions[&number]).unwrap()))
            }
            _ => None,
        })
    }

    /// Whether it is a right answer that a place cannot be had, of which some regions have a part that does not count.
    pub(super) fn is_why_not(&self, place: Span, but: &[u64], cause: AllocError) -> bool {
        if !self.is_granular(place) {
            return cause == AllocError::PlaceNotGranular { place, granule: self.granule };
        }
        match (self.in_the_way(place, but), cause) {
            (way, AllocError::Occupied { region }) => way == Some(region),
            (_, AllocError::PlaceOutside { place: named, space }) => {
                place.covers(named) && !self.has_all(named) && space == self.hull()
            }
            _ => false,
        }
    }

    /// Everything that is wrong with a request in itself; any of it may be the answer.
    fn faults(&self, request: &Request) -> Vec<AllocError> {
        let &Request { size_bytes, guard_bytes, align_bytes, window, .. } = request;
        let granule = self.granule;
        let not_granular = |size_bytes| AllocError::NotGranular { size_bytes, granule };
        [
            (size_bytes == 0, AllocError::ZeroSize),
            (!granule.divides(size_bytes), not_granular(size_bytes)),
            (!granule.divides(guard_bytes), not_granular(guard_bytes)),
            (!align_bytes.is_power_of_two(), AllocError::NotPowerOfTwo { align_bytes }),
            (size_bytes.checked_add(guard_bytes).is_none(), AllocError::SizeOverflow),
            (guard_bytes / granule.bytes() >= 1 << 31, AllocError::GuardTooLarge { guard_bytes }),
            (!window.overlaps(self.hull()), AllocError::WindowOutside { window, space: self.hull() }),
        ]
        .into_iter()
        .filter_map(|(wrong, fault)| wrong.then_some(fault))
        .collect()
    }

    /// The lowest and the highest place in a block.
    fn places(block: Span, bytes: u128, align: u128, window: Span) -> Option<(u128, u128)> {
        let first = u128::from(block.first().max(window.first())).next_multiple_of(align);
        let last = end(block).min(end(window)).checked_sub(bytes)? / align * align;
        (first <= last).then_some((first, last))
    }

    /// Whether `answer` is right for `request` under a placement.
    pub(super) fn judge(&self, request: &Request, placement: Placement, answer: Result<Span, AllocError>) {
        let faults = self.faults(request);
        if !faults.is_empty() {
            return assert!(answer.is_err_and(|cause| faults.contains(&cause)), "{answer:?}: {faults:?}");
        }
        let &Request { size_bytes, guard_bytes, window, .. } = request;
        let align = Align::new(request.align_bytes).unwrap().max(self.granule);
        let bytes = u128::from(size_bytes) + u128::from(guard_bytes);
        let places = |block: &Span| {
            let (low, high) = Self::places(*block, bytes, align.bytes().into(), window)?;
            Some((low, high, block.size_bytes()))
        };
        let all: Vec<(u128, u128, u128)> = self.blocks().iter().filter_map(places).collect();
        let best = match placement {
            Placement::Lowest => all.iter().map(|&(low, ..)| low).min(),
            Placement::Highest => all.iter().map(|&(_, high, _)| high).max(),
            Placement::BestFit => all.iter().min_by_key(|&&(low, _, size)| (size, low)).map(|&(low, ..)| low),
        };
        match answer {
            Ok(span) => {
                let place = Span::from_size(span.first(), saturated(bytes)).unwrap();
                assert!(span.size_bytes() == size_bytes.into() && align.divides(span.first()));
                assert!(window.covers(place) && self.is_free(place), "{place} is not free");
                assert!(best == Some(span.first().into()), "{span}, best is {best:x?}");
            }
            Err(cause) => {
                assert!(best.is_none(), "nothing found, best is {best:x?}");
                assert!(self.is_why_none(bytes, align, window, cause), "{cause:?}");
            }
        }
    }

    /// Whether it is a right answer that nothing was found.
    fn is_why_none(&self, bytes: u128, align: Align, window: Span, cause: AllocError) -> bool {
        let size_bytes = saturated(bytes);
        if bytes == window.size_bytes() && align.divides(window.first()) {
            return self.is_why_not(window, &[], cause);
        }
        let reach = self.hull().intersection(window).unwrap();
        match cause {
            AllocError::NoSpace { largest_free_bytes, .. } => {
                let same = AllocError::NoSpace { size_bytes, align, window: reach, largest_free_bytes };
                cause == same && largest_free_bytes == self.largest_free()
            }
            AllocError::NoMultiple { .. } => {
                let none = Self::places(reach, bytes, align.bytes().into(), window).is_none();
                cause == AllocError::NoMultiple { size_bytes, align, window: reach } && none
            }
            AllocError::TooLarge { room_bytes, .. } => {
                let room = saturated(self.all_bytes().min(reach.size_bytes()));
                cause == AllocError::TooLarge { size_bytes, room_bytes, window: reach } && room_bytes == room
            }
            _ => false,
        }
    }
}
