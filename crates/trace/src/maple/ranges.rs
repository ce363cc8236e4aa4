//! The trait of a plain map from ranges to values, without the kernel's cursors: what peers have too, and what is
//! timed.

use super::{Answer, Digest, End, Op, Refusal, Step, Value, driver};
use crate::Drive;
use freehold_units::{Align, Probe, Span};

/// A map from disjoint ranges to words. Neighbours with equal values stay apart or merge as the map likes; those who
/// compare maps give every range a value of its own.
pub trait Ranges: Sized {
    /// An empty map.
    fn new() -> Self;

    /// Stores over a range, whatever is there; what is cut keeps its value on both sides.
    fn store(&mut self, span: Span, value: u64);

    /// Empties a range, whatever is there; what is cut keeps its value on both sides.
    fn clear(&mut self, span: Span);

    /// Stores into a range that is free; whether it was.
    fn insert(&mut self, span: Span, value: u64) -> bool;

    /// Erases the whole range that holds the index; what its value was.
    fn erase(&mut self, index: u64) -> Option<u64>;

    /// The value at the index.
    fn get(&self, index: u64) -> Option<u64>;

    /// First index, last index and value of every range in ascending order.
    fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)>;

    /// The lowest or the highest place of `size` indexes within the window that is free and starts at a multiple of
    /// `align`. `None` if there is none, or if `size` is 0.
    fn gap(&self, end: End, size: u64, align: Align, window: Span) -> Option<Span>;

    /// Whether [`Ranges::gap`] looks at gap after gap, rather than knowing where large ones are.
    const GAP_IS_LINEAR: bool;

    /// An independent map with the same content.
    fn duplicate(&self) -> Self;

    /// Bytes of memory that it holds, by its own count; a test of each map holds it against what was allocated.
    fn bytes(&self) -> usize;

    /// Checks its invariants from scratch.
    ///
    /// # Errors
    /// What is broken.
    fn validate(&self) -> Result<(), String>;
}

/// Runs operations on a map: those that any map of ranges can have. The others are [`Answer::Unsupported`].
#[derive(Clone, Debug, Default)]
pub struct RangeDriver<R> {
    map: R,
}

impl<R: Ranges> RangeDriver<R> {
    /// Drives a map.
    pub fn new(map: R) -> Self {
        Self { map }
    }

    /// The map, to look at.
    pub fn map(&self) -> &R {
        &self.map
    }

    /// The map, to play with.
    pub fn map_mut(&mut self) -> &mut R {
        &mut self.map
    }

    /// Number and digest of its ranges, of their values too if `values`.
    #[must_use]
    pub fn content(&self, values: bool) -> (u64, u64) {
        content(&self.map, values)
    }

    /// Runs one operation.
    pub fn run(&mut self, op: &Op) -> Answer {
        let map = &mut self.map;
        match *op {
            Op::Store { first, last, value } => Answer::Done(store(map, first, last, value)),
            Op::Insert { first, last, value } => Answer::Done(insert(map, first, last, value)),
            Op::Erase { index } => Answer::Value(value(map.erase(index))),
            Op::Load { index } => Answer::Value(value(map.get(index))),
            Op::LoadMany { index, stride, count } => {
                driver::many(index, stride, count, |index| value(map.get(index)))
            }
            Op::EraseMany { index, stride, count } => {
                driver::many(index, stride, count, |index| value(map.erase(index)))
            }
            Op::StoreMany { first, stride, len, count, value } => {
                driver::store_many(first, stride, len, count, value, |first, last, value| {
                    store(map, first, last, value)
                })
            }
            Op::StepMany { step: Step::Find, index: 0, limit: u64::MAX, most: None } => walked(map),
            Op::AlignedGap { end, size, align, window } => {
                Answer::Gap(map.gap(end, size, align, window).ok_or(Refusal::Busy))
            }
            Op::EmptyArea { end, min, max, size } => Answer::Gap(place(map, end, size, min, max)),
            Op::AllocRange { end, size, min, max, value } => {
                let placed = place(map, end, size, min, max).and_then(|place| {
                    store(map, place.first(), place.last(), value)?;
                    Ok(place.first())
                });
                Answer::Placed(placed)
            }
            _ => Answer::Unsupported,
        }
    }
}

/// No work is counted.
impl<R: Ranges> Drive for RangeDriver<R> {
    type Op = Op;
    type Answer = Answer;

    fn run(&mut self, op: &Op, _: &mut impl Probe) -> Answer {
        Self::run(self, op)
    }

    /// Nothing has a name here.
    fn expect_objects(&mut self, _: u32) {}

    /// With the map itself: some have their first entries there.
    fn metadata_bytes(&self) -> usize {
        size_of::<R>() + self.map.bytes()
    }

    fn validate(&self) -> Result<(), String> {
        self.map.validate()
    }
}

fn value(word: Option<u64>) -> Value {
    // Words come from `Value::Number` alone.
    word.and_then(|word| u32::try_from(word).ok()).map_or(Value::Null, Value::Number)
}

fn store(map: &mut impl Ranges, first: u64, last: u64, value: Value) -> Result<(), Refusal> {
    let span = Span::new(first, last).ok_or(Refusal::Invalid)?;
    match value {
        Value::Null => map.clear(span),
        Value::Number(number) => map.store(span, u64::from(number)),
        Value::Reserved => return Err(Refusal::Invalid),
    }
    Ok(())
}

fn insert(map: &mut impl Ranges, first: u64, last: u64, value: Value) -> Result<(), Refusal> {
    let span = Span::new(first, last).ok_or(Refusal::Invalid)?;
    let Value::Number(number) = value else { return Err(Refusal::Invalid) };
    if map.insert(span, u64::from(number)) { Ok(()) } else { Err(Refusal::Exists) }
}

/// A free place, which is refused as the kernel's tree refuses it.
fn place(map: &impl Ranges, end: End, size: u64, min: u64, max: u64) -> Result<Span, Refusal> {
    let window = Span::new(min, max).ok_or(Refusal::Invalid)?;
    if size == 0 || u128::from(size) > window.size_bytes() {
        return Err(Refusal::Invalid);
    }
    map.gap(end, size, Align::ONE, window).ok_or(Refusal::Busy)
}

fn walked(map: &impl Ranges) -> Answer {
    let (count, digest) = content(map, true);
    Answer::Walked { count, digest }
}

/// Number and digest of its ranges, of their values too if `values`.
fn content(map: &impl Ranges, values: bool) -> (u64, u64) {
    let (mut count, mut digest) = (0, Digest::default());
    for (first, last, value) in map.iter() {
        count += 1;
        digest.push(first);
        digest.push(last);
        if values {
            digest.push(value);
        }
    }
    (count, digest.value())
}
