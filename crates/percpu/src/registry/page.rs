//! The text of a page: lines of samples in one of Prometheus's two formats.

use super::buckets::Buckets;
use super::family::{Description, Family, Kind, Metric, base_of_counter, has_unit};
use super::group::{ObservedSeries, ReadGroups};
use super::text::{Text, try_owned, try_push};
use crate::{HistogramSnapshot, OutOfMemory};
use std::fmt::{self, Write};
use std::vec::Vec;

/// A text format of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Prometheus's text, version 0.0.4.
    Text,
    /// OpenMetrics 1.0: the name of each counter ends in `_total`; counters and histograms have the time since when they
    /// count, `_created`; names have units.
    OpenMetrics,
}

impl Format {
    /// The content type of a page over HTTP. Cost: constant.
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// Writes families. The text is taken after each.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) text: Text,
    is_open: bool,
    /// Observed figures of the last family, which are read under no lock.
    observed: ObservedSeries,
    groups: ReadGroups,
    /// Memory that is reused: the values of a histogram, and the counts of all histograms of a family.
    seen: Option<HistogramSnapshot>,
    counts: Vec<u64>,
}

impl Page {
    pub(super) fn new(format: Format) -> Self {
        Self {
            text: Text::default(),
            is_open: format == Format::OpenMetrics,
            observed: Vec::new(),
            groups: ReadGroups::default(),
            seen: None,
            counts: Vec::new(),
        }
    }

    /// Writes a family, except the values of observed figures.
    pub(super) fn family(
        &mut self,
        name: &str,
        family: &Family,
        description: Option<&Description>,
    ) -> Result<(), OutOfMemory> {
        let is_counter = matches!(family.kind, Kind::Counter);
        let shown = if self.is_open && is_counter { base_of_counter(name) } else { name };
        if let Some(help) = description.and_then(|description| description.help.as_deref()) {
            for part in ["# HELP ", shown, " "] {
                self.text.push_str(part);
            }
            self.text.push_escaped(help, self.is_open);
            self.text.push_str("\n");
        }
        self.line(format_args!("# TYPE {shown} {}", family.kind.shown()));
        if let Some(unit) = description.and_then(|description| description.unit.as_deref())
            && self.is_open
            // That of a gauge ends in `_total` where a unit was described as for a counter.
            && has_unit(shown, unit)
        {
            self.line(format_args!("# UNIT {shown} {unit}"));
        }
        if let Kind::Histogram(buckets) = &family.kind {
            return self.histograms(name, family, buckets);
        }
        let suffix = if self.is_open && is_counter { "_total" } else { "" };
        for (labels, series) in &family.series {
            match &series.metric {
                Metric::Counter(counter) => {
                    self.name(shown, suffix, labels);
                    self.whole(counter.get().get());
                    if self.is_open {
                        self.created(shown, labels, series.created);
                    }
                }
                Metric::Gauge(gauge) => {
                    self.name(shown, suffix, labels);
                    self.line(format_args!("{}", gauge.get().get()));
                }
                Metric::Value(value) => self.float_sample(shown, suffix, labels, value.get().get()),
                Metric::Observed(observed) => {
                    try_push(&mut self.observed, (try_owned(labels)?, observed.clone()))?;
                }
                // A family has metrics of its kind alone, and those of histograms are written above.
                Metric::Histogram(_) => {}
            }
        }
        Ok(())
    }

    /// Writes the figures of the last family that closures read. No lock is held.
    pub(super) fn finish(&mut self, name: &str) -> Result<(), OutOfMemory> {
        for (labels, observed) in std::mem::take(&mut self.observed) {
            let value = self.groups.value(&observed)?;
            self.float_sample(name, "", &labels, value);
        }
        Ok(())
    }

