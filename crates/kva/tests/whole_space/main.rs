//! The space against a brute-force model, over the whole of the 64-bit addresses and both ends of them:
//! random layouts, granules, sizes, guards, windows and alignments. After every operation everything that can
//! be seen of the space is compared.
//!
//! A case that fails is shrunk and printed with its layout and its operations.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod cases;
mod model;

use cases::{Case, Op, cases};
use freehold_kva::{AddressSpace, BTree, FreeIndex, RbTree, Request, Stats, btree, rbtree};
use freehold_units::{Align, Span};
use model::{Interval, Model, Promise, Taken, saturated};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

trait Index: FreeIndex {
    fn placements() -> Vec<(Self::Placement, Promise)>;
}

impl Index for RbTree {
    fn placements() -> Vec<(rbtree::Placement, Promise)> {
        use rbtree::Placement::{Highest, Linux, Lowest};
        vec![(Lowest, Promise::Lowest), (Highest, Promise::Highest), (Linux, Promise::Linux)]
    }
}

impl Index for BTree {
    fn placements() -> Vec<(btree::Placement, Promise)> {
        use btree::Placement::{Highest, Lowest};
        vec![(Lowest, Promise::Lowest), (Highest, Promise::Highest)]
    }
}

/// A space and its model, played together.
struct Twins<I: Index> {
    space: AddressSpace<usize, I>,
    promise: Promise,
    model: Model,
}

impl<I: Index> Twins<I> {
    fn play(case: &Case, placement: I::Placement, promise: Promise) {
        let space = AddressSpace::with_layout(&case.layout, case.granule, placement).unwrap();
        let mut twins = Self { space, promise, model: Model::new(case) };
        twins.compare();
        for (at, op) in case.ops.iter().enumerate() {
            twins.step(at, op);
            twins.compare();
        }
    }

    fn step(&mut self, at: usize, op: &Op) {
        match op {
            Op::Alloc(request) => self.alloc(at, request),
            Op::Find(request) => {
                for (placement, promise) in I::placements() {
                    self.model.judge(request, promise, self.space.find(request, placement));
                }
            }
            Op::Congruent(areas, align, window) => self.congruent(at, areas, *align, *window),
            Op::FreeRegion(which) => {
                let which = which % self.model.taken.len().max(1);
                let first = self.model.taken.keys().nth(which).map(|&first| saturated(first));
                first.into_iter().for_each(|first| self.free(first));
            }
            Op::FreeAt(address) => self.free(*address),
            Op::TouchAt(address) => self.touch(at, *address),
        }
    }

    fn alloc(&mut self, at: usize, request: &Request) {
        let answer = self.space.alloc(request, at);
        let given_back = answer.as_ref().err().map_or(at, |rejected| rejected.value);
        assert_eq!(given_back, at);
        let answer = answer.map_err(|rejected| rejected.cause);
        self.model.judge(request, self.promise, answer);
        if let Ok(span) = answer {
            let usable = Interval::of(span);
            let with_guard = Interval { end: usable.end + u128::from(request.guard_bytes), ..usable };
            self.model.take(usable, with_guard, at);
        }
    }

    fn congruent(&mut self, at: usize, areas: &[Span], align: Align, window: Span) {
        let valued: Vec<(Span, usize)> = areas.iter().map(|&area| (area, at)).collect();
        let answer = self.space.alloc_congruent(valued.clone(), align, window);
        let faults = self.model.faults_of_areas(areas, window);
        let areas: Vec<Interval> = areas.iter().map(|&area| Interval::of(area)).collect();
        let highest = self.model.highest_base(&areas, align, window);
        match answer {
            Ok(base) => {
                assert_eq!((faults, Some(base.into())), (Vec::new(), highest));
                for area in areas.iter().map(|area| area.shifted(base.into())) {
                    self.model.take(area, area, at);
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
        match self.model.taken.remove(&first.into()) {
            Some(taken) => {
                assert_eq!(self.space.free(first), Ok((taken.usable.span(), taken.value)));
                self.model.give(taken.with_guard);
            }
            None => assert_eq!(self.space.free(first), Err(self.model.why_not(first))),
        }
    }

    fn touch(&mut self, at: usize, address: u64) {
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
        let regions = self.space.regions().map(|region| (region.span(), region.guard(), *region.value()));
        let taken = model.taken.values().map(|taken| {
            let guard = Interval { first: taken.usable.end, ..taken.with_guard };
            (taken.usable.span(), (guard.first < guard.end).then(|| guard.span()), taken.value)
        });
        assert!(regions.eq(taken));
        let stats = self.space.stats();
        let figures = Stats {
            regions: model.taken.len(),
            busy_bytes: model.taken.values().map(|taken| taken.with_guard.end - taken.with_guard.first).sum(),
            free_blocks: model.free.len(),
            free_bytes: model.free.iter().map(|block| block.end - block.first).sum(),
            largest_free_bytes: saturated(model.largest_free()),
            ..stats
        };
        assert_eq!(stats, figures);
    }
}

fn config() -> ProptestConfig {
    let kept = FileFailurePersistence::Direct("proptest-regressions/whole_space.txt");
    ProptestConfig { failure_persistence: Some(Box::new(kept)), ..ProptestConfig::with_cases(6000) }
}

fn play<I: Index>(case: &Case) {
    for (placement, promise) in I::placements() {
        Twins::<I>::play(case, placement, promise);
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_space_of_a_red_black_tree_is_the_model(case in cases()) {
        play::<RbTree>(&case);
    }

    #[test]
    fn a_space_of_a_btree_is_the_model(case in cases()) {
        play::<BTree>(&case);
    }
}
