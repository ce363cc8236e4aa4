//! The talk's slides on zones: sequential against random placement, and what either leaves of a nested zone.

use crate::commands::reproduce::{Part, row};
use crate::engine::EngineEntry;
use crate::measure::{FULL_PERCENT, Way, ZoneRun, Zones};
use crate::output::{Row, Table, count};
use crate::report::plot::{Axis, Line, Plot, Unit};
use crate::report::section::Figure;
use crate::report::strip::{self, Strip, Strips};
use crate::report::{Key, Section};
use freehold::units::{Align, Bytes};

/// Those of the other parts, and the placement from the other end.
pub(super) const ENGINES: [&str; 5] =
    ["gap-list", "rbtree:linux", "rbtree:lowest", "btree:lowest", "rbtree:highest"];
/// The engine that is drawn.
const DRAWN: &str = "rbtree:lowest";
/// The placement that leaves the other end alone.
const FROM_THE_END: &str = "rbtree:highest";
const SEED: u64 = 20_190_910;
/// Loads at which the table looks, in hundredths.
const LOADS: [u64; 3] = [25, 50, 75];

/// The part.
pub(super) fn part(engines: &[EngineEntry], tick: &mut dyn FnMut(&str)) -> anyhow::Result<Part> {
    let zones = Zones::new(SEED).ok_or_else(|| anyhow::anyhow!("the zones are no spans"))?;
    let mut runs = Vec::new();
    for way in [Way::Sequential, Way::Random] {
        for entry in engines {
            tick(&format!("zones: {}", entry.label()));
            // From a random address upwards it would go up, not down.
            if way == Way::Random && entry.label() == FROM_THE_END {
                continue;
            }
            let run = zones.run(entry, way, SEED);
            runs.push(run.map_err(|reason| anyhow::anyhow!("zones: {}: {reason}", entry.label()))?);
        }
    }
    let section = Section {
        id: "zones",
        title: "Zones: sequential or random".to_owned(),
        about: vec![
            "The talk asks for sequential placement because zones nest: who may take any address should \
             leave those alone that others need. Its slide fills a large zone one after the other, and at \
             random, and looks at a small zone inside. Here the large zone is 256 MiB, the small ones an \
             eighth of it, and users of up to 64 pages come and go until 90 % are asked for."
                .to_owned(),
            "What to see: random users take of every zone from the start, in proportion to the load, and \
             cut what is left into pieces. Sequential ones leave a zone alone until they reach it, so all \
             depends on where it lies: one at the high end stays whole, one at the low end goes first, \
             much sooner than under random placement. From the high end downwards it is the other way \
             round."
                .to_owned(),
        ],
        figures: figures(&zones, &runs),
        tables: vec![table(&zones, &runs)],
    };
    let note = format!(
        "zones: a zone is full from the load at which it has no {} in one piece, the largest that users \
         ask for; refused are requests of users without a zone.",
        Bytes::from(Zones::largest_request_bytes())
    );
    let rows = runs.iter().flat_map(|run| rows(&zones, run)).collect();
    Ok(Part { section, rows, notes: vec![note], keys: keys(&zones, &runs), ..Part::default() })
}

fn way_name(way: Way) -> &'static str {
    match way {
        Way::Sequential => "sequential",
        Way::Random => "random",
    }
}

fn drawn<'a>(runs: &'a [ZoneRun], label: &str, way: Way) -> Option<&'a ZoneRun> {
    runs.iter().find(|run| run.entry.label() == label && run.way == way)
}

fn eaten(run: &ZoneRun, zone: usize, load: u64) -> Option<f64> {
    Some(run.at(load)?.left.get(zone)?.eaten)
}

fn figures(zones: &Zones, runs: &[ZoneRun]) -> Vec<Figure> {
    let mut strips = Vec::new();
    for (label, way) in [(DRAWN, Way::Sequential), (DRAWN, Way::Random), (FROM_THE_END, Way::Sequential)] {
        strips.extend(drawn(runs, label, way).map(|run| Strip {
            engine: label.to_owned(),
            text: match (label, way) {
                (FROM_THE_END, _) => "sequential, from the high end".to_owned(),
                _ => way_name(way).to_owned(),
            },
            picture: run.picture.clone(),
        }));
    }
    let nested: Vec<_> = zones.zones.iter().map(|zone| (zone.name, zone.span)).collect();
    let (bands, heights) = strip::zones(zones.outer, &nested);
    let mut ticks = vec![(0.0, "0 %".to_owned())];
    ticks.extend(LOADS.iter().map(|&load| (zones.share_at(load), format!("{load} %"))));
    ticks.push((1.0, format!("{FULL_PERCENT} %")));
    let pictures = Strips {
        heading: "The zone slide, filled".to_owned(),
        reading:
            "Addresses upwards, the load of the large zone to the right; the nested zones between dashes."
                .to_owned(),
        shades: ["free", "busy"],
        heights,
        bands,
        x_title: "asked for, of the large zone".to_owned(),
        ticks,
        strips,
    };
    vec![
        Figure::Strips(pictures),
        Figure::Plot(plot(
            zones,
            runs,
            "How much of a nested zone others have taken",
            "Sequential placement keeps the zone at the high end whole until the space is nearly full, and \
             eats the one at the low end first.",
            Axis::linear("of the nested zone taken by others", Unit::Percent).between(0.0, 105.0),
            |run, zone, load| Some(eaten(run, zone, load)? * 100.0),
        )),
        Figure::Plot(plot(
            zones,
            runs,
            "The largest piece left in a nested zone",
            "What the zone's own users can still get in one piece.",
            Axis::linear("largest free piece, of the nested zone", Unit::Percent).between(0.0, 105.0),
            |run, zone, load| {
                let size = zones.zones.get(zone)?.span.size_saturating();
                Some(100.0 * run.at(load)?.left.get(zone)?.largest_bytes as f64 / size as f64)
            },
        )),
    ]
}

