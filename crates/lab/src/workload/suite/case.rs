//! A case at work: setup, body and teardown, batch by batch.

use super::requests::{
    Draw, PAGE, Pairs, align_shift, aligned, aligned_alloc, guarded, pages, pair, random_alloc,
    random_size_align, together,
};
use super::{CaseInfo, Kind, pcpu};
use crate::workload::SplitMix;
use crate::workload::recipe::LOW_PAGE;
use freehold::units::Span;
use freehold_trace::kva::Op;

/// Areas kept before `long_busy_list`.
const LONG_BUSY_LIST: u32 = 15_000;
/// Junk areas freed before `full_fit`, for each doubling of the CPUs: 32 MiB of pages.
const FULL_FIT_HOLES: u32 = 8192;
/// Operations of one kind in a row.
const GROUP: u32 = 64;
/// Operations of one kind in a row of a burst.
const BURST: u32 = 256;
/// Alignments that `align_shift` tries: one for each bit of an address.
const SHIFTS: u32 = 64;

/// The largest size of a sized case.
pub const MOST_N: u32 = 4_000_000;

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
pub struct Case {
    info: &'static CaseInfo,
    params: Params,
    /// Its first name; those of the setup come first, then those of the body.
    first: u32,
    setup: Setup,
    undo: Undo,
    phase: Option<Phase>,
    /// Operations yielded in this phase, if it is not the body.
    at: u32,
    loops_left: u64,
    /// Objects that are live if every request was granted.
    held: u64,
    random: SplitMix,
}

/// What is there before the body.
#[derive(Clone, Debug)]
enum Setup {
    Nothing,
    /// Objects that stay.
    Kept {
        count: u32,
        draw: Draw,
    },
    /// Objects of `size` pages, of which every other is freed, so that each leaves a hole of its own.
    Holes {
        count: u32,
        size_pages: u64,
    },
    /// Objects, and twice as many times one of them freed and another allocated.
    Churned {
        count: u32,
        pairs: Pairs,
        draw: Draw,
    },
}

impl Setup {
    fn of(info: &CaseInfo, params: &Params, first: u32) -> Self {
        let churned =
            |draw: Draw| Self::Churned { count: params.n, pairs: Pairs::new(first, params.n, draw), draw };
        match info.kind {
            Kind::FullFit => {
                let doublings = u32::BITS - params.cpus.leading_zeros();
                Self::Holes { count: doublings.max(1) * FULL_FIT_HOLES, size_pages: 2 }
            }
            Kind::LongBusyList => Self::Kept { count: LONG_BUSY_LIST, draw: |object, _| guarded(object, 1) },
            Kind::Holes => Self::Holes { count: params.n, size_pages: 1 },
            Kind::Churn | Kind::Zone | Kind::Aligned2m | Kind::Burst => churned(random_alloc),
            Kind::Aligned => churned(aligned_alloc),
            _ => Self::Nothing,
        }
    }

    /// Objects that it names.
    fn names(&self) -> u32 {
        match self {
            Self::Nothing => 0,
            Self::Kept { count, .. } | Self::Churned { count, .. } => *count,
            Self::Holes { count, .. } => 2 * count,
        }
    }

    /// Operations that it is.
    fn len(&self) -> u32 {
        match self {
            Self::Nothing => 0,
            Self::Kept { count, .. } => *count,
            Self::Holes { count, .. } => 3 * count,
            Self::Churned { count, .. } => 5 * count,
        }
    }

    /// The operation after `at` others.
    fn op(&mut self, first: u32, at: u32, random: &mut SplitMix) -> Op {
        let names = self.names();
        match self {
            Self::Kept { draw, .. } | Self::Churned { draw, .. } if at < names => draw(first + at, random),
            Self::Holes { size_pages, .. } if at < names => pages(first + at, *size_pages),
            Self::Churned { pairs, .. } => pairs.next_op(random),
            // Of each two the lower goes, so that the highest hole, too, ends at an object.
            _ => Op::Free { object: first + 2 * (at - names) },
        }
    }

