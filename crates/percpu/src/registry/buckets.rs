//! The buckets in which a histogram is shown.

use super::error::BucketsError;
use super::text::Text;
use crate::count::bucket_of;
use crate::{BUCKETS, OutOfMemory};
use std::fmt::Write;
use std::string::String;
use std::sync::Arc;
use std::vec::Vec;

/// The unit and the buckets in which histograms of a name are shown. A clone is cheap.
///
/// A histogram has buckets of its own, of which each is at most an eighth of its lower end wide
/// ([`Histogram`](crate::Histogram)); they are what is recorded. A bucket of a page, up to a bound that the user chooses, has
/// the values of each own bucket that begins at or below that bound. So:
///
/// - every value up to the bound is counted there;
/// - of larger values, only those are that share an own bucket with the bound: they are less than an eighth larger;
/// - counts are exact for a bound at which an own bucket ends: in recorded units, any up to 15, and above `m * 2^k - 1`
///   with `m` from 9 to 16.
///
/// ```
/// use freehold_percpu::registry::{Buckets, Registry};
/// let registry = Registry::new();
/// // Nanoseconds are recorded, seconds are shown.
/// let buckets = Buckets::new(1e9, &[0.005, 0.01, 0.025, 0.1])?;
/// let latency = registry.histogram_with("request_seconds", &[], &buckets)?;
/// latency.record(5_000_000);
/// latency.record(6_000_000);
/// let text = registry.render();
/// assert!(text.contains("request_seconds_bucket{le=\"0.005\"} 1\n"));
/// assert!(text.contains("request_seconds_bucket{le=\"0.01\"} 2\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Buckets(Arc<Inner>);

#[derive(Debug, PartialEq)]
struct Inner {
    unit: f64,
    bounds: Vec<Bound>,
    /// Whether buckets that all series of a name leave empty, or full, are left out.
    is_trimmed: bool,
}

/// The upper bound of a bucket.
#[derive(Debug, PartialEq)]
pub(super) struct Bound {
    shown: f64,
    /// The bound in Prometheus's text.
    pub(super) text: String,
    /// Own buckets below this one are counted.
    pub(super) end: usize,
}

impl Buckets {
    /// Buckets up to each of `bounds`, which rise, and one of all values. Recorded values are shown divided by `unit`: 1e9
    /// for nanoseconds that are shown as seconds; bounds are in shown values. All buckets are on every page.
    ///
    /// Two bounds less than an eighth apart may have the same own bucket, and then have equal counts.
    ///
    /// Cost: linear in the bounds.
    ///
    /// # Errors
    /// See [`BucketsError`].
    pub fn new(unit: f64, bounds: &[f64]) -> Result<Self, BucketsError> {
        if !is_divisor(unit) {
            return Err(BucketsError::Divisor { unit });
        }
        let mut before: Option<f64> = None;
        for &bound in bounds {
            if !bound.is_finite() || bound < 0.0 {
                return Err(BucketsError::Bound { bound });
            }
            if let Some(before) = before.replace(bound).filter(|before| *before >= bound) {
                return Err(BucketsError::Order { bound, before });
            }
        }
        // A bound of -0.0 is 0.
        let bounds = bounds.iter().map(|&bound| Bound::new(bound.abs(), bound * unit)).collect();
        Ok(Self(Arc::new(Inner { unit, bounds, is_trimmed: false })))
    }

    /// `count` buckets whose bounds begin at `first` and are `factor` apart. Prometheus's native exponential buckets exist
    /// in its protocol buffers alone; neither of its text formats can hold them.
    ///
    /// Cost: linear in the bounds.
    ///
    /// # Errors
    /// See [`BucketsError`]: bounds do not rise, or become infinite.
    pub fn exponential(unit: f64, first: f64, factor: f64, count: usize) -> Result<Self, BucketsError> {
        let mut bounds: Vec<f64> = Vec::new();
        for _ in 0..count {
            let next = bounds.last().map_or(first, |last| last * factor);
            // The first bad bound is reported by `new`; those behind it may be any number.
            let is_bad = !next.is_finite() || bounds.last().is_some_and(|last| next <= *last);
            bounds.push(next);
            if is_bad {
                break;
            }
        }
        Self::new(unit, &bounds)
    }

