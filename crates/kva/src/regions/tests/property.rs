//! The tree against the model: any layout that grows, any sizes, windows and alignments, from empty to three levels
//! and back, checked from scratch after every operation.

use super::super::{Order, RegionAttrs, RegionTree, search};
use super::model::{Interval, Model};
use super::{bytes, wanted};
use freehold_units::Align;
use proptest::prelude::*;
use std::vec::Vec;

#[derive(Clone, Debug)]
enum Op {
    /// Another span: beside which one, how, and how long.
    Add(usize, u8, u128),
    /// Size, alignment, guard, window.
    Alloc(Order, u64, u32, u32, Option<(usize, u64)>),
    Free(usize),
    /// A region, its new end as a distance from the old one.
    SetEnd(usize, i64),
}

#[derive(Clone, Debug)]
struct Case {
    shift: u32,
    first: u128,
    length: u128,
    /// Regions before the first operation.
    filled: usize,
    ops: Vec<Op>,
}

struct Twins {
    tree: RegionTree<usize>,
    model: Model,
    shift: u32,
    /// The end of all granules, exclusive.
    top: u128,
    count: usize,
}

impl Twins {
    fn new(case: &Case) -> Self {
        let tree = RegionTree::empty(Align::new(1 << case.shift).unwrap()).unwrap();
        let top = 1u128 << (64 - case.shift);
        let mut twins = Self { tree, model: Model::default(), shift: case.shift, top, count: 0 };
        let length = case.length.min(top);
        let first = case.first.min(top - length);
        twins.add((first, first + length));
        twins
    }

    fn add(&mut self, span: Interval) {
        self.tree.reserve(1).unwrap();
        self.tree.add_span(bytes(self.shift, span.0, span.1)).unwrap();
        self.model.add(span);
    }

    /// Regions of one granule with a gap behind each, as many as there is room for.
    fn fill(&mut self, regions: usize) {
        let (start, end) = self.model.spans[0];
        for at in 0..regions as u128 {
            let (first, last) = (start + 3 * at, start + 3 * at + 1 + at % 2);
            if last >= end {
                break;
            }
            let span = bytes(self.shift, first, last);
            self.tree.reserve(1).unwrap();
            let (entry, _) = self.tree.block_over(span).unwrap();
            self.tree.insert(entry, span, RegionAttrs::default(), Some(self.count));
            self.model.taken.push((first, last, 0));
            self.count += 1;
        }
    }

    fn step(&mut self, op: &Op) {
        match *op {
            Op::Add(which, how, length) => self.add_beside(which, how, length),
            Op::Alloc(order, size, align, guard, window) => self.alloc(order, size, align, guard, window),
            Op::Free(which) => self.free(which),
            Op::SetEnd(which, by) => self.set_end(which, by),
        }
        self.compare();
    }

    fn add_beside(&mut self, which: usize, how: u8, length: u128) {
        let at = which % self.model.spans.len();
        let (start, end) = self.model.spans[at];
        let below = at.checked_sub(1).map_or(0, |before| self.model.spans[before].1);
        let above = self.model.spans.get(at + 1).map_or(self.top, |next| next.0);
        let span = match how % 5 {
            0 => (start.saturating_sub(length).max(below), start),
            1 => (end, (end + length).min(above)),
            2 => (end, above),
            3 => (below, start),
            // Apart from both.
            _ => (end + 1 + (above - end) / 3, (end + 1 + (above - end) / 3 + length).min(above)),
        };
        if span.0 >= span.1 || self.model.overlaps(span) {
            return;
        }
        self.add(span);
        // Not twice.
        self.tree.reserve(1).unwrap();
        if self.model.gaps().iter().any(|gap| gap.0 < span.1 && span.0 < gap.1) {
            assert!(self.tree.add_span(bytes(self.shift, span.0, span.1)).is_err());
        }
    }

