//! A value that is set: one atomic number, for there is nothing to add up.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that threads set or add to. All of them share it; what is only added to is cheaper as a
/// [`Gauge`](super::Gauge).
///
/// ```
/// use freehold_percpu::Value;
/// static LOAD: Value = Value::new();
/// LOAD.set(1.5);
/// LOAD.add(-0.5);
/// assert_eq!(LOAD.get(), 1.0);
/// ```
#[derive(Debug, Default)]
pub struct Value(AtomicU64);

impl Value {
    /// The value 0. Cost: constant.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Sets the value. Cost: constant: one store.
    pub fn set(&self, value: f64) {
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }

    /// Adds to the value. Cost: one atomic update, again for each other one that comes in between.
    pub fn add(&self, value: f64) {
        let sum = |bits| Some((f64::from_bits(bits) + value).to_bits());
        // It is never refused, since there always is a sum.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
    }

    /// The value. Cost: constant: one load.
    #[must_use]
    pub fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}
