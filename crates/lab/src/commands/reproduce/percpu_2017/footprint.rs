//! The posting's claim of a consistent memory footprint: bytes of metadata for each object, and of each unit.

use super::fills::Fills;
use crate::commands::bench_percpu::rows;
use crate::commands::reproduce::Part;
use crate::measure::percpu::FillRun;
use crate::output::{Table, fixed};
use crate::report::bars::{Bar, Bars, Group, Origin};
use crate::report::section::Figure;
use crate::report::{Key, Section};
use crate::workload::percpu::Size;

/// The part.
pub(super) fn part(fills: &Fills) -> Part {
    let section = Section {
        id: "footprint",
        title: "Metadata".to_owned(),
        about: vec![
            format!(
                "The area map has an integer for each object and one for each gap, in an array that doubles: as \
                 much as the object itself for one of 4 bytes, and next to nothing for large ones. The bitmaps \
                 have two bits for every 4 bytes of one unit, and hints for every page, whatever the objects. \
                 While all objects of the posting's test are live, in units of {}:",
                fills.unit()
            ),
            "Metadata is there once for all CPUs; a unit is there for each.".to_owned(),
        ],
        figures: vec![
            Figure::Bars(bars(
                fills,
                ["Bytes of metadata for each object", "bytes for each object"],
                "Small objects win with bitmaps, large ones lose.",
                per_object,
            )),
            Figure::Bars(bars(
                fills,
                ["Metadata beside one unit", "hundredths of a unit"],
                "The same, of the bytes of one unit of all chunks: with bitmaps the same whatever lies in them.",
                |run| percent_of_unit(run, fills.unit_bytes),
            )),
        ],
        tables: vec![table(fills)],
    };
    let row = |(size, run): (Size, &FillRun)| rows::footprint(size, run, fills.unit_bytes);
    let rows = each(fills).map(row).collect();
    Part { section, rows, keys: keys(fills), ..Part::default() }
}

fn each(fills: &Fills) -> impl Iterator<Item = (Size, &FillRun)> {
    fills.sizes.iter().flat_map(|(size, runs)| runs.iter().map(|run| (*size, run)))
}

fn per_object(run: &FillRun) -> f64 {
    run.full.metadata_bytes as f64 / run.full.objects.max(1) as f64
}

/// Of the bytes of one unit of each chunk.
fn percent_of_unit(run: &FillRun, unit_bytes: u32) -> f64 {
    100.0 * run.full.metadata_bytes as f64 / (run.full.chunks.max(1) as f64 * f64::from(unit_bytes))
}

fn bars(fills: &Fills, [heading, scale]: [&str; 2], reading: &str, figure: impl Fn(&FillRun) -> f64) -> Bars {
    let bar = |run: &FillRun| Bar {
        name: run.entry.engine.to_owned(),
        value: figure(run),
        origin: Origin::Measured,
    };
    let groups = fills.sizes.iter().map(|(size, runs)| Group {
        name: format!("{} B", size.bytes),
        bars: runs.iter().map(bar).collect(),
    });
    let [heading, reading, scale] = [heading, reading, scale].map(str::to_owned);
    Bars { heading, reading, scale, groups: groups.collect() }
}

fn table(fills: &Fills) -> Table {
    let title = format!("footprint, units of {}: bytes of metadata for an object, % of a unit", fills.unit());
    let mut table = Table::new(title, &["size"]);
    if let Some((_, runs)) = fills.sizes.first() {
        table.header.extend(runs.iter().flat_map(|run| [run.entry.engine.to_owned(), "%".to_owned()]));
    }
    for (size, runs) in &fills.sizes {
        let mut cells = vec![format!("{} B", size.bytes)];
        let both = |run: &FillRun| [per_object(run), percent_of_unit(run, fills.unit_bytes)].map(fixed);
        cells.extend(runs.iter().flat_map(both));
        table.row(cells);
    }
    table
}

fn keys(fills: &Fills) -> Vec<Key> {
    let Some(runs) = fills.of(4) else { return Vec::new() };
    let of = |engine: &str| runs.iter().find(|run| run.entry.engine == engine).map(per_object);
    let Some((area_map, ours)) = of("area-map").zip(of("bitmap")) else { return Vec::new() };
    vec![Key {
        value: format!("{} : {}", fixed(area_map), fixed(ours)),
        text: "bytes of metadata for each object of 4 bytes, area map against ours".to_owned(),
    }]
}