    fn alloc(&mut self, order: Order, size: u64, align: u32, guard: u32, window: Option<(usize, u64)>) {
        let size = (u128::from(size) + u128::from(guard)).min(self.top - 1) as u64;
        let guard = if u64::from(guard) < size { guard } else { 0 };
        let align = align.min(63 - self.shift);
        // A window near the edge of a region or span.
        let window = match window {
            None => (0, self.top),
            Some((which, length)) => {
                let (spans, taken) = (self.model.spans.len(), self.model.taken.len());
                let edge = match which % (spans + taken) {
                    at if at < spans => self.model.spans[at].0,
                    at => self.model.taken[at - spans].1,
                };
                let from = edge.saturating_sub(u128::from(length % 7)).min(self.top - 1);
                (from, (from + 1 + u128::from(length)).min(self.top))
            }
        };
        let (low, high) = (
            self.model.lowest(size.into(), 1 << align, window),
            self.model.highest(size.into(), 1 << align, window),
        );
        let wanted = wanted(self.shift, size, align, window).unwrap();
        let find = |order| search(&self.tree, order, &wanted, &mut ()).map(|found| u128::from(found.start));
        assert_eq!((find(Order::LowestFirst), find(Order::HighestFirst)), (low, high), "{wanted:?}");
        self.tree.reserve(1).unwrap();
        let found = search(&mut self.tree, order, &wanted, &mut ());
        let best = if order == Order::LowestFirst { low } else { high };
        assert_eq!(found.map(|found| u128::from(found.start)), best);
        if let (Some(found), Some(start)) = (found, best) {
            let end = start + u128::from(size);
            let terms = RegionAttrs { guard_granules: guard, align: (align + self.shift) as u8 };
            self.tree.insert(found.entry, bytes(self.shift, start, end), terms, Some(self.count));
            self.model.take((start, end, guard));
            self.count += 1;
        }
    }

    fn free(&mut self, which: usize) {
        if self.model.taken.is_empty() {
            return;
        }
        let (start, end, guard) = self.model.taken.remove(which % self.model.taken.len());
        let first = (start << self.shift) as u64;
        let gone = self.tree.remove(first, &mut ()).unwrap();
        assert_eq!(gone.taken, bytes(self.shift, start, end));
        assert_eq!(gone.span, bytes(self.shift, start, end - u128::from(guard)));
        let is_free = |granule: Option<u128>| {
            granule.is_some_and(|at| self.model.gaps().iter().any(|gap| gap.0 <= at && at < gap.1))
        };
        let gap = *self.model.gaps().iter().find(|gap| gap.0 <= start && end <= gap.1).unwrap();
        assert_eq!(gone.block, bytes(self.shift, gap.0, gap.1));
        assert!(is_free(Some(start)));
        assert!(self.tree.remove(first, &mut ()).is_none(), "it is gone");
    }

    fn set_end(&mut self, which: usize, by: i64) {
        if self.model.taken.is_empty() {
            return;
        }
        let at = which % self.model.taken.len();
        let (start, end, guard) = self.model.taken[at];
        let room = self.model.gaps().iter().find(|gap| gap.0 == end).map_or(end, |gap| gap.1);
        let new_end = end.saturating_add_signed(by.into()).clamp(start + u128::from(guard) + 1, room);
        let (place, _) = self.tree.region((start << self.shift) as u64).unwrap();
        self.tree.set_end(place, ((new_end << self.shift) - 1) as u64, guard);
        self.model.taken[at].1 = new_end;
    }

    fn compare(&self) {
        self.tree.validate().unwrap();
        let gaps = self.model.gaps();
        let span = |&(start, end): &Interval| bytes(self.shift, start, end);
        assert!(self.tree.blocks().eq(gaps.iter().map(span)), "{gaps:?}");
        let regions = self.tree.regions().map(|entry| (entry.taken(), entry.terms.guard_granules));
        let taken = self.model.taken.iter().map(|&(start, end, guard)| (span(&(start, end)), guard));
        assert!(regions.eq(taken));
        assert_eq!((self.tree.len(), self.tree.block_count()), (self.model.taken.len(), gaps.len()));
        let largest = gaps.iter().map(|gap| gap.1 - gap.0).max().unwrap_or(0) << self.shift;
        assert_eq!(self.tree.largest_bytes(&mut ()), u64::try_from(largest).unwrap_or(u64::MAX));
        let edges = self.model.taken.iter().map(|region| region.1).chain(gaps.iter().map(|gap| gap.1));
        for edge in edges.step_by(1 + self.model.taken.len() / 8) {
            for granule in edge.saturating_sub(1)..=edge {
                self.look_at(granule.min(self.top - 1), &gaps);
            }
        }
    }

