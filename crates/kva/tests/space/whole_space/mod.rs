//! The space against a brute-force model, over the whole of the 64-bit addresses and both ends of them:
//! random layouts, granules, sizes, guards, windows and alignments. After every operation everything that can
//! be seen of the space is compared. Half-way, an image is restored under some placement, and the copy is held against
//! the model to the end as well.
//!
//! A case that fails is shrunk and printed with its layout and its operations.

mod cases;
mod model;
mod places;

use crate::{PLACEMENTS, image, restored};
use cases::{Case, Op, cases};
use freehold_kva::{AddressSpace, AllocError, Placement, Request};
use freehold_units::{Align, Span};
use model::{Interval, Model, Taken, saturated};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

/// A space and its model, played together.
struct Twins {
    space: AddressSpace<u64>,
    model: Model,
    /// In the order in which they were carved.
    sub_spaces: Vec<AddressSpace<()>>,
}

impl Twins {
    fn play(case: &Case, placement: Placement) {
        let space = AddressSpace::with_layout(&case.layout, case.granule, placement).unwrap();
        let mut twins = Self { space, model: Model::new(case), sub_spaces: Vec::new() };
        twins.compare();
        let (early, late) = case.ops.split_at(case.ops.len() / 2);
        twins.steps(early);
        let bytes = image(&twins.space);
        twins.restored(&bytes, PLACEMENTS[case.ops.len() % PLACEMENTS.len()]).steps(late);
        twins.steps(late);
    }

    fn steps(&mut self, ops: &[Op]) {
        for (at, op) in (0..).zip(ops) {
            self.step(at, op);
            self.compare();
        }
    }

    /// What an image brings back under some placement, sub-spaces included.
    fn restored(&self, bytes: &[u8], placement: Placement) -> Self {
        let mut space: AddressSpace<u64> = restored(bytes, placement);
        assert_eq!(image(&space), bytes);
        let mut sub_spaces = self.sub_spaces.clone();
        for sub_space in &mut sub_spaces {
            let region = sub_space.span();
            assert_eq!(space.adopt(region.first(), sub_space), Ok(region));
        }
        let twins = Twins { space, model: self.model.clone(), sub_spaces };
        twins.compare();
        twins
    }

    fn step(&mut self, at: u64, op: &Op) {
        match op {
            Op::Alloc(request) => self.alloc(at, request),
            Op::Find(request) => {
                for placement in PLACEMENTS {
                    self.model.judge(request, placement, self.space.find(request, placement));
                }
            }
            Op::Congruent(areas, align, window) => self.congruent(at, areas, *align, *window),
            Op::FreeRegion(which) => {
                if let Some(taken) = self.region(*which) {
                    self.free(taken.usable.span().first());
                }
            }
            Op::FreeAt(address) => self.free(*address),
            Op::AllocAt(place) => self.alloc_at(at, *place),
            Op::Resize(which, size) => self.resize(*which, *size),
            Op::Move(which, request) => self.move_to(*which, request.window.first()),
            Op::Carve(request) => self.carve(at, request),
            Op::TakeBack(which) => self.take_back(*which),
            Op::Disown(which) => self.disown(*which),
            Op::TouchAt(address) => self.touch(at, *address),
        }
    }

    fn alloc(&mut self, at: u64, request: &Request) {
        let answer = self.space.alloc(request, at);
        let given_back = answer.as_ref().err().map_or(at, |rejected| rejected.value);
        assert_eq!(given_back, at);
        self.judge_and_take(at, request, answer.map_err(|rejected| rejected.cause));
    }

    /// Whether the answer to an allocation is right; then the model follows.
    fn judge_and_take(&mut self, at: u64, request: &Request, answer: Result<Span, AllocError>) {
        self.model.judge(request, self.space.placement(), answer);
        if let Ok(span) = answer {
            let usable = Interval::of(span);
            let with_guard = Interval { end: usable.end + u128::from(request.guard_bytes), ..usable };
            let align = Align::new(request.align_bytes).unwrap().max(self.space.granule());
            self.model.take(Taken { usable, with_guard, align, value: at, is_carved: false });
        }
    }

