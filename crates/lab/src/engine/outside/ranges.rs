//! The indexes of a map of ranges from outside: all of them, or a stretch for each address space, as one process has one map. What
//! drives the lab's own maps drives these.
//!
//! ```text
//!   space   SSSSSSSS SSSSSSSS | AAAA....AAAA      the number of the space, the address of 48 bits
//! ```
//!
//! A value is stored plus one, since 0 empties. What a driver does is several look-ups and stores, which cross one by one; the clock
//! is read around each in the engine's process, and their sum is the time of what was asked.

use super::Wire;
use freehold::units::{Align, Span, Tally};
use freehold_harness::outside::{Answer as Told, Op as Ask, status, what};
use freehold_trace::maple::{End, GapRequest, Ranges};
use freehold_trace::vma::AreaMap;
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
pub(super) struct At {
    pub(super) wire: Wire,
    /// Nanoseconds of what crossed since that was last asked.
    spent_ns: Cell<u64>,
    /// Numbers of spaces that are gone, and the next that was never used.
    free: RefCell<Vec<u64>>,
    next: Cell<u64>,
    /// What cannot be kept here, if that was asked for.
    unfit: Cell<Option<&'static str>>,
    /// Whether the engine lacked something that was asked since that was last looked at.
    lacking: Cell<bool>,
}

impl At {
    /// Asks all at once.
    pub(super) fn run(&self, asked: &[Ask], told: &mut [Told]) {
        self.spent_ns.set(self.spent_ns.get() + self.wire.run(asked, told));
    }

    fn ask(&self, ask: Ask) -> Told {
        let mut told = [Told::default()];
        self.run(&[ask], &mut told);
        let [told] = told;
        let is_known = match ask.what {
            what::FIND => true,
            what::INSERT => [status::DONE, status::EXISTS].contains(&told.status),
            what::GAP_LOW | what::GAP_HIGH => [status::DONE, status::NO_ROOM].contains(&told.status),
            _ => told.status == status::DONE,
        };
        self.lacking.set(self.lacking.get() || !is_known);
        told
    }
}

/// What asks for a place.
pub(super) fn gap(GapRequest { end, size, align, window }: GapRequest) -> Ask {
    let what = if end == End::Lowest { what::GAP_LOW } else { what::GAP_HIGH };
    let (first, last) = (window.first(), window.last());
    Ask { what, size, align: align.bytes(), first, last, ..Ask::default() }
}

/// The indexes of one map.
pub(super) struct Part {
    /// Nothing, if no engine was at work when it was made.
    at: Option<Rc<At>>,
    /// The number of the space; `None` if it has all indexes of the engine.
    space: Option<u64>,
}

impl Part {
    fn last(&self) -> u64 {
        if self.space.is_some() { LAST_ADDRESS } else { u64::MAX }
    }

    /// The span as the engine has it, as far as it lies in the part.
    fn within(&self, span: Span) -> Option<Span> {
        let span = span.intersection(Span::new(0, self.last())?)?;
        let first = self.space.unwrap_or(0) << ADDRESS_BITS;
        Span::new(first + span.first(), first + span.last())
    }

    fn ask(&self, what: u32, span: Span, value: u64) -> Told {
        match (&self.at, self.within(span)) {
            (Some(at), Some(span)) => {
                at.ask(Ask { what, first: span.first(), last: span.last(), value, ..Ask::default() })
            }
            _ => Told::default(),
        }
    }

    /// A store, which must lie in the part.
    fn put(&self, what: u32, span: Span, value: u64) -> u32 {
        if let Some(at) = self.at.as_ref().filter(|_| span.last() > self.last() || value == u64::MAX) {
            at.unfit
                .set(Some("a range or a value that takes more than 48 bits, which it has no place for here"));
            return status::UNSUPPORTED;
        }
        self.ask(what, span, value.wrapping_add(1)).status
    }

    /// A look-up or a removal. What was stored fits 32 bits; any other value is wrong, and shows as one that nobody stored.
    fn at(&self, what: u32, index: u64) -> Option<u64> {
        let value = self.ask(what, Span::new(index, index)?, 0).value.checked_sub(1);
        value.map(|value| value.min(u32::MAX.into()))
    }

