//! A case at work: setup, body and teardown, batch by batch.

use super::requests::{ObjectOp, Pairs};
use super::setup::Before;
use super::{CaseInfo, Suited};
use crate::family::{Kva, Life};
use crate::workload::SplitMix;

/// The largest size of a sized case, if there is memory for it.
pub const MOST_N: u32 = 100_000_000;

/// What the kernel's test takes as parameters, and what its size and its machine would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// `test_loop_count`: how often the body runs, for cases that do not run once.
    pub loops: u64,
    /// `nr_pages` of `fix_size`; 0 is 1.
    pub nr_pages: u64,
    /// CPUs of the machine that is played; `full_fit` has more holes on more of them.
    pub cpus: u32,
    /// Live objects, holes, or pages to fill, for the sized cases: 1..=[`MOST_N`].
    pub n: u32,
    /// Where random numbers start.
    pub seed: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self { loops: 1_000_000, nr_pages: 0, cpus: 2, n: 10_000, seed: 20_190_909 }
    }
}

/// What a batch belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The state that the case needs.
    Setup,
    /// What the case is about.
    Body,
    /// The objects of the setup, freed.
    Teardown,
}

/// What was yielded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// What it belongs to.
    pub phase: Phase,
    /// Loops of the body that it is.
    pub loops: u64,
}

/// What a case's body is done with.
#[derive(Clone, Copy, Debug)]
pub struct Body<F: Suited = Kva> {
    /// The case.
    pub info: &'static CaseInfo<F>,
    /// Its parameters.
    pub params: Params,
    /// The first name of the setup's objects.
    pub first: u32,
    /// The first name of the body's own objects.
    pub own: u32,
}

/// A case at work.
#[derive(Clone, Debug)]
pub struct Case<F: Suited = Kva> {
    body: Body<F>,
    before: Before<F::Op>,
    pairs: Pairs<F::Op>,
    /// Whether the setup was done to its end.
    set_up: bool,
    phase: Option<Phase>,
    /// Operations yielded in this phase, if it is not the body.
    at: u32,
    loops_left: u64,
    /// Objects that are live if every request was granted, where operations name objects.
    held: u64,
    random: SplitMix,
}

impl<F: Suited> Case<F> {
    /// The case at its start, its objects named from `first` on; there are [`Case::objects`] of them.
    pub fn new(info: &'static CaseInfo<F>, params: &Params, first: u32) -> Self {
        let params = Params { n: params.n.clamp(1, MOST_N), ..*params };
        let before = F::before(info.kind, &params);
        let own = first.saturating_add(before.names());
        let mut case = Self {
            body: Body { info, params, first, own },
            pairs: Pairs::new(first, before.names(), before.draw),
            before,
            set_up: false,
            phase: None,
            at: 0,
            loops_left: params.loops,
            held: 0,
            random: SplitMix::new(params.seed),
        };
        case.enter(Phase::Setup);
        case
    }

    /// Which case it is.
    pub fn info(&self) -> &'static CaseInfo<F> {
        self.body.info
    }

    /// How many names it uses.
    pub fn objects(&self) -> u32 {
        self.before.names() + F::names(&self.body)
    }

    /// How many operations it is, about: each loop counts as two.
    pub fn operations(&self) -> u64 {
        let loops = if self.info().once { self.loops_left.min(1) } else { self.loops_left };
        loops.saturating_mul(2) + u64::from(self.before.len()) + u64::from(self.undo_len())
    }

    /// Operations that take away what is there.
    fn undo_len(&self) -> u32 {
        if F::clear().is_some() { 1 } else { self.before.undo_len(self.set_up) }
    }

    /// Objects that are live now, if every request was granted.
    pub fn held(&self) -> u64 {
        self.held
    }

    /// What the next batch belongs to; `None` when all is done, and nothing live.
    pub fn phase(&self) -> Option<Phase> {
        self.phase
    }

    /// Its random numbers, where they go on.
    pub(in crate::workload) fn random(&mut self) -> &mut SplitMix {
        &mut self.random
    }

    /// Ends what it does; what is left is the teardown.
    pub fn stop(&mut self) {
        if self.phase.is_some_and(|phase| phase != Phase::Teardown) {
            self.enter(Phase::Teardown);
        }
    }

    /// Goes to the first phase from `next` on that has something to do.
    fn enter(&mut self, next: Phase) {
        // A setup that is left for the teardown was not finished.
        self.set_up = !(self.phase == Some(Phase::Setup) && next == Phase::Teardown);
        self.at = 0;
        self.phase = match next {
            Phase::Setup if self.before.len() > 0 => Some(Phase::Setup),
            Phase::Setup | Phase::Body if self.loops_left > 0 => Some(Phase::Body),
            _ => (self.undo_len() > 0).then_some(Phase::Teardown),
        };
    }

    /// Appends the next batch to `ops`: of setup and teardown up to `most` operations, of the body as many whole turns
    /// as begin within `most` operations; never none. `None` when all is done, and nothing live.
    pub fn next_batch(&mut self, ops: &mut Vec<F::Op>, most: usize) -> Option<Batch> {
        let (phase, from, most) = (self.phase?, ops.len(), most.max(1));
        let mut loops = 0;
        match phase {
            Phase::Setup => {
                while self.at < self.before.len() && ops.len() - from < most {
                    ops.push(self.before.op(self.body.first, self.at, &mut self.pairs, &mut self.random));
                    self.at += 1;
                }
                if self.at == self.before.len() {
                    self.enter(Phase::Body);
                }
            }
            Phase::Body => {
                while self.loops_left > 0 && ops.len() - from < most {
                    let most = u32::try_from(self.loops_left).unwrap_or(u32::MAX);
                    let row = F::row(&self.body).min(most).max(1);
                    F::turn(&self.body, row, ops, &mut self.random);
                    let left = self.loops_left.saturating_sub(row.into());
                    self.loops_left = if self.info().once { 0 } else { left };
                    loops += u64::from(row);
                }
                if self.loops_left == 0 {
                    self.enter(Phase::Teardown);
                }
            }
            Phase::Teardown => {
                let count = self.undo_len();
                while self.at < count && ops.len() - from < most {
                    let object = || self.body.first + self.before.undone(self.set_up, self.at);
                    ops.push(F::clear().unwrap_or_else(|| F::Op::free(object())));
                    self.at += 1;
                }
                if self.at == count {
                    self.phase = None;
                }
            }
        }
        let batch = ops.get(from..).unwrap_or_default();
        for op in batch {
            match F::life(op) {
                Life::Begins(..) => self.held += 1,
                Life::Ends(_) => self.held = self.held.saturating_sub(1),
                Life::Comes(_) | Life::Neither => {}
            }
        }
        Some(Batch { phase, loops })
    }
}
