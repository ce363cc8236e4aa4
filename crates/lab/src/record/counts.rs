//! Counts of one thing over many operations: mean and exact percentiles.

/// A sample of counts.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    values: Vec<u64>,
    sorted: bool,
}

impl Counts {
    /// Adds one.
    pub fn add(&mut self, value: u64) {
        self.values.push(value);
        self.sorted = false;
    }

    /// Adds all of another sample.
    pub fn extend(&mut self, other: &Self) {
        self.values.extend_from_slice(&other.values);
        self.sorted = false;
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The mean, 0 of nothing.
    pub fn mean(&self) -> f64 {
        let sum: u128 = self.values.iter().map(|&value| u128::from(value)).sum();
        sum as f64 / self.values.len().max(1) as f64
    }

    /// The value at `ceil(q * n) - 1` in order, for `q` in thousandths; 0 of nothing.
    pub fn percentile(&mut self, per_mille: u64) -> u64 {
        if !self.sorted {
            self.values.sort_unstable();
            self.sorted = true;
        }
        let rank = (per_mille * self.values.len() as u64).div_ceil(1000).max(1);
        self.values.get(rank as usize - 1).copied().unwrap_or(0)
    }
}

impl FromIterator<u64> for Counts {
    fn from_iter<T: IntoIterator<Item = u64>>(values: T) -> Self {
        Self { values: values.into_iter().collect(), sorted: false }
    }
}
