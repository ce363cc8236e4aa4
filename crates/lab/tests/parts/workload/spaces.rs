//! Address spaces held against pages: what every page is, and that areas are as long as they can be.

use freehold::units::Span;
use freehold_lab::engine::maple::{PlannedRanges, WordMapRanges};
use freehold_lab::workload::SplitMix;
use freehold_rivals::maple::{BTreeMapRanges, ListRanges};
use freehold_trace::Drive;
use freehold_trace::maple::Ranges;
use freehold_trace::vma::*;

const PAGE: u64 = 4096;
const PAGES: u64 = 24;

/// What every page is of.
type Pages = Vec<Option<u64>>;

fn pages(first: u64, count: u64) -> Span {
    Span::from_size(first * PAGE, count * PAGE).unwrap()
}

fn range(span: Span) -> std::ops::Range<usize> {
    (span.first() / PAGE) as usize..(span.last() / PAGE + 1) as usize
}

/// What the calls do to pages, one by one.
fn apply(model: &mut Pages, kinds: &mut Kinds, call: &Call) {
    let mut change = |span: Span, change: Change, whole: bool| {
        for page in &mut model[range(span)] {
            match page {
                Some(kind) => *kind = kinds.changed(*kind, change),
                None if whole => {}
                None => break,
            }
        }
    };
    match *call {
        Call::Map { span, kind, .. } => model[range(span)].fill(Some(kind)),
        Call::Unmap { span, .. } => model[range(span)].fill(None),
        Call::Protect { span, prot, whole } => change(span, Change::Protect(prot), whole),
        Call::Advise { span, advice } => change(span, Change::Advise(advice), true),
        _ => unreachable!("no such call is made up here"),
    }
}

/// Runs of pages of one kind.
fn areas_of(model: &Pages) -> Vec<(u64, u64, u64)> {
    let mut areas: Vec<(u64, u64, u64)> = Vec::new();
    for (page, kind) in (0u64..).zip(model) {
        let Some(kind) = *kind else { continue };
        match areas.last_mut() {
            Some((_, last, same)) if *same == kind && *last + 1 == page * PAGE => *last += PAGE,
            _ => areas.push((page * PAGE, page * PAGE + PAGE - 1, kind)),
        }
    }
    areas
}

fn made_up(random: &mut SplitMix, kinds: &mut Kinds) -> Call {
    let first = 1 + random.next_u64() % (PAGES - 2);
    let span = pages(first, 1 + random.next_u64() % (PAGES - first).min(7));
    let prot = [0, 1, 3, 5][random.next_u64() as usize % 4];
    match random.next_u64() % 7 {
        0..=2 => {
            let shown = if prot == 5 { Shown::File(1) } else { Shown::Memory };
            let kind = kinds.number(Kind::new(prot, false, shown, span.first(), span.first()));
            Call::Map { span, kind, replaces: true, by: Caller::Program }
        }
        3 => Call::Unmap { span, by: Caller::Program },
        4 | 5 => Call::Protect { span, prot, whole: random.next_u64().is_multiple_of(2) },
        _ => Call::Advise { span, advice: 16 + (random.next_u64() % 2) as u32 },
    }
}

fn follows_pages<M: AreaMap>() {
    for seed in 0..60 {
        let mut random = SplitMix::new(seed);
        let mut kinds = Kinds::default();
        let mut model: Pages = vec![None; PAGES as usize];
        // Kinds that come by changing others get the same numbers in both, as long as both change alike.
        let calls: Vec<Call> = (0..150).map(|_| made_up(&mut random, &mut kinds)).collect();
        let mut spaces = Spaces::<M>::new(kinds.clone());
        spaces.run(&Op { space: 0, call: Call::Exec }, &mut ());
        for call in calls {
            let before = areas_of(&model);
            let answer = spaces.run(&Op { space: 0, call }, &mut ());
            apply(&mut model, &mut kinds, &call);
            let found: Vec<_> = spaces.space(0).unwrap().areas().iter().collect();
            assert_eq!(found, areas_of(&model), "seed {seed}: {call:?} on {before:x?} said {answer:?}");
            spaces.validate().unwrap();
        }
    }
}

#[test]
fn every_map_follows_pages() {
    follows_pages::<ListRanges<u64>>();
    follows_pages::<WordMapRanges>();
    follows_pages::<PlannedRanges>();
    follows_pages::<BTreeMapRanges<u64>>();
}

/// One space on which calls are run one by one.
struct One {
    spaces: Spaces<WordMapRanges>,
    memory: u64,
}

