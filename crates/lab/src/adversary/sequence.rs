//! A sequence, its bounds, and the judgement of its figures.

use super::growth::{Bound, exponent};
use super::meter::{Figures, Meter, Unit};
use super::{kva, maple, memory, percpu, pools, rcu};
use crate::kind::Stressed;
use crate::named::named;
use crate::strings::Suffered;

/// Operations that are built to hurt, at any n.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    /// Its name.
    pub name: &'static str,
    /// The operation that is to suffer.
    pub op: &'static str,
    /// What is counted.
    pub unit: Unit,
    /// The documented bound of the mean over all operations since the structure was empty.
    pub amortized: Bound,
    /// The documented bound of a single operation.
    pub worst: Bound,
    /// The bound of a single operation once all was learned that can be: that of the mean, mostly.
    pub settled: Bound,
    /// The largest n: what sets it up takes too long beyond.
    pub largest: u32,
    /// Runs it at a size.
    pub run: Run,
}

/// Makes the operations of a sequence at a size, and has them counted.
pub(super) type Run = fn(u32, &mut Meter) -> anyhow::Result<()>;

impl Sequence {
    /// Of an operation with logarithmic cost, amortized; a single one may be linear.
    pub(super) const fn amortized(name: &'static str, op: &'static str, run: Run) -> Self {
        let (unit, amortized, worst, settled) = (Unit::Work, Bound::Log, Bound::Linear, Bound::Log);
        Self { name, op, unit, amortized, worst, settled, largest: u32::MAX, run }
    }

    /// The same with other bounds of a single operation, the first and once all is learned.
    pub(super) const fn single(self, worst: Bound, settled: Bound) -> Self {
        Self { worst, settled, ..self }
    }

    /// The same with another bound of the mean.
    pub(super) const fn mean(self, amortized: Bound) -> Self {
        Self { amortized, ..self }
    }

    /// The same up to this n.
    pub(super) const fn up_to(self, largest: u32) -> Self {
        Self { largest, ..self }
    }

    /// The same in instructions.
    pub(super) const fn in_instructions(self) -> Self {
        Self { unit: Unit::Instructions, ..self }
    }

    /// The figures of all sizes, held against the bounds.
    pub fn judge(&self, figures: &[(u32, Figures)]) -> Vec<Judged> {
        vec![
            Judged::of(Part::Amortized, self.amortized, figures, Figures::amortized),
            Judged::of(Part::Worst, self.worst, figures, |figures| figures.worst() as f64),
            Judged::of(Part::Settled, self.settled, figures, |figures| figures.settled() as f64),
        ]
    }
}

/// What a string suffered at all sizes: any operations have the bounds of the dearest, O(log n) amortized.
pub fn judge_string(suffered: &[(u32, Suffered)]) -> Vec<Judged> {
    let mean = |suffered: &Suffered| suffered.total as f64 / suffered.ops.max(1) as f64;
    vec![
        Judged::of(Part::Amortized, Bound::Log, suffered, mean),
        Judged::of(Part::Worst, Bound::Linear, suffered, |suffered| suffered.worst as f64),
    ]
}

named! {
    /// Which figure.
    Part {
        Amortized "mean of all" "The mean over all operations since the structure was empty."
        Worst "worst measured" "The worst measured operation."
        Settled "worst later on" "The worst in the second half of the measured ones."
    }
}

/// A figure at all sizes, and how it grows.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Which figure.
    pub part: Part,
    /// What it is held against.
    pub bound: Bound,
    /// How it grows; `None` with fewer than two sizes.
    pub exponent: Option<f64>,
    /// The largest exponent that the bound allows.
    pub limit: Option<f64>,
    /// The figure at each size.
    pub values: Vec<(u32, f64)>,
}

impl Judged {
    fn of<T>(part: Part, bound: Bound, figures: &[(u32, T)], of: impl Fn(&T) -> f64) -> Self {
        let sizes: Vec<_> = figures.iter().map(|&(n, _)| n).collect();
        let values: Vec<_> = figures.iter().map(|(n, figures)| (*n, of(figures))).collect();
        let points: Vec<_> = values.iter().map(|&(n, value)| (f64::from(n), value)).collect();
        Self { part, bound, exponent: exponent(&points), limit: bound.limit(&sizes), values }
    }

    /// Whether the bound holds; `None` if that cannot be told.
    pub fn holds(&self) -> Option<bool> {
        Some(self.exponent? <= self.limit?)
    }
}

/// The sequences of a family; `None` if it has none.
pub fn sequences(subject: Stressed) -> Option<&'static [Sequence]> {
    match subject {
        Stressed::Kva => Some(kva::SEQUENCES),
        Stressed::Percpu => Some(percpu::SEQUENCES),
        Stressed::Maple => Some(maple::SEQUENCES),
        Stressed::Pools => Some(pools::SEQUENCES),
        Stressed::Rcu => Some(rcu::SEQUENCES),
        Stressed::Memory => Some(memory::SEQUENCES),
        Stressed::Counters => None,
    }
}
