//! A space and its model, played together.

use super::model::{Cell, Model, Owner, Refusal, Run};
use crate::{PLACEMENTS, restored, snapshot};
use freehold_kva::{
    AddressSpace, AllocError, FreeError, FreeRangeError, MergeError, MoveError, PendingMove, Placement,
    Request, SplitError,
};
use freehold_units::{Align, Span};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

/// An operation in numbers, each of which is taken modulo what there is.
#[derive(Clone, Copy, Debug)]
struct Op {
    kind: u8,
    at: u16,
    size: u8,
    more: u8,
}

/// Spans of the layout in granules, and the distance in granules between one and the next.
#[derive(Clone, Debug)]
struct Case {
    shift: u32,
    /// The last granule of the space is the last of all addresses.
    is_at_the_top: bool,
    spans: Vec<u16>,
    distance: u64,
    /// How many regions of one granule are there at first.
    filled: u16,
    placement: Placement,
    ops: Vec<Op>,
}

fn cases() -> impl Strategy<Value = Case> {
    let op = (0u8..40, any::<u16>(), any::<u8>(), any::<u8>());
    let ops = prop::collection::vec(op.prop_map(|(kind, at, size, more)| Op { kind, at, size, more }), 1..60);
    let spans = prop_oneof![3 => prop::collection::vec(20u16..90, 1..2), 2 => prop::collection::vec(1u16..40, 2..5), 1 => Just(vec![600u16])];
    let distance = prop_oneof![3 => 1u64..4, 1 => Just(1 << 24), 1 => Just(1 << 33)];
    let shift = prop_oneof![Just(0u32), Just(12)];
    (shift, any::<bool>(), spans, distance, prop_oneof![Just(0u16), 0u16..300], 0..3usize, ops).prop_map(
        |(shift, is_at_the_top, spans, distance, filled, placement, ops)| Case {
            shift,
            is_at_the_top,
            spans,
            distance,
            filled,
            placement: PLACEMENTS[placement],
            ops,
        },
    )
}

struct Twins {
    space: AddressSpace<u64>,
    model: Model,
    /// The address of each granule of the model, in granules. Between two spans the model has one hole.
    addresses: Vec<u64>,
    shift: u32,
    tokens: Vec<(u32, PendingMove)>,
    values: u64,
}

impl Twins {
    fn new(case: &Case) -> Self {
        let (mut cells, mut addresses) = (Vec::new(), Vec::new());
        let total: u64 =
            case.spans.iter().map(|&len| u64::from(len) + case.distance).sum::<u64>() - case.distance;
        let mut at = if case.is_at_the_top { (u64::MAX >> case.shift) - (total - 1) } else { 0 };
        let mut layout = Vec::new();
        for (nth, &len) in case.spans.iter().enumerate() {
            if nth > 0 {
                cells.push(Cell::Hole);
                addresses.push(at);
                at += case.distance;
            }
            layout.push(granules(case.shift, at, u64::from(len)));
            cells.extend((0..len).map(|_| Cell::Free));
            addresses.extend((0..u64::from(len)).map(|by| at + by));
            at = at.wrapping_add(len.into());
        }
        let space =
            AddressSpace::with_layout(&layout, Align::new(1 << case.shift).unwrap(), case.placement).unwrap();
        let mut twins = Self {
            space,
            model: Model::new(cells),
            addresses,
            shift: case.shift,
            tokens: Vec::new(),
            values: 0,
        };
        for _ in 0..case.filled {
            twins.alloc(
                case.placement,
                &Wanted { size: 1, guard: 0, align: 0, window: (0, twins.len()) },
                false,
            );
        }
        twins
    }

    fn len(&self) -> usize {
        self.addresses.len()
    }

    /// The address of a granule.
    fn address(&self, at: usize) -> u64 {
        self.addresses[at] << self.shift
    }

    /// What divides the address of a granule, as log2 of granules.
    fn align_at(&self, at: usize) -> u32 {
        self.addresses[at].trailing_zeros().min(63 - self.shift)
    }

    fn span(&self, run: Run) -> Span {
        let last = (self.addresses[run.1 - 1] << self.shift) + ((1 << self.shift) - 1);
        Span::new(self.address(run.0), last).unwrap()
    }

    fn granule_of(&self, address: u64) -> usize {
        self.addresses.iter().position(|&at| at == address >> self.shift).unwrap()
    }

    /// Whether a run has no hole, so that its addresses follow each other.
    fn is_whole(&self, run: Run) -> bool {
        run.0 < run.1 && self.addresses[run.1 - 1] - self.addresses[run.0] == (run.1 - run.0 - 1) as u64
    }

