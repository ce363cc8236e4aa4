//! Who is ahead and who behind: the default engine against the best of the others, by one rule. One is ahead of the other
//! if all of its rounds are below all of the other's; what is exact has no spread.

use super::Table;
use super::bars::bar;
use super::escape::html;
use super::palette::Palette;
use super::words::{capital, recorded, shown};
use crate::record::{Metric, Origin, Record, Results, Stat, figure, fixed};
use serde::{Serialize, Serializer};
use std::fmt::Write;

/// Parameters that tell one finding from another, beside the number of objects.
const TOLD: [&str; 3] = ["size", "order", "way"];

/// Where the default engine is ahead of the best rival in nothing, or behind it in nothing.
const NOTHING: &str = "in nothing, beyond both spreads.";

/// The default engine beside the best of the others, as documents have it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Whether the default engine is ahead.
    #[serde(rename = "verdict", serialize_with = "verdict")]
    pub ahead: bool,
    /// What was run.
    pub what: String,
    /// The other.
    pub rival: String,
    /// What is compared.
    pub metric: Metric,
    /// The default engine's figure.
    pub ours: f64,
    /// The rival's.
    pub theirs: f64,
    /// The default engine.
    #[serde(skip)]
    engine: String,
    /// What was run, whatever its size.
    #[serde(skip)]
    group: String,
    /// How much it counts: recordings before what was made, times before counts.
    #[serde(skip)]
    weight: (bool, bool),
}

fn verdict<S: Serializer>(ahead: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(if *ahead { "ahead" } else { "behind" })
}

impl Finding {
    /// How many times as much the loser has.
    pub fn factor(&self) -> f64 {
        if self.ahead { self.theirs / self.ours } else { self.ours / self.theirs }
    }
}

/// What was found: recordings first, then times, then the largest factors.
pub fn findings(results: &Results) -> Vec<Finding> {
    let compared = |record: &&Record| {
        let stat = match record.metric {
            Metric::Time => Stat::Median,
            Metric::Work | Metric::Instructions => Stat::Mean,
            // Of a zone they are what others took.
            Metric::Pages if record.key.suite == "percpu" => Stat::Total,
            _ => return false,
        };
        record.stat == stat && record.metric.is_compared() && record.origin == Origin::Measured
    };
    let records: Vec<&Record> = results.records.iter().filter(compared).collect();
    let mut found: Vec<Finding> = records
        .iter()
        .filter(|ours| ours.key.default)
        .filter_map(|ours| {
            // Where there is a loop over everything, its parts are single operations, as coarse as the clock.
            let in_loop = |other: &&Record| {
                other.key.op == "loop"
                    && other.key.workload == ours.key.workload
                    && other.metric == Metric::Time
            };
            if ours.metric == Metric::Time && ours.key.op != "loop" && records.iter().any(in_loop) {
                return None;
            }
            let rivals = records.iter().filter(|other| {
                other.metric == ours.metric
                    && other.key.compares(&ours.key)
                    && other.key.engine != "floor"
                    && !other.key.ours
                    && !other.key.default
            });
            let best = rivals.min_by(|a, b| a.value.total_cmp(&b.value))?;
            finding(ours, best)
        })
        .collect();
    found.sort_by(|a, b| b.weight.cmp(&a.weight).then(b.factor().total_cmp(&a.factor())));
    // Of one thing at several sizes, the size at which most is gained, and that at which most is lost.
    let mut told: Vec<(bool, String)> = Vec::new();
    found.retain(|finding| {
        let this = (finding.ahead, finding.group.clone());
        let is_new = !told.contains(&this);
        told.extend(is_new.then_some(this));
        is_new
    });
    found
}

