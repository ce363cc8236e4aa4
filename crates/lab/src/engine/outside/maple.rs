//! A map of ranges from outside: one tree, without cursors.

use super::Library;
use super::ranges::{Crossing, Part, gap};
use crate::engine::maple::Map;
use freehold_harness::outside::{Answer as Told, Op as Ask, Scene, status, what};
use freehold_trace::maple::{Answer, GapRequest, Op, RangeDriver, Steps, Trees, Value};
use std::time::Duration;

impl Library {
    /// An empty map, with the kernel's calls as far as it has them.
    pub(in crate::engine) fn map(&self) -> Result<Box<dyn Map>, String> {
        let wire = self.start(&Scene { granule: 1, ..Scene::default() })?;
        Ok(Box::new(Crossing::new(wire, RangeDriver::new, Some(Answer::Unsupported))))
    }
}

impl Trees for Crossing<RangeDriver<Part>> {
    /// There is one.
    fn current(&self) -> u32 {
        0
    }

    fn content(&self, _: u32, values: bool) -> (u64, u64) {
        self.driver.content(values)
    }
}

/// What a step asks; going through the map depends on its answers, and crosses range by range.
fn asked(op: &Op) -> Ask {
    let over = |what, first, last, value: Value| Ask {
        what,
        first,
        last,
        value: value.word() + 1,
        ..Ask::default()
    };
    match *op {
        Op::Load { index } => Ask { what: what::LOAD, first: index, last: index, ..Ask::default() },
        Op::Erase { index } => Ask { what: what::ERASE, first: index, last: index, ..Ask::default() },
        Op::Insert { first, last, value } => over(what::INSERT, first, last, value),
        Op::Store { first, last, value } => over(what::STORE, first, last, value),
        Op::AlignedGap { end, size, align, window } => gap(GapRequest { end, size, align, window }),
        _ => Ask::default(),
    }
}

/// What an answer adds to the sum that all maps have.
fn summand(ask: &Ask, told: &Told) -> u64 {
    match ask.what {
        // Nothing is the largest.
        what::LOAD | what::ERASE => told.value.wrapping_sub(1),
        what::INSERT => u64::from(told.status == status::DONE),
        what::GAP_LOW | what::GAP_HIGH if told.status == status::DONE => told.first,
        what::GAP_LOW | what::GAP_HIGH => u64::MAX,
        _ => 0,
    }
}

impl Map for Crossing<RangeDriver<Part>> {
    /// All steps of one kind cross at once.
    fn perform(&mut self, steps: &Steps) -> u64 {
        if matches!(steps, Steps::Iterate(_)) {
            return steps.run(self.driver.map_mut());
        }
        let asked: Vec<Ask> = steps.ops(usize::MAX).iter().map(asked).collect();
        let mut told = vec![Told::default(); asked.len()];
        self.at.run(&asked, &mut told);
        asked.iter().zip(&told).map(|(ask, told)| summand(ask, told)).fold(0, u64::wrapping_add)
    }

    fn perform_clocked(&mut self, steps: &Steps) -> (u64, Duration) {
        let (sum, ns) = self.spent_ns(|this| this.perform(steps));
        (sum, Duration::from_nanos(ns))
    }

    fn count(&self) -> usize {
        usize::try_from(self.driver.content(false).0).unwrap_or(usize::MAX)
    }
}
