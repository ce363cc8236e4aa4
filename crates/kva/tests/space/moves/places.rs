//! Regions that come, go and change their size, sub-spaces, and layouts that change.

use super::model::Cell;
use super::{Twins, placement};
use freehold_kva::{
    AddressSpace, AdoptError, AllocError, FreeError, LayoutError, Placement, Request, ResizeError,
    ReturnError,
};
use freehold_units::{Align, Span};

impl Twins {
    pub(super) fn alloc(&mut self, at: u64, request: &Request, with: Option<usize>) {
        let (answer, placement) = match with {
            None => (self.space.alloc(request, at), self.space.placement()),
            Some(which) => {
                let placement = placement(which);
                (self.space.alloc_with(request, placement, at), placement)
            }
        };
        if let Err(rejected) = &answer {
            assert_eq!(rejected.value, at);
        }
        let answer = answer.map_err(AllocError::from);
        self.model.judge(request, placement, answer);
        if let Ok(span) = answer {
            self.model.place(span, request.guard_bytes, Align::new(request.align_bytes).unwrap(), at);
        }
    }

    pub(super) fn alloc_at(&mut self, at: u64, place: Span) {
        match self.space.alloc_at(place, at) {
            Ok(span) => {
                assert_eq!(span, place);
                self.model.place(span, 0, Align::ONE, at);
            }
            Err(rejected) => {
                assert_eq!(rejected.value, at);
                assert!(self.model.is_why_not(place, &[], rejected.cause), "{place}: {:?}", rejected.cause);
            }
        }
    }

    pub(super) fn fill(&mut self, at: u64, each: usize, most: usize) {
        let cells: Vec<(u64, Cell)> = self.model.cells.iter().map(|(&at, &cell)| (at, cell)).collect();
        for &(granule, cell) in cells.iter().step_by(each).take(most) {
            if cell == Cell::Free {
                let place = self.model.span_of(granule, 1);
                assert_eq!(self.space.alloc_at(place, at).unwrap(), place);
                self.model.place(place, 0, Align::ONE, at);
            }
        }
    }

    pub(super) fn free(&mut self, first: u64) {
        let expected = self.model.why_not_free(first).map(|number| {
            let region = self.model.free(number);
            (self.model.usable(region), region.value)
        });
        assert_eq!(self.space.free(first), expected);
    }

    pub(super) fn resize(&mut self, which: usize, size_bytes: u64) {
        let Some((number, region)) = self.region(which) else { return };
        let (first, granule) = (self.start_of(number), self.model.granule);
        let answer = self.space.resize(first, size_bytes);
        let with_guard = u128::from(size_bytes) + u128::from(region.guard) * u128::from(granule.bytes());
        let overflow = u128::from(first) + with_guard > 1 << 64 || with_guard >= 1 << 64;
        let fault = match size_bytes {
            0 => Some(AllocError::ZeroSize),
            _ if !granule.divides(size_bytes) => Some(AllocError::NotGranular { size_bytes, granule }),
            _ if overflow => Some(AllocError::SizeOverflow),
            _ => None,
        };
        let address = self.model.why_not_free(first).err();
        let after = Span::from_size(first, with_guard.try_into().unwrap_or(u64::MAX));
        let more = fault.and(None).or(after).and_then(|after| after.above(self.model.with_guard(region)));
        let more = more.filter(|_| fault.is_none());
        match answer {
            Ok(span) => {
                assert_eq!((address, fault, Some(span)), (None, None, Span::from_size(first, size_bytes)));
                assert!(more.is_none_or(|more| self.model.is_free(more)));
                let mut region = self.model.free(number);
                region.size = size_bytes / granule.bytes();
                self.model.insert(number, region);
            }
            Err(ResizeError::Address(error)) => assert_eq!(Some(error), address),
            Err(ResizeError::Size(cause)) if fault.is_some() => assert_eq!(Some(cause), fault),
            Err(ResizeError::Size(cause)) => {
                let more = more.unwrap();
                assert!(self.model.is_why_not(more, &[], cause), "{more}: {cause:?}");
            }
            Err(error) => panic!("{error}"),
        }
    }

    pub(super) fn carve(&mut self, at: u64, request: &Request) {
        let answer = self.space.carve::<()>(request, at, Placement::Lowest);
        let span = answer.as_ref().map(|sub_space| sub_space.span()).map_err(|rejected| rejected.cause);
        self.model.judge(request, self.space.placement(), span);
        if let Ok(sub_space) = answer {
            let align = Align::new(request.align_bytes).unwrap();
            let number = self.model.place(sub_space.span(), request.guard_bytes, align, at);
            self.mark(number, true);
            self.sub_spaces.push((number, sub_space));
        }
    }

