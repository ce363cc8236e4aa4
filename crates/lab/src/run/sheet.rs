//! The times of what a round is made of, operation by operation and round by round: one way to add them up, whatever is
//! measured.

use crate::record::{Field, Key, Metric, Results};
use std::time::Duration;

/// What is timed: the operation, and the order in which its objects come, if there are several.
type Timed = (&'static str, Option<&'static str>);

/// Times by operation.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// In the order in which they came first.
    pub lines: Vec<Line>,
}

/// The times of an operation.
#[derive(Clone, Debug)]
pub struct Line {
    /// The operation.
    pub timed: Timed,
    /// Nanoseconds of one, by round.
    pub ns: Vec<f64>,
    /// Operations of all rounds.
    pub operations: u64,
    /// Nanoseconds and operations of the round at work.
    open: Option<(f64, u64)>,
}

impl Sheet {
    /// So many operations took so long; what else of a round is of the same name adds up.
    pub fn note(&mut self, timed: Timed, took: Duration, operations: usize) {
        self.add(timed, took.as_nanos() as f64, operations as u64);
    }

    /// The same of a figure that is no sum of times.
    pub fn add(&mut self, timed: Timed, ns: f64, operations: u64) {
        let at = self.lines.iter().position(|line| line.timed == timed).unwrap_or(self.lines.len());
        if at == self.lines.len() {
            self.lines.push(Line { timed, ns: Vec::new(), operations: 0, open: None });
        }
        if let Some(line) = self.lines.get_mut(at) {
            let (sum, count) = line.open.unwrap_or_default();
            line.open = Some((sum + ns, count + operations));
        }
    }

    /// Ends a round.
    pub fn close(&mut self) {
        for line in &mut self.lines {
            if let Some((ns, operations)) = line.open.take() {
                line.ns.push(ns / operations.max(1) as f64);
                line.operations += operations;
            }
        }
    }

    /// The middle round of an operation in nanoseconds; 0 if there was none.
    pub fn median(&self, timed: Timed) -> f64 {
        self.lines.iter().find(|line| line.timed == timed).map_or(0.0, |line| median(&line.ns))
    }

    /// Adds all of it.
    pub fn record(&self, results: &mut Results, key: &Key) {
        for Line { timed: (op, order), ns, operations, .. } in &self.lines {
            let key = key.clone().op(*op).param_if(Field::Order, *order);
            results.of(key).rounds(Metric::Time, ns, *operations);
        }
    }
}

/// The middle of some figures; 0 of none.
pub fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}
