//! Shrinking: the shortest history, of the smallest numbers, that an engine still shows the same with.
//!
//! ```text
//!   file ---> history ---> whole lifetimes ---> operations ---> numbers ---> vector file, read and tried again
//!                          halves, quarters, ... one by one     again, as long as anything goes
//! ```
//!
//! Recorded answers say nothing of a history that lacks some of its operations. So what judges is the model of the family, which
//! answers any history, and what is written has the answers of the library's own engine.

mod condition;
mod kva;
mod percpu;
mod reduce;
mod tree;

pub use condition::{Condition, Held, Referee, While};
pub use reduce::{Groups, Trial, alone, reduce};

use crate::engine::Listed;
use crate::failure::usage;
use crate::family::Family;
use freehold::units::Align;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

/// A scene and its operations.
pub type Scened<F> = (<F as Family>::Scene, Vec<<F as Family>::Op>);
/// Makes the numbers of a history smaller; `None` if it has nothing to do.
pub type Smaller<F> = fn(&<F as Family>::Scene, &[<F as Family>::Op], usize) -> Option<Scened<F>>;

/// Histories of so many operations at most are tried with smaller numbers operation by operation.
const FEW: usize = 256;

/// A family whose histories can be shrunk.
pub trait History: Family {
    /// What is left out together before single operations are, the largest first.
    const GROUPS: &'static [Groups<Self::Op>];
    /// Whether callgrind can count what [`History::text`] holds.
    const COUNTED: bool = false;
    /// How all numbers become smaller at once, the boldest first.
    const SMALLER: &'static [Smaller<Self>];
    /// How those of the operation of that number do.
    const SMALLER_EACH: &'static [Smaller<Self>];

    /// The whole history of a file.
    ///
    /// # Errors
    /// The file cannot be read, or has no such history.
    fn read(file: &Path) -> anyhow::Result<Scened<Self>>;

    /// Leaves out what means nothing without what is gone, and names objects as the file will.
    fn tidy(ops: Vec<Self::Op>) -> Vec<Self::Op>;

    /// Who judges the engine's answers.
    ///
    /// # Errors
    /// There is no model of such a scene.
    fn referee(entry: &Listed<Self::Facts>, scene: &Self::Scene) -> Result<Box<dyn Referee<Self>>, String>;

    /// The most pages that have memory in the engine, and how many operations it takes to get there.
    ///
    /// # Errors
    /// It knows no pages.
    fn pages(
        entry: &Listed<Self::Facts>,
        scene: &Self::Scene,
        ops: &[Self::Op],
    ) -> anyhow::Result<(usize, u64)> {
        let _ = (entry, scene, ops);
        usage("pages with memory are of per-CPU objects alone")
    }

    /// The vector file of a history, with the answers that are right.
    ///
    /// # Errors
    /// The format has no such operation.
    fn text(entry: &Listed<Self::Facts>, scene: &Self::Scene, ops: &[Self::Op]) -> anyhow::Result<String>;
}

/// Names objects as they come, and leaves out frees of those that do not. `object` is the name in an operation, and whether it frees.
fn renamed<O>(ops: Vec<O>, object: fn(&mut O) -> (&mut u32, bool)) -> Vec<O> {
    let (mut live, mut next) = (HashMap::new(), 0..);
    let named = ops.into_iter().filter_map(|mut op| {
        let (object, frees) = object(&mut op);
        *object = if frees {
            live.remove(object)?
        } else {
            let name = next.next()?;
            live.insert(*object, name);
            name
        };
        Some(op)
    });
    named.collect()
}

/// One unit less, if that is something.
fn less(size: u64, unit: Align) -> u64 {
    size.checked_sub(unit.bytes()).filter(|less| *less > 0).unwrap_or(size)
}

/// One unit for the smallest size, two for the next.
fn ranks(sizes: impl Iterator<Item = u64>, unit: Align) -> BTreeMap<u64, u64> {
    let sizes: BTreeSet<u64> = sizes.collect();
    sizes.into_iter().zip((1..).map(|rank| rank * unit.bytes())).collect()
}

