//! All cases in one space, as several CPUs run them: each CPU has the cases in an order of its own, one after
//! another, and a batch is taken of one CPU or the other at random.
//!
//! ```text
//!   CPU 0   [full_fit ........][fix_align ...][random_size .....]
//!   CPU 1   [random_size .....][full_fit ........][fix_align ...]
//!   yields  0  1  1  0  1  0  0  1 ...     the same for the same seed
//! ```

use super::{Batch, Case, CaseInfo, Params, Phase};
use crate::workload::SplitMix;
use freehold_trace::kva::Op;

/// The CPUs at work.
#[derive(Clone, Debug)]
pub struct Interleaved {
    /// Those that have not finished.
    cpus: Vec<Cpu>,
    /// Names that all of them use.
    objects: u32,
    random: SplitMix,
}

/// What was yielded, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The CPU.
    pub cpu: u32,
    /// Its case.
    pub case: &'static CaseInfo,
    /// What of the case.
    pub batch: Batch,
}

#[derive(Clone, Debug)]
struct Cpu {
    number: u32,
    /// What it has to do, the current one last.
    cases: Vec<Case>,
}

impl Interleaved {
    /// `params.cpus` CPUs, each with every case, in shuffled order. Every run of a case has random numbers of its own.
    ///
    /// # Errors
    /// They use more names than there are.
    pub fn new(cases: &[&'static CaseInfo], params: &Params) -> anyhow::Result<Self> {
        let mut random = SplitMix::new(params.seed);
        let mut all = Self { cpus: Vec::new(), objects: 0, random: SplitMix::new(random.next_u64()) };
        let most = cases.iter().map(|info| Case::new(info, params, 0).objects()).max().unwrap_or(0);
        for number in 0..params.cpus {
            let first = all.objects;
            all.objects = first.checked_add(most).ok_or_else(|| anyhow::anyhow!("too many objects"))?;
            let mut order = cases.to_vec();
            random.shuffle(&mut order);
            let case = |info| Case::new(info, &Params { seed: random.next_u64(), ..*params }, first);
            all.cpus.push(Cpu { number, cases: order.into_iter().map(case).collect() });
        }
        Ok(all)
    }

    /// One CPU, with these cases in their order.
    pub fn one(mut cases: Vec<Case>) -> Self {
        let objects = cases.iter().map(Case::objects).max().unwrap_or(0);
        cases.reverse();
        Self { cpus: vec![Cpu { number: 0, cases }], objects, random: SplitMix::new(0) }
    }

    /// How many names are used.
    pub fn objects(&self) -> u32 {
        self.objects
    }

    /// Appends the next batch to `ops`, as [`Case::next_batch`] does, of a length of its own for each phase; `None` when all is
    /// done, and nothing live. The kernel's loops are so many that its setups
    /// are a small part of them; where loops are few, longer batches of setups keep what is live beside each body.
    pub fn next_batch(&mut self, ops: &mut Vec<Op>, most: impl Fn(Phase) -> usize) -> Option<Turn> {
        while !self.cpus.is_empty() {
            let at = self.random.uniform(self.cpus.len() as u64) as usize;
            let cpu = self.cpus.get_mut(at)?;
            let current = cpu.cases.last_mut()?;
            let most = current.phase().map_or(1, &most);
            if let Some(batch) = current.next_batch(ops, most) {
                return Some(Turn { cpu: cpu.number, case: current.info(), batch });
            }
            cpu.cases.pop();
            if cpu.cases.is_empty() {
                self.cpus.remove(at);
            }
        }
        None
    }
}
