//! Moves in two steps, rearrangements, and whatever else is done while they are pending, against a plain map of
//! granules: random histories under every placement, on few granules at either end of the addresses and between. After every
//! operation all that can be seen is compared, and a space is equal to its copy of before if, and only if, nothing changed.
//!
//! A case that fails is shrunk and printed with its layout and its operations.

mod cases;
mod look;
mod model;
mod moving;
mod places;
mod tokens;

use crate::PLACEMENTS;
use cases::{Case, Op, cases};
use freehold_kva::{AddressSpace, PendingMove, Placement};
use model::Model;
use proptest::prelude::*;
use proptest::test_runner::{FileFailurePersistence, TestRunner};

fn placement(which: usize) -> Placement {
    PLACEMENTS[which % PLACEMENTS.len()]
}

/// Why a token ends no move of a space.
#[derive(Clone, Copy, Debug)]
enum Stale {
    Ended,
    Foreign,
}

/// A space and its model, played together.
struct Twins {
    space: AddressSpace<u64>,
    model: Model,
    /// By the numbers of their regions.
    sub_spaces: Vec<(u64, AddressSpace<()>)>,
    /// Of the moves that are pending, with the numbers of the regions.
    tokens: Vec<(PendingMove, u64)>,
    stale: Vec<(PendingMove, Stale)>,
}

impl Twins {
    fn play(case: &Case) {
        let space = AddressSpace::with_layout(&case.layout, case.granule, placement(case.placement)).unwrap();
        let model = Model::new(&case.layout, case.granule);
        let (sub_spaces, tokens, stale) = (Vec::new(), Vec::new(), Vec::new());
        let mut twins = Self { space, model, sub_spaces, tokens, stale };
        twins.compare();
        let mut left_behind: Vec<Self> = Vec::new();
        for (at, op) in (1..).zip(&case.ops) {
            let (space, model) = (twins.space.clone(), twins.model.clone());
            match op {
                Op::Clone => left_behind.push(twins.go_on_with_a_copy()),
                Op::Restore(which) => left_behind.push(twins.go_on_with_what_is_restored(*which)),
                op => twins.step(at, op),
            }
            twins.compare();
            assert_eq!(twins.space == space, twins.model == model, "equality, after {op:?}");
        }
        for mut twins in left_behind.into_iter().chain([twins]) {
            twins.compare();
            twins.take_out();
            twins.wind_up();
        }
    }

    fn step(&mut self, at: u64, op: &Op) {
        match op {
            Op::Alloc(request, with) => self.alloc(at, request, *with),
            Op::AllocAt(place) => self.alloc_at(at, *place),
            Op::Fill(each, most) => self.fill(at, *each, *most),
            Op::Free(which) => {
                if let Some((number, _)) = self.region(*which) {
                    self.free(self.start_of(number));
                }
            }
            Op::FreeAt(address) => self.free(*address),
            Op::Resize(which, size) => self.resize(*which, *size),
            Op::Carve(request) => self.carve(at, request),
            Op::TakeBack(which) => self.take_back(*which),
            Op::Disown(which) => self.disown(*which),
            Op::Adopt(which) => self.adopt(*which),
            Op::Begin(which, to) => {
                if let Some((number, _)) = self.region(*which) {
                    self.begin(self.start_of(number), *to);
                }
            }
            Op::Shift(which, by) => {
                if let Some((number, _)) = self.region(*which) {
                    let first = self.start_of(number);
                    let by = self.model.granule.bytes().cast_signed().wrapping_mul(*by);
                    self.begin(first, first.wrapping_add_signed(by));
                }
            }
            Op::BeginAt(from, to) => self.begin(*from, *to),
            Op::End(which, commit) => self.end(*which, *commit),
            Op::EndAll(commit) => self.end_all(*commit),
            Op::Stale(which, commit) => self.stale(*which, *commit),
            Op::Rearrange(travels, spoil) => self.rearrange(travels, *spoil),
            Op::Add(span) => self.add(*span),
            Op::Remove(span) => self.remove(*span),
            Op::Touch(address) => self.touch(at, *address),
            Op::ChangeAll => self.change_all(at),
            Op::Within(span, ends) => self.within(*span, *ends),
            Op::Clone | Op::Restore(_) => panic!("it takes another pair of twins"),
        }
    }

    /// A region by its place in address order, and its number.
    fn region(&self, which: usize) -> Option<(u64, model::Region)> {
        let mut regions = self.model.in_order();
        regions.nth(which % self.model.regions.len().max(1))
    }

    fn start_of(&self, number: u64) -> u64 {
        self.model.address_of(self.model.regions[&number].first)
    }

    /// Ends all there is: the layout is free again, to the last byte.
    fn wind_up(&mut self) {
        self.end_all(self.model.regions.len().is_multiple_of(2));
        for (number, region) in self.model.clone().in_order() {
            self.space.disown(self.start_of(number));
            let freed = self.space.free(self.start_of(number));
            assert_eq!(freed, Ok((self.model.usable(region), region.value)));
            self.model.free(number);
        }
        self.sub_spaces.clear();
        self.compare();
        assert_eq!(self.space.stats().free_bytes, self.model.all_bytes());
    }
}

#[test]
fn random_histories() {
    let kept = FileFailurePersistence::Direct("proptest-regressions/moves.txt");
    let config =
        ProptestConfig { failure_persistence: Some(Box::new(kept)), ..ProptestConfig::with_cases(2100) };
    let played = TestRunner::new(config).run(&cases(), |case| {
        Twins::play(&case);
        Ok(())
    });
    played.unwrap_or_else(|error| panic!("{error}"));
}