fn finding(ours: &Record, best: &Record) -> Option<Finding> {
    // One round alone has no spread that anything could be beyond.
    let alone = |record: &Record| !record.metric.is_exact() && record.spread.is_none_or(|[lo, hi]| lo >= hi);
    if alone(ours) || alone(best) {
        return None;
    }
    let [our_least, our_most] = ours.range();
    let [their_least, their_most] = best.range();
    let ahead = our_most < their_least;
    if !ahead && their_most >= our_least || ours.value <= 0.0 || best.value <= 0.0 {
        return None;
    }
    let params: Vec<String> =
        TOLD.iter().filter_map(|name| ours.key.field(name).map(|of| shown(name, &of))).collect();
    let op = Some(ours.key.op.clone()).filter(|op| !op.is_empty() && op != "loop");
    let metric = (ours.metric != Metric::Time).then(|| ours.metric.name().to_owned());
    let workload = shown("workload", &ours.key.workload);
    let parts = [workload].into_iter().chain(op).chain(params).chain(metric);
    let group = parts.collect::<Vec<_>>().join(", ");
    let n = ours.key.field("n").map(|n| shown("n", &n)).filter(|n| !group.contains(n));
    let n = n.map_or_else(String::new, |n| format!(", n {n}"));
    Some(Finding {
        what: group.clone() + &n,
        engine: ours.key.label(),
        rival: best.key.label(),
        ours: ours.value,
        theirs: best.value,
        metric: ours.metric,
        ahead,
        group,
        weight: (recorded(&ours.key.workload).is_some(), ours.metric == Metric::Time),
    })
}

/// At most so many of either as sentences, each with its two bars.
pub(super) fn sentences(findings: &[Finding], most: usize, palette: &Palette) -> String {
    let mut page = String::new();
    for (ahead, word) in [(true, "Ahead"), (false, "Behind")] {
        let these: Vec<&Finding> = findings.iter().filter(|finding| finding.ahead == ahead).collect();
        if these.is_empty() {
            if !findings.is_empty() {
                let _ = writeln!(page, "<h3>{word}</h3><p class=\"about\">{}</p>", capital(NOTHING));
            }
            continue;
        }
        let shown = match these.len().saturating_sub(most) {
            0 => String::new(),
            rest => format!(" {rest} more are in the tables."),
        };
        let _ = write!(
            page,
            "<h3>{word}</h3><p class=\"about\">The default engine and the best of its rivals, where all rounds of the one \
             are below all of the other's.{shown}</p><ul class=\"findings\">"
        );
        for finding in these.into_iter().take(most) {
            page.push_str(&sentence(finding, palette));
        }
        page.push_str("</ul>\n");
    }
    page
}

fn sentence(finding: &Finding, palette: &Palette) -> String {
    let of = match finding.metric {
        Metric::Time => "the time",
        Metric::Pages => "the pages",
        Metric::Instructions => "the instructions",
        _ => "the steps",
    };
    let (less, more) =
        if finding.ahead { (&finding.rival, &finding.engine) } else { (&finding.engine, &finding.rival) };
    let mut text = format!(
        "<li><p>{}: {} takes <b>{}x</b> {of} of {}.</p>",
        html(&capital(&finding.what)),
        palette.name(less),
        fixed(finding.factor()),
        palette.name(more)
    );
    let largest = finding.ours.max(finding.theirs);
    for (engine, value) in [(&finding.engine, finding.ours), (&finding.rival, finding.theirs)] {
        let figure = figure(finding.metric.unit(), value);
        text.push_str(&bar(engine, &palette.class(engine), 100.0 * value / largest, &figure));
    }
    text.push_str("</li>");
    text
}

/// At most so many of either, as tables: first where the default engine is ahead, then where it is behind. One of them without
/// rows says that there is nothing.
pub(super) fn tables(findings: &[Finding], most: usize) -> Vec<Table> {
    let table = |ahead: bool| {
        let these: Vec<&Finding> = findings.iter().filter(|finding| finding.ahead == ahead).collect();
        let [word, factor] = if ahead { ["Ahead", "gain"] } else { ["Behind", "loss"] };
        let rest = these.len().saturating_sub(most);
        let more = if rest > 0 { format!(" (the largest {most} of {})", these.len()) } else { String::new() };
        let row = |finding: &&Finding| {
            let [ours, theirs] =
                [finding.ours, finding.theirs].map(|value| figure(finding.metric.unit(), value));
            vec![
                finding.what.clone(),
                finding.rival.clone(),
                ours,
                theirs,
                format!("{}x", fixed(finding.factor())),
            ]
        };
        if these.is_empty() {
            return Table { title: format!("{word}: {NOTHING}"), ..Table::default() };
        }
        Table {
            title: format!("{word}: the default engine and the best rival, beyond both spreads{more}"),
            header: ["what", "rival", "ours", "theirs", factor].map(str::to_owned).to_vec(),
            rows: these.iter().take(most).map(row).collect(),
            name_columns: 2,
        }
    };
    if findings.is_empty() { Vec::new() } else { [true, false].map(table).into() }
}
