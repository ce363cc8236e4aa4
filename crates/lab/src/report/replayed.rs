//! A replayed workload on the page, whichever family it is of: its section with pictures, plots and tables, and what
//! the head of the page says of it.

use super::axis::Time;
use super::drawn::{Drawn, StatePlot};
use super::escape::html;
use super::palette::Palette;
use super::plot::{Axis, Line, Mark, Measure, Plot, Unit};
use super::series::{Stretches, curve_ns, of_buckets, one_in, quantiles};
use super::study::Described;
use super::summary::{KeyFigure, quicker, slowest};
use super::table;
use crate::family::{Entry, Replayable, State};
use crate::measure::{Bucket, EngineRun, Replay};
use crate::output::{Table, count};
use std::fmt::Debug;

/// A replay of some family, to be shown.
#[derive(Debug)]
pub struct Replayed(Box<dyn Shown>);

impl Replayed {
    /// The replay.
    #[must_use]
    pub(crate) fn new<F: Drawn>(replay: Replay<F>) -> Self {
        Self(Box::new(replay))
    }

    pub(super) fn shown(&self) -> &dyn Shown {
        self.0.as_ref()
    }
}

/// What the page wants of a replay.
pub(super) trait Shown: Debug {
    /// What the workload is called in headings and tables.
    fn title(&self) -> String;

    /// What engines of its family are, in sentences of HTML.
    fn lead(&self) -> &'static str;

    /// The engines that ran.
    fn engines(&self) -> Vec<Described>;

    /// The engine with the slowest operation of the first kind, if it is slower than the first engine.
    fn slowest(&self, palette: &Palette) -> Option<KeyFigure>;

    /// What another engine does quickest compared with the first: a report shows where the first one loses.
    fn quicker(&self, palette: &Palette) -> Option<KeyFigure>;

    /// The section; `number` tells it from the others of the page.
    fn render(&self, number: usize, tables: &[&Table], palette: &Palette) -> anyhow::Result<String>;

    /// Whether a table is about this workload.
    fn owns(&self, table: &Table) -> bool {
        table.title.strip_prefix(&self.title()).is_some_and(|rest| rest.starts_with(':'))
    }
}

impl<F: Drawn> Shown for Replay<F> {
    fn title(&self) -> String {
        self.workload.title()
    }

    fn lead(&self) -> &'static str {
        F::LEAD
    }

    fn engines(&self) -> Vec<Described> {
        self.runs.iter().map(|run| Described::of(&run.entry)).collect()
    }

    fn slowest(&self, palette: &Palette) -> Option<KeyFigure> {
        slowest(self, palette)
    }

    fn quicker(&self, palette: &Palette) -> Option<KeyFigure> {
        quicker(self, palette)
    }

    fn render(&self, number: usize, tables: &[&Table], palette: &Palette) -> anyhow::Result<String> {
        section(self, number, tables, palette)
    }
}

fn section<F: Drawn>(
    replay: &Replay<F>,
    number: usize,
    tables: &[&Table],
    palette: &Palette,
) -> anyhow::Result<String> {
    let workload = &replay.workload;
    let title = workload.title();
    let mut page = format!(
        "<section id=\"w{number}\"><h2>{}</h2><p class=\"about\">{}. {} operations, \
         timed rounds: {}.</p>\n",
        html(&title),
        html(&sentence(&workload.description)),
        count(workload.ops.len() as u64),
        replay.rounds
    );
    page.push_str("<div class=\"plots\">");
    page.push_str(&F::pictures(replay, palette)?);
    let plots = Plots { replay, time: Time::of(workload), group: format!("w{number}"), palette };
    let states = F::plots().into_iter().map(|plot| plots.state(plot));
    for plot in [plots.latency(), plots.work()].into_iter().chain(states).chain([plots.distribution()]) {
        page.push_str(&plot.html()?);
    }
    page.push_str("</div>\n");
    for table in tables {
        page.push_str(&table::render(table, &caption(&table.title, &title, &workload.description), palette));
    }
    page.push_str("</section>\n");
    Ok(page)
}

/// The text with a capital letter and without the stop.
fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A table's title without what the heading above it has said.
fn caption(table: &str, title: &str, description: &str) -> String {
    let rest = table.strip_prefix(title).unwrap_or(table).trim_start_matches([':', ' ']);
    match rest.strip_prefix(description) {
        Some(rest) => {
            let detail = rest.trim().trim_start_matches('(').trim_end_matches(')');
            if detail.is_empty() { "Times".to_owned() } else { format!("Times, {}", html(detail)) }
        }
        None => html(&sentence(rest)),
    }
}

/// The plots of one workload.
struct Plots<'a, F: Replayable> {
    replay: &'a Replay<F>,
    time: Time<'a>,
    group: String,
    palette: &'a Palette,
}

