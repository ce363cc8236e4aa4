//! Every iterator of a space, from both ends in many orders: each region or free block once and in order, and then none.

use crate::ends::{all_of, few_orders, orders};
use freehold_kva::{AddressSpace, Placement, Request};
use freehold_units::{Align, Span};
use std::ops::RangeInclusive;

const PAGE: u64 = 4096;

type Bounds = RangeInclusive<u64>;

/// A space, and what is in it, in address order.
struct Scene {
    space: AddressSpace<u64>,
    /// The usable addresses and the value of each region, and its addresses with the guard.
    regions: Vec<(Span, u64, Span)>,
    /// With the new place of a region that is moving.
    taken: Vec<Span>,
    layout: Vec<Span>,
}

fn pages(first: u64, count: u64) -> Span {
    Span::from_size(first * PAGE, count * PAGE).unwrap()
}

impl Scene {
    fn new(layout: Vec<Span>) -> Self {
        let space = AddressSpace::with_layout(&layout, Align::PAGE, Placement::Lowest).unwrap();
        Self { space, regions: Vec::new(), taken: Vec::new(), layout }
    }

    /// Takes all of a span, the last page of it as a guard if it has more than one.
    fn take(&mut self, span: Span) {
        let value = self.regions.len() as u64;
        let size = u64::try_from(span.size_bytes()).unwrap();
        let guard = if size > PAGE { PAGE } else { 0 };
        let request = Request::new(size - guard).guard(guard).window(span);
        let usable = self.space.alloc(&request, value).unwrap();
        self.regions.push((usable, value, span));
        self.taken.push(span);
    }

    /// The free blocks between what is taken.
    fn blocks(&self) -> Vec<Span> {
        let mut blocks = Vec::new();
        for &part in &self.layout {
            let mut rest = Some(part);
            for &taken in self.taken.iter().filter(|taken| taken.overlaps(part)) {
                let Some(open) = rest else { break };
                blocks.extend(open.below(taken));
                rest = open.above(taken);
            }
            blocks.extend(rest);
        }
        blocks
    }

    /// Bounds that begin and end at and within regions, guards, gaps and moving regions' new places.
    fn bounds(&self) -> Vec<Bounds> {
        let nth = |at: usize| self.regions.get(at).map_or(pages(7, 1), |region| region.2);
        let (low, middle, high) = (nth(0), nth(self.regions.len() / 2), nth(self.regions.len().max(1) - 1));
        vec![
            0..=middle.first(),
            middle.last()..=u64::MAX,
            low.first() + 5..=high.first() + 5,
            low.last()..=high.first().saturating_sub(1),
            low.last().saturating_add(1)..=high.last(),
            middle.last().saturating_add(1)..=middle.last().saturating_add(PAGE),
            u64::MAX..=u64::MAX,
            middle.last()..=middle.first(),
        ]
    }

    fn check(mut self) {
        self.space.validate().unwrap();
        let wanted: Vec<(Span, u64)> = self.regions.iter().map(|&(span, value, _)| (span, value)).collect();
        let blocks = self.blocks();
        for order in orders(wanted.len()) {
            order.check(self.space.regions().map(|region| (region.span(), *region.value())), &wanted);
        }
        orders(blocks.len()).into_iter().for_each(|order| order.check(self.space.free_blocks(), &blocks));
        for bounds in self.bounds() {
            let overlaps = |span: Span| span.first() <= *bounds.end() && *bounds.start() <= span.last();
            let regions = self.regions.iter().filter(|region| !bounds.is_empty() && overlaps(region.2));
            let wanted: Vec<Span> = regions.map(|region| region.0).collect();
            for order in few_orders(wanted.len()) {
                order.check(self.space.regions_in(bounds.clone()).map(|region| region.span()), &wanted);
            }
        }
        let mut values: Vec<u64> = all_of(self.space.values_mut()).into_iter().map(|value| *value).collect();
        values.sort_unstable();
        assert!(values.into_iter().eq(0..wanted.len() as u64));
        for order in few_orders(wanted.len()) {
            order.check(self.space.clone().into_iter(), &wanted);
        }
    }
}

/// So many regions: with gaps and guards, without, from the lowest addresses and up to the highest, in one part and in several.
#[test]
fn each_item_comes_once() {
    for len in (0..=40).chain([97, 199]) {
        let mirrored = |span: Span| Span::new(!span.last(), !span.first()).unwrap();
        let spaced = (0..len).map(|at| pages(4 * at, 1 + at % 3));
        let touching = (0..len).map(|at| pages(2 * at, 2));
        let mut holes: Vec<Span> = (0..len + 1).map(|at| pages(16 * at, 12)).collect();
        holes.push(pages(1 << 40, 1));
        for (layout, spans) in [
            (vec![Span::ALL], spaced.clone().collect::<Vec<_>>()),
            (vec![Span::ALL], touching.clone().collect()),
            (
                vec![pages(3, 4 * len + 9)],
                spaced.clone().map(|span| pages(span.first() / PAGE + 5, 1)).collect(),
            ),
            (vec![Span::ALL], spaced.clone().rev().map(mirrored).collect()),
            (vec![Span::ALL], touching.rev().map(mirrored).collect()),
            (holes, spaced.filter(|span| span.first() / PAGE % 16 < 12).collect()),
        ] {
            let mut scene = Scene::new(layout);
            spans.into_iter().for_each(|span| scene.take(span));
            scene.check();
        }
    }
}

/// Places that are held for regions that are moving lie between the regions, and are none.
#[test]
fn places_of_moving_regions_are_passed_over() {
    for len in [1, 2, 5, 30, 97] {
        let mut scene = Scene::new(vec![Span::ALL]);
        (0..len).for_each(|at| scene.take(pages(8 * at, 1)));
        let mut wanted = Vec::new();
        for at in (0..len).step_by(2) {
            let to = pages(8 * (len - 1 - at) + 4, 1);
            wanted.push(scene.space.begin_move(8 * at * PAGE, to.first()).unwrap());
            scene.taken.push(to);
        }
        scene.taken.sort_unstable();
        assert_eq!(all_of(scene.space.pending_moves()), wanted);
        scene.check();
    }
}