    fn mark(&mut self, number: u64, is_carved: bool) {
        self.model.regions.entry(number).and_modify(|region| region.is_carved = is_carved);
    }

    pub(super) fn take_back(&mut self, which: usize) {
        if self.sub_spaces.is_empty() {
            return;
        }
        let (number, sub_space) = self.sub_spaces.swap_remove(which % self.sub_spaces.len());
        let foreign = self.space.take_back(sub_space.clone()).unwrap_err();
        assert_eq!(foreign.cause, ReturnError::Foreign { space: sub_space.span() });
        let region = self.model.free(number);
        assert_eq!(self.space.take_back(sub_space).unwrap(), (self.model.usable(region), region.value));
    }

    pub(super) fn disown(&mut self, which: usize) {
        let Some((number, region)) = self.region(which) else { return };
        assert_eq!(self.space.disown(self.start_of(number)), region.is_carved);
        self.mark(number, false);
        self.sub_spaces.retain(|(other, _)| *other != number);
    }

    /// A region that is moving does not become another's space.
    pub(super) fn adopt(&mut self, which: usize) {
        let Some((number, region)) = self.region(which) else { return };
        let span = self.model.usable(region);
        let mut child = AddressSpace::new(span, self.model.granule, Placement::Lowest).unwrap();
        let answer = self.space.adopt(span.first(), &mut child);
        let is_out = self.sub_spaces.iter().any(|(other, _)| *other == number);
        let expected = match () {
            () if region.to.is_some() => Err(AdoptError::Address(FreeError::Moving { region: span })),
            () if is_out => Err(AdoptError::Address(FreeError::Carved { region: span })),
            () => Ok(span),
        };
        assert_eq!((answer, child.is_sub_space()), (expected, expected.is_ok()));
        if answer.is_ok() {
            self.mark(number, true);
            self.sub_spaces.push((number, child));
        }
    }

    pub(super) fn add(&mut self, span: Span) {
        let granule = self.model.granule;
        let is_granular = granule.divides(span.first()) && span.last() & granule.mask() == granule.mask();
        let is_apart = self.model.cells_in(span).next().is_none();
        // The model has each granule by itself.
        if is_granular && is_apart && span.size_bytes() / u128::from(granule.bytes()) > 700 {
            return;
        }
        match self.space.add(span) {
            Ok(()) => {
                assert!(is_granular);
                self.model.add(span);
            }
            Err(LayoutError::NotGranular { span: named, granule: needed }) => {
                assert_eq!((named, needed, is_granular), (span, granule, false));
            }
            Err(LayoutError::Overlap { span: named, block }) => {
                let holders = self.holders_in(span);
                let is_there = self.model.blocks().contains(&block) || holders.contains(&block);
                assert!(named == span && block.overlaps(span) && is_there, "{span}: {block}");
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Whatever belongs to a region that has an address in `span`: itself, with its guard, at either place, and what is
    /// held for it beyond the old one.
    fn holders_in(&self, span: Span) -> Vec<Span> {
        let spans = self.model.cells_in(span).filter_map(|(_, cell)| match cell {
            Cell::Free => None,
            Cell::Here(number) => Some(self.model.regions[&number]),
            Cell::There(number) => super::Model::moved(self.model.regions[&number]),
        });
        let whole = spans.flat_map(|region| [self.model.usable(region), self.model.with_guard(region)]);
        whole.chain(self.model.placeholders()).collect()
    }

    pub(super) fn remove(&mut self, span: Span) {
        let granule = self.model.granule;
        let is_granular = granule.divides(span.first()) && span.last() & granule.mask() == granule.mask();
        let in_the_way = self.model.in_the_way(span, &[]);
        let is_all = self.model.cells_in(span).count() == self.model.cells.len();
        match self.space.remove(span) {
            Ok(()) => {
                assert!(is_granular && !is_all);
                self.model.remove(span);
            }
            Err(LayoutError::NotGranular { span: named, granule: needed }) => {
                assert_eq!((named, needed, is_granular), (span, granule, false));
            }
            Err(LayoutError::Occupied { region }) => assert_eq!(Some(region), in_the_way),
            Err(LayoutError::Outside { span: named, space }) => {
                assert_eq!((named, space), (span, self.model.hull()));
                assert!(!self.model.has_all(span));
            }
            Err(LayoutError::Empty) => assert!(is_all && in_the_way.is_none()),
            Err(error) => panic!("{error}"),
        }
    }
}
