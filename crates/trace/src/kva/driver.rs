//! The one trait that every engine is driven through, and the driver that runs operations on it.

use super::{Answer, Op};
use crate::Drive;
use crate::names::{Frees, Names, run_batch};
use freehold_units::{Align, Probe, Span};
use std::collections::HashMap;
use std::sync::Arc;

/// An address-range allocator, ours or another's.
pub trait Engine {
    /// Whether it has such a request at all, whatever is free: an engine without windows, say, has only those
    /// that let it choose from everything. A request that it does not have is answered
    /// [`Answer::Unsupported`] and never reaches [`Engine::alloc`].
    #[inline]
    fn supports(&self, size_bytes: u64, align: Align, window: Span) -> bool {
        let _ = (size_bytes, align, window);
        true
    }

    /// Takes `size_bytes`, a multiple of the granule and not 0, at a multiple of `align` within `window`; the
    /// address, or `None` if nothing fits (or the engine has no memory for its own structures).
    fn alloc(&mut self, size_bytes: u64, align: Align, window: Span, probe: &mut impl Probe) -> Option<u64>;

    /// Frees what starts at `first`; whether that was allocated.
    fn free(&mut self, first: u64, probe: &mut impl Probe) -> bool;

    /// Takes all `areas` at one base; `None` if the engine cannot do that at all.
    fn alloc_congruent(
        &mut self,
        areas: &[Span],
        align: Align,
        window: Span,
        probe: &mut impl Probe,
    ) -> Option<Option<u64>> {
        let _ = (areas, align, window, probe);
        None
    }

    /// Shows every free block in address order.
    fn free_blocks(&self, visit: &mut dyn FnMut(Span));

    /// Bytes of memory held for its own structures; 0 where there is no telling.
    fn metadata_bytes(&self) -> usize;

    /// Of these, the bytes that know the free blocks, where that is a structure of its own.
    fn free_index_bytes(&self) -> Option<usize> {
        None
    }

    /// The same engine in the same state; `None` if it cannot be copied, and must be brought there again.
    fn duplicate(&self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// Checks its invariants from scratch.
    ///
    /// # Errors
    /// What is broken.
    fn validate(&self) -> Result<(), String>;
}

/// An engine, and where it put the objects that are live.
#[derive(Clone, Debug)]
pub struct Driver<E> {
    engine: E,
    /// Start of each object.
    starts: Names<u64>,
    /// The areas of live congruent objects.
    areas: HashMap<u32, Arc<[Span]>>,
}

impl<E: Engine> Driver<E> {
    /// Drives a fresh engine.
    pub fn new(engine: E) -> Self {
        Self { engine, starts: Names::new(), areas: HashMap::new() }
    }

    /// The engine, to look at.
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// The same driver over the same engine in the same state, if the engine can be copied.
    #[must_use]
    pub fn duplicate(&self) -> Option<Self> {
        let engine = self.engine.duplicate()?;
        Some(Self { engine, starts: self.starts.clone(), areas: self.areas.clone() })
    }

    /// Where the object starts, if it is live.
    #[must_use]
    pub fn start_of(&self, object: u32) -> Option<u64> {
        self.starts.get(object)
    }

    /// Makes room for objects up to and without `objects`, so that running operations asks for no memory here.
    pub fn expect_objects(&mut self, objects: u32) {
        self.starts.expect(objects);
    }

    /// Runs one operation.
    #[inline]
    pub fn run(&mut self, op: &Op, probe: &mut impl Probe) -> Answer {
        match op {
            Op::Alloc { object, size_bytes, align, window } => {
                if !self.engine.supports(*size_bytes, *align, *window) {
                    self.remember(*object, None);
                    return Answer::Unsupported;
                }
                let start = self.engine.alloc(*size_bytes, *align, *window, probe);
                self.remember(*object, start)
            }
            Op::Free { object } => self.free(*object, probe),
            Op::Congruent { object, areas, align, window } => {
                match self.engine.alloc_congruent(areas, *align, *window, probe) {
                    Some(base) => {
                        if base.is_some() {
                            self.areas.insert(*object, Arc::clone(areas));
                        }
                        self.remember(*object, base)
                    }
                    None => Answer::Unsupported,
                }
            }
        }
    }

    #[inline]
    fn remember(&mut self, object: u32, start: Option<u64>) -> Answer {
        self.starts.put(object, start);
        start.map_or(Answer::NoRoom, Answer::At)
    }

    #[inline]
    fn free(&mut self, object: u32, probe: &mut impl Probe) -> Answer {
        let Some(start) = self.starts.take(object) else {
            return Answer::NotLive;
        };
        let freed = if self.areas.is_empty() {
            self.engine.free(start, probe)
        } else {
            self.free_areas(object, start, probe)
        };
        if freed { Answer::Freed } else { Answer::NotLive }
    }

    fn free_areas(&mut self, object: u32, base: u64, probe: &mut impl Probe) -> bool {
        match self.areas.remove(&object) {
            Some(areas) => areas.iter().all(|area| {
                let start = area.shifted(base).map(Span::first);
                start.is_some_and(|start| self.engine.free(start, probe))
            }),
            None => self.engine.free(base, probe),
        }
    }
}

impl<E: Engine> Drive for Driver<E> {
    type Op = Op;
    type Answer = Answer;

    #[inline]
    fn run(&mut self, op: &Op, probe: &mut impl Probe) -> Answer {
        Self::run(self, op, probe)
    }

    #[inline]
    fn run_batch(&mut self, ops: &[Op], answers: &mut [Answer], probe: &mut impl Probe) {
        run_batch(self, ops, answers, probe);
    }

    fn expect_objects(&mut self, objects: u32) {
        Self::expect_objects(self, objects);
    }

    fn metadata_bytes(&self) -> usize {
        self.engine.metadata_bytes()
    }

    fn validate(&self) -> Result<(), String> {
        self.engine.validate()
    }
}

impl<E: Engine> Frees for Driver<E> {
    type Place = u64;

    fn freed(op: &Op) -> Option<u32> {
        if let Op::Free { object } = op { Some(*object) } else { None }
    }

    fn take(&mut self, object: u32) -> Option<u64> {
        self.starts.take(object)
    }

    #[inline]
    fn give_back(&mut self, start: Option<u64>, probe: &mut impl Probe) -> Answer {
        let freed = start.is_some_and(|start| self.engine.free(start, probe));
        if freed { Answer::Freed } else { Answer::NotLive }
    }

    /// The areas of congruent objects are looked up by name.
    fn together(&self) -> bool {
        self.areas.is_empty()
    }
}
