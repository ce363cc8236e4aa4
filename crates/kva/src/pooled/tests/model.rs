//! A single thread against a map of live blocks, in a space so small that everything collides. Every answer is checked;
//! refusals are checked against the space's contents at that time.

use super::super::PooledSpace;
use super::super::class::Class;
use crate::ends::all_of;
use crate::{AllocError, FreeError, Request};
use freehold_units::{Align, Span};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::vec::Vec;

#[derive(Clone, Debug)]
enum Op {
    Alloc { granules: u64 },
    Place { granules: u64, guard: u64, align: u32, window: (u64, u64) },
    Free { which: usize },
    FreeAt { offset: u64 },
    Purge { budget: u64, purged: bool, meanwhile: Vec<Op> },
    Trim,
}

fn op(granule: u64, cells: u64) -> impl Strategy<Value = Op> {
    let all = cells * 16;
    let sizes = prop_oneof![6 => 1u64..9, 2 => 1u64..300, 1 => 1..all + 20];
    let offset = 0..(all + 8) * granule;
    let leaf = prop_oneof![
        8 => sizes.clone().prop_map(|granules| Op::Alloc { granules }),
        2 => (sizes, prop_oneof![Just(0u64), 1u64..40], 0u32..12, (offset.clone(), offset.clone()))
            .prop_map(|(granules, guard, align, window)| Op::Place { granules, guard, align, window }),
        7 => any::<usize>().prop_map(|which| Op::Free { which }),
        2 => offset.prop_map(|offset| Op::FreeAt { offset }),
        1 => Just(Op::Trim),
    ];
    leaf.prop_recursive(1, 8, 6, move |inner| {
        (1..all * granule, any::<bool>(), prop::collection::vec(inner, 0..6))
            .prop_map(|(budget, purged, meanwhile)| Op::Purge { budget, purged, meanwhile })
    })
}

struct Model {
    space: PooledSpace,
    /// First address to the block and what its guard ends with.
    live: BTreeMap<u64, (Span, u64)>,
}

impl Model {
    fn new(span: Span, granule: Align, memory: bool) -> Self {
        let make = if memory { PooledSpace::for_memory } else { PooledSpace::new };
        Self { space: make(span, granule).unwrap(), live: BTreeMap::new() }
    }

    fn live_over(&self, span: Span) -> Option<Span> {
        let (_, &(block, end)) = self.live.range(..=span.last()).next_back()?;
        (end >= span.first()).then_some(block)
    }

    fn taken(&mut self, request: &Request, block: Span) {
        assert!(block.size_bytes() >= u128::from(request.size_bytes), "{block} for {request:?}");
        assert!(
            self.space.granule.divides(block.first()) && self.space.granule.divides(block.size_saturating())
        );
        let end = block.last() + request.guard_bytes;
        let whole = Span::new(block.first(), end).unwrap();
        assert!(request.window.covers(whole) && self.space.span.covers(whole), "{whole} for {request:?}");
        assert_eq!(block.first() % request.align_bytes, 0);
        assert_eq!(self.live_over(whole), None, "{whole} is taken");
        self.live.insert(block.first(), (block, end));
    }

    /// Whether the space could serve a request now.
    fn judge_refusal(&self, request: &Request, error: AllocError) {
        let space = &self.space;
        let cell = space.cell.bytes();
        if let AllocError::WindowOutside { .. } = error {
            return assert!(!request.window.overlaps(space.span));
        }
        // Retired slabs are in the core by now, so free cells are its free blocks.
        let cells = (request.size_bytes + request.guard_bytes).next_multiple_of(cell);
        let align = request.align_bytes.max(cell);
        for block in space.lock().space.free_blocks() {
            let fits = |first: u64| {
                let end = u128::from(first) + u128::from(request.size_bytes + request.guard_bytes);
                let reach = u128::from(first) + u128::from(cells);
                first >= block.first()
                    && first >= request.window.first()
                    && reach <= u128::from(block.last()) + 1
                    && end <= u128::from(request.window.last()) + 1
            };
            let mut first = block.first() / align * align;
            while first <= block.last() {
                assert!(!fits(first), "{error:?}: {first:#x} in {block} could serve {request:?}");
                let Some(next) = first.checked_add(align) else { break };
                first = next;
            }
        }
        let class = Class::of(request.size_bytes / space.granule.bytes());
        let by_slot = request.window == Span::ALL && request.guard_bytes == 0 && request.align_bytes == 1;
        for (_, slab) in space.records.all().filter(|(_, slab)| slab.word().is_live()) {
            let (word, layout) = (slab.word(), slab.layout());
            let serves = by_slot && class.is_some() && layout.class == class && word.free() != 0;
            assert!(!serves, "{error:?}: a slab of the class has a free slot for {request:?}");
            let is_empty = layout.class.is_some() && word.free() == u32::MAX && slab.resident() == 0;
            let lacks_room = matches!(error, AllocError::NoSpace { .. } | AllocError::Occupied { .. });
            assert!(!(is_empty && lacks_room), "{error:?}: a slab without a block was left for {request:?}");
        }
    }

    fn free(&mut self, address: u64) {
        let answer = self.space.free(address);
        match self.live.get(&address) {
            Some(&(block, _)) => {
                assert_eq!(answer, Ok(block));
                self.live.remove(&address);
                assert!(matches!(self.space.free(address), Err(FreeError::AlreadyFree { .. })));
            }
            None => match (answer, self.live_over(Span::from_size(address, 1).unwrap())) {
                (Err(FreeError::Interior { region, .. }), Some(block)) => assert_eq!(region, block),
                // The rest of an extent's last cell.
                (Err(FreeError::Interior { region, .. }), None) => {
                    let held = self.live.get(&region.first()).map(|&(block, _)| block);
                    assert_eq!(held, Some(region));
                    assert!(region.last() < address);
                }
                (Err(FreeError::AlreadyFree { block, .. }), None) => {
                    assert_eq!(self.live_over(block), None);
                    assert!(block.contains(address), "{block}");
                }
                (Err(FreeError::Unknown { .. }), None) => assert!(!self.space.span.contains(address)),
                (answer, block) => panic!("{address:#x} in {block:?}: {answer:?}"),
            },
        }
    }

