//! The failure of every single allocation: whichever request for memory is refused, the operation answers
//! `OutOfMemory`, leaves the space as it was, and succeeds when it is tried again.
//!
//! A script of operations is played once to count its requests for memory, then once per request, with that
//! one refused. A memory request that cannot be answered by an error ends the process.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod moves;
mod parts;
mod refusing;
#[cfg(feature = "std")]
mod shared;
mod verbs;

use freehold_kva::{AddressSpace, AllocError, FreeError, LayoutError, Placement, Request, Stats};
use freehold_units::{Align, Span};
use refusing::{NONE_REFUSED, watched};

const PAGE: u64 = 4096;

fn pages(first: u64, count: u64) -> Span {
    Span::from_size(first * PAGE, count * PAGE).unwrap()
}

/// An operation of a script. All of them succeed unless memory is refused.
#[derive(Clone, Debug)]
enum Op {
    Alloc(Request),
    Congruent(Vec<Span>),
    Free(u64),
}

impl Op {
    /// Takes one page at a place of its own.
    fn page_at(page: u64) -> Self {
        Self::Alloc(Request::new(PAGE).window(pages(page, 1)))
    }

    /// Plays the operation; `Err` if memory was refused. Any other answer ends the test.
    fn play(&self, space: &mut AddressSpace<Box<u64>>, granted: u64) -> Result<u64, ()> {
        match self {
            Self::Alloc(request) => {
                let value = Box::new(7);
                let (answer, requests) = watched(granted, || space.alloc(request, value));
                match answer {
                    Ok(_) => Ok(requests),
                    Err(rejected) => {
                        assert_eq!(
                            (*rejected.value, rejected.cause),
                            (7, AllocError::OutOfMemory),
                            "{self:?}"
                        );
                        Err(())
                    }
                }
            }
            Self::Congruent(areas) => {
                let asked = valued(areas);
                let (answer, requests) =
                    watched(granted, || space.alloc_congruent(asked, Align::PAGE, Span::ALL));
                match answer {
                    Ok(_) => Ok(requests),
                    Err(rejected) => {
                        assert_eq!(rejected.cause, AllocError::OutOfMemory, "{self:?}");
                        assert_eq!(rejected.value, valued(areas));
                        Err(())
                    }
                }
            }
            Self::Free(first) => {
                let (answer, requests) = watched(granted, || space.free(*first));
                match answer {
                    Ok(_) => Ok(requests),
                    Err(FreeError::OutOfMemory) => Err(()),
                    Err(error) => panic!("{self:?}: {error}"),
                }
            }
        }
    }
}

fn valued(areas: &[Span]) -> Vec<(Span, Box<u64>)> {
    areas.iter().map(|&area| (area, Box::new(area.first()))).collect()
}

/// All that can be seen of a space, but for the memory that it holds.
#[derive(Debug, PartialEq)]
struct Snapshot {
    figures: Stats,
    free_blocks: Vec<Span>,
    regions: Vec<(Span, Option<Span>, u64)>,
}

fn snapshot(space: &AddressSpace<Box<u64>>) -> Snapshot {
    space.validate().unwrap();
    let mut figures = space.stats();
    (figures.free_index_bytes, figures.busy_index_bytes) = (0, 0);
    Snapshot {
        figures,
        free_blocks: space.free_blocks().collect(),
        regions: space.regions().map(|region| (region.span(), region.guard(), **region.value())).collect(),
    }
}

/// Refuses every request for memory of `script` in turn, each in a space newly made by `start`. Returns how
/// many of them hit an allocation, a congruent one and a free.
fn refuse_each(script: &[Op], start: impl Fn() -> AddressSpace<Box<u64>>) -> (usize, usize, usize) {
    let mut counted = start();
    let requests: Vec<u64> = script.iter().map(|op| op.play(&mut counted, NONE_REFUSED).unwrap()).collect();
    let wanted = snapshot(&counted);
    let mut hits = (0, 0, 0);
    for (at, op) in script.iter().enumerate() {
        for refused in 0..requests[at] {
            let mut space = start();
            for op in &script[..at] {
                op.play(&mut space, NONE_REFUSED).unwrap();
            }
            let before = snapshot(&space);
            // Memory for what makes later searches faster may be refused, too: then the operation does without.
            let done = op.play(&mut space, refused).is_ok();
            assert!(done || snapshot(&space) == before, "{op:?} changed something though it was refused");
            for op in &script[at + usize::from(done)..] {
                op.play(&mut space, NONE_REFUSED).unwrap();
            }
            assert_eq!(snapshot(&space), wanted);
            match op {
                _ if done => {}
                Op::Alloc(_) => hits.0 += 1,
                Op::Congruent(_) => hits.1 += 1,
                Op::Free(_) => hits.2 += 1,
            }
        }
    }
    hits
}

/// Many, as a pool asks for 64 leaves at once.
const SPANS: u64 = 1600;
/// Those at the top are left to congruent areas.
const CONGRUENT_SPANS: u64 = 500;
const SPAN_PAGES: u64 = 32;

/// Spans with holes between them, so that there are many blocks from the start.
fn layout() -> Vec<Span> {
    (0..SPANS).map(|at| pages(at * (SPAN_PAGES + 1), SPAN_PAGES)).collect()
}

fn new_space(placement: Placement) -> AddressSpace<Box<u64>> {
    AddressSpace::with_layout(&layout(), Align::PAGE, placement).unwrap()
}