impl One {
    fn new() -> Self {
        let mut kinds = Kinds::default();
        let memory = kinds.number(Kind::new(3, false, Shown::Memory, 0, 0));
        let mut spaces = Spaces::new(kinds);
        spaces.run(&Op { space: 0, call: Call::Exec }, &mut ());
        Self { spaces, memory }
    }

    fn call(&mut self, call: Call) -> Answer {
        self.spaces.run(&Op { space: 0, call }, &mut ())
    }

    fn map(&mut self, first: u64, count: u64) -> Answer {
        let kind = self.memory;
        self.call(Call::Map { span: pages(first, count), kind, replaces: false, by: Caller::Program })
    }

    /// First page and number of pages of each area of a space.
    fn areas(&self, space: u32) -> Vec<(u64, u64)> {
        let areas = self.spaces.space(space).unwrap().areas().iter();
        areas.map(|(first, last, _)| (first / PAGE, (last - first + 1) / PAGE)).collect()
    }
}

#[test]
fn what_is_not_as_recorded_is_said() {
    let mut one = One::new();
    assert_eq!(one.map(2, 4).fault, None);
    assert_eq!(one.map(5, 2).fault, Some(Fault::Occupied));
    let unmap = |first| Call::Unmap { span: pages(first, 1), by: Caller::Program };
    assert_eq!(one.call(unmap(12)).fault, Some(Fault::Nothing));
    let protect = |first, count, whole| Call::Protect { span: pages(first, count), prot: 1, whole };
    assert_eq!(one.call(protect(6, 2, true)).fault, Some(Fault::Hole));
    assert_eq!(one.call(protect(3, 1, false)).fault, Some(Fault::NoHole));
    assert_eq!(one.call(protect(3, 1, true)).fault, None);
    let search = |found| Call::Search { size: 2 * PAGE, window: pages(1, 10), highest: true, found };
    assert_eq!(one.call(search(Some(9 * PAGE))).fault, None);
    assert_eq!(one.call(search(Some(8 * PAGE))).fault, Some(Fault::OtherGap));
    let elsewhere = Op { space: 7, call: Call::Destroy };
    assert_eq!(one.spaces.run(&elsewhere, &mut ()).fault, Some(Fault::NoSpace));
}

#[test]
fn areas_move_shrink_and_grow() {
    let mut one = One::new();
    one.map(2, 4);
    let remap = |from, to| Call::Remap { from, to, replaces: false, keeps: false };
    assert_eq!(one.call(remap(pages(2, 4), pages(2, 2))).fault, None);
    assert_eq!(one.areas(0), [(2, 2)]);
    assert_eq!(one.call(remap(pages(2, 2), pages(2, 5))).fault, None);
    assert_eq!(one.areas(0), [(2, 5)]);
    assert_eq!(one.call(remap(pages(2, 5), pages(12, 8))).fault, None);
    assert_eq!(one.areas(0), [(12, 8)]);
    // What was moved does not continue what is mapped beside it.
    one.map(11, 1);
    assert_eq!(one.areas(0), [(11, 1), (12, 8)]);
    assert_eq!(one.call(remap(pages(30, 1), pages(40, 1))).fault, Some(Fault::Hole));
}

#[test]
fn a_child_has_what_its_parent_had_but_for_what_it_shall_not() {
    let mut one = One::new();
    one.map(2, 6);
    one.call(Call::Advise { span: pages(4, 2), advice: 10 });
    assert_eq!(one.call(Call::Fork { into: 1 }).fault, None);
    assert_eq!((one.areas(0), one.areas(1)), (vec![(2, 2), (4, 2), (6, 2)], vec![(2, 2), (6, 2)]));
    one.map(10, 1);
    assert_eq!(one.areas(1), [(2, 2), (6, 2)], "they are apart from then on");
    assert_eq!(one.call(Call::Fork { into: 1 }).fault, Some(Fault::NoSpace), "there is one already");
}

/// Else a trace of a few MiB takes all memory.
#[test]
fn forks_that_copy_too_much_are_refused_until_spaces_are_gone() {
    let mut one = One::new();
    (0..4096).for_each(|at| assert_eq!(one.map(2 * at + 2, 1).fault, None));
    let refused = (1..).find(|&into| one.call(Call::Fork { into }).fault.is_some());
    assert_eq!(refused, Some(1025), "4,194,304 areas are copied");
    assert!(one.spaces.space(1025).is_none());
    // Counted anew, the areas of space 0 are among them.
    for gone in [7, 8] {
        assert_eq!(one.spaces.run(&Op { space: gone, call: Call::Destroy }, &mut ()).fault, None);
    }
    assert_eq!(one.call(Call::Fork { into: 1025 }).fault, None);
    assert_eq!(one.call(Call::Fork { into: 1026 }).fault, Some(Fault::NoSpace));
}
