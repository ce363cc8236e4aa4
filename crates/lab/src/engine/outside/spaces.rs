//! Address spaces of processes in one map from outside: each has a stretch of the map's indexes, as one process has one map.
//!
//! ```text
//!   index    SSSSSSSS SSSSSSSS | AAAA....AAAA      the number of the space, the address of 48 bits
//! ```
//!
//! An area's kind is stored plus one, since 0 empties. Every call of an address space is several look-ups and stores, which cross one by
//! one; the clock is read around each in the engine's process, and their sum is the call's time.

use super::{Library, Wire};
use freehold::units::{Align, Span, Tally};
use freehold_harness::outside::{Answer as Told, Op as Ask, Scene, status, what};
use freehold_trace::maple::{End, Ranges};
use freehold_trace::vma::{Answer, AreaMap, Footprint, Kind, Kinds, Op, Session, Spaces};
use freehold_trace::{Drive, Driven};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Bits of an address within a space; addresses of processes have no more.
const ADDRESS_BITS: u32 = 48;
const LAST_ADDRESS: u64 = (1 << ADDRESS_BITS) - 1;
/// Spaces at a time.
const MOST_SPACES: u64 = 1 << (u64::BITS - ADDRESS_BITS);

thread_local! {
    /// The engine whose spaces this thread works on: a map is made where nothing can be handed to it.
    static AT_WORK: RefCell<Option<Rc<At>>> = const { RefCell::new(None) };
}

/// An engine, and who has which part of its indexes.
struct At {
    wire: Wire,
    /// Nanoseconds of what crossed since that was last asked.
    spent_ns: Cell<u64>,
    /// Numbers of spaces that are gone, and the next that was never used.
    free: RefCell<Vec<u64>>,
    next: Cell<u64>,
    /// What cannot be kept here, if that was asked for.
    unfit: Cell<Option<&'static str>>,
}

impl At {
    fn ask(&self, ask: Ask) -> Told {
        let mut told = [Told::default()];
        self.spent_ns.set(self.spent_ns.get() + self.wire.run(&[ask], &mut told));
        told[0]
    }
}

/// One space.
struct Stretch {
    /// Nothing, if no engine was at work when it was made.
    at: Option<Rc<At>>,
    number: u64,
}

impl Stretch {
    /// The span as the engine has it, as far as it lies in the space.
    fn within(&self, span: Span) -> Option<[u64; 2]> {
        let span = span.intersection(Span::new(0, LAST_ADDRESS)?)?;
        let first = self.number << ADDRESS_BITS;
        Some([first + span.first(), first + span.last()])
    }

    fn ask(&self, what: u32, span: Span, value: u64) -> Told {
        match (&self.at, self.within(span)) {
            (Some(at), Some([first, last])) => at.ask(Ask { what, first, last, value, ..Ask::default() }),
            _ => Told::default(),
        }
    }

    /// A store, which must lie in the space.
    fn put(&self, what: u32, span: Span, value: u64) -> u32 {
        if let Some(at) = self.at.as_ref().filter(|_| span.last() > LAST_ADDRESS || value == u64::MAX) {
            at.unfit
                .set(Some("a range or a value that takes more than 48 bits, which it has no place for here"));
            return status::UNSUPPORTED;
        }
        self.ask(what, span, value.wrapping_add(1)).status
    }

    /// The first area that overlaps the span.
    fn first_in(&self, span: Span) -> Option<(u64, u64, u64)> {
        let told = self.ask(what::FIND, span, 0);
        let is_there = told.status == status::DONE && told.value != 0;
        let (first, last) = (told.first & LAST_ADDRESS, told.last & LAST_ADDRESS);
        // One that does not overlap is wrong: what follows it is not looked at.
        let met = Span::new(first, last).filter(|met| is_there && met.overlaps(span));
        met.map(|_| (first, last, told.value - 1))
    }
}

impl Drop for Stretch {
    fn drop(&mut self) {
        self.ask(what::STORE, Span::ALL, 0);
        if let Some(at) = &self.at {
            at.free.borrow_mut().push(self.number);
        }
    }
}

impl Ranges for Stretch {
    fn new() -> Self {
        let at = AT_WORK.with_borrow(Clone::clone);
        let number = at.as_ref().map_or(0, |at| {
            at.free.borrow_mut().pop().unwrap_or_else(|| {
                let number = at.next.get();
                if number + 1 >= MOST_SPACES {
                    at.unfit.set(Some("more than 65,535 spaces at a time"));
                }
                at.next.set((number + 1) % MOST_SPACES);
                number
            })
        });
        Self { at, number }
    }

    fn store(&mut self, span: Span, value: u64) {
        self.put(what::STORE, span, value);
    }

    fn clear(&mut self, span: Span) {
        self.ask(what::STORE, span, 0);
    }