    fn run(&mut self, op: &Op) {
        let granule = self.space.granule.bytes();
        match op {
            &Op::Alloc { granules } => {
                let request = Request::new(granules * granule);
                match self.space.alloc(request.size_bytes) {
                    Ok(block) => self.taken(&request, block),
                    Err(error) => self.judge_refusal(&request, error),
                }
            }
            &Op::Place { granules, guard, align, window: (one, other) } => {
                let at = |offset: u64| self.space.span.first().saturating_add(offset);
                let window = Span::new(at(one.min(other)), at(one.max(other))).unwrap();
                let request = Request::new(granules * granule).guard(guard * granule);
                let request = request.align_bytes(1 << align).window(window);
                match self.space.alloc_request(&request) {
                    Ok(block) => self.taken(&request, block),
                    Err(error) => self.judge_refusal(&request, error),
                }
            }
            &Op::Free { which } => {
                if let Some(&first) = self.live.keys().nth(which % self.live.len().max(1)) {
                    self.free(first);
                }
            }
            &Op::FreeAt { offset } => self.free(self.space.span.first().wrapping_add(offset)),
            Op::Purge { budget, purged, meanwhile } => self.purge(*budget, *purged, meanwhile),
            Op::Trim => {
                self.space.trim();
            }
        }
        self.check();
    }

    fn purge(&mut self, budget: u64, purged: bool, meanwhile: &[Op]) {
        let Self { space, live, .. } = self;
        let before = space.stats();
        let batch = space.take_resident(budget).unwrap();
        let spans: Vec<Span> = all_of(batch.spans());
        let bytes: u128 = spans.iter().map(|span| span.size_bytes()).sum();
        assert_eq!(bytes, batch.bytes().0);
        assert_eq!(batch.is_empty(), before.resident_bytes == 0);
        assert!(bytes >= u128::from(budget.min(before.resident_bytes)));
        for &span in &spans {
            assert!(!live.values().any(|&(block, _)| block.overlaps(span)), "{span} is held");
            assert_eq!(space.locate(span.first()), None);
            // The address was freed already, even if it has a new holder.
            assert!(matches!(space.free(span.first()), Err(FreeError::AlreadyFree { .. })));
        }
        assert_eq!(u128::from(space.stats().purging_bytes), bytes);
        space.validate().unwrap();
        for op in meanwhile {
            if let &Op::Alloc { granules } = op {
                let size_bytes = granules * space.granule.bytes();
                if let Ok(block) = space.alloc(size_bytes) {
                    assert!(!spans.iter().any(|span| span.overlaps(block)), "{block} is being purged");
                    assert!(
                        !live
                            .values()
                            .any(|&(other, end)| other.first() <= block.last() && block.first() <= end)
                    );
                    live.insert(block.first(), (block, block.last()));
                }
            } else if let &Op::Free { which } = op
                && let Some(&first) = live.keys().nth(which % live.len().max(1))
            {
                assert_eq!(space.free(first), Ok(live.remove(&first).unwrap().0));
            }
        }
        let resident = space.stats().resident_bytes;
        if purged {
            space.give_back(batch);
            assert_eq!(space.stats().resident_bytes, resident);
        } else {
            drop(batch);
            assert_eq!(u128::from(space.stats().resident_bytes), u128::from(resident) + bytes);
        }
    }

    fn check(&self) {
        self.space.validate().unwrap();
        let stats = self.space.stats();
        let held: u128 = self.live.values().map(|(block, _)| block.size_bytes()).sum();
        assert_eq!((u128::from(stats.held_bytes), stats.blocks), (held, self.live.len() as u64));
        for &(block, _) in self.live.values() {
            assert_eq!(self.space.locate(block.first()), Some(block));
            assert_eq!(self.space.locate(block.last()), Some(block));
            if let Some(behind) = block.last().checked_add(1) {
                let next = self.live.get(&behind).map(|&(block, _)| block);
                assert_eq!(self.space.locate(behind), next);
            }
        }
    }

    /// Everything freed and purged: one free block.
    fn end(mut self) {
        for first in self.live.keys().copied().collect::<Vec<u64>>() {
            self.free(first);
        }
        let batch = self.space.take_resident(u64::MAX).unwrap();
        self.space.give_back(batch);
        self.space.trim();
        self.check();
        let span = self.space.span;
        assert!(self.space.lock().space.free_blocks().eq([span]));
    }
}

fn run(span: Span, granule: Align, memory: bool, ops: &[Op]) {
    let mut model = Model::new(span, granule, memory);
    ops.iter().for_each(|op| model.run(op));
    model.end();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 256 }, ..ProptestConfig::default() })]

    #[test]
    fn a_tiny_space_at_the_top(ops in prop::collection::vec(op(1, 9), 1..120), memory: bool) {
        run(Span::new(u64::MAX - 9 * 16 + 1, u64::MAX).unwrap(), Align::ONE, memory, &ops);
    }

    #[test]
    fn pages(ops in prop::collection::vec(op(4096, 40), 1..120), memory: bool) {
        run(Span::from_size(0x1234_0000, 40 << 16).unwrap(), Align::PAGE, memory, &ops);
    }
}
