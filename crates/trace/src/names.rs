//! Where the objects are that operations name: one table for the drivers of all families, so that running operations costs
//! the same besides the engine.

use crate::Drive;
use freehold_units::Probe;

/// Frees whose objects are looked up together.
const TOGETHER: usize = 64;

/// Where each object is, by name; nothing where none is live.
#[derive(Clone, Debug)]
pub(crate) struct Names<P>(Vec<Option<P>>);

impl<P: Copy> Names<P> {
    /// None is live.
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    /// Where the object is.
    pub(crate) fn get(&self, object: u32) -> Option<P> {
        self.0.get(object as usize).copied().flatten()
    }

    /// Makes room for objects up to and without `objects`.
    pub(crate) fn expect(&mut self, objects: u32) {
        self.0.resize(self.0.len().max(objects as usize), None);
    }

    /// The object is there now.
    #[inline]
    pub(crate) fn put(&mut self, object: u32, place: Option<P>) {
        if self.0.len() <= object as usize {
            self.expect(object.saturating_add(1));
        }
        if let Some(slot) = self.0.get_mut(object as usize) {
            *slot = place;
        }
    }

    /// Where the object was, which is no longer live.
    #[inline]
    pub(crate) fn take(&mut self, object: u32) -> Option<P> {
        self.0.get_mut(object as usize).and_then(Option::take)
    }
}

/// A driver whose objects have names.
pub(crate) trait Frees: Drive {
    /// Where an object is.
    type Place: Copy;

    /// The object that an operation frees.
    fn freed(op: &Self::Op) -> Option<u32>;

    /// Where an object was, which is no longer live; nothing but its name is forgotten.
    fn take(&mut self, object: u32) -> Option<Self::Place>;

    /// Frees what was taken.
    fn give_back(&mut self, place: Option<Self::Place>, probe: &mut impl Probe) -> Self::Answer;

    /// Whether frees may be taken together now.
    fn together(&self) -> bool {
        true
    }
}

/// Runs operations in order, but looks up where the objects of several frees in a row are before it frees the first: else
/// every free would wait for the table, and the wait count as the engine's.
#[inline]
pub(crate) fn run_batch<D: Frees>(
    driver: &mut D,
    ops: &[D::Op],
    answers: &mut [D::Answer],
    probe: &mut impl Probe,
) {
    let (mut ops, mut answers) = (ops, answers);
    while let Some(op) = ops.first() {
        let frees = ops.iter().take(TOGETHER).take_while(|op| D::freed(op).is_some()).count();
        let count = if driver.together() { frees.max(1) } else { 1 }.min(answers.len());
        let (now, later) = answers.split_at_mut(count);
        match now {
            [] => return,
            [answer] => *answer = driver.run(op, probe),
            several => {
                let mut places = [None; TOGETHER];
                for (op, place) in ops[..count].iter().zip(&mut places) {
                    *place = D::freed(op).and_then(|object| driver.take(object));
                }
                for (place, answer) in places.iter().zip(several) {
                    *answer = driver.give_back(*place, probe);
                }
            }
        }
        (ops, answers) = (&ops[count..], later);
    }
}