/// A figure of each zone under sequential placement, and of the middle one under random placement.
fn plot(
    zones: &Zones,
    runs: &[ZoneRun],
    heading: &str,
    reading: &str,
    y: Axis,
    figure: impl Fn(&ZoneRun, usize, u64) -> Option<f64>,
) -> Plot {
    let loads: Vec<u64> = (0..=FULL_PERCENT).collect();
    let mut lines = Vec::new();
    for (at, zone) in zones.zones.iter().enumerate() {
        for (way, colour) in [(Way::Sequential, at), (Way::Random, at + 4)] {
            // At random all zones are alike.
            if way == Way::Random && zone.name != "middle" {
                continue;
            }
            let Some(run) = drawn(runs, DRAWN, way) else { continue };
            let values = loads.iter().map(|&load| figure(run, at, load)).collect();
            let name = format!("{}, zone {}", way_name(way), place(zone.name));
            lines.push(Line { name, colour, values: vec![values] });
        }
    }
    let x = Axis::linear("asked for, of the large zone", Unit::Percent).between(0.0, FULL_PERCENT as f64);
    Plot {
        group: Some("zones".to_owned()),
        lines,
        at: loads.iter().map(|&load| load as f64).collect(),
        ..Plot::new(heading, reading, [x, y])
    }
}

fn place(zone: &str) -> String {
    if zone == "middle" { "in the middle".to_owned() } else { format!("at the {zone}") }
}

fn table(zones: &Zones, runs: &[ZoneRun]) -> Table {
    let loads = LOADS.map(|load| load.to_string()).join(", ");
    let title = format!("Nested zones: share taken by others at {loads} % load of the large zone");
    let mut table = Table { name_columns: 2, ..Table::new(title, &["placement", "way"]) };
    for zone in &zones.zones {
        let short = zone.name.trim_end_matches(" end");
        table.header.extend(LOADS.map(|load| format!("{short} {load} %")));
        table.header.push("full from".to_owned());
    }
    table.header.push("refused".to_owned());
    for run in runs {
        let mut cells = vec![run.entry.label(), way_name(run.way).to_owned()];
        for zone in 0..zones.zones.len() {
            let share = |load| eaten(run, zone, load).map_or_else(|| "-".to_owned(), percent);
            cells.extend(LOADS.map(share));
            let from = run.refused_from(zone, Zones::largest_request_bytes());
            cells.push(from.map_or_else(|| "never".to_owned(), |load| format!("{load} %")));
        }
        cells.push(count(run.failures));
        table.row(cells);
    }
    table
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn keys(zones: &Zones, runs: &[ZoneRun]) -> Vec<Key> {
    let high = zones.zones.len().saturating_sub(1);
    let at_half = |way| eaten(drawn(runs, DRAWN, way)?, high, 50);
    let (Some(sequential), Some(random)) = (at_half(Way::Sequential), at_half(Way::Random)) else {
        return Vec::new();
    };
    vec![Key {
        value: format!("{} : {}", percent(sequential), percent(random)),
        text: "of a zone at the high end taken by others when half of the large zone is asked for, \
               sequential against random"
            .to_owned(),
    }]
}

/// A row for each zone and load.
fn rows(zones: &Zones, run: &ZoneRun) -> Vec<Row> {
    let mut rows = Vec::new();
    for (at, zone) in zones.zones.iter().enumerate() {
        for load in LOADS {
            let zone_pages = zone.span.size_saturating() as f64 / Align::PAGE.bytes() as f64;
            let Some(left) = run.at(load).and_then(|point| point.left.get(at)) else { continue };
            rows.push(Row {
                n: Some(load),
                failures: Some(run.failures),
                pages: Some((left.eaten * zone_pages).round() as u64),
                largest_free_ratio: Some(left.largest_bytes as f64 / zone.span.size_saturating() as f64),
                note: Some(format!(
                    "{}, nested zone {}; n is the load in percent, pages those taken of the zone's \
                     {zone_pages}",
                    way_name(run.way),
                    place(zone.name)
                )),
                ..row("zones", &run.entry, "alloc")
            });
        }
    }
    rows
}