/// A history that shrinks as long as its condition holds.
pub struct Shrinking<'a, F: History> {
    condition: &'a Condition<F>,
    /// What is left, which the condition holds of.
    pub scene: F::Scene,
    /// The same.
    pub ops: Vec<F::Op>,
    /// How the condition was seen to hold last.
    pub told: String,
    /// Trials so far.
    pub trials: u64,
    most: u64,
    /// Hears of each trial; whether to stop.
    tick: &'a mut dyn FnMut(&str) -> bool,
    /// It was told to stop.
    pub stopped: bool,
}

impl<'a, F: History> Shrinking<'a, F> {
    /// Of a history; `None` if the condition does not hold of it. `tick` hears of each trial, and says whether to stop.
    ///
    /// # Errors
    /// The condition cannot be tried.
    pub fn new(
        condition: &'a Condition<F>,
        (scene, ops): Scened<F>,
        most: u64,
        tick: &'a mut dyn FnMut(&str) -> bool,
    ) -> anyhow::Result<Option<Self>> {
        let ops = F::tidy(ops);
        let Some(held) = condition.holds(&scene, &ops)? else { return Ok(None) };
        let (told, trials, stopped) = (held.told, 1, false);
        let ops = F::tidy(ops.into_iter().take(held.enough).collect());
        Ok(Some(Self { condition, scene, ops, told, trials, most, tick, stopped }))
    }

    /// Whether all trials that there are to be have been made.
    pub fn is_spent(&self) -> bool {
        self.trials >= self.most
    }

    /// Tries until nothing more can be left out or made smaller, or somebody says stop.
    pub fn shrink(&mut self) {
        loop {
            let before = self.text();
            for groups in F::GROUPS.iter().copied().chain([alone as Groups<F::Op>]) {
                let mut ops = std::mem::take(&mut self.ops);
                let scene = self.scene.clone();
                let over = reduce(&mut ops, groups, &mut |ops| self.trial(&scene, ops));
                self.ops = ops;
                if over {
                    return;
                }
            }
            if self.smaller() || self.text() == before {
                return;
            }
        }
    }

    /// What tells two histories apart.
    fn text(&self) -> String {
        format!("{:?}{:?}", self.scene, self.ops)
    }

    /// Makes numbers smaller; whether it was told to stop.
    fn smaller(&mut self) -> bool {
        let each = if self.ops.len() <= FEW { self.ops.len() } else { 0 };
        let all = F::SMALLER.iter().map(|smaller| (*smaller, 0));
        let singly = (0..each).flat_map(|at| F::SMALLER_EACH.iter().map(move |smaller| (*smaller, at)));
        for (smaller, at) in all.chain(singly).collect::<Vec<_>>() {
            // Again as long as it goes: a size is halved.
            while let Some((scene, ops)) = smaller(&self.scene, &self.ops, at) {
                match self.trial(&scene, ops) {
                    Trial::Holds(ops) => (self.scene, self.ops) = (scene, ops),
                    Trial::Fails => break,
                    Trial::Stop => return true,
                }
            }
        }
        false
    }

    fn trial(&mut self, scene: &F::Scene, ops: Vec<F::Op>) -> Trial<F::Op> {
        if self.is_spent() || self.stopped {
            return Trial::Stop;
        }
        self.trials += 1;
        let ops = F::tidy(ops);
        // What cannot be tried, such as a scene that the engine refuses, holds nothing.
        let held = self.condition.holds(scene, &ops).ok().flatten();
        // An engine may have died of the signal that says stop, which is not its fault.
        self.stopped = (self.tick)(&format!("{} trials, {} operations", self.trials, ops.len()));
        match held {
            _ if self.stopped => Trial::Stop,
            Some(held) => {
                self.told = held.told;
                Trial::Holds(F::tidy(ops.into_iter().take(held.enough).collect()))
            }
            None => Trial::Fails,
        }
    }
}
