//! The section of a replayed workload: its pictures, its plots, its tables.

use super::axis::Time;
use super::escape::html;
use super::palette::Palette;
use super::plot::{Axis, Line, Mark, Measure, Plot, Unit};
use super::series::{Stretches, curve_ns, of_buckets, one_in, quantiles};
use super::{space, table};
use crate::measure::{Bucket, EngineRun, Replay};
use crate::output::{Table, count};
use crate::workload::Workload;

/// What a workload is called in headings and tables.
pub(super) fn title(workload: &Workload) -> String {
    match workload.n {
        Some(n) => format!("{} at {} live", workload.name, count(n)),
        None => workload.name.clone(),
    }
}

/// Whether a table is about this workload.
pub(super) fn owns(workload: &Workload, table: &Table) -> bool {
    table.title.strip_prefix(&title(workload)).is_some_and(|rest| rest.starts_with(':'))
}

/// The section; `number` tells it from the others of the page.
pub(super) fn render(
    replay: &Replay,
    number: usize,
    tables: &[&Table],
    palette: &Palette,
) -> anyhow::Result<String> {
    let workload = &replay.workload;
    let title = title(workload);
    let mut page = format!(
        "<section id=\"w{number}\"><h2>{}</h2><p class=\"about\">{}. {} operations, \
         timed rounds: {}.</p>\n",
        html(&title),
        html(&sentence(&workload.description)),
        count(workload.ops.len() as u64),
        replay.rounds
    );
    page.push_str("<div class=\"plots\">");
    page.push_str(&space::render(replay, palette)?);
    let plots = Plots { replay, time: Time::of(workload), group: format!("w{number}"), palette };
    for plot in [
        plots.latency(),
        plots.work(),
        plots.free_blocks(),
        plots.span(),
        plots.largest(),
        plots.distribution(),
    ] {
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
struct Plots<'a> {
    replay: &'a Replay,
    time: Time<'a>,
    group: String,
    palette: &'a Palette,
}

impl Plots<'_> {
    fn lines(&self, values: impl Fn(&EngineRun) -> Vec<Vec<Option<f64>>>) -> Vec<Line> {
        let line = |run: &EngineRun| {
            let name = run.entry.label();
            Line { colour: self.palette.colour(&name).unwrap_or(0), name, values: values(run) }
        };
        self.replay.runs.iter().map(line).collect()
    }

    fn latency(&self) -> Plot {
        let stretches = Stretches::of(&self.replay.workload);
        Plot {
            heading: "Allocation time over time".to_owned(),
            reading: format!(
                "Median and 99th percentile of every {} allocations in a row, each at the least of its {} \
                 rounds, so that what repeats is seen and what the machine adds is not.",
                stretches.length(),
                self.replay.rounds
            ),
            y: Axis {
                title: "nanoseconds per allocation".to_owned(),
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
        let mean = |bucket: &Bucket| bucket.work_mean;
        let max = |bucket: &Bucket| bucket.work_max as f64;
        Plot {
            heading: "Work per allocation over time".to_owned(),
            reading: "Nodes visited, changed or rotated, and list steps: exact, the same on every machine. \
                      Where it moves with the times beside it, the structure is the reason."
                .to_owned(),
            y: Axis { title: "steps per allocation".to_owned(), unit: Unit::Count, log: true, range: None },
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

    fn free_blocks(&self) -> Plot {
        self.state(
            "Free blocks",
            "Into how many pieces the free space is cut.",
            Axis { title: "free blocks".to_owned(), unit: Unit::Count, log: false, range: None },
            |bucket| bucket.state.free_blocks as f64,
        )
    }

    fn span(&self) -> Plot {
        let plot = self.state(
            "Span over used",
            "How far the engine has spread, up to the largest free block, against the bytes in use there; 1 is \
             without holes.",
            Axis { title: "span / used bytes".to_owned(), unit: Unit::Ratio, log: false, range: None },
            |bucket| bucket.state.span_ratio(),
        );
        Plot { switch: true, ..plot }
    }

    fn largest(&self) -> Plot {
        self.state(
            "Largest free block over all free",
            "1 is free space in one piece.",
            Axis {
                title: "largest free block / free bytes".to_owned(),
                unit: Unit::Ratio,
                log: false,
                range: Some([0.0, 1.04]),
            },
            |bucket| bucket.state.largest_ratio(),
        )
    }

    fn state(&self, heading: &str, reading: &str, y: Axis, figure: impl Fn(&Bucket) -> f64) -> Plot {
        Plot {
            heading: heading.to_owned(),
            reading: reading.to_owned(),
            y,
            switch: false,
            lines: self.lines(|run| vec![of_buckets(&run.counted.buckets, &figure)]),
            ..self.over_time()
        }
    }

    fn distribution(&self) -> Plot {
        Plot {
            heading: "Distribution of allocation times".to_owned(),
            reading: format!(
                "At 99 %, one allocation in a hundred took longer. All {} rounds, what the machine adds included.",
                self.replay.rounds
            ),
            x: Axis {
                title: "percentile of allocations".to_owned(),
                unit: Unit::OneIn,
                log: true,
                range: None,
            },
            y: Axis {
                title: "nanoseconds per allocation".to_owned(),
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