    /// Reads all histograms of a family, then writes the buckets that are shown of all.
    fn histograms(&mut self, name: &str, family: &Family, buckets: &Buckets) -> Result<(), OutOfMemory> {
        let bounds = buckets.all();
        let mut seen = self.seen.take().map_or_else(HistogramSnapshot::try_new, Ok)?;
        let (mut sums, mut counts) = (Vec::new(), std::mem::take(&mut self.counts));
        counts.clear();
        counts.try_reserve(family.series.len() * (bounds.len() + 1)).map_err(|_| OutOfMemory)?;
        sums.try_reserve_exact(family.series.len()).map_err(|_| OutOfMemory)?;
        for series in family.series.values() {
            if let Metric::Histogram(histogram) = &series.metric {
                histogram.get().read_into(&mut seen);
                seen.counts_below(bounds.iter().map(|bound| bound.end), |count| counts.push(count));
                let (least, most) = seen.sum_range();
                // Of the counted values, also while others are recorded.
                sums.push(seen.sum().clamp(least, most));
            }
        }
        let all = || counts.chunks_exact(bounds.len() + 1);
        let shown = if buckets.is_trimmed() { trimmed(all, bounds.len()) } else { 0..bounds.len() };
        // What each line has between the labels and the count.
        let mut texts = Vec::new();
        for bound in &bounds[shown.clone()] {
            try_push(&mut texts, if self.is_open { bound.open_text()? } else { try_owned(&bound.text)? })?;
        }
        for (((labels, series), counts), sum) in family.series.iter().zip(all()).zip(&sums) {
            for (text, count) in texts.iter().zip(&counts[shown.clone()]) {
                self.bucket(name, labels, text, *count);
            }
            let count = counts[bounds.len()];
            self.bucket(name, labels, "+Inf", count);
            self.float_sample(name, "_sum", labels, *sum as f64 / buckets.unit());
            self.name(name, "_count", labels);
            self.whole(count);
            if self.is_open {
                self.created(name, labels, series.created);
            }
        }
        (self.seen, self.counts) = (Some(seen), counts);
        Ok(())
    }

    fn bucket(&mut self, name: &str, labels: &str, bound: &str, count: u64) {
        let comma = if labels.is_empty() { "" } else { "," };
        for part in [name, "_bucket{", labels, comma, "le=\"", bound, "\"} "] {
            self.text.push_str(part);
        }
        self.whole(count);
    }

    /// The line of the time since when a series counts.
    fn created(&mut self, name: &str, labels: &str, created: f64) {
        self.name(name, "_created", labels);
        self.line(format_args!("{created:.3}"));
    }

    fn float_sample(&mut self, name: &str, suffix: &str, labels: &str, value: f64) {
        self.name(name, suffix, labels);
        if value.is_infinite() {
            self.line(format_args!("{}Inf", if value > 0.0 { '+' } else { '-' }));
        } else {
            self.line(format_args!("{value}"));
        }
    }

    /// The beginning of a sample's line.
    fn name(&mut self, name: &str, suffix: &str, labels: &str) {
        let (open, close) = if labels.is_empty() { ("", " ") } else { ("{", "} ") };
        for part in [name, suffix, open, labels, close] {
            self.text.push_str(part);
        }
    }

    /// A number at the end of a line. Pages have thousands of them, and the standard library's formatting takes longer than
    /// the rest of a line.
    fn whole(&mut self, mut value: u64) {
        let mut digits = [0_u8; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (value % 10) as u8;
            value /= 10;
            if value == 0 {
                break;
            }
        }
        // Digits are ASCII.
        self.text.push_str(str::from_utf8(&digits[at..]).unwrap_or_default());
        self.text.push_str("\n");
    }

    /// Appends a line. Writing to a text cannot fail: it notes what it has no memory for.
    fn line(&mut self, line: fmt::Arguments<'_>) {
        let _ = self.text.write_fmt(line);
        self.text.push_str("\n");
    }
}

/// The bounds that are shown of trimmed buckets, given the counts up to each bound, and of all, for each series: from the
/// last that is empty in all series, to the first that has all values of each.
fn trimmed<'a, I: Iterator<Item = &'a [u64]>>(all: impl Fn() -> I, bounds: usize) -> std::ops::Range<usize> {
    let empty = |at: usize| all().all(|counts| counts[at] == 0);
    let full = |at: usize| all().all(|counts| counts[at] == counts[bounds]);
    let first_full = (0..bounds).find(|&at| full(at)).map_or(bounds, |at| at + 1);
    let last_empty = (0..bounds).take_while(|&at| empty(at)).last().unwrap_or(0);
    last_empty.min(first_full)..first_full
}
