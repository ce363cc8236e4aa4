//! The growth of work: what an allocation costs in steps as the live objects grow.

use super::palette::Palette;
use super::plot::{Axis, Line, Mark, Measure, Plot, Unit};
use crate::measure::GrowthPoint;

/// The section; nothing without points.
pub(super) fn render(points: &[GrowthPoint], palette: &Palette) -> anyhow::Result<String> {
    let plot = plot(points, palette).html()?;
    if plot.is_empty() {
        return Ok(String::new());
    }
    Ok(format!(
        "<section id=\"growth\"><h2>Growth of work</h2><p class=\"about\">The same churn (free a random object, \
         allocate another) at growing numbers of live objects. Work is counted, not timed, so that these \
         figures are the same on every machine: nodes visited, changed or rotated, and list steps.</p>\
         <div class=\"plots\">{plot}</div></section>\n"
    ))
}

fn plot(points: &[GrowthPoint], palette: &Palette) -> Plot {
    let sizes = sizes(points);
    let mut labels: Vec<String> = Vec::new();
    for point in points {
        let label = point.entry.label();
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    let line = |label: String| {
        let of_size = |&n: &u64| points.iter().find(|point| point.n == n && point.entry.label() == label);
        let mean = sizes.iter().map(|n| Some(of_size(n)?.alloc_work.mean())).collect();
        let max =
            sizes.iter().map(|n| Some(of_size(n)?.alloc_work.clone().percentile(1000) as f64)).collect();
        Line { colour: palette.colour(&label).unwrap_or(0), values: vec![mean, max], name: label }
    };
    Plot {
        heading: "Work per allocation against live objects".to_owned(),
        reading: "Lines are means, rings the largest of any allocation; both axes are logarithmic, so a \
                  straight line of slope 1 is work in proportion to the objects. A line that ends early was \
                  not run further: it would take too long."
            .to_owned(),
        wide: true,
        x: Axis { title: "live objects".to_owned(), unit: Unit::Live, log: true, range: None },
        y: Axis { title: "steps per allocation".to_owned(), unit: Unit::Count, log: true, range: None },
        switch: true,
        named: true,
        group: None,
        clock_s: Vec::new(),
        measures: vec![
            Measure { name: "mean", mark: Mark::Points },
            Measure { name: "max", mark: Mark::Rings },
        ],
        at: sizes.iter().map(|&n| n as f64).collect(),
        lines: labels.into_iter().map(line).collect(),
        guides: Vec::new(),
    }
}

/// The sizes, ascending.
pub(super) fn sizes(points: &[GrowthPoint]) -> Vec<u64> {
    let mut sizes: Vec<u64> = points.iter().map(|point| point.n).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}