    fn value(&mut self) -> u64 {
        self.values += 1;
        self.values % 3
    }

    fn step(&mut self, op: Op) {
        let at = usize::from(op.at) % self.len();
        let placement = PLACEMENTS[usize::from(op.more) % 3];
        let size = usize::from(op.size) % 6 + 1;
        let regions = self.model.regions();
        let of_region =
            if regions.is_empty() { at } else { self.model.usable(regions[at % regions.len()]).0 };
        let run = (at, (at + usize::from(op.size) % 40 + 1).min(self.len()));
        match op.kind {
            0..6 => {
                let guard = usize::from(op.more / 3 % 3);
                let window = if op.more > 128 { (at, self.len()) } else { (0, self.len()) };
                let wanted = Wanted { size, guard, align: u32::from(op.size / 8 % 3), window };
                self.alloc(placement, &wanted, op.more % 2 == 0);
            }
            6 | 7 => self.alloc_at((at, (at + size).min(self.len())), usize::from(op.more % 3)),
            8..10 => self.free(of_region),
            10 => self.free(at),
            11 => self.free_exact((of_region, (of_region + size).min(self.len()))),
            12..18 => self.split_at(at),
            18 => self.split_at((of_region + usize::from(op.more % 2)).min(self.len() - 1)),
            19..24 => self.merge(of_region),
            24 => self.merge(at),
            25..31 => self.free_range(run),
            31 => self.free_range((of_region, (of_region + usize::from(op.size) + 1).min(self.len()))),
            32 => self.resize(of_region, size),
            33 => self.begin_move(of_region, at),
            34 => self.end_move(at, op.more % 2 == 0),
            35 => self.carve(size),
            36 => self.disown(of_region),
            37 => self.retain(op.more),
            38 if op.more < 40 => self.clear(),
            38 => self.congruent(size, at),
            _ => self.reserve_and_cancel(placement, size),
        }
        if op.more % 16 == 7 {
            self.replace_by_snapshot(placement);
        }
        self.compare();
        self.compare_align(at);
    }
}

/// A request in granules.
struct Wanted {
    size: usize,
    guard: usize,
    align: u32,
    window: Run,
}

fn granules(shift: u32, first: u64, count: u64) -> Span {
    let last = ((first + (count - 1)) << shift) + ((1 << shift) - 1);
    Span::new(first << shift, last).unwrap()
}

impl Twins {
    fn alloc(&mut self, placement: Placement, wanted: &Wanted, is_reserved: bool) {
        let Wanted { size, guard, align, window } = *wanted;
        let all = size + guard;
        let place = self.model.place(placement, all, |at| {
            self.align_at(at) >= align
                && window.0 <= at
                && at + all <= window.1
                && self.is_whole((at, at + all))
        });
        let granule = 1u64 << self.shift;
        let request =
            Request::new(size as u64 * granule).guard(guard as u64 * granule).align_bytes(granule << align);
        let request = request.window(self.span(window));
        let value = self.value();
        let answer = if is_reserved {
            self.space.reserve_with(&request, placement).map(|pending| {
                let (span, guard) = (pending.span(), pending.guard());
                assert_eq!(pending.commit(value), span);
                assert!(guard.is_none_or(|guard| span.touches(guard)));
                span
            })
        } else {
            self.space.alloc_with(&request, placement, value).map_err(|rejected| rejected.cause)
        };
        match place {
            Some(at) => {
                assert_eq!(answer, Ok(self.span((at, at + size))));
                self.model.take(at, size, guard, Owner { value, align, is_carved: false, to: None });
            }
            None => assert!(answer.is_err(), "{answer:?}"),
        }
    }

    fn reserve_and_cancel(&mut self, placement: Placement, size: usize) {
        let place = self.model.place(placement, size, |at| self.is_whole((at, at + size)));
        let request = Request::new((size as u64) << self.shift);
        let span = place.map(|at| self.span((at, at + size)));
        match self.space.reserve_with(&request, placement) {
            Ok(pending) => {
                assert_eq!(
                    (Some(pending.span()), pending.space().region_at(pending.span().first())),
                    (span, None)
                );
                pending.cancel();
            }
            Err(error) => assert!(span.is_none(), "{error}"),
        }
    }

