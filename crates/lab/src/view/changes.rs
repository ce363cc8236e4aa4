//! What changed between two documents: the verdict of `freehold compare`.

use super::Table;
use super::findings::{Verdict, verdict};
use super::side_by_side::{self, DOCUMENTS};
use super::words::shown;
use crate::record::{Field, Record, Results, figure_like};

/// A change of less than this part is none.
const THRESHOLD: f64 = 0.05;
/// What names a figure.
const NAMES: [Field; 4] = [Field::Workload, Field::Engine, Field::Op, Field::N];
/// Changes that are shown, the largest first.
const MOST: usize = 12;

/// Figures of which less is better, before and after, that differ by the threshold and more, and beyond the spreads of both; `None` if
/// nothing was compared. As everywhere, a time of one round has no spread and is not judged.
pub(super) fn table(results: &Results) -> Option<Table> {
    let is_compared = |(before, _): &(&Record, &Record)| {
        before.metric.is_compared()
            && before.key.engine != "floor"
            && before.field(Field::When).as_deref() == Some(DOCUMENTS[0])
    };
    let mut pairs = side_by_side::pairs(results);
    pairs.retain(is_compared);
    let compared = pairs.len();
    pairs.retain(|(before, after)| verdict(after, before) != Verdict::NotJudged);
    let judged = pairs.len();
    let ratio = |(before, after): &(&Record, &Record)| after.value / before.value;
    pairs.retain(|pair| verdict(pair.1, pair.0) != Verdict::Even && (ratio(pair) - 1.0).abs() >= THRESHOLD);
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
    let once = match compared - judged {
        0 => String::new(),
        once => format!("; {once} more, measured in one round, are not judged"),
    };
    let title = format!(
        "Worse: {worse}, better: {}, of {judged} in all; by {:.0} % and more, in every round{once}",
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
