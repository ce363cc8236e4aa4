//! The talk's slides on zones: sequential against random placement, and what either leaves of a nested zone.

use crate::engine::{Compared, EngineEntry};
use crate::record::{Field, Metric, Results, Stat};
use crate::run::{LOAD_PERCENT, Way, Zones};

/// Those of the other parts, and the placement from the other end, which leaves the first end alone.
const ENGINES: [&str; 5] = ["gap-list", "rbtree:linux", "rbtree:lowest", "btree:lowest", FROM_THE_END];
const FROM_THE_END: &str = "rbtree:highest";
const SEED: u64 = 20_190_910;

/// Fills half of the large zone in both ways, and looks at the small ones.
pub(super) fn add(results: &mut Results, tick: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
    let zones = Zones::new(SEED).ok_or_else(|| anyhow::anyhow!("the zones are no spans"))?;
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
            let key = run.entry.key("zones").op("alloc").param(Field::Way, way.name());
            results.of(key.clone()).total(Metric::Refused, run.failures);
            for (zone, left) in zones.zones.iter().zip(&run.left) {
                let largest = left.largest_bytes as f64 / zone.span.size_saturating() as f64;
                results
                    .of(key.clone().param(Field::Zone, zone.name).param(Field::Load, LOAD_PERCENT))
                    .put(Metric::Taken, Stat::Total, left.eaten, 1)
                    .put(Metric::LargestLeft, Stat::Total, largest, 1);
            }
        }
    }
    Ok(())
}
