//! The kernel's space beside the default one, which other tests hold against a model: whatever is done, both have the same
//! areas, and the tree finds what an exact search finds.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use freehold_kva::{AddressSpace, AllocError, Request};
use freehold_linux::Error;
use freehold_linux::kva::rbtree::{HotAndLazy, HotBlock, LazyFixups, Plain, Policy};
use freehold_linux::kva::{KernelSpace, Placement};
use freehold_units::{Align, Span};
use proptest::prelude::*;

const PAGE: u64 = 4096;

fn pages(first: u64, count: u64) -> Span {
    Span::from_size(first * PAGE, count * PAGE).unwrap()
}

/// The last pages end with the last address of all.
fn layout() -> [Span; 3] {
    [pages(40, 200), pages(2, 30), Span::new(u64::MAX - 64 * PAGE + 1, u64::MAX).unwrap()]
}

#[derive(Clone, Debug)]
enum Op {
    Alloc(Request),
    Congruent(Vec<Span>, Align),
    Free(usize),
    FreeAt(u64),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let window = prop_oneof![
        3 => Just(Span::ALL),
        1 => (0u64..240, 1u64..60).prop_map(|(first, count)| pages(first, count)),
        1 => (1u64..64).prop_map(|count| Span::new(u64::MAX - count * PAGE + 1, u64::MAX).unwrap()),
    ];
    let request = (1u64..20, 0u64..2, 0u32..5, window).prop_map(|(size, guard, shift, window)| {
        Request::new(size * PAGE).guard(guard * PAGE).align_bytes(PAGE << shift).window(window)
    });
    let areas = (1u64..5, 1u64..9, 1u64..5)
        .prop_map(|(first, gap, second)| vec![pages(0, first), pages(first + gap, second)]);
    prop::collection::vec(
        prop_oneof![
            8 => request.prop_map(Op::Alloc),
            1 => (areas, 0u32..3).prop_map(|(areas, shift)| Op::Congruent(areas, Align::new(PAGE << shift).unwrap())),
            6 => any::<usize>().prop_map(Op::Free),
            1 => (0u64..260).prop_map(|page| Op::FreeAt(page * PAGE)),
        ],
        1..150,
    )
}

/// The kernel's space, and the default one made to follow it.
struct Twins<P> {
    kernel: KernelSpace<u64, P>,
    exact: AddressSpace<u64>,
}

impl<P: Policy> Twins<P> {
    fn play(placement: Placement, ops: &[Op]) {
        let kernel = KernelSpace::with_layout(&layout(), Align::PAGE, placement).unwrap();
        let exact =
            AddressSpace::with_layout(&layout(), Align::PAGE, freehold_kva::Placement::Lowest).unwrap();
        let mut twins = Self { kernel, exact };
        for (at, op) in (0..).zip(ops) {
            twins.step(placement, at, op);
            twins.kernel.validate().unwrap();
            assert!(twins.kernel.free_blocks().eq(twins.exact.free_blocks()));
            let areas = twins.kernel.areas().map(|(area, &value)| (area, value));
            assert!(areas.eq(twins.exact.regions().map(|region| (region.span(), *region.value()))));
        }
    }

    fn step(&mut self, placement: Placement, at: u64, op: &Op) {
        match op {
            Op::Alloc(request) => self.alloc(placement, at, request),
            Op::Congruent(areas, align) => {
                let areas: Vec<_> = areas.iter().map(|&area| (area, at)).collect();
                let answer = self.kernel.alloc_congruent_probed(areas.clone(), *align, Span::ALL, &mut ());
                let exact = self.exact.alloc_congruent(areas, *align, Span::ALL);
                assert_eq!(
                    answer.map_err(|refused| refused.cause),
                    exact.map_err(|refused| code(refused.cause))
                );
            }
            &Op::Free(which) => {
                let first =
                    self.exact.regions().nth(which % self.exact.len().max(1)).map(|area| area.span().first());
                if let Some(first) = first {
                    assert_eq!(self.kernel.free(first).unwrap(), self.exact.free(first).unwrap());
                }
            }
            &Op::FreeAt(address) => {
                assert_eq!(self.kernel.free(address), self.exact.free(address).map_err(|_| Error::Invalid));
            }
        }
    }