    fn alloc_at(&mut self, run: Run, guard: usize) {
        let value = self.value();
        let end = run.1 + guard;
        let fits = end <= self.len() && self.is_whole((run.0, end));
        let fits = fits && self.model.cells[run.0..end].iter().all(|&cell| cell == Cell::Free);
        if !self.is_whole(run) {
            return;
        }
        let span = self.span(run);
        let answer = match guard {
            0 => self.space.alloc_at(span, value),
            _ => self.space.alloc_at_guarded(span, (guard as u64) << self.shift, value),
        };
        assert_eq!(answer.is_ok(), fits, "{answer:?}");
        if fits {
            self.model.take(
                run.0,
                run.1 - run.0,
                guard,
                Owner { value, align: 0, is_carved: false, to: None },
            );
        }
    }

    fn refused_free(&self, error: FreeError) -> Refusal {
        let start = |region: Span| self.granule_of(region.first());
        match error {
            FreeError::AlreadyFree { .. } => Refusal::AlreadyFree,
            FreeError::Interior { region, .. } => Refusal::Interior(start(region)),
            FreeError::Carved { region } => Refusal::Carved(start(region)),
            FreeError::Moving { region } => Refusal::Moving(start(region)),
            FreeError::OtherSpan { region, .. } => Refusal::OtherSpan(start(region)),
            FreeError::Unknown { .. } => Refusal::Unknown,
            error => panic!("{error}"),
        }
    }

    fn free(&mut self, at: usize) {
        let answer = self.space.free(self.address(at)).map_err(|error| self.refused_free(error));
        let wanted = self.model.starting(at).map(|id| {
            let span = self.span(self.model.usable(id));
            (span, self.model.forget(id).value)
        });
        assert_eq!(answer, wanted);
    }

    fn free_exact(&mut self, run: Run) {
        if !self.is_whole(run) {
            return;
        }
        let answer = self.space.free_exact(self.span(run)).map_err(|error| self.refused_free(error));
        let wanted = self.model.starting(run.0).and_then(|id| {
            if self.model.usable(id) == run {
                Ok(self.model.forget(id).value)
            } else {
                Err(Refusal::OtherSpan(run.0))
            }
        });
        assert_eq!(answer, wanted);
    }

    fn split_at(&mut self, at: usize) {
        let value = self.value();
        let align_at = self.align_at(at);
        let wanted =
            self.model.split_at(at, |old| if value == 0 { old } else { (old + value) % 3 }, align_at);
        let address = self.address(at);
        let answer = if value == 0 {
            self.space.split_at(address)
        } else {
            self.space.split_at_with(address, |first, second, &old| {
                assert!(first.touches(second) && second.first() == address);
                (old + value) % 3
            })
        };
        let refused = |error| match error {
            SplitError::Address(error) => self.refused_free(error),
            SplitError::AtStart { region } => Refusal::AtStart(self.granule_of(region.first())),
            SplitError::InGuard { region, .. } => Refusal::InGuard(self.granule_of(region.first())),
            error => panic!("{error}"),
        };
        assert_eq!(answer.map(|(_, second)| assert_eq!(second.first(), address)).map_err(refused), wanted);
    }

    fn merge(&mut self, at: usize) {
        let answer = self.space.merge(self.address(at)).map(|(_, value)| value);
        let refused = |error| match error {
            MergeError::Address(error) => self.refused_free(error),
            MergeError::NoNeighbour { region } => Refusal::NoNeighbour(self.granule_of(region.first())),
            MergeError::Guarded { region, .. } => Refusal::Guarded(self.granule_of(region.first())),
            MergeError::Disagree { region, .. } => Refusal::Disagree(self.granule_of(region.first())),
            error => panic!("{error}"),
        };
        assert_eq!(answer.map_err(refused), self.model.merge(at));
    }

    fn free_range(&mut self, run: Run) {
        let value = self.value();
        let (addresses, shift) = (&self.addresses, self.shift);
        let align_at = |at: usize| addresses[at].trailing_zeros().min(63 - shift);
        let wanted =
            self.model.free_range(run, |old| if value == 0 { old } else { (old + value) % 3 }, align_at);
        let span = self.span(run);
        let answer = if value == 0 {
            self.space.free_range(span).map(Iterator::collect)
        } else {
            let (mut freed, mut end) = (Vec::new(), None);
            let split = |first: Span, second: Span, &old: &u64| {
                assert!(first.touches(second));
                (old + value) % 3
            };
            let answer = self.space.free_range_with(span, split, |span, value| {
                assert!(end.replace(span) < Some(span), "in address order");
                freed.push((span, value));
            });
            answer.map(|()| freed)
        };
        let refused = |error| match error {
            FreeRangeError::Moving { region } => Refusal::Moving(self.granule_of(region.first())),
            FreeRangeError::Carved { region } => Refusal::Carved(self.granule_of(region.first())),
            error => panic!("{error}"),
        };
        let wanted =
            wanted.map(|freed| freed.into_iter().map(|(run, value)| (self.span(run), value)).collect());
        assert_eq!(answer.map_err(refused), wanted);
    }

