//! The time that a workload's operations lie on, and round ticks for pictures.

use freehold::units::Bytes;

/// A tick: where between 0 and 1, and what it says.
pub type Tick = (f64, String);

/// The step of 1, 2 or 5 times a power of ten that cuts `length` into about `parts`.
pub fn round_step(length: f64, parts: f64) -> f64 {
    let raw = length / parts;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0].into_iter().find(|step| step * power >= raw);
    step.unwrap_or(10.0) * power
}

/// Ticks at powers of two of bytes, from the start of a space.
pub fn byte_ticks(length_bytes: u64) -> Vec<Tick> {
    if length_bytes == 0 {
        return Vec::new();
    }
    let step = (length_bytes / 5).max(1).next_power_of_two();
    let offsets = (0..=length_bytes / step).map(|at| at * step);
    offsets.map(|offset| (offset as f64 / length_bytes as f64, Bytes::from(offset).to_string())).collect()
}

/// The time of a workload: seconds where it was recorded, otherwise the operations themselves.
#[derive(Clone, Copy, Debug)]
pub struct Time<'a> {
    at_ns: Option<&'a [u64]>,
    ops: usize,
}

impl<'a> Time<'a> {
    /// Of so many operations, at these nanoseconds where there was a clock.
    pub fn new(at_ns: Option<&'a [u64]>, ops: usize) -> Self {
        let at_ns = at_ns.filter(|at_ns| at_ns.len() == ops);
        // A recording of no duration has no time to show.
        let at_ns = at_ns.filter(|at_ns| at_ns.first() < at_ns.last());
        Self { at_ns, ops }
    }

    /// When operation `at` ran; the last one's time beyond the end.
    pub fn at(&self, at: usize) -> f64 {
        match self.at_ns {
            Some(at_ns) => at_ns.get(at).or(at_ns.last()).copied().unwrap_or(0) as f64 / 1e9,
            None => at.min(self.ops) as f64,
        }
    }

    /// First and last time.
    pub fn range(&self) -> [f64; 2] {
        [self.at(0), self.at(self.ops)]
    }

    /// The operation that was the last to start at this share of the whole time.
    pub fn operation_at(&self, share: f64) -> usize {
        match self.at_ns {
            Some(at_ns) => {
                let [first, last] = self.range();
                let now = ((first + share * (last - first)) * 1e9) as u64;
                at_ns.partition_point(|&at| at <= now).saturating_sub(1)
            }
            None => (share * self.ops as f64) as usize,
        }
    }

    /// What the axis is called.
    pub fn title(&self) -> &'static str {
        if self.at_ns.is_some() { "time since the recording started (s)" } else { "operations" }
    }

    /// The seconds of these operations; empty if they have none.
    pub fn seconds(&self, operations: &[f64]) -> Vec<f64> {
        if self.at_ns.is_none() {
            return Vec::new();
        }
        operations.iter().map(|&at| self.at(at as usize)).collect()
    }

    /// Round ticks over the whole time.
    pub fn ticks(&self) -> Vec<Tick> {
        let [first, last] = self.range();
        if last <= first {
            return Vec::new();
        }
        let step = round_step(last - first, 5.0);
        let start = (first / step).ceil() as u64;
        let ticks = (start..).map(|at| at as f64 * step).take_while(|&at| at <= last);
        ticks.map(|at| ((at - first) / (last - first), self.tick_text(at, step))).collect()
    }

    fn tick_text(&self, at: f64, step: f64) -> String {
        let decimals = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
        if self.at_ns.is_some() { format!("{at:.decimals$}") } else { (at as u64).to_string() }
    }
}