    /// An area has its guard's pages, too, so the other space has it as a region without guard.
    fn alloc(&mut self, placement: Placement, at: u64, request: &Request) {
        for placement in [Placement::Lowest, Placement::Highest, Placement::Linux] {
            self.judge(placement, request, self.kernel.find(request, placement));
        }
        let answer = self.kernel.alloc(request, at).map_err(|refused| refused.cause);
        self.judge(placement, request, answer);
        if let Ok(span) = answer {
            let area = Span::from_size(span.first(), request.size_bytes + request.guard_bytes).unwrap();
            assert_eq!(self.exact.alloc_at(area, at).unwrap(), area);
            assert_eq!(self.kernel.area_at(area.last()), Some((area, &at)));
        }
    }

    fn judge(&self, placement: Placement, request: &Request, answer: Result<Span, Error>) {
        let exact = |placement| self.exact.find(request, placement).map_err(code);
        let lowest = exact(freehold_kva::Placement::Lowest);
        match placement {
            Placement::Highest => assert_eq!(answer, exact(freehold_kva::Placement::Highest)),
            // It may pass over tight blocks, and takes no lower one than there is.
            Placement::Linux if request.align_bytes > PAGE => match (answer, lowest) {
                (Ok(span), lowest) => assert!(span.first() >= lowest.unwrap().first()),
                (Err(cause), Err(why)) => assert_eq!(cause, why),
                (Err(cause), Ok(_)) => assert_eq!(cause, Error::Busy),
            },
            Placement::Lowest | Placement::Linux => assert_eq!(answer, lowest),
        }
    }
}

/// The kernel's code for a refusal of the default space.
fn code(cause: AllocError) -> Error {
    match cause {
        AllocError::NoSpace { .. }
        | AllocError::TooLarge { .. }
        | AllocError::NoMultiple { .. }
        | AllocError::PlaceOutside { .. }
        | AllocError::Occupied { .. } => Error::Busy,
        AllocError::ZeroSize
        | AllocError::NotGranular { .. }
        | AllocError::NotPowerOfTwo { .. }
        | AllocError::WindowOutside { .. } => Error::Invalid,
        other => panic!("no request of this test is refused so: {other}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn areas_are_those_of_the_default_space(
        ops in ops(),
        placement in prop::sample::select(vec![Placement::Lowest, Placement::Highest, Placement::Linux]),
        policy in 0..4,
    ) {
        match policy {
            0 => Twins::<Plain>::play(placement, &ops),
            1 => Twins::<HotBlock>::play(placement, &ops),
            2 => Twins::<LazyFixups>::play(placement, &ops),
            _ => Twins::<HotAndLazy>::play(placement, &ops),
        }
    }
}

#[test]
fn what_is_refused_changes_nothing() {
    let mut space: KernelSpace<&str> = KernelSpace::new(pages(0, 16), Align::PAGE, Placement::Linux).unwrap();
    let area = space.alloc(&Request::new(2 * PAGE).guard(PAGE), "a").unwrap();
    assert_eq!(area, pages(0, 2));
    let refused = space.alloc(&Request::new(0), "b").unwrap_err();
    assert_eq!((refused.value, refused.cause), ("b", Error::Invalid));
    let taken = space.alloc(&Request::new(PAGE).window(pages(1, 1)), "b").unwrap_err();
    assert_eq!((taken.value, taken.cause), ("b", Error::Busy));
    let overlapping = vec![(pages(0, 2), "c"), (pages(1, 1), "d")];
    let refused = space.alloc_congruent_probed(overlapping, Align::PAGE, Span::ALL, &mut ()).unwrap_err();
    assert_eq!((refused.value.len(), refused.cause), (2, Error::Invalid));
    assert_eq!(space.free(PAGE), Err(Error::Invalid));
    assert_eq!(space.add(pages(2, 16)), Err(Error::Exists));
    assert_eq!(space.add(pages(8, 16)), Err(Error::Exists));
    assert_eq!(space.add(Span::new(40 * PAGE + 1, 41 * PAGE).unwrap()), Err(Error::Invalid));
    space.validate().unwrap();
    assert_eq!(space.free(0), Ok((pages(0, 3), "a")));
    assert_eq!((space.tree().len(), space.len()), (1, 0));
}

/// A granule above a page stands for a larger page: no request is passed over for its alignment.
#[test]
fn linux_takes_tight_blocks_of_large_granules() {
    let large = Align::new(2 * PAGE).unwrap();
    let mut space: KernelSpace<u8> = KernelSpace::new(pages(0, 16), large, Placement::Linux).unwrap();
    let two_pages = Request::new(2 * PAGE);
    space.alloc(&two_pages.window(pages(2, 2)), 1).unwrap();
    assert_eq!(space.alloc(&two_pages, 2).unwrap(), pages(0, 2));
}
