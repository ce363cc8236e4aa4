//! A space and its model, played together.

use super::model::{Cell, Model, Run};
use crate::{PLACEMENTS, image, restored};
use freehold_kva::{AddressSpace, MoveError, PendingMove, Placement};
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

pub(super) struct Twins {
    pub(super) space: AddressSpace<u64>,
    pub(super) model: Model,
    /// The address of each granule of the model, in granules. Between two spans the model has one hole.
    pub(super) addresses: Vec<u64>,
    pub(super) shift: u32,
    pub(super) tokens: Vec<(u32, PendingMove)>,
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

    pub(super) fn len(&self) -> usize {
        self.addresses.len()
    }

    /// The address of a granule.
    pub(super) fn address(&self, at: usize) -> u64 {
        self.addresses[at] << self.shift
    }

    /// What divides the address of a granule, as log2 of granules.
    pub(super) fn align_at(&self, at: usize) -> u32 {
        self.addresses[at].trailing_zeros().min(63 - self.shift)
    }

    pub(super) fn span(&self, run: Run) -> Span {
        let last = (self.addresses[run.1 - 1] << self.shift) + ((1 << self.shift) - 1);
        Span::new(self.address(run.0), last).unwrap()
    }

    pub(super) fn granule_of(&self, address: u64) -> usize {
        self.addresses.iter().position(|&at| at == address >> self.shift).unwrap()
    }

    /// Whether a run has no hole, so that its addresses follow each other.
    pub(super) fn is_whole(&self, run: Run) -> bool {
        run.0 < run.1 && self.addresses[run.1 - 1] - self.addresses[run.0] == (run.1 - run.0 - 1) as u64
    }

    pub(super) fn value(&mut self) -> u64 {
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
                self.alloc(placement, &wanted, op.more.is_multiple_of(2));
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
            34 => self.end_move(at, op.more.is_multiple_of(2)),
            35 => self.carve(size),
            36 => self.disown(of_region),
            37 => self.retain(op.more),
            38 if op.more < 40 => self.clear(),
            38 => self.congruent(size, at),
            _ => self.reserve_and_cancel(placement, size),
        }
        if op.more % 16 == 7 {
            self.replace_by_image(placement);
        }
        self.compare();
        self.compare_align(at);
    }
}

/// A request in granules.
pub(super) struct Wanted {
    pub(super) size: usize,
    pub(super) guard: usize,
    pub(super) align: u32,
    pub(super) window: Run,
}

fn granules(shift: u32, first: u64, count: u64) -> Span {
    let last = ((first + (count - 1)) << shift) + ((1 << shift) - 1);
    Span::new(first << shift, last).unwrap()
}

impl Twins {
    /// Sub-spaces are not restored, so carved regions stay as they are; tokens are another space's.
    fn replace_by_image(&mut self, placement: Placement) {
        let bytes = image(&self.space);
        let copy: AddressSpace<u64> = restored(&bytes, placement);
        assert_eq!(copy, self.space);
        assert_eq!(image(&copy), bytes);
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