    /// A region by its place in address order.
    fn region(&self, which: usize) -> Option<Taken> {
        self.model.taken.values().nth(which % self.model.taken.len().max(1)).copied()
    }

    fn congruent(&mut self, at: u64, areas: &[Span], align: Align, window: Span) {
        let valued: Vec<(Span, u64)> = areas.iter().map(|&area| (area, at)).collect();
        let answer = self.space.alloc_congruent(valued.clone(), align, window);
        let faults = self.model.faults_of_areas(areas, window);
        let areas: Vec<Interval> = areas.iter().map(|&area| Interval::of(area)).collect();
        let highest = self.model.highest_base(&areas, align, window);
        match answer {
            Ok(base) => {
                assert_eq!((faults, Some(base.into())), (Vec::new(), highest));
                for area in areas.iter().map(|area| area.shifted(base.into())) {
                    self.model.take(self.model.placed(area, at));
                }
            }
            Err(rejected) if faults.is_empty() => {
                assert_eq!((rejected.cause, highest), (self.model.no_space(&areas, align, window), None));
                assert_eq!(rejected.value, valued);
            }
            Err(rejected) => {
                assert!(faults.contains(&rejected.cause), "{rejected}, not of {faults:?}");
                assert_eq!(rejected.value, valued);
            }
        }
    }

    fn free(&mut self, first: u64) {
        match self.model.taken.get(&first.into()).copied() {
            Some(taken) if !taken.is_carved => {
                assert_eq!(self.space.free(first), Ok((taken.usable.span(), taken.value)));
                self.model.forget(taken);
            }
            _ => assert_eq!(self.space.free(first), Err(self.model.why_not(first))),
        }
    }

    fn touch(&mut self, at: u64, address: u64) {
        let owner = self.model.owner(address);
        let region = owner.filter(|taken| taken.usable.contains(address));
        let overrun = owner.filter(|taken| !taken.usable.contains(address));
        let value = |taken: Taken| taken.value;
        assert_eq!(self.space.region_at(address).map(|region| *region.value()), region.map(value));
        assert_eq!(self.space.guard_at(address).map(|region| *region.value()), overrun.map(value));
        let stored = self.space.value_at_mut(address);
        assert_eq!(stored.as_deref().copied(), region.map(value));
        if let (Some(stored), Some(region)) = (stored, region) {
            *stored = at;
            self.model.taken.entry(region.usable.first).and_modify(|taken| taken.value = at);
        }
    }

    /// Everything that can be seen, from scratch.
    fn compare(&self) {
        self.space.validate().unwrap();
        let model = &self.model;
        let blocks: Vec<Interval> = self.space.free_blocks().map(Interval::of).collect();
        assert_eq!(blocks, model.free);
        let regions = self.space.regions();
        let regions =
            regions.map(|region| (region.span(), region.guard(), *region.value(), region.is_carved()));
        let taken = model.taken.values().map(|taken| {
            let guard = Interval { first: taken.usable.end, ..taken.with_guard };
            (
                taken.usable.span(),
                (guard.first < guard.end).then(|| guard.span()),
                taken.value,
                taken.is_carved,
            )
        });
        assert!(regions.eq(taken));
        let stats = self.space.stats();
        let mut figures = stats;
        figures.regions = model.taken.len();
        let taken = model.taken.values().map(|taken| taken.with_guard.end - taken.with_guard.first);
        figures.busy_bytes = taken.sum();
        figures.free_blocks = model.free.len();
        figures.free_bytes = model.free.iter().map(|block| block.end - block.first).sum();
        figures.largest_free_bytes = saturated(model.largest_free());
        assert_eq!(stats, figures);
    }
}

fn config() -> ProptestConfig {
    let kept = FileFailurePersistence::Direct("proptest-regressions/whole_space.txt");
    ProptestConfig { failure_persistence: Some(Box::new(kept)), ..ProptestConfig::with_cases(1000) }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_space_is_the_model(case in cases()) {
        Twins::play(&case, Placement::Lowest);
        Twins::play(&case, Placement::Highest);
    }

    #[test]
    fn a_space_with_blocks_by_size_is_the_model(case in cases()) {
        Twins::play(&case, Placement::BestFit);
    }
}
