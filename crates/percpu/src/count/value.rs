//! A value that threads set: one shared atomic number, since there is nothing to sum.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that threads set or add to, shared by all of them. A [`Gauge`](super::Gauge) is cheaper for a number that
/// is only added to.
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

    /// Adds to the value. Cost: one atomic update, repeated for each concurrent update.
    pub fn add(&self, value: f64) {
        let sum = |bits| Some((f64::from_bits(bits) + value).to_bits());
        // The update cannot fail: the closure always returns a sum.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
    }

    /// The current value. Cost: constant: one load.
    #[must_use]
    pub fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}