    /// The frees that undo it: how many, how far apart their names are and which is the first. Of a setup that was
    /// not finished every name is freed.
    fn undo(&self, first: u32, finished: bool) -> Undo {
        match self {
            Self::Holes { count, .. } if finished => Undo { count: *count, step: 2, first: first + 1 },
            _ => Undo { count: self.names(), step: 1, first },
        }
    }
}

/// Names to free.
#[derive(Clone, Copy, Debug)]
struct Undo {
    count: u32,
    step: u32,
    first: u32,
}

impl Case {
    /// The case at its start, its objects named from `first` on; there are [`Case::objects`] of them.
    #[must_use]
    pub fn new(info: &'static CaseInfo, params: &Params, first: u32) -> Self {
        let params = Params { n: params.n.clamp(1, MOST_N), ..*params };
        let setup = Setup::of(info, &params, first);
        let mut case = Self {
            info,
            params,
            first,
            undo: setup.undo(first, false),
            setup,
            phase: None,
            at: 0,
            loops_left: params.loops,
            held: 0,
            random: SplitMix::new(params.seed),
        };
        case.enter(Phase::Setup, false);
        case
    }

    /// Which case it is.
    #[must_use]
    pub fn info(&self) -> &'static CaseInfo {
        self.info
    }

    /// How many names it uses.
    #[must_use]
    pub fn objects(&self) -> u32 {
        let body = match self.info.kind {
            Kind::PcpuAlloc => pcpu::MOST_CHUNKS,
            Kind::Seqfill => self.params.n,
            Kind::Burst => BURST,
            Kind::Holes | Kind::Aligned2m => GROUP,
            Kind::LongBusyList => 2,
            _ if self.info.churns() => 0,
            _ => 1,
        };
        self.setup.names() + body
    }

    /// Objects that are live now, if every request was granted.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.held
    }

    /// Its random numbers, where they go on.
    pub(in crate::workload) fn random(&mut self) -> &mut SplitMix {
        &mut self.random
    }

    /// What the next batch belongs to; `None` when all is done, and nothing live.
    #[must_use]
    pub fn phase(&self) -> Option<Phase> {
        self.phase
    }

    /// Ends what it does; what is left is the teardown.
    pub fn stop(&mut self) {
        if matches!(self.phase, Some(Phase::Setup | Phase::Body)) {
            let finished = self.phase == Some(Phase::Body);
            self.enter(Phase::Teardown, finished);
        }
    }

    /// Goes to the first phase from `phase` on that has something to do.
    fn enter(&mut self, phase: Phase, set_up: bool) {
        self.at = 0;
        self.undo = self.setup.undo(self.first, set_up);
        self.phase = match phase {
            Phase::Setup if self.setup.len() > 0 => Some(phase),
            Phase::Setup | Phase::Body if self.loops_left > 0 => Some(Phase::Body),
            _ => (self.undo.count > 0).then_some(Phase::Teardown),
        };
    }

    /// Appends the next batch to `ops`: of setup and teardown up to `most` operations, of the body as many whole turns
    /// as begin within `most` operations; never none. `None` when all is done, and nothing live.
    pub fn next_batch(&mut self, ops: &mut Vec<Op>, most: usize) -> Option<Batch> {
        let (phase, from, most) = (self.phase?, ops.len(), most.max(1));
        let mut loops = 0;
        match phase {
            Phase::Setup => {
                while self.at < self.setup.len() && ops.len() - from < most {
                    ops.push(self.setup.op(self.first, self.at, &mut self.random));
                    self.at += 1;
                }
                if self.at == self.setup.len() {
                    self.enter(Phase::Body, true);
                }
            }
            Phase::Body => {
                while self.loops_left > 0 && ops.len() - from < most {
                    let done = self.turn(ops);
                    self.loops_left = if self.info.once { 0 } else { self.loops_left.saturating_sub(done) };
                    loops += done;
                }
                if self.loops_left == 0 {
                    self.enter(Phase::Teardown, true);
                }
            }
            Phase::Teardown => {
                let Undo { count, step, first } = self.undo;
                while self.at < count && ops.len() - from < most {
                    ops.push(Op::Free { object: first + step * self.at });
                    self.at += 1;
                }
                if self.at == count {
                    self.phase = None;
                }
            }
        }
        let batch = ops.get(from..).unwrap_or_default();
        let frees = batch.iter().filter(|op| op.is_free()).count() as u64;
        self.held = (self.held + batch.len() as u64).saturating_sub(2 * frees);
        Some(Batch { phase, loops })
    }

    /// The least that leaves nothing half done; the loops that it is.
    fn turn(&mut self, ops: &mut Vec<Op>) -> u64 {
        let object = self.first + self.setup.names();
        let random = &mut self.random;
        let at_most = |group: u32| group.min(u32::try_from(self.loops_left).unwrap_or(group)).max(1);
        let loops = match self.info.kind {
            Kind::FixSize => {
                pair(ops, guarded(object, self.params.nr_pages.max(1)));
                1
            }
            Kind::FullFit => {
                pair(ops, guarded(object, 1));
                1
            }
            Kind::LongBusyList => {
                together(ops, object, 2, |name| guarded(name, if name == object { 100 } else { 1 }));
                1
            }
            Kind::RandomSize => {
                pair(ops, guarded(object, 1 + random.uniform(100)));
                1
            }
            Kind::FixAlign => {
                pair(ops, aligned(object, 6, 8));
                1
            }
            Kind::RandomSizeAlign => {
                pair(ops, random_size_align(object, random));
                1
            }
            Kind::AlignShift => {
                (0..SHIFTS).for_each(|shift| pair(ops, align_shift(object, shift)));
                1
            }
            Kind::PcpuAlloc => {
                pcpu::alloc_and_free(ops, object, random);
                1
            }
            Kind::Holes => {
                let group = at_most(GROUP);
                together(ops, object, group, |name| pages(name, 2));
                group
            }
            Kind::Aligned2m => {
                let group = at_most(GROUP);
                together(ops, object, group, |name| aligned(name, 1 + random.uniform(64), 512));
                group
            }
            Kind::Burst => {
                let (size, group) = (1 + random.uniform(16), at_most(BURST));
                together(ops, object, group, |name| pages(name, size));
                group
            }
            Kind::Seqfill => {
                let group = at_most(self.params.n);
                together(ops, object, group, |name| pages(name, 1));
                group
            }
            Kind::Churn | Kind::Zone | Kind::Aligned => {
                let group = at_most(GROUP).min(self.params.n.div_ceil(2));
                self.churn(ops, group);
                group
            }
        };
        u64::from(loops)
    }

    /// Frees `group` random objects and allocates as many in their place.
    fn churn(&mut self, ops: &mut Vec<Op>, group: u32) {
        let mut names: Vec<u32> = Vec::with_capacity(group as usize);
        while names.len() < group as usize {
            let object = self.first + self.random.uniform(u64::from(self.params.n)) as u32;
            if !names.contains(&object) {
                names.push(object);
            }
        }
        ops.extend(names.iter().map(|&object| Op::Free { object }));
        for object in names {
            let op = match self.info.kind {
                Kind::Aligned => aligned_alloc(object, &mut self.random),
                _ => random_alloc(object, &mut self.random),
            };
            ops.push(if self.info.kind == Kind::Zone { self.in_a_zone(op) } else { op });
        }
    }

    /// A request put into a random window of 1/64 of the span that the objects use: 32.5 pages each, and a tenth of
    /// gaps, which is what churning leaves.
    fn in_a_zone(&mut self, op: Op) -> Op {
        let used = u64::from(self.params.n) * 143 / 4;
        let width = (used / 64).max(1);
        let low = LOW_PAGE + self.random.uniform(used.saturating_sub(width).max(1));
        match (op, Span::from_size(low * PAGE, width * PAGE)) {
            (Op::Alloc { object, size_bytes, align, .. }, Some(window)) => {
                Op::Alloc { object, size_bytes, align, window }
            }
            (op, _) => op,
        }
    }
}
