//! How figures grow with n: a bound, and the exponent that is fitted to what was counted.

use crate::named::named;

named! {
    /// A documented bound, in n.
    Bound {
        Constant "1" "Independent of n."
        Log "log n" "As the height of a tree."
        Linear "n" "In proportion to n."
    }
}

/// By how much an exponent may be above its bound's.
pub const TOLERANCE: f64 = 0.1;

impl Bound {
    /// The exponent that the bound itself has over these sizes, plus [`TOLERANCE`]. Over a finite range log n has an exponent
    /// above 0: from 10^2 to 10^5 it is 0.13.
    pub fn limit(self, sizes: &[u32]) -> Option<f64> {
        let own = |n: f64| match self {
            Self::Constant => 1.0,
            Self::Log => n.log2(),
            Self::Linear => n,
        };
        let points: Vec<_> = sizes.iter().map(|&n| (f64::from(n), own(f64::from(n)))).collect();
        exponent(&points).map(|exponent| exponent + TOLERANCE)
    }
}

/// The exponent of growth: the slope of the least-squares line through the logarithms of (n, figure). A figure of less than 1 counts
/// as 1. `None` for fewer than two sizes.
pub fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<_> = points.iter().map(|&(n, figure)| (n.ln(), figure.max(1.0).ln())).collect();
    let count = logs.len() as f64;
    let mean_x = logs.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = logs.iter().map(|(_, y)| y).sum::<f64>() / count;
    let spread: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let slope: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    (logs.len() > 1 && spread > 0.0).then(|| slope / spread)
}