/// The odd pages of every span, which splits blocks and nodes on every level, in an order that is not rising.
fn odd_pages() -> impl Iterator<Item = u64> {
    (0..SPANS / 2)
        .flat_map(|at| [at, SPANS - 1 - at])
        .flat_map(|at| (1..SPAN_PAGES).step_by(2).map(move |page| at * (SPAN_PAGES + 1) + page))
}

/// Fills an empty space: splits, alignments, guards, several areas at once, in an empty tree and in a tall one.
fn growth() -> Vec<Op> {
    let aligned = Request::new(PAGE).align(Align::new(16 * PAGE).unwrap()).guard(PAGE);
    let one_by_one: Vec<Op> = odd_pages().map(Op::page_at).filter(is_apart).collect();
    let several = |at: u64| Op::Congruent(vec![pages(6 + at % 12, 1), pages(0, 1), pages(2, 2)]);
    let mixed = (0..).zip(one_by_one.chunks(40)).flat_map(|(at, few)| [&[several(at)], few].concat());
    std::iter::once(Op::Alloc(aligned)).chain((0..12).map(several)).chain(mixed).collect()
}

/// Whether the page stays clear of what the first operations of [`growth`] take.
fn is_apart(op: &Op) -> bool {
    let Op::Alloc(request) = op else { return false };
    let first = request.window.first() / PAGE;
    (SPAN_PAGES + 1..(SPANS - CONGRUENT_SPANS) * (SPAN_PAGES + 1)).contains(&first)
}

/// Frees every second page of a grown space: each becomes one with its neighbours, or nodes are evened out.
fn thinning() -> Vec<Op> {
    growth().iter().filter(|op| is_apart(op)).step_by(2).map(free_of).collect()
}

fn free_of(op: &Op) -> Op {
    let Op::Alloc(request) = op else { panic!("{op:?} is not an allocation of one page") };
    Op::Free(request.window.first())
}

/// Fills the first spans to the brim, and then frees every second page, each a block of its own.
fn blocks_of_one_page() -> Vec<Op> {
    let all = (0..40).flat_map(|at| (0..SPAN_PAGES).map(move |page| at * (SPAN_PAGES + 1) + page));
    let second = all.clone().filter(|page| page % (SPAN_PAGES + 1) % 2 == 1);
    all.map(Op::page_at).chain(second.map(|page| Op::Free(page * PAGE))).collect()
}

fn played(placement: Placement, script: &[Op]) -> AddressSpace<Box<u64>> {
    let mut space = new_space(placement);
    for op in script {
        op.play(&mut space, NONE_REFUSED).unwrap();
    }
    space
}

fn creation_survives(placement: Placement) {
    for refused in 0.. {
        let spans = layout();
        let (answer, requests) =
            watched(refused, || AddressSpace::<Box<u64>>::with_layout(&spans, Align::PAGE, placement));
        match answer {
            Ok(space) => {
                assert!(requests <= refused && refused >= 3);
                return space.validate().unwrap();
            }
            Err(error) => assert_eq!(error, LayoutError::OutOfMemory),
        }
    }
}

/// Returns how many frees were refused.
fn scripts_survive(placement: Placement) -> usize {
    let (allocations, congruent, _) = refuse_each(&growth(), || new_space(placement));
    let enough = allocations > 2 && congruent > 2 && allocations + congruent > 20;
    assert!(enough, "{allocations} {congruent}");
    let (_, _, of_a_full_space) = refuse_each(&blocks_of_one_page(), || new_space(placement));
    let grown = growth();
    let (_, _, of_a_grown_space) = refuse_each(&thinning(), || played(placement, &grown));
    of_a_full_space + of_a_grown_space
}

/// A clone asks for memory in its own right, whatever the original has in store. Returns how many frees were refused.
fn clones_survive(placement: Placement) -> usize {
    let grown: AddressSpace<_> = played(placement, &growth());
    let thinned = played(placement, &[growth(), thinning()].concat());
    let emptied = played(placement, &[blocks_of_one_page(), freeing_the_rest()].concat());
    let (_, _, of_a_grown_space) = refuse_each(&thinning(), || grown.clone());
    let again: Vec<Op> = growth().into_iter().filter(is_apart).step_by(2).collect();
    let (refilled, ..) = refuse_each(&again, || thinned.clone());
    let (allocations, congruent, _) = refuse_each(&growth(), || emptied.clone());
    let anew = allocations + congruent;
    let (_, _, of_a_full_space) = refuse_each(&blocks_of_one_page(), || new_space(placement).clone());
    assert!(anew > 20, "{anew}");
    assert!(refilled < anew, "a clone has the spare nodes of its original: {refilled} {anew}");
    of_a_full_space + of_a_grown_space
}

/// Empties the space that [`blocks_of_one_page`] leaves.
fn freeing_the_rest() -> Vec<Op> {
    let allocated = blocks_of_one_page();
    let left = allocated.iter().filter(|op| matches!(op, Op::Alloc(_))).step_by(2);
    left.map(free_of).collect()
}

#[test]
fn making_a_space() {
    creation_survives(Placement::Lowest);
}

#[test]
fn operations() {
    assert_eq!(scripts_survive(Placement::Lowest), 0, "a region becomes a block where it lies");
}

#[test]
fn operations_with_blocks_by_size() {
    assert!(scripts_survive(Placement::BestFit) > 0, "a block that comes back alone takes a key");
}

#[test]
fn operations_on_a_clone() {
    assert_eq!(clones_survive(Placement::Lowest), 0, "a region becomes a block where it lies");
}
