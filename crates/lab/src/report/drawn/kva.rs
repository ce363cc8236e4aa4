//! Address ranges: pictures of the space, and how scattered the free blocks are.

use super::{Drawn, StatePlot, space};
use crate::family::Kva;
use crate::measure::{Fragmentation, Replay};
use crate::report::palette::Palette;
use crate::report::plot::{Axis, Unit};

impl Drawn for Kva {
    const LEAD: &'static str = "An address-range allocator hands out pieces of an address space that do not overlap, \
         and takes them back; Linux vmalloc is one.";
    const WORK: &'static str = "Nodes visited, changed or rotated, and list steps";

    fn pictures(replay: &Replay<Self>, palette: &Palette) -> anyhow::Result<String> {
        space::render(replay, palette)
    }

    fn plots() -> Vec<StatePlot<Fragmentation>> {
        vec![
            StatePlot {
                heading: "Free blocks",
                reading: "Into how many pieces the free space is cut.",
                y: Axis { title: "free blocks".to_owned(), unit: Unit::Count, log: false, range: None },
                switch: false,
                figure: |state| state.free_blocks as f64,
            },
            StatePlot {
                heading: "Span over used",
                reading: "How far the engine has spread, up to the largest free block, against the bytes in use \
                          there; 1 is without holes.",
                y: Axis { title: "span / used bytes".to_owned(), unit: Unit::Ratio, log: false, range: None },
                switch: true,
                figure: Fragmentation::span_ratio,
            },
            StatePlot {
                heading: "Largest free block over all free",
                reading: "1 is free space in one piece.",
                y: Axis {
                    title: "largest free block / free bytes".to_owned(),
                    unit: Unit::Ratio,
                    log: false,
                    range: Some([0.0, 1.04]),
                },
                switch: false,
                figure: Fragmentation::largest_ratio,
            },
        ]
    }
}