    fn resize(&mut self, at: usize, size: usize) {
        let answer = self.space.resize(self.address(at), (size as u64) << self.shift);
        let Ok(id) = self.model.starting(at) else { return assert!(answer.is_err()) };
        let (owner, guard) = (self.model.owners[&id], self.model.guard(id));
        let mut without = self.model.clone();
        without.forget(id);
        let end = at + size + guard;
        let fits = end <= self.len() && self.is_whole((at, end));
        let fits = fits && without.cells[at..end].iter().all(|&cell| cell == Cell::Free);
        assert_eq!(answer.is_ok(), fits, "{answer:?}");
        if fits {
            self.model = without;
            self.model.take(at, size, guard, owner);
        }
    }

    fn begin_move(&mut self, at: usize, to: usize) {
        let answer = self.space.begin_move(self.address(at), self.address(to));
        let Ok(id) = self.model.starting(at) else { return assert!(answer.is_err()) };
        let (first, end) = self.model.usable(id);
        let place = (to, to + (end - first) + self.model.guard(id));
        let is_free =
            |&cell: &Cell| cell == Cell::Free || cell == Cell::Usable(id) || cell == Cell::Guard(id);
        let fits = place.1 <= self.len() && self.is_whole(place) && to != first;
        let fits = fits && self.model.cells[place.0..place.1].iter().all(is_free);
        let fits = fits && self.align_at(to) >= self.model.owners[&id].align;
        assert_eq!(answer.is_ok(), fits, "{answer:?}");
        if let Ok(token) = answer {
            for cell in &mut self.model.cells[place.0..place.1] {
                *cell = if *cell == Cell::Free { Cell::Held(id) } else { *cell };
            }
            self.model.owners.get_mut(&id).unwrap().to = Some(to);
            self.tokens.push((id, token));
        }
    }

    fn end_move(&mut self, which: usize, is_committed: bool) {
        if self.tokens.is_empty() {
            return;
        }
        let (id, token) = self.tokens.remove(which % self.tokens.len());
        let ((first, end), guard) = (self.model.usable(id), self.model.guard(id));
        let owner = Owner { to: None, ..self.model.forget(id) };
        let at = if is_committed { self.granule_of(token.to()) } else { first };
        self.model.take(at, end - first, guard, owner);
        match is_committed {
            true => assert_eq!(self.space.commit_move(token).unwrap().first(), self.address(at)),
            false => self.space.cancel_move(token).unwrap(),
        }
    }

    fn carve(&mut self, size: usize) {
        let (placement, value) = (self.space.placement(), self.value());
        let place = self.model.place(placement, size, |at| self.is_whole((at, at + size)));
        let request = Request::new((size as u64) << self.shift);
        let answer = self.space.carve::<()>(&request, value, placement).map(|child| child.span());
        assert_eq!(answer.as_ref().ok().copied(), place.map(|at| self.span((at, at + size))));
        if let Some(at) = place {
            self.model.take(at, size, 0, Owner { value, align: 0, is_carved: true, to: None });
        }
    }

    fn disown(&mut self, at: usize) {
        let id = match self.model.cells[at] {
            Cell::Usable(id) if self.model.usable(id).0 == at => Some(id),
            _ => None,
        };
        let owner = id.and_then(|id| self.model.owners.get_mut(&id));
        let was = owner.is_some_and(|owner| std::mem::replace(&mut owner.is_carved, false));
        assert_eq!(self.space.disown(self.address(at)), was);
    }

    fn retain(&mut self, which: u8) {
        let kept = u64::from(which) % 3;
        let mut asked = Vec::new();
        self.space.retain(|span, &mut value| {
            asked.push(span);
            value == kept
        });
        let whole: Vec<u32> =
            self.model.regions().into_iter().filter(|&id| self.model.whole(id).is_ok()).collect();
        assert!(whole.iter().map(|&id| self.span(self.model.usable(id))).eq(asked));
        for id in whole {
            if self.model.owners[&id].value != kept {
                self.model.forget(id);
            }
        }
    }