    /// The first range that overlaps the span.
    fn first_in(&self, span: Span) -> Option<(u64, u64, u64)> {
        let told = self.ask(what::FIND, span, 0);
        let is_there = told.status == status::DONE && told.value != 0;
        let (first, last) = (told.first & self.last(), told.last & self.last());
        // One that does not overlap is wrong: what follows it is not looked at.
        let met = Span::new(first, last).filter(|met| is_there && met.overlaps(span));
        met.map(|_| (first, last, told.value - 1))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if let (Some(at), Some(space)) = (&self.at, self.space) {
            self.ask(what::STORE, Span::ALL, 0);
            at.free.borrow_mut().push(space);
        }
    }
}

impl Ranges for Part {
    /// The next space of the engine at work.
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
        Self { at, space: Some(number) }
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
        self.at(what::ERASE, index)
    }

    fn get(&self, index: u64) -> Option<u64> {
        self.at(what::LOAD, index)
    }

    fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.overlapping(Span::ALL)
    }

    fn gap(&self, end: End, size: u64, align: Align, window: Span) -> Option<Span> {
        let window = self.within(window).filter(|_| size > 0)?;
        let told = self.at.as_ref()?.ask(gap(GapRequest { end, size, align, window }));
        Span::from_size(told.first & self.last(), size).filter(|_| told.status == status::DONE)
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

impl AreaMap for Part {
    fn overlapping(&self, span: Span) -> impl Iterator<Item = (u64, u64, u64)> {
        let mut left = Some(span);
        std::iter::from_fn(move || {
            let found = self.first_in(left?)?;
            left = found.1.checked_add(1).and_then(|above| Span::new(above, span.last()));
            Some(found)
        })
    }
}

/// A driver of ranges from outside.
pub(super) struct Crossing<D: Drive> {
    pub(super) driver: D,
    pub(super) at: Rc<At>,
    /// The answer to what the engine lacks, if there is one for that.
    unsupported: Option<D::Answer>,
}

impl<D: Drive<Answer: Copy>> Crossing<D> {
    /// Of an engine, all indexes of which are the driver's to use, or to divide.
    pub(super) fn new(wire: Wire, driver: impl FnOnce(Part) -> D, unsupported: Option<D::Answer>) -> Self {
        let at = Rc::new(At {
            wire,
            spent_ns: Cell::new(0),
            free: RefCell::default(),
            next: Cell::new(0),
            unfit: Cell::new(None),
            lacking: Cell::new(false),
        });
        let all = Part { at: Some(Rc::clone(&at)), space: None };
        Self { driver: driver(all), at, unsupported }
    }

    /// Does something, and the nanoseconds of what crossed for it.
    pub(super) fn spent_ns<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> (T, u64) {
        self.at.spent_ns.set(0);
        let done = work(self);
        (done, self.at.spent_ns.get())
    }
}

impl<D: Drive<Answer: Copy>> Driven<D::Op, D::Answer> for Crossing<D> {
    fn run(&mut self, ops: &[D::Op], answers: &mut [D::Answer]) {
        for (op, answer) in ops.iter().zip(answers) {
            *answer = self.run_one(op);
        }
    }

    fn run_clocked(&mut self, ops: &[D::Op], answers: &mut [D::Answer]) -> u64 {
        self.spent_ns(|this| this.run(ops, answers)).1
    }

    fn run_timed(&mut self, ops: &[D::Op], answers: &mut [D::Answer], nanoseconds: &mut [u64]) {
        for ((op, answer), took) in ops.iter().zip(answers).zip(nanoseconds) {
            (*answer, *took) = self.spent_ns(|this| this.run_one(op));
        }
    }

    fn run_one(&mut self, op: &D::Op) -> D::Answer {
        self.run_counted(op).0
    }

    fn run_counted(&mut self, op: &D::Op) -> (D::Answer, Tally) {
        let mut tally = Tally::default();
        AT_WORK.set(Some(Rc::clone(&self.at)));
        let answer = Drive::run(&mut self.driver, op, &mut tally);
        AT_WORK.set(None);
        let lacked = self.at.lacking.take();
        (self.unsupported.filter(|_| lacked).unwrap_or(answer), tally)
    }

    fn expect_objects(&mut self, objects: u32) {
        Drive::expect_objects(&mut self.driver, objects);
    }

    fn metadata_bytes(&self) -> usize {
        self.at.wire.bytes()
    }

    fn validate(&self) -> Result<(), String> {
        self.at.wire.valid()?;
        let unfit = self.at.unfit.get();
        unfit.map_or(Ok(()), |what| Err(format!("{} was asked for {what}", self.at.wire.name)))
    }
}
