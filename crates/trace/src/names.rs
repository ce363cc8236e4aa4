//! The places of objects that operations name. The drivers of all families share one table, so that running operations costs
//! the same besides the engine.

use crate::Drive;
use freehold_units::Probe;
use std::collections::HashMap;

/// New names for the objects of a recording, from 0 on in the order in which they come: a file may use its own names again.
#[derive(Default)]
pub(crate) struct NewNames {
    /// The new name of each live object.
    live: HashMap<u32, u32>,
    next: u32,
}

impl NewNames {
    /// The new name of an object that was allocated.
    pub(crate) fn born(&mut self, object: u32) -> Result<u32, String> {
        let name = self.next;
        self.next = name.checked_add(1).ok_or("more than 2^32 objects")?;
        match self.live.insert(object, name) {
            None => Ok(name),
            Some(_) => Err(format!("object {object} is allocated while it is live")),
        }
    }

    /// The new name of an object that was freed; `None` if it was not live.
    pub(crate) fn freed(&mut self, object: u32) -> Option<u32> {
        self.live.remove(&object)
    }
}

/// The most frees whose objects are looked up together.
const TOGETHER: usize = 64;

/// The place of each live object, by name.
#[derive(Clone, Debug)]
pub(crate) struct Names<P>(Vec<Option<P>>);

impl<P: Copy> Names<P> {
    /// A table without live objects.
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    /// The place of an object, if it is live.
    pub(crate) fn get(&self, object: u32) -> Option<P> {
        self.0.get(object as usize).copied().flatten()
    }

    /// Allocates memory for names below `objects`.
    pub(crate) fn expect(&mut self, objects: u32) {
        self.0.resize(self.0.len().max(objects as usize), None);
    }

    /// Sets the place of an object.
    #[inline]
    pub(crate) fn put(&mut self, object: u32, place: Option<P>) {
        if self.0.len() <= object as usize {
            self.expect(object.saturating_add(1));
        }
        if let Some(slot) = self.0.get_mut(object as usize) {
            *slot = place;
        }
    }

    /// Takes the place of an object, which is no longer live.
    #[inline]
    pub(crate) fn take(&mut self, object: u32) -> Option<P> {
        self.0.get_mut(object as usize).and_then(Option::take)
    }
}

/// A driver whose objects have names.
pub(crate) trait Frees: Drive {
    /// The place of an object.
    type Place: Copy;

    /// The object that an operation frees.
    fn freed(op: &Self::Op) -> Option<u32>;

    /// Takes the place of an object from the table. The engine still has the object.
    fn take(&mut self, object: u32) -> Option<Self::Place>;

    /// Frees the object at a place that was taken.
    fn give_back(&mut self, place: Option<Self::Place>, probe: &mut impl Probe) -> Self::Answer;

    /// Whether the places of several frees may be taken at once now.
    fn together(&self) -> bool {
        true
    }
}

/// Runs operations in order. The places of several frees in a row are looked up before the first free. Otherwise every free
/// would wait for the table, and the engine's time would include the wait.
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
