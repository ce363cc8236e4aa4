//! A case at work: setup, body and teardown, batch by batch.

use super::setup::Setup;
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

/// A case at work.
#[derive(Clone, Debug)]
pub struct Case<F: Suited = Kva> {
    info: &'static CaseInfo<F>,
    body: F::Body,
    setup: Setup<F::Op>,
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
        let setup = Setup::new(F::before(info.kind, &params), first, F::clear());
        let own = first.saturating_add(setup.names());
        let mut case = Self {
            info,
            body: F::body(info, &params, first, own),
            setup,
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
        self.info
    }

    /// How many names it uses.
    pub fn objects(&self) -> u32 {
        self.setup.names() + F::names(&self.body)
    }

    /// How many operations it is, about: each loop counts as two.
    pub fn operations(&self) -> u64 {
        let loops = if self.info().once { self.loops_left.min(1) } else { self.loops_left };
        loops.saturating_mul(2) + u64::from(self.setup.len()) + u64::from(self.setup.undo_len(self.set_up))
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
            Phase::Setup if self.setup.len() > 0 => Some(Phase::Setup),
            Phase::Setup | Phase::Body if self.loops_left > 0 => Some(Phase::Body),
            _ => (self.setup.undo_len(self.set_up) > 0).then_some(Phase::Teardown),
        };
    }

    /// Appends the next batch to `ops`: of setup and teardown up to `most` operations, of the body as many whole turns
    /// as begin within `most` operations; never none. `None` when all is done, and nothing live.
    pub fn next_batch(&mut self, ops: &mut Vec<F::Op>, most: usize) -> Option<Batch> {
        let (phase, from, most) = (self.phase?, ops.len(), most.max(1));
        let mut loops = 0;
        match phase {
            Phase::Setup => {
                while self.at < self.setup.len() && ops.len() - from < most {
                    ops.extend(self.setup.op(self.at, &mut self.random));
                    self.at += 1;
                }
                if self.at == self.setup.len() {
                    self.enter(Phase::Body);
                }
            }
            Phase::Body => {
                while self.loops_left > 0 && ops.len() - from < most {
                    let done = F::turn(&self.body, ops, self.loops_left, &mut self.random);
                    self.loops_left = if self.info().once { 0 } else { self.loops_left.saturating_sub(done) };
                    loops += done;
                }
                if self.loops_left == 0 {
                    self.enter(Phase::Teardown);
                }
            }
            Phase::Teardown => {
                let count = self.setup.undo_len(self.set_up);
                while self.at < count && ops.len() - from < most {
                    ops.push(self.setup.undo(self.set_up, self.at));
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
