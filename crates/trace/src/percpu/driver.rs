//! Runs operations on an engine: remembers where objects are, numbers chunks as the files do, and has the work
//! that operations leave done right after them, if it is to be done at all.

use super::{Answer, ChunkKey, ChunkLine, Engine, Location, Op, PageMap};
use crate::Drive;
use crate::names::{Frees, Names, run_batch};
use freehold_units::Probe;

/// Chunks by number, in the order in which they first held an object.
#[derive(Clone, Debug, Default)]
struct Numbers {
    /// The generation that has the position, and its number.
    by_index: Vec<Option<(u32, u32)>>,
    given: u32,
}

impl Numbers {
    fn known(&self, chunk: ChunkKey) -> Option<u32> {
        let (generation, number) = self.by_index.get(chunk.index as usize).copied().flatten()?;
        (generation == chunk.generation).then_some(number)
    }

    #[inline]
    fn of(&mut self, chunk: ChunkKey) -> u32 {
        if let Some(number) = self.known(chunk) {
            return number;
        }
        let number = self.given;
        self.given += 1;
        if self.by_index.len() <= chunk.index as usize {
            self.by_index.resize(chunk.index as usize + 1, None);
        }
        if let Some(slot) = self.by_index.get_mut(chunk.index as usize) {
            *slot = Some((chunk.generation, number));
        }
        number
    }
}

/// An engine, and where it put the objects that are live.
#[derive(Clone, Debug)]
pub struct Driver<E> {
    engine: E,
    /// Whether work left for later is done, right after the operation that left it.
    balances: bool,
    /// Where each object is.
    places: Names<Location>,
    numbers: Numbers,
    balanced: bool,
}

impl<E: Engine> Driver<E> {
    /// Drives a fresh engine. Its work for later is done at once if `balances`, and never otherwise.
    pub fn new(engine: E, balances: bool) -> Self {
        Self { engine, balances, places: Names::new(), numbers: Numbers::default(), balanced: false }
    }

    /// The engine, to look at.
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// The engine, to play with.
    pub fn engine_mut(&mut self) -> &mut E {
        &mut self.engine
    }

    /// Whether the last operation left work, which was done.
    #[must_use]
    pub fn balanced(&self) -> bool {
        self.balanced
    }

    /// The same driver over the same engine in the same state, if the engine can be copied.
    #[must_use]
    pub fn duplicate(&self) -> Option<Self> {
        let engine = self.engine.duplicate()?;
        let (places, numbers) = (self.places.clone(), self.numbers.clone());
        Some(Self { engine, balances: self.balances, places, numbers, balanced: self.balanced })
    }

    /// Makes room for objects up to and without `objects`, so that running operations asks for no memory here.
    pub fn expect_objects(&mut self, objects: u32) {
        self.places.expect(objects);
    }

    /// Every chunk's line, by the numbers of the answers.
    #[must_use]
    pub fn chunk_lines(&self) -> Option<Vec<ChunkLine>> {
        self.engine.chunk_lines(&|chunk| self.numbers.known(chunk))
    }

    /// Which pages of every chunk have memory, by the numbers of the answers.
    #[must_use]
    pub fn page_map(&self) -> Option<PageMap> {
        self.engine.page_map(&|chunk| self.numbers.known(chunk))
    }

    /// Runs one operation.
    #[inline]
    pub fn run(&mut self, op: &Op, probe: &mut impl Probe) -> Answer {
        let answer = match *op {
            Op::Alloc { object, size_bytes, align, atomic } => {
                let place = self.engine.alloc(size_bytes, align, atomic, probe);
                self.remember(object, place)
            }
            Op::Free { object } => {
                let place = self.places.take(object);
                return self.give_back(place, probe);
            }
        };
        self.look_after();
        answer
    }

    /// Does the work that was left for later, if it is to be done.
    #[inline]
    fn look_after(&mut self) {
        self.balanced = self.balances && self.engine.wants_balance();
        if self.balanced {
            self.engine.balance();
        }
    }

    #[inline]
    fn remember(&mut self, object: u32, place: Option<Location>) -> Answer {
        self.places.put(object, place);
        let Some(Location { chunk, offset_bytes }) = place else { return Answer::NoRoom };
        Answer::At { chunk: self.numbers.of(chunk), offset_bytes: u64::from(offset_bytes) }
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
        usize::try_from(self.engine.footprint().metadata_bytes).unwrap_or(usize::MAX)
    }

    fn validate(&self) -> Result<(), String> {
        self.engine.validate()
    }
}

impl<E: Engine> Frees for Driver<E> {
    type Place = Location;

    fn freed(op: &Op) -> Option<u32> {
        if let Op::Free { object } = op { Some(*object) } else { None }
    }

    fn take(&mut self, object: u32) -> Option<Location> {
        self.places.take(object)
    }

    #[inline]
    fn give_back(&mut self, place: Option<Location>, probe: &mut impl Probe) -> Answer {
        let freed = place.is_some_and(|place| self.engine.free(place, probe));
        self.look_after();
        if freed { Answer::Freed } else { Answer::NotLive }
    }
}