/// The kind of operation that is looked at, as a word.
fn noun<F: Replayable>() -> &'static str {
    F::KINDS.first().map_or("operation", |kind| kind.noun)
}

impl<F: Drawn> Plots<'_, F> {
    fn lines(&self, values: impl Fn(&EngineRun<F>) -> Vec<Vec<Option<f64>>>) -> Vec<Line> {
        let line = |run: &EngineRun<F>| {
            let name = run.entry.label();
            Line { colour: self.palette.colour(&name).unwrap_or(0), name, values: values(run) }
        };
        self.replay.runs.iter().map(line).collect()
    }

    fn latency(&self) -> Plot {
        let stretches = Stretches::of(&self.replay.workload);
        let noun = noun::<F>();
        Plot {
            heading: format!("{} time over time", sentence(noun)),
            reading: format!(
                "Median and 99th percentile of every {} {noun}s in a row, each at the least of its {} \
                 rounds, so that what repeats is seen and what the machine adds is not.",
                stretches.length(),
                self.replay.rounds
            ),
            y: Axis {
                title: format!("nanoseconds per {noun}"),
                unit: Unit::Nanoseconds,
                log: true,
                range: None,
            },
            measures: vec![
                Measure { name: "median", mark: Mark::Line },
                Measure { name: "p99", mark: Mark::Light },
            ],
            lines: self.lines(|run| stretches.latency_ns(run)),
            clock_s: self.time.seconds(&stretches.at),
            at: stretches.at,
            ..self.over_time()
        }
    }

    fn work(&self) -> Plot {
        let mean = |bucket: &Bucket<F>| bucket.work_mean;
        let max = |bucket: &Bucket<F>| bucket.work_max as f64;
        let noun = noun::<F>();
        Plot {
            heading: format!("Work per {noun} over time"),
            reading: format!(
                "{}: exact, the same on every machine. Where it moves with the times beside it, the structure is \
                 the reason.",
                F::WORK
            ),
            y: Axis { title: format!("steps per {noun}"), unit: Unit::Count, log: true, range: None },
            measures: vec![
                Measure { name: "mean", mark: Mark::Line },
                Measure { name: "max", mark: Mark::Light },
            ],
            lines: self.lines(|run| {
                vec![of_buckets(&run.counted.buckets, mean), of_buckets(&run.counted.buckets, max)]
            }),
            ..self.over_time()
        }
    }

    /// A figure of the state over time.
    fn state(&self, shown: StatePlot<State<F>>) -> Plot {
        let StatePlot { heading, reading, y, switch, figure } = shown;
        Plot {
            heading: heading.to_owned(),
            reading: reading.to_owned(),
            y,
            switch,
            lines: self.lines(|run| vec![of_buckets(&run.counted.buckets, |bucket| figure(&bucket.state))]),
            ..self.over_time()
        }
    }

    fn distribution(&self) -> Plot {
        let noun = noun::<F>();
        Plot {
            heading: format!("Distribution of {noun} times"),
            reading: format!(
                "At 99 %, one {noun} in a hundred took longer. All {} rounds, what the machine adds included.",
                self.replay.rounds
            ),
            x: Axis { title: format!("percentile of {noun}s"), unit: Unit::OneIn, log: true, range: None },
            y: Axis {
                title: format!("nanoseconds per {noun}"),
                unit: Unit::Nanoseconds,
                log: true,
                range: None,
            },
            group: None,
            measures: vec![Measure { name: "time", mark: Mark::Line }],
            lines: self.lines(|run| vec![curve_ns(run)]),
            at: quantiles().map(one_in).collect(),
            clock_s: Vec::new(),
            ..self.over_time()
        }
    }

    /// What the plots over time have in common: one point for each bucket of the counted run.
    fn over_time(&self) -> Plot {
        let buckets = self.replay.runs.first().map(|run| run.counted.buckets.as_slice()).unwrap_or_default();
        let at: Vec<f64> = buckets.iter().map(|bucket| bucket.end.saturating_sub(1) as f64).collect();
        Plot {
            heading: String::new(),
            reading: String::new(),
            wide: false,
            x: self.time.operations(),
            y: Axis { title: String::new(), unit: Unit::Count, log: false, range: None },
            switch: true,
            named: false,
            group: Some(self.group.clone()),
            measures: vec![Measure { name: "value", mark: Mark::Line }],
            lines: Vec::new(),
            guides: Vec::new(),
            clock_s: self.time.seconds(&at),
            at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captions_do_not_repeat_the_heading() {
        assert_eq!(caption("a <b>: it is (9 operations)", "a <b>", "it is"), "Times, 9 operations");
        assert_eq!(caption("a: work & space", "a", "it is"), "Work &amp; space");
        assert_eq!(sentence("one. two."), "One. two");
    }
}
