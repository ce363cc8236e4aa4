//! The talk's slides on zones: sequential against random placement, and what either leaves of a nested zone.

use crate::engine::{Compared, EngineEntry};
use crate::record::{Metric, Picture, Results, Stat, Strip, Strips, zones as bands_of};
use crate::run::{FULL_PERCENT, Way, ZoneRun, Zones};
use freehold::units::{Align, Bytes};

/// Those of the other parts, and the placement from the other end, which leaves the first end alone.
const ENGINES: [&str; 5] = ["gap-list", "rbtree:linux", "rbtree:lowest", "btree:lowest", FROM_THE_END];
const FROM_THE_END: &str = "rbtree:highest";
/// The engine that is drawn.
const DRAWN: &str = "rbtree:lowest";
const SEED: u64 = 20_190_910;
/// Loads at which the table looks, in hundredths.
const LOADS: [u64; 3] = [25, 50, 75];

/// Fills the large zone in both ways, and looks at the small ones.
pub(super) fn add(results: &mut Results, tick: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
    let zones = Zones::new(SEED).ok_or_else(|| anyhow::anyhow!("the zones are no spans"))?;
    let mut strips = Vec::new();
    for way in [Way::Sequential, Way::Random] {
        for entry in EngineEntry::find(&ENGINES.map(str::to_owned), Compared::IfNamed)? {
            let label = entry.label();
            tick(&format!("zones: {label}"));
            // From a random address upwards it would go up, not down.
            if way == Way::Random && label == FROM_THE_END {
                continue;
            }
            let run = zones.run(&entry, way, SEED);
            let run = run.map_err(|reason| anyhow::anyhow!("zones: {label}: {reason}"))?;
            figures(&zones, &run, results);
            if label == DRAWN {
                lines(&zones, &run, results);
            }
            if label == DRAWN || label == FROM_THE_END {
                let (engines, text) = (vec![label], way.name().to_owned());
                let columns = (0..run.picture.columns).collect();
                strips.push(Strip { engines, text, columns, height: 1.0, picture: run.picture });
            }
        }
    }
    let nested: Vec<_> = zones.zones.iter().map(|zone| (zone.name, zone.span)).collect();
    let (bands, heights) = bands_of(zones.outer, &nested);
    let ticks = LOADS.iter().map(|&load| (zones.share_at(load), format!("{load} %")));
    let ends = [(0.0, "0 %".to_owned()), (1.0, format!("{FULL_PERCENT} %"))];
    let picture = Strips { heights, bands, ticks: ticks.chain(ends).collect(), strips };
    results.pictures.push(("zones", "zones".to_owned(), Picture::Strips(picture)));
    results.note(format!(
        "zones: a zone is full from the load at which it has no {} in one piece, the largest that users ask for; refused are \
         requests of users without a zone.",
        Bytes::from(Zones::largest_request_bytes())
    ));
    Ok(())
}

fn figures(zones: &Zones, run: &ZoneRun, results: &mut Results) {
    let key = run.entry.key("zones").op("alloc").param("way", run.way.name());
    results.of(key.clone()).total(Metric::Refused, run.failures);
    for (at, zone) in zones.zones.iter().enumerate() {
        let key = key.clone().param("zone", zone.name);
        let pages = zone.span.size_saturating() as f64 / Align::PAGE.bytes() as f64;
        for load in LOADS {
            let Some(left) = run.at(load).and_then(|point| point.left.get(at)) else { continue };
            let largest = left.largest_bytes as f64 / zone.span.size_saturating() as f64;
            results
                .of(key.clone().param("load", load))
                .put(Metric::Taken, Stat::Total, left.eaten, 1)
                .total(Metric::Pages, (left.eaten * pages).round() as u64)
                .put(Metric::LargestLeft, Stat::Total, largest, 1);
        }
        if let Some(load) = run.refused_from(at, Zones::largest_request_bytes()) {
            results.of(key).put(Metric::FullFrom, Stat::Total, load as f64, 1);
        }
    }
}

/// What others take of each zone, and the largest piece left, over the load; at random all zones are alike.
fn lines(zones: &Zones, run: &ZoneRun, results: &mut Results) {
    for (at, zone) in zones.zones.iter().enumerate() {
        if run.way == Way::Random && zone.name != "middle" {
            continue;
        }
        let size = zone.span.size_saturating() as f64;
        let left = |load: u64| run.at(load).and_then(|point| point.left.get(at));
        let of = |figure: &dyn Fn(&crate::run::Left) -> f64| {
            (0..=FULL_PERCENT).map(|load| left(load).map(|left| 100.0 * figure(left))).collect()
        };
        let at: Vec<f64> = (0..=FULL_PERCENT).map(|load| load as f64).collect();
        let line = format!("{}, {}", run.way.name(), zone.name);
        let [taken, largest] = [of(&|left| left.eaten), of(&|left| left.largest_bytes as f64 / size)];
        results.line("zone-taken", "zones", &line, &at, vec![taken]);
        results.line("zone-largest", "zones", &line, &at, vec![largest]);
    }
}