    fn insert(&mut self, span: Span, value: u64) -> bool {
        self.put(what::INSERT, span, value) == status::DONE
    }

    fn erase(&mut self, index: u64) -> Option<u64> {
        self.ask(what::ERASE, Span::new(index, index)?, 0).value.checked_sub(1)
    }

    fn get(&self, index: u64) -> Option<u64> {
        self.ask(what::LOAD, Span::new(index, index)?, 0).value.checked_sub(1)
    }

    fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.overlapping(Span::ALL)
    }

    fn gap(&self, end: End, size: u64, align: Align, window: Span) -> Option<Span> {
        let [first, last] = self.within(window).filter(|_| size > 0)?;
        let what = if end == End::Lowest { what::GAP_LOW } else { what::GAP_HIGH };
        let told =
            self.at.as_ref()?.ask(Ask { what, size, align: align.bytes(), first, last, ..Ask::default() });
        Span::from_size(told.first & LAST_ADDRESS, size).filter(|_| told.status == status::DONE)
    }

    /// It is not known.
    const GAP_IS_LINEAR: bool = false;

    fn duplicate(&self) -> Self {
        let mut copy = Self::new();
        let areas: Vec<_> = self.iter().collect();
        for (first, last, kind) in areas {
            if let Some(area) = Span::new(first, last) {
                copy.store(area, kind);
            }
        }
        copy
    }

    /// What it takes is told of the engine as a whole.
    fn bytes(&self) -> usize {
        0
    }

    fn validate(&self) -> Result<(), String> {
        self.at.as_ref().map_or(Ok(()), |at| at.wire.valid())
    }
}

impl AreaMap for Stretch {
    fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, u64, u64)> {
        let mut left = Some(span);
        std::iter::from_fn(move || {
            let found = self.first_in(left?)?;
            left = found.1.checked_add(1).and_then(|above| Span::new(above, span.last()));
            Some(found)
        })
    }
}

/// The spaces of a recording at work.
struct Outside {
    spaces: Spaces<Stretch>,
    at: Rc<At>,
}

impl Library {
    /// Address spaces whose areas are of these kinds.
    pub(in crate::engine) fn spaces(&self, kinds: Kinds) -> Result<Box<dyn Session>, String> {
        let wire = self.start(&Scene { granule: 1, ..Scene::default() })?;
        let at = Rc::new(At {
            wire,
            spent_ns: Cell::new(0),
            free: RefCell::default(),
            next: Cell::new(0),
            unfit: Cell::new(None),
        });
        Ok(Box::new(Outside { spaces: Spaces::new(kinds), at }))
    }
}

impl Outside {
    fn perform(&mut self, op: &Op, tally: &mut Tally) -> Answer {
        AT_WORK.set(Some(Rc::clone(&self.at)));
        let answer = Drive::run(&mut self.spaces, op, tally);
        AT_WORK.set(None);
        answer
    }
}

impl Driven<Op, Answer> for Outside {
    fn run(&mut self, ops: &[Op], answers: &mut [Answer]) {
        for (op, answer) in ops.iter().zip(answers) {
            *answer = self.run_one(op);
        }
    }

    fn run_clocked(&mut self, ops: &[Op], answers: &mut [Answer]) -> u64 {
        self.at.spent_ns.set(0);
        self.run(ops, answers);
        self.at.spent_ns.get()
    }

    fn run_timed(&mut self, ops: &[Op], answers: &mut [Answer], nanoseconds: &mut [u64]) {
        for ((op, answer), took) in ops.iter().zip(answers).zip(nanoseconds) {
            self.at.spent_ns.set(0);
            *answer = self.run_one(op);
            *took = self.at.spent_ns.get();
        }
    }

    fn run_one(&mut self, op: &Op) -> Answer {
        self.perform(op, &mut Tally::default())
    }

    fn run_counted(&mut self, op: &Op) -> (Answer, Tally) {
        let mut tally = Tally::default();
        (self.perform(op, &mut tally), tally)
    }

    fn expect_objects(&mut self, objects: u32) {
        Drive::expect_objects(&mut self.spaces, objects);
    }

    fn metadata_bytes(&self) -> usize {
        self.at.wire.bytes()
    }

    fn validate(&self) -> Result<(), String> {
        let fit = self
            .at
            .unfit
            .get()
            .map_or(Ok(()), |what| Err(format!("{} was asked for {what}", self.at.wire.name)));
        self.at.wire.valid().and(fit)
    }
}

impl Session for Outside {
    fn footprint(&self) -> Footprint {
        Footprint { bytes: self.at.wire.bytes() as u64, ..self.spaces.footprint() }
    }

    fn digest(&self) -> u64 {
        self.spaces.digest()
    }

    fn visit(&self, space: u32, see: &mut dyn FnMut(Span, &Kind)) {
        self.spaces.visit(space, see);
    }
}
