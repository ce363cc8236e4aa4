//! Pages of all values, and a walk over them.

use super::Registry;
use super::family::{Description, Family, Metric};
use super::group::{Observed, ReadGroups};
use super::page::{Format, Page};
use crate::HistogramSnapshot;
use std::fmt;
use std::io;
use std::iter::FusedIterator;
use std::ops::Bound;
use std::string::String;
use std::vec::Vec;

/// A series and its value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sample {
    /// The name of the metric.
    pub name: String,
    /// Its labels as on a page: `code="200",path="/"`.
    pub labels: String,
    /// Its value.
    pub reading: Reading,
}

/// The value of a series.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reading {
    /// Of a counter.
    Counter(u64),
    /// Of a gauge.
    Gauge(i64),
    /// Of a settable gauge, or of an observed one.
    Value(f64),
    /// Of a histogram, in recorded units.
    Histogram(HistogramSnapshot),
}

/// Reading all values.
///
/// A page is made family by family. The lock of the registry is held while a family is read, and not while closures of the
/// user's run or a writer is written to. So each family is of one moment, and later families are of later ones.
///
/// # Histograms
/// `_count` is always the count of the bucket `+Inf`. Values that are recorded while a histogram is read, some
/// microseconds, may be counted and not yet in `_sum`, or vice versa; all others are in both. In any case `_sum` lies between
/// the least and the highest sum that the counts of the histogram's own buckets allow, so it differs from the sum of the counted
/// values by less than an eighth. Neither ever falls.
impl Registry {
    /// All values, in Prometheus's text format.
    ///
    /// Cost: a step for each metric and CPU, for histograms also for each bucket, under the registry's lock.
    #[must_use]
    pub fn render(&self) -> String {
        self.render_as(Format::Text)
    }

    /// All values, in a format. Cost: as [`Registry::render`].
    #[must_use]
    pub fn render_as(&self, format: Format) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(format, &mut text);
        text
    }

    /// Writes all values into a text, family by family. Cost: as [`Registry::render`].
    ///
    /// # Errors
    /// That of the writer. The families before were written.
    pub fn write(&self, format: Format, writer: &mut impl fmt::Write) -> fmt::Result {
        self.write_families(format, |text| writer.write_str(text))
    }

    /// Writes all values into a file or a socket, family by family. It may block: no lock is held meanwhile. Cost: as
    /// [`Registry::render`].
    ///
    /// # Errors
    /// That of the writer. The families before were written.
    pub fn write_io(&self, format: Format, writer: &mut impl io::Write) -> io::Result<()> {
        self.write_families(format, |text| writer.write_all(text.as_bytes()))
    }

    fn write_families<E>(
        &self,
        format: Format,
        mut write: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut page = Page::new(format);
        let mut last: Option<String> = None;
        loop {
            let next = self.with_next(last.as_deref(), |name, family, described| {
                page.family(name, family, described);
            });
            let Some((name, ())) = next else { break };
            page.finish(&name);
            write(&page.text)?;
            page.text.clear();
            last = Some(name);
        }
        if format == Format::OpenMetrics { write("# EOF\n") } else { Ok(()) }
    }

    /// The series and their values, by name and labels. Each family is of one moment, as on a page. Cost: as
    /// [`Registry::render`], spread over the iteration; histograms allocate.
    pub fn iter(&self) -> impl FusedIterator<Item = Sample> {
        let mut groups = ReadGroups::default();
        let mut last: Option<String> = None;
        let families = std::iter::from_fn(move || {
            let (name, read) = self.with_next(last.as_deref(), |_, family, _| readings(family))?;
            last = Some(name.clone());
            let finished = read.into_iter().map(|(labels, reading)| {
                let reading = reading.unwrap_or_else(|observed| Reading::Value(groups.value(&observed)));
                Sample { name: name.clone(), labels, reading }
            });
            Some(finished.collect::<Vec<_>>())
        });
        families.fuse().flatten()
    }

    /// Calls `act`, under the lock, with the first family behind a name.
    fn with_next<R>(
        &self,
        last: Option<&str>,
        act: impl FnOnce(&str, &Family, Option<&Description>) -> R,
    ) -> Option<(String, R)> {
        let families = self.families();
        let from = last.map_or(Bound::Unbounded, Bound::Excluded);
        let (name, family) = families.by_name.range::<str, _>((from, Bound::Unbounded)).next()?;
        Some((name.clone(), act(name, family, families.described.get(name))))
    }
}

/// The labels and values of a family; an observed figure is read later.
fn readings(family: &Family) -> Vec<(String, Result<Reading, Observed>)> {
    let reading = |metric: &Metric| match metric {
        Metric::Counter(counter) => Ok(Reading::Counter(counter.get().get())),
        Metric::Gauge(gauge) => Ok(Reading::Gauge(gauge.get().get())),
        Metric::Value(value) => Ok(Reading::Value(value.get().get())),
        Metric::Histogram(histogram) => Ok(Reading::Histogram(histogram.get().snapshot())),
        Metric::Observed(observed) => Err(observed.clone()),
    };
    family.series.iter().map(|(labels, series)| (labels.clone(), reading(&series.metric))).collect()
}

impl fmt::Display for Registry {
    /// The page in Prometheus's text format.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(Format::Text, f)
    }
}
