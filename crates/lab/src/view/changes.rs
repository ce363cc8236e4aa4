//! What changed between two documents: the verdict of `freehold compare`.

use super::Table;
use super::side_by_side::DOCUMENTS;
use super::words::shown;
use crate::record::{Field, Record, Results, figure_like};

/// A change of less than this part is none.
const THRESHOLD: f64 = 0.05;
/// What names a figure.
const NAMES: [Field; 4] = [Field::Workload, Field::Engine, Field::Op, Field::N];
/// Changes that are shown, the largest first.
const MOST: usize = 12;

/// Figures of which less is better, before and after, that differ by the threshold and more, and beyond the spreads of both; `None` if
/// nothing was compared.
pub(super) fn table(results: &Results) -> Option<Table> {
    let mut pairs: Vec<(&Record, &Record)> = Vec::new();
    let at = |record: &Record, when: &str| {
        record.key.engine != "floor" && record.field(Field::When).as_deref() == Some(when)
    };
    for before in
        results.records.iter().filter(|record| record.metric.is_compared() && at(record, DOCUMENTS[0]))
    {
        let key = before.key.clone().param(Field::When, DOCUMENTS[1]);
        let same =
            |after: &&Record| after.key == key && (after.metric, after.stat) == (before.metric, before.stat);
        pairs.extend(results.records.iter().find(same).map(|after| (before, after)));
    }
    let compared = pairs.len();
    let ratio = |(before, after): &(&Record, &Record)| after.value / before.value;
    pairs.retain(|pair| {
        let [[least, most], [new_least, new_most]] = [pair.0.range(), pair.1.range()];
        (new_least > most || new_most < least) && (ratio(pair) - 1.0).abs() >= THRESHOLD
    });
    pairs.sort_by(|a, b| ratio(b).ln().abs().total_cmp(&ratio(a).ln().abs()));
    let worse = pairs.iter().filter(|pair| ratio(pair) > 1.0).count();
    let row = |pair: &(&Record, &Record)| {
        let (before, after) = pair;
        let names =
            NAMES.iter().map(|&field| before.field(field).map_or_else(String::new, |of| shown(field, &of)));
        let least = before.value.min(after.value);
        let [old, new] = [before, after].map(|record| figure_like(record.metric.unit(), record.value, least));
        let figure = format!("{} {}", before.metric.name(), before.stat.name()).replace('_', " ");
        let verdict = if ratio(pair) > 1.0 { "worse" } else { "better" };
        let change = match 100.0 * (ratio(pair) - 1.0) {
            percent if percent.abs() < 1e6 => format!("{verdict}, {percent:+.0} %"),
            percent if percent.is_finite() => format!("{verdict}, {percent:+.1e} %"),
            _ => format!("{verdict}, from 0"),
        };
        names.chain([figure, old, new, change]).collect()
    };
    let header = NAMES.iter().map(|field| field.name()).chain(["figure", "before", "after", "verdict"]);
    let title = format!(
        "Worse: {worse}, better: {}, of {compared} in all; by {:.0} % and more, beyond both spreads",
        pairs.len() - worse,
        100.0 * THRESHOLD
    );
    (compared > 0).then(|| Table {
        title,
        header: header.map(str::to_owned).collect(),
        rows: pairs.iter().take(MOST).map(row).collect(),
        name_columns: NAMES.len() + 1,
        ..Table::default()
    })
}