    fn clear(&mut self) {
        let all = self.model.regions();
        let refused = all.iter().any(|&id| self.model.whole(id).is_err());
        assert_eq!(self.space.clear().is_err(), refused);
        if !refused {
            all.into_iter().for_each(|id| _ = self.model.forget(id));
        }
    }

    fn congruent(&mut self, size: usize, at: usize) {
        let (bytes, values) = ((size as u64) << self.shift, [self.value(), self.value()]);
        let areas = [0, 3 * bytes].map(|first| Span::from_size(first, bytes).unwrap());
        let asked = areas.into_iter().zip(values).collect();
        let window = self.span((at, self.len()));
        match self.space.alloc_congruent(asked, Align::ONE, window) {
            Ok(base) => {
                for (area, value) in areas.into_iter().zip(values) {
                    let first = self.granule_of(area.first() + base);
                    assert!(self.model.cells[first..first + size].iter().all(|&cell| cell == Cell::Free));
                    self.model.take(first, size, 0, Owner { value, align: 0, is_carved: false, to: None });
                }
            }
            Err(refused) => assert_ne!(refused.cause, AllocError::OutOfMemory),
        }
    }

    /// Sub-spaces are not restored, so carved regions stay as they are; tokens are another space's.
    fn replace_by_snapshot(&mut self, placement: Placement) {
        let bytes = snapshot(&self.space);
        let copy: AddressSpace<u64> = restored(&bytes, placement);
        assert_eq!(copy, self.space);
        assert_eq!(snapshot(&copy), bytes);
        self.space = copy;
        for (id, token) in &mut self.tokens {
            let first = self.model.usable(*id).0;
            let first = self.addresses[first] << self.shift;
            *token = self.space.pending_moves().find(|token| token.first() == first).unwrap();
        }
    }

    fn compare(&self) {
        self.space.validate().unwrap();
        let spans = |runs: Vec<Run>| runs.into_iter().map(|run| self.span(run)).collect::<Vec<_>>();
        let free = spans(self.model.runs(|cell| cell == Cell::Free));
        assert_eq!(self.space.free_blocks().collect::<Vec<_>>(), free);
        let taken = spans(self.model.runs(|cell| !matches!(cell, Cell::Free | Cell::Hole)));
        assert_eq!(self.space.allocated_ranges().collect::<Vec<_>>(), taken);
        assert!(self.space.allocated_ranges().rev().eq(taken.into_iter().rev()));
        let mut sizes = [0; 65];
        free.iter().for_each(|block| sizes[block.size_bytes().ilog2() as usize] += 1);
        assert_eq!(self.space.free_sizes().blocks(), &sizes);
        let ids = self.model.regions();
        assert_eq!(self.space.len(), ids.len());
        for (region, id) in self.space.regions().zip(ids) {
            let (first, end) = self.model.usable(id);
            let owner = self.model.owners[&id];
            assert_eq!((region.span(), *region.value()), (self.span((first, end)), owner.value));
            let guard = self.model.guard(id);
            assert_eq!(region.guard(), (guard > 0).then(|| self.span((end, end + guard))));
            assert_eq!(region.is_carved(), owner.is_carved);
            assert_eq!(region.moving_to().map(Span::first), owner.to.map(|to| self.address(to)));
        }
    }

    /// An alignment shows in where a region can move. One region is tried.
    fn compare_align(&self, which: usize) {
        let ids = self.model.regions();
        let Some(&id) = ids.get(which % ids.len().max(1)) else { return };
        if self.model.whole(id).is_err() {
            return;
        }
        let align = 1u64 << (self.model.owners[&id].align + self.shift);
        let first = self.address(self.model.usable(id).0);
        for by in [align, align / 2].into_iter().filter(|&by| by >= 1 << self.shift) {
            let Some(to) = first.checked_add(by).filter(|to| to.checked_add(1 << 40).is_some()) else {
                continue;
            };
            let answer = self.space.clone().begin_move(first, to);
            let is_misaligned = matches!(answer, Err(MoveError::Misaligned { .. }));
            assert_eq!(is_misaligned, by < align, "{align:#x} {answer:?}");
        }
    }
}

fn config() -> ProptestConfig {
    let kept = FileFailurePersistence::Direct("proptest-regressions/parts.txt");
    ProptestConfig { failure_persistence: Some(Box::new(kept)), ..ProptestConfig::with_cases(500) }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn agrees_with_the_granules(case in cases()) {
        let mut twins = Twins::new(&case);
        twins.compare();
        for &op in &case.ops {
            twins.step(op);
        }
    }
}