    fn look_at(&self, granule: u128, gaps: &[Interval]) {
        let address = (granule << self.shift) as u64;
        let owner = self.model.taken.iter().find(|region| region.0 <= granule && granule < region.1);
        let found = self.tree.region_at(address).map(|(_, entry)| entry.taken());
        assert_eq!(found, owner.map(|region| bytes(self.shift, region.0, region.1)));
        for size in [1, 2, 300, 1 << 26].into_iter().filter(|&size| size < self.top) {
            let holds = |gap: &&Interval| gap.0 + size <= gap.1.min(granule + 1);
            let block = gaps.iter().rfind(holds).map(|gap| bytes(self.shift, gap.0, gap.1));
            assert_eq!(self.tree.block_at_or_below(address, (size << self.shift) as u64), block);
        }
    }
}

fn sizes() -> impl Strategy<Value = u64> {
    prop_oneof![
        8 => 1u64..6,
        2 => (-2i64..3).prop_map(|by| (1u64 << 26).saturating_add_signed(by)),
        2 => (20u32..40, 0u64..3).prop_map(|(shift, more)| (1 << shift) + more),
        1 => (40u32..64, any::<bool>()).prop_map(|(shift, less)| (1 << shift) - u64::from(less)),
    ]
}

fn ops() -> impl Strategy<Value = Op> {
    let order = prop_oneof![2 => Just(Order::LowestFirst), 1 => Just(Order::HighestFirst)];
    let aligns = prop_oneof![4 => Just(0u32), 6 => 1u32..7, 1 => 24u32..31, 1 => 0u32..64];
    let windows = prop::option::weighted(0.3, (any::<usize>(), prop_oneof![0u64..40, any::<u64>()]));
    prop_oneof![
        12 => (order, sizes(), aligns, prop_oneof![3 => Just(0u32), 1 => 1u32..4], windows)
            .prop_map(|(order, size, align, guard, window)| Op::Alloc(order, size, align, guard, window)),
        8 => any::<usize>().prop_map(Op::Free),
        2 => (any::<usize>(), any::<u8>(), sizes()).prop_map(|(at, how, size)| Op::Add(at, how, size.into())),
        3 => (any::<usize>(), prop_oneof![-4i64..5, any::<i64>()]).prop_map(|(at, by)| Op::SetEnd(at, by)),
    ]
}

fn cases(filled: impl Strategy<Value = usize>) -> impl Strategy<Value = Case> {
    let first = prop_oneof![
        Just(0u128),
        Just(1000),
        (0u32..64).prop_map(|shift| 1 << shift),
        // The end of all addresses.
        Just(u128::MAX),
    ];
    let length = prop_oneof![
        2 => 1u128..300,
        2 => Just(12_000u128),
        1 => (26u32..30).prop_map(|shift| (1 << shift) + 12_000),
        1 => (30u32..65).prop_map(|shift| 1 << shift),
    ];
    let shift = prop_oneof![2 => Just(0u32), 2 => Just(12u32), 1 => 0u32..64];
    (shift, first, length, filled, prop::collection::vec(ops(), 1..80))
        .prop_map(|(shift, first, length, filled, ops)| Case { shift, first, length, filled, ops })
}

fn play(case: &Case) -> usize {
    let mut twins = Twins::new(case);
    twins.compare();
    twins.fill(case.filled);
    twins.compare();
    let height = twins.tree.tree.height;
    case.ops.iter().for_each(|op| twins.step(op));
    // Until nothing is left, from the middle and from both ends.
    for at in 0.. {
        if twins.model.taken.is_empty() {
            break;
        }
        twins.free([at, 0, usize::MAX / 2][at % 3]);
        if at % (1 + case.filled / 30) == 0 {
            twins.compare();
        }
    }
    twins.compare();
    assert!(twins.tree.len() == 0 && twins.tree.tree.leaves.in_use() <= twins.model.spans.len());
    height
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

    #[test]
    fn a_small_tree_is_the_model(case in cases(0usize..100)) {
        play(&case);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn a_tree_of_three_levels_is_the_model(case in cases(Just(3000usize))) {
        let long = Case { length: case.length.max(12_000), shift: case.shift.min(40), ..case };
        assert_eq!(play(&long), 2, "three levels");
    }
}