    /// The buckets of a histogram whose user chose none: a bucket for each power of two, [trimmed](Self::trimmed). Counts
    /// are exact up to 2^53, in recorded units; above, floats do not tell a power of two from the number before it. Cost:
    /// constant.
    ///
    /// # Errors
    /// [`BucketsError::Divisor`], also for one so small that the largest value is shown as infinite.
    pub fn powers_of_two(unit: f64) -> Result<Self, BucketsError> {
        if !is_divisor(unit) || (u64::MAX as f64 / unit).is_infinite() {
            return Err(BucketsError::Divisor { unit });
        }
        let most = |bits: u32| ((1_u64 << bits) - 1) as f64;
        let bounds = (0..u64::BITS).map(|bits| Bound::new(most(bits) / unit, most(bits))).collect();
        Ok(Self(Arc::new(Inner { unit, bounds, is_trimmed: true })))
    }

    /// Leaves out buckets that say nothing: those above the one that has all values of every series of the name, and
    /// those below the last one that is empty in every series. All series of a name have the same buckets on a page, but
    /// pages of other processes, and later ones of this process, may have others. Programs whose pages are added up by
    /// `le` should not trim.
    ///
    /// Cost: linear in the bounds.
    #[must_use]
    pub fn trimmed(&self) -> Self {
        let bounds = self.0.bounds.iter().map(|bound| Bound { text: bound.text.clone(), ..*bound }).collect();
        Self(Arc::new(Inner { unit: self.0.unit, bounds, is_trimmed: true }))
    }

    /// The number by which recorded values are divided. Cost: constant.
    #[must_use]
    pub fn unit(&self) -> f64 {
        self.0.unit
    }

    /// The bounds, in shown values. Cost: constant for each.
    pub fn bounds(&self) -> impl ExactSizeIterator<Item = f64> {
        self.0.bounds.iter().map(|bound| bound.shown)
    }

    pub(super) fn all(&self) -> &[Bound] {
        &self.0.bounds
    }

    pub(super) fn is_trimmed(&self) -> bool {
        self.0.is_trimmed
    }

    /// Whether both show histograms alike.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self == other
    }
}

impl Bound {
    /// A bound that is `whole` in recorded values, perhaps between two. The own bucket that the bound is in is counted.
    fn new(shown: f64, whole: f64) -> Self {
        // A product a few roundings below a whole number is that number.
        let is_near = whole.round() - whole <= 4.0 * f64::EPSILON * whole;
        let most = if is_near { whole.round() } else { whole.floor() };
        // A cast of a float beyond the range is the largest integer.
        let end = (bucket_of(most as u64) + 1).min(BUCKETS);
        Self { shown, text: std::format!("{shown}"), end }
    }

    /// The bound in OpenMetrics: a float, with a point or an exponent.
    pub(super) fn open_text(&self) -> Result<String, OutOfMemory> {
        let mut text = Text::default();
        // Writing to a text cannot fail.
        let _ = write!(text, "{:?}", self.shown);
        text.finish()
    }
}

fn is_divisor(unit: f64) -> bool {
    unit.is_finite() && unit > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The own buckets of 0 to 15 have one value each.
    #[test]
    fn a_bucket_has_no_value_above_its_bound_if_own_buckets_end_there() {
        // The last product is 14.999999999999998.
        for (unit, bound, most) in
            [(1.0, 0.0, 0), (1.0, 0.5, 0), (1.0, 2.5, 2), (0.1, 6.0, 0), (1e9, 1.5e-8, 15)]
        {
            let buckets = Buckets::new(unit, &[bound]).unwrap();
            assert_eq!(buckets.all()[0].end, most + 1, "{bound} * {unit}");
        }
    }

    /// Floats have two zeros. A page with `le="-0"` would not add up with one with `le="0"`.
    #[test]
    fn a_bound_of_minus_zero_is_zero() {
        let (minus, plus) =
            (Buckets::new(1.0, &[-0.0, 1.0]).unwrap(), Buckets::new(1.0, &[0.0, 1.0]).unwrap());
        assert_eq!(minus.all()[0].text, "0");
        assert!(minus.is_same(&plus));
    }

    #[test]
    fn every_bound_is_a_number_of_its_own() {
        for unit in [1e-280, 1.0, 1e9, f64::MAX] {
            let bounds: Vec<f64> = Buckets::powers_of_two(unit).unwrap().bounds().collect();
            assert!(bounds.is_sorted_by(|one, next| one < next), "{unit}: {bounds:?}");
            assert!(bounds.iter().all(|bound| bound.is_finite()), "{unit}: {bounds:?}");
        }
        for unit in [f64::MIN_POSITIVE, 1e-300, 0.0, -1.0] {
            assert_eq!(Buckets::powers_of_two(unit), Err(BucketsError::Divisor { unit }));
        }
    }
}
