//! Pages of all values, and a walk over them.

use super::Registry;
use super::family::{Description, Family, Metric};
use super::group::{Observed, ReadGroups};
use super::page::{Format, Page};
use super::text::{Text, or_abort, try_owned};
use crate::{HistogramSnapshot, OutOfMemory};
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
/// user's run or a writer is written to. So a page shows the series that a family had at one moment, and later families at
/// later ones.
///
/// # Histograms
/// `_count` is always the count of the bucket `+Inf`. Values that are recorded while a histogram is read, some
/// microseconds, may be counted and not yet in `_sum`, or vice versa; all others are in both. In any case `_sum` lies between
/// the least and the highest sum that the counts of the histogram's own buckets allow, so it differs from the sum of the counted
/// values by less than an eighth. `_count` never falls. `_sum` falls only where values that add up to 2^63 recorded units are
/// recorded while it is read, and then by less than an eighth.
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
        or_abort(self.try_render(format))
    }

    /// All values, in a format. Cost: as [`Registry::render`].
    ///
    /// # Errors
    /// There is no memory for the page.
    pub fn try_render(&self, format: Format) -> Result<String, OutOfMemory> {
        let mut page = Text::default();
        self.write_families(format, |text| {
            page.push_str(text);
            page.get().map(drop)
        })?;
        page.finish()
    }

    /// Writes all values into a text, family by family. Cost: as [`Registry::render`].
    ///
    /// # Errors
    /// That of the writer, or there is no memory for the text of a family. The families before were written.
    pub fn write(&self, format: Format, writer: &mut impl fmt::Write) -> fmt::Result {
        self.write_families(format, |text| writer.write_str(text).map_err(Refused::Writer))
            .map_err(|refused| refused.or(fmt::Error))
    }

    /// Writes all values into a file or a socket, family by family. It may block: no lock is held meanwhile. Cost: as
    /// [`Registry::render`].
    ///
    /// # Errors
    /// That of the writer, or [`io::ErrorKind::OutOfMemory`] if there is none for the text of a family. The families before
    /// were written.
    pub fn write_io(&self, format: Format, writer: &mut impl io::Write) -> io::Result<()> {
        self.write_families(format, |text| writer.write_all(text.as_bytes()).map_err(Refused::Writer))
            .map_err(|refused| refused.or(io::ErrorKind::OutOfMemory.into()))
    }

    fn write_families<E: From<OutOfMemory>>(
        &self,
        format: Format,
        mut write: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut page = Page::new(format);
        let mut last = None;
        while let Some((name, written)) =
            self.with_next(last.as_deref(), |name, family, described| page.family(name, family, described))?
        {
            written?;
            page.finish(&name)?;
            write(page.text.get()?)?;
            page.text.clear();
            last = Some(name);
        }
        if format == Format::OpenMetrics { write("# EOF\n") } else { Ok(()) }
    }

    /// The series and their values, by name and labels, a family at a time as on a page. Cost: as
    /// [`Registry::render`], spread over the iteration; histograms allocate.
    pub fn iter(&self) -> impl FusedIterator<Item = Sample> {
        let mut groups = ReadGroups::default();
        let mut last: Option<String> = None;
        let families = std::iter::from_fn(move || {
            let (name, read) = or_abort(self.with_next(last.as_deref(), |_, family, _| readings(family)))?;
            last = Some(name.clone());
            let finished = read.into_iter().map(|(labels, reading)| {
                let observed = |observed| Reading::Value(or_abort(groups.value(&observed)));
                let reading = reading.unwrap_or_else(observed);
                Sample { name: name.clone(), labels, reading }
            });
            Some(finished.collect::<Vec<_>>())
        });
        families.fuse().flatten()
    }

    /// Calls `act`, under the lock, with the first family after a name. Returns the family's name and the result.
    fn with_next<R>(
        &self,
        last: Option<&str>,
        act: impl FnOnce(&str, &Family, Option<&Description>) -> R,
    ) -> Result<Option<(String, R)>, OutOfMemory> {
        let families = self.families();
        let from = last.map_or(Bound::Unbounded, Bound::Excluded);
        let next = families.by_name.range::<str, _>((from, Bound::Unbounded)).next();
        let Some((name, family)) = next else { return Ok(None) };
        Ok(Some((try_owned(name)?, act(name, family, families.described.get(name)))))
    }
}

/// Why a page was not written.
enum Refused<E> {
    Memory,
    Writer(E),
}

impl<E> From<OutOfMemory> for Refused<E> {
    fn from(OutOfMemory: OutOfMemory) -> Self {
        Self::Memory
    }
}

impl<E> Refused<E> {
    /// The error of the writer, or the one for a lack of memory.
    fn or(self, memory: E) -> E {
        match self {
            Self::Memory => memory,
            Self::Writer(error) => error,
        }
    }
}

/// The labels and values of a family. Observed figures are returned unread: their closures must not run under the lock.
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
