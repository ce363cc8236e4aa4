//! Operations of one kind in dense form, so that a timed loop does little else than what is timed. To check the answers,
//! they convert to the family's operations.

use super::{End, Op, Ranges, Step, Value};
use freehold_units::{Align, Span};

/// A search for a gap.
#[derive(Clone, Copy, Debug)]
pub struct GapRequest {
    /// The end from which to search.
    pub end: End,
    /// The number of indexes.
    pub size: u64,
    /// The alignment of the first index.
    pub align: Align,
    /// The range that must contain it.
    pub window: Span,
}

/// An operation of a mix.
#[derive(Clone, Copy, Debug)]
pub enum MixStep {
    /// Look up.
    Get(u64),
    /// Store over a range.
    Store(Span, u32),
    /// Erase the range at the index.
    Erase(u64),
}

/// Operations of one kind, or a mix.
#[derive(Clone, Debug)]
pub enum Steps {
    /// Look up indexes.
    Get(Vec<u64>),
    /// Iterate over the whole map that many times.
    Iterate(usize),
    /// Store into ranges that are free.
    Insert(Vec<(Span, u32)>),
    /// Store over ranges, free or not.
    Store(Vec<(Span, u32)>),
    /// Erase the ranges at the indexes.
    Erase(Vec<u64>),
    /// Search for gaps.
    Gap(Vec<GapRequest>),
    /// Several kinds.
    Mix(Vec<MixStep>),
}

impl Steps {
    /// The number of operations. One iteration over the map is one operation.
    pub fn count(&self) -> usize {
        match self {
            Self::Get(indexes) | Self::Erase(indexes) => indexes.len(),
            Self::Iterate(times) => *times,
            Self::Insert(stores) | Self::Store(stores) => stores.len(),
            Self::Gap(requests) => requests.len(),
            Self::Mix(steps) => steps.len(),
        }
    }

    /// An index of the first operation. Reading it brings the operation into the cache.
    pub fn first(&self) -> Option<u64> {
        match self {
            Self::Get(indexes) | Self::Erase(indexes) => indexes.first().copied(),
            Self::Insert(stores) | Self::Store(stores) => stores.first().map(|(span, _)| span.first()),
            Self::Gap(requests) => requests.first().map(|request| request.window.first()),
            Self::Mix(steps) => steps.first().map(|step| match step {
                MixStep::Get(index) | MixStep::Erase(index) => *index,
                MixStep::Store(span, _) => span.first(),
            }),
            Self::Iterate(_) => None,
        }
    }

    /// The first `most` as operations.
    pub fn ops(&self, most: usize) -> Vec<Op> {
        let get = |&index: &u64| Op::Load { index };
        let erase = |&index: &u64| Op::Erase { index };
        let store = |&(span, number): &(Span, u32)| store(span, number);
        let insert = |&(span, number): &(Span, u32)| {
            let (first, last) = (span.first(), span.last());
            Op::Insert { first, last, value: Value::Number(number) }
        };
        match self {
            Self::Get(indexes) => indexes.iter().take(most).map(get).collect(),
            Self::Iterate(_) => {
                vec![Op::StepMany { step: Step::Find, index: 0, limit: u64::MAX, most: None }]
            }
            Self::Insert(stores) => stores.iter().take(most).map(insert).collect(),
            Self::Store(stores) => stores.iter().take(most).map(store).collect(),
            Self::Erase(indexes) => indexes.iter().take(most).map(erase).collect(),
            Self::Gap(requests) => requests.iter().take(most).map(gap).collect(),
            Self::Mix(steps) => steps
                .iter()
                .take(most)
                .map(|step| match step {
                    MixStep::Get(index) => get(index),
                    MixStep::Store(span, number) => self::store(*span, *number),
                    MixStep::Erase(index) => erase(index),
                })
                .collect(),
        }
    }

    /// Runs them on a map. Returns a sum over all answers, which is the same for every correct map.
    #[inline]
    pub fn run<R: Ranges>(&self, map: &mut R) -> u64 {
        let mut sum = 0_u64;
        let mut add = |word: Option<u64>| sum = sum.wrapping_add(word.unwrap_or(u64::MAX));
        match self {
            Self::Get(indexes) => indexes.iter().for_each(|&index| add(map.get(index))),
            Self::Iterate(times) => {
                for _ in 0..*times {
                    for (first, last, value) in map.iter() {
                        add(Some(first ^ last ^ value));
                    }
                }
            }
            Self::Insert(stores) => {
                for &(span, number) in stores {
                    add(Some(u64::from(map.insert(span, u64::from(number)))));
                }
            }
            Self::Store(stores) => {
                for &(span, number) in stores {
                    map.store(span, u64::from(number));
                }
            }
            Self::Erase(indexes) => indexes.iter().for_each(|&index| add(map.erase(index))),
            Self::Gap(requests) => {
                for &GapRequest { end, size, align, window } in requests {
                    add(map.gap(end, size, align, window).map(Span::first));
                }
            }
            Self::Mix(steps) => {
                for step in steps {
                    match *step {
                        MixStep::Get(index) => add(map.get(index)),
                        MixStep::Store(span, number) => map.store(span, u64::from(number)),
                        MixStep::Erase(index) => add(map.erase(index)),
                    }
                }
            }
        }
        sum
    }
}

fn store(span: Span, number: u32) -> Op {
    Op::Store { first: span.first(), last: span.last(), value: Value::Number(number) }
}

fn gap(request: &GapRequest) -> Op {
    let GapRequest { end, size, align, window } = *request;
    Op::AlignedGap { end, size, align, window }
}
