//! The trees under the stress test: their height, their nodes, how full they are, over time.

use super::planned::{Point, Program};
use crate::commands::reproduce::Part;
use crate::output::{Table, count, fixed};
use crate::report::Section;
use crate::report::plot::{Axis, Line, Plot, Unit};
use crate::report::section::Figure;

/// Bytes of a node.
const NODE_BYTES: f64 = 256.0;

/// What the trees of a program are like, over its calls.
pub(super) fn plots(program: &Program) -> Vec<Figure> {
    let plot = |heading: &str, reading: &str, y: Axis, figure: fn(&Point) -> f64| Plot {
        switch: true,
        lines: vec![Line {
            name: "range-map".to_owned(),
            colour: 0,
            values: vec![program.points.iter().map(|point| Some(figure(point))).collect()],
        }],
        at: program.points.iter().map(|point| point.op as f64).collect(),
        ..Plot::new(heading, reading, [Axis::linear("calls", Unit::Operations), y])
    };
    let plots = [
        plot("Areas", "Of all spaces together.", Axis::linear("areas", Unit::Count), |point| {
            point.footprint.areas as f64
        }),
        plot(
            "Nodes",
            "In use, of 256 bytes each, leaves and inner nodes.",
            Axis::linear("nodes", Unit::Count),
            |point| point.footprint.nodes.in_use as f64,
        ),
        plot(
            "Height of the highest tree",
            "Levels; 1 is a leaf alone.",
            Axis::linear("levels", Unit::Count),
            |point| point.footprint.nodes.height as f64,
        ),
        plot(
            "Areas for each node",
            "How full nodes are: a leaf holds up to sixteen entries, and gaps take room too.",
            Axis::linear("areas / node", Unit::Ratio),
            per_node,
        ),
    ];
    plots.into_iter().map(Figure::Plot).collect()
}

fn per_node(point: &Point) -> f64 {
    point.footprint.areas as f64 / point.footprint.nodes.in_use.max(1) as f64
}

/// The part.
pub(super) fn part(stress: &Program) -> Part {
    let last = stress.points.iter().max_by_key(|point| point.footprint.areas).copied().unwrap_or_default();
    let mut table = Table::new(
        "The trees when there were most areas",
        &["spaces", "areas", "in one", "height", "nodes", "areas/node", "node bytes/area"],
    );
    table.name_columns = 0;
    let footprint = last.footprint;
    table.row(vec![
        count(footprint.spaces),
        count(footprint.areas),
        count(footprint.areas_most),
        count(footprint.nodes.height),
        count(footprint.nodes.in_use),
        fixed(per_node(&last)),
        fixed(footprint.nodes.in_use as f64 * NODE_BYTES / footprint.areas.max(1) as f64),
    ]);
    let section = Section {
        id: "shape",
        title: "The trees under the stress test".to_owned(),
        about: vec![
            "The stress test maps and unmaps single pages at fixed places, so that areas and gaps alternate: the worst \
             that a range tree can be asked to hold."
                .to_owned(),
        ],
        figures: plots(stress),
        tables: vec![table],
    };
    Part { section, ..Part::default() }
}
