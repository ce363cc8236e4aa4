//! Objects that exist once per CPU: the memory that they take.

use super::{Drawn, StatePlot};
use crate::family::{Percpu, PercpuState};
use crate::report::plot::{Axis, Unit};

impl Drawn for Percpu {
    const LEAD: &'static str = "A per-CPU allocator hands out small objects that exist once for each CPU, at one offset \
         in every CPU's unit of a chunk; Linux percpu is one.";
    const WORK: &'static str = "Chunks and blocks looked at, words of bits scanned, entries of area maps looked at, and integers moved";

    fn plots() -> Vec<StatePlot<PercpuState>> {
        let bytes =
            |title: &str| Axis { title: title.to_owned(), unit: Unit::Bytes, log: false, range: None };
        let plain =
            |title: &str| Axis { title: title.to_owned(), unit: Unit::Count, log: false, range: None };
        vec![
            StatePlot {
                heading: "Pages that have memory",
                reading: "Of each CPU's units. An engine that knows no pages has all of a chunk's.",
                y: plain("pages of a unit"),
                switch: true,
                figure: |state| state.footprint.populated_pages as f64,
            },
            StatePlot {
                heading: "Fill of the pages",
                reading: "The bytes of live objects against the bytes of the pages that have memory; 1 is without \
                          waste.",
                y: Axis {
                    title: "live bytes / bytes of pages".to_owned(),
                    unit: Unit::Ratio,
                    log: false,
                    range: Some([0.0, 1.04]),
                },
                switch: false,
                figure: PercpuState::fill,
            },
            StatePlot {
                heading: "Bytes of metadata",
                reading: "What the engine holds to know where objects are, whatever the number of CPUs.",
                y: bytes("bytes of metadata"),
                switch: true,
                figure: |state| state.footprint.metadata_bytes as f64,
            },
        ]
    }
}
