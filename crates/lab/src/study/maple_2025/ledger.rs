//! What stores ask for by each planner, what they take, and how often each figure comes.

use crate::engine::maple::{PLANNERS, TYPES};
use freehold::maple::Facts;
use std::collections::BTreeMap;

/// How often each number of nodes was asked for.
#[derive(Clone, Debug, Default)]
pub struct Histogram(pub BTreeMap<u64, u64>);

impl Histogram {
    /// A value came so many times.
    pub fn add(&mut self, value: u64, times: u64) {
        *self.0.entry(value).or_default() += times;
    }

    /// How many there were.
    pub fn calls(&self) -> u64 {
        self.0.values().sum()
    }

    /// The sum of all.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|(value, count)| value * count).sum()
    }

    /// The sizes of bulk requests: one node comes by itself, the others at once.
    pub fn bulk(&self) -> Self {
        let bulk = self.0.iter().filter(|(value, _)| **value > 1);
        Self(bulk.map(|(value, count)| (value - 1, *count)).collect())
    }
}

/// Stores of one type.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfType {
    /// How many there were.
    pub calls: u64,
    /// By each of [`PLANNERS`].
    pub requested: [u64; 3],
}

/// The requests of our trees.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// By each of [`PLANNERS`].
    pub requests: [Histogram; 3],
    /// By each of [`TYPES`].
    pub types: [OfType; 9],
}

impl Ledger {
    /// A store was planned so many times.
    pub fn note(&mut self, facts: &Facts, times: u64) {
        let requested = PLANNERS.map(|(planner, _)| planner.requested(facts));
        for (histogram, requested) in self.requests.iter_mut().zip(requested) {
            histogram.add(requested, times);
        }
        let of_type = TYPES.iter().position(|(known, _)| *known == facts.store_type);
        if let Some(sum) = of_type.and_then(|at| self.types.get_mut(at)) {
            sum.calls += times;
            for (sum, requested) in sum.requested.iter_mut().zip(requested) {
                *sum += requested * times;
            }
        }
    }

    /// Stores of all types.
    pub fn stores(&self) -> u64 {
        self.types.iter().map(|of_type| of_type.calls).sum()
    }

    /// Nodes asked for by each planner.
    pub fn totals(&self) -> [u64; 3] {
        self.requests.each_ref().map(Histogram::total)
    }
}
