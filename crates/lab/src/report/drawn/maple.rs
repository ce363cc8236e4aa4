//! Address spaces of processes: a film of the busiest, areas, nodes and memory over time.

use super::{Drawn, StatePlot};
use crate::engine::vma::Footprint;
use crate::family::Maple;
use crate::measure::Replay;
use crate::report::axis::Time;
use crate::report::film::{self, Film};
use crate::report::palette::Palette;
use crate::report::plot::{Axis, Unit};

impl Drawn for Maple {
    const LEAD: &'static str = "An address space is a map from ranges of addresses to what is mapped there; Linux keeps it in a maple tree. \
         Recorded programs' calls are applied to such maps as the kernel applies them: cut, merged, moved, copied.";
    const WORK: &'static str = "Areas looked at, and areas stored or removed";

    fn pictures(replay: &Replay<Self>, _: &Palette) -> anyhow::Result<String> {
        let time = Time::of(&replay.workload);
        let film = replay.runs.iter().find_map(|run| run.counted.seen.film.clone());
        film.map_or_else(
            || Ok(String::new()),
            |film| film::render(&Film::new(film, &replay.workload.name, |op| time.at(op))),
        )
    }

    fn plots() -> Vec<StatePlot<Footprint>> {
        let plain =
            |title: &str| Axis { title: title.to_owned(), unit: Unit::Count, log: false, range: None };
        vec![
            StatePlot {
                heading: "Areas",
                reading: "Of all address spaces together; the same for every engine that answers right.",
                y: plain("areas"),
                switch: true,
                figure: |state| state.areas as f64,
            },
            StatePlot {
                heading: "Nodes in use",
                reading: "Of all spaces' trees, 256 bytes each. A map that does not tell is not shown.",
                y: plain("nodes"),
                switch: true,
                figure: |state| if state.nodes.in_use > 0 { state.nodes.in_use as f64 } else { f64::NAN },
            },
            StatePlot {
                heading: "Bytes held",
                reading: "Memory of the maps, whatever part of it is in use.",
                y: Axis { title: "bytes".to_owned(), unit: Unit::Bytes, log: false, range: None },
                switch: true,
                figure: |state| state.bytes as f64,
            },
        ]
    }
}
