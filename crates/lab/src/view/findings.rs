//! Who is ahead and who behind: the default engine against today's Linux and against the best of the others, in time, in the tail
//! and in memory. One is ahead of the other if all of its rounds are below all of the other's. Exact figures have no spread, and a
//! figure of one round is not judged.
//!
//! Work is not compared: engines count it in units of their own.

use super::Table;
use super::bars::bar;
use super::escape::html;
use super::palette::Palette;
use super::words::{capital, recorded, shown};
use crate::engine::outside::GUEST;
use crate::named::named;
use crate::record::{Field, Metric, Origin, Record, Results, Stat, figure, fixed};
use serde::Serialize;
use std::collections::HashSet;
use std::fmt::Write;

/// Parameters that tell one finding from another, beside the number of objects.
const TOLD: [Field; 3] = [Field::Size, Field::Order, Field::Way];

named! {
    /// How the default engine's figure compares.
    Verdict {
        Ahead     "ahead"      "All of its rounds are below all of the other's."
        Behind    "behind"     "All of its rounds are above all of the other's."
        Even      "even"       "The rounds of both overlap."
        NotJudged "not judged" "One of both was measured in one round."
    }
}

/// The default engine beside another, as documents have it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// How it compares.
    pub verdict: Verdict,
    /// What was run.
    pub what: String,
    /// The other.
    pub rival: String,
    /// The other is today's Linux; otherwise it is the best of all others.
    pub linux: bool,
    /// What is compared.
    pub metric: Metric,
    /// Which figure of it.
    pub stat: Stat,
    /// The default engine's figure.
    pub ours: f64,
    /// The rival's.
    pub theirs: f64,
    /// The rival's figure was estimated.
    #[serde(skip)]
    estimated: bool,
    /// The default engine.
    #[serde(skip)]
    engine: String,
    /// The place of its figure among all records.
    #[serde(skip)]
    at: usize,
    #[serde(skip)]
    workload: String,
    /// What was run, whatever its size.
    #[serde(skip)]
    group: String,
}

impl Finding {
    /// How many times as much the loser has.
    pub fn factor(&self) -> f64 {
        let ratio = self.theirs / self.ours;
        if self.verdict == Verdict::Behind { ratio.recip() } else { ratio }
    }

    /// Recordings before what was made, then times, tails, memory.
    fn weight(&self) -> (bool, usize) {
        let place = MEASURES.iter().position(|(measure, _)| measure.contains(&(self.metric, self.stat)));
        (recorded(&self.workload).is_none(), place.unwrap_or(MEASURES.len()))
    }

    /// What is measured, as columns call it.
    fn measure(&self) -> &'static str {
        MEASURES.get(self.weight().1).map_or("", |(_, name)| name)
    }

    fn theirs_text(&self) -> String {
        figure(self.metric.unit(), self.theirs) + if self.estimated { " ~" } else { "" }
    }
}

/// What the words of the first table mean.
const READING: &str = "Of others: their figure, and how many times freehold's it is. No word: freehold is ahead in every round; behind: \
     it is behind in every round; even: the rounds of both overlap. p99.9: one operation in 1,000 takes longer. bytes: what an \
     engine holds for itself; ~: estimated.";

/// What is judged, by the columns that it stands in.
const MEASURES: [(&[(Metric, Stat)], &str); 5] = [
    (&[(Metric::Time, Stat::Median)], "time"),
    (&[(Metric::Time, Stat::P999)], "p99.9"),
    (
        &[(Metric::Metadata, Stat::Max), (Metric::Resident, Stat::Max), (Metric::Resident, Stat::Mean)],
        "bytes",
    ),
    (&[(Metric::Pages, Stat::Total)], "pages"),
    (&[(Metric::Instructions, Stat::Mean)], "instructions"),
];

/// What was found: recordings first, then times, then the largest factors.
pub fn findings(results: &Results) -> Vec<Finding> {
    let judged = |record: &&Record| {
        // Pages of a zone are what others took.
        (record.metric != Metric::Pages || record.key.suite == "percpu")
            && MEASURES.iter().any(|(measure, _)| measure.contains(&(record.metric, record.stat)))
            && matches!(record.origin, Origin::Measured | Origin::Estimated)
            && record.value > 0.0
            // What is set side by side with itself is another view's.
            && record.field(Field::When).is_none()
    };
    let records: Vec<&Record> = results.records.iter().filter(judged).collect();
    // Where there is a loop over everything, medians of its parts are single operations, as coarse as the clock.
    let is_part = |ours: &Record| {
        (ours.metric, ours.stat) == (Metric::Time, Stat::Median)
            && ours.key.op != "loop"
            && records.iter().any(|other| {
                other.metric == Metric::Time
                    && other.key.op == "loop"
                    && other.key.workload == ours.key.workload
            })
    };
    let mut found = Vec::new();
    for (at, ours) in records.iter().enumerate().filter(|(_, ours)| ours.key.default && !is_part(ours)) {
        let rivals = records.iter().copied().filter(|other| {
            (other.metric, other.stat) == (ours.metric, ours.stat)
                && other.key.compares(&ours.key)
                && other.key.engine != "floor"
                && !other.key.engine.starts_with(GUEST)
                && !other.key.ours
                && !other.key.default
        });
        let (linux, others): (Vec<_>, Vec<_>) = rivals.partition(|other| other.key.linux);
        for them in [linux, others] {
            let best = them.into_iter().min_by(|a, b| a.value.total_cmp(&b.value));
            found.extend(best.map(|best| finding(at, ours, best)));
        }
    }
    found.sort_by(|a, b| a.weight().cmp(&b.weight()).then(b.factor().total_cmp(&a.factor())));
    found
}

pub(super) fn verdict(ours: &Record, theirs: &Record) -> Verdict {
    if [ours, theirs].iter().any(|record| !record.metric.is_exact() && record.spread.is_none()) {
        return Verdict::NotJudged;
    }
    let [our_least, our_most] = ours.range();
    let [their_least, their_most] = theirs.range();
    match (our_most < their_least, their_most < our_least) {
        (true, _) => Verdict::Ahead,
        (_, true) => Verdict::Behind,
        (false, false) => Verdict::Even,
    }
}

fn finding(at: usize, ours: &Record, best: &Record) -> Finding {
    let params: Vec<String> =
        TOLD.iter().filter_map(|&field| ours.key.field(field).map(|of| shown(field, &of))).collect();
    let op = Some(ours.key.op.clone()).filter(|op| !op.is_empty() && op != "loop");
    let workload = shown(Field::Workload, &ours.key.workload);
    let group = [workload].into_iter().chain(op).chain(params).collect::<Vec<_>>().join(", ");
    let n = ours.key.field(Field::N).map(|n| shown(Field::N, &n)).filter(|n| !group.contains(n));
    let n = n.map_or_else(String::new, |n| format!(", n {n}"));
    Finding {
        verdict: verdict(ours, best),
        what: group.clone() + &n,
        engine: ours.key.label(),
        at,
        rival: best.key.label(),
        linux: best.key.linux,
        ours: ours.value,
        theirs: best.value,
        estimated: best.origin == Origin::Estimated,
        metric: ours.metric,
        stat: ours.stat,
        workload: ours.key.workload.clone(),
        group,
    }
}

/// Those of a verdict. Of one thing at several sizes the one with the largest factor stands for all.
fn of(findings: &[Finding], verdict: Verdict) -> Vec<&Finding> {
    let mut told: Vec<&Finding> = Vec::new();
    for finding in findings.iter().filter(|finding| finding.verdict == verdict) {
        let same = |other: &&Finding| {
            (&other.group, other.linux, other.metric, other.stat)
                == (&finding.group, finding.linux, finding.metric, finding.stat)
        };
        if !told.iter().any(same) {
            told.push(finding);
        }
    }
    told
}

/// What there is to say where nothing is ahead, or behind; nothing if nothing was compared.
fn nothing(findings: &[Finding], verdict: Verdict) -> Option<String> {
    let judged = findings.iter().filter(|finding| finding.verdict != Verdict::NotJudged).count();
    let word = capital(verdict.name());
    (judged > 0).then(|| format!("{word} in every round: in none of {judged} figures."))
}

/// What was measured in one round, if anything was.
fn not_judged(findings: &[Finding]) -> Option<String> {
    let these: Vec<&Finding> =
        findings.iter().filter(|finding| finding.verdict == Verdict::NotJudged).collect();
    let mut workloads: Vec<String> =
        these.iter().map(|finding| shown(Field::Workload, &finding.workload)).collect();
    let mut known = HashSet::new();
    workloads.retain(|workload| known.insert(workload.clone()));
    let (count, workloads) = (these.len(), workloads.join(", "));
    (count > 0).then(|| format!("Not judged, as measured in one round: {workloads} ({count})."))
}

/// The recorded workloads, each on the default engine, on today's Linux and on the best of the others; `None` of none.
pub(super) fn heads(findings: &[Finding]) -> Option<Table> {
    let mut workloads: Vec<&str> =
        findings.iter().map(|finding| &*finding.workload).filter(|of| recorded(of).is_some()).collect();
    let mut known = HashSet::new();
    workloads.retain(|workload| known.insert(*workload));
    let mut rows = Vec::new();
    for workload in workloads {
        let of = |linux: bool, at: usize| {
            let is = |finding: &&Finding| {
                finding.workload == workload && finding.linux == linux && finding.weight().1 == at
            };
            // Of several operations the first, which is looked at most.
            findings.iter().filter(is).min_by_key(|finding| finding.at)
        };
        let name = capital(&shown(Field::Workload, workload));
        let ours = |at: usize| {
            let finding = of(true, at).or_else(|| of(false, at));
            finding.map_or_else(|| "-".to_owned(), |finding| figure(finding.metric.unit(), finding.ours))
        };
        rows.push([vec![name], (0..3).map(ours).collect()].concat());
        for linux in [true, false] {
            let Some(first) = of(linux, 0) else { continue };
            let who =
                if linux { format!("  Linux ({})", first.rival) } else { "  best of the others".to_owned() };
            let theirs = |at: usize| of(linux, at).map_or_else(|| "-".to_owned(), beside);
            rows.push([vec![who], (0..3).map(theirs).collect()].concat());
        }
    }
    let title =
        "Recorded workloads on freehold, and below on Linux's allocator and on the best of the others";
    let header = ["", "time", "p99.9", "bytes"].map(str::to_owned).to_vec();
    (!rows.is_empty()).then(|| Table {
        title: title.to_owned(),
        header,
        rows,
        name_columns: 1,
        reading: READING.to_owned(),
    })
}

/// How many figures are behind and ahead, and the largest of either.
pub(super) fn summary(findings: &[Finding]) -> String {
    let judged = findings.iter().filter(|finding| finding.verdict != Verdict::NotJudged).count();
    let say = |verdict: Verdict| {
        let these = findings.iter().filter(|finding| finding.verdict == verdict);
        let most = these.clone().max_by(|a, b| a.factor().total_cmp(&b.factor()));
        let most = most.map_or_else(String::new, |most| {
            let (what, measure, factor) = (&most.what, most.measure(), fixed(most.factor()));
            format!(", the most {factor}x the {measure} ({what}; {})", most.rival)
        });
        format!("{} in {} of {} figures{most}.", capital(verdict.name()), these.count(), judged)
    };
    [Verdict::Behind, Verdict::Ahead].map(say).join(" ")
}

/// What workloads of address ranges are for.
const USES: [(&str, &[&str]); 4] = [
    ("one after another", &["churn", "burst", "fix_size", "random_size", "long_busy_list"]),
    ("aligned", &["aligned", "aligned-5", "aligned-20", "aligned-2m", "fix_align", "random_size_align"]),
    ("windows", &["zone"]),
    ("fills", &["seqfill", "full_fit", "holes"]),
];

/// Times by what they are for: how many times as long Linux and the best of the others take, in the mean. Nothing of less than
/// two uses.
fn uses(findings: &[Finding]) -> Option<Table> {
    let row = |(of, workloads): &(&str, &[&str])| {
        let of_use = |linux: bool| {
            let is = move |finding: &&Finding| {
                finding.linux == linux && finding.weight().1 == 0 && workloads.contains(&&*finding.workload)
            };
            let ratios: Vec<f64> =
                findings.iter().filter(is).map(|finding| finding.theirs / finding.ours).collect();
            let logs: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
            let behind = findings.iter().filter(is).filter(|finding| finding.verdict == Verdict::Behind);
            let mean = fixed((logs / ratios.len().max(1) as f64).exp());
            let text = format!("{mean}x, freehold behind in {} of {}", behind.count(), ratios.len());
            (!ratios.is_empty()).then_some(text)
        };
        let cells = [true, false].map(of_use);
        let text = |cell: Option<String>| cell.unwrap_or_else(|| "-".to_owned());
        cells.iter().any(Option::is_some).then(|| [vec![(*of).to_owned()], cells.map(text).to_vec()].concat())
    };
    let rows: Vec<Vec<String>> = USES.iter().filter_map(row).collect();
    let title = "Times by use, geometric means: how many times as long as freehold others take".to_owned();
    let header = ["use", "Linux", "best of the others"].map(str::to_owned).to_vec();
    let of = |(of, workloads): &(&str, &[&str])| {
        let run = |workload: &&&str| findings.iter().any(|finding| finding.workload == **workload);
        let run: Vec<&str> = workloads.iter().filter(run).copied().collect();
        (!run.is_empty()).then(|| format!("{of}: {}", run.join(", ")))
    };
    let reading = USES.iter().filter_map(of).collect::<Vec<_>>().join("; ");
    (rows.len() > 1).then_some(Table { title, header, rows, name_columns: 1, reading })
}

/// The other's figure, by the default engine's; and what is to be said of it, unless freehold is ahead.
fn beside(finding: &Finding) -> String {
    let word = match finding.verdict {
        Verdict::Ahead => String::new(),
        verdict => format!(", {}", verdict.name()),
    };
    format!("{} {}x{word}", finding.theirs_text(), fixed(finding.theirs / finding.ours))
}

/// At most so many of either as sentences, each with its two bars.
pub(super) fn sentences(findings: &[Finding], most: usize, palette: &Palette) -> String {
    let mut page = String::new();
    for table in heads(findings).iter().chain(&uses(findings)) {
        page.push_str(&super::table::render(table, palette));
    }
    for (verdict, word) in [(Verdict::Behind, "Behind"), (Verdict::Ahead, "Ahead")] {
        let these = of(findings, verdict);
        if these.is_empty() {
            let nothing = nothing(findings, verdict).unwrap_or_default();
            let _ = writeln!(page, "<p class=\"about\">{nothing}</p>");
            continue;
        }
        let shown = match these.len().saturating_sub(most) {
            0 => String::new(),
            rest => format!(" {rest} more are in the tables."),
        };
        let _ = write!(
            page,
            "<h3>{word}</h3><p class=\"about\">The default engine beside Linux and the best of the others, where all rounds \
             of the one are below all of the other's.{shown}</p><ul class=\"findings\">"
        );
        for finding in these.into_iter().take(most) {
            page.push_str(&sentence(finding, palette));
        }
        page.push_str("</ul>\n");
    }
    if let Some(not_judged) = not_judged(findings) {
        let _ = writeln!(page, "<p class=\"about\">{}</p>", html(&not_judged));
    }
    page
}

fn sentence(finding: &Finding, palette: &Palette) -> String {
    let (less, more) = if finding.verdict == Verdict::Ahead {
        (&finding.rival, &finding.engine)
    } else {
        (&finding.engine, &finding.rival)
    };
    let mut text = format!(
        "<li><p>{}: {} takes <b>{}x</b> the {} of {}.</p>",
        html(&capital(&finding.what)),
        palette.name(less),
        fixed(finding.factor()),
        finding.measure(),
        palette.name(more)
    );
    let largest = finding.ours.max(finding.theirs);
    let ours = figure(finding.metric.unit(), finding.ours);
    for (engine, value, figure) in
        [(&finding.engine, finding.ours, ours), (&finding.rival, finding.theirs, finding.theirs_text())]
    {
        text.push_str(&bar(engine, &palette.class(engine), 100.0 * value / largest, &figure));
    }
    text.push_str("</li>");
    text
}

/// The heads, and at most so many findings of either kind: first where the default engine is behind, then where it is ahead. A
/// table without rows says that there is nothing.
pub(super) fn tables(findings: &[Finding], most: usize) -> Vec<Table> {
    // They say what `~` is.
    let heads = heads(findings);
    let table = |(verdict, word, factor): (Verdict, &str, &str)| {
        let these = of(findings, verdict);
        if these.is_empty() {
            return nothing(findings, verdict).map(|title| Table { title, ..Table::default() });
        }
        let rest = these.len().saturating_sub(most);
        let more = if rest > 0 { format!(", {most} of {}", these.len()) } else { String::new() };
        let is_estimated = these.iter().take(most).any(|finding| finding.estimated);
        let reading = if is_estimated && heads.is_none() {
            "~: estimated, or what an engine from outside reports."
        } else {
            ""
        };
        let row = |finding: &&Finding| {
            vec![
                finding.what.clone(),
                finding.measure().to_owned(),
                finding.rival.clone(),
                figure(finding.metric.unit(), finding.ours),
                finding.theirs_text(),
                format!("{}x", fixed(finding.factor())),
            ]
        };
        Some(Table {
            title: format!("{word} Linux or the best of the others in every round{more}"),
            header: ["what", "figure", "rival", "ours", "theirs", factor].map(str::to_owned).to_vec(),
            rows: these.iter().take(most).map(row).collect(),
            name_columns: 3,
            reading: reading.to_owned(),
        })
    };
    let kinds = [(Verdict::Behind, "Behind", "loss"), (Verdict::Ahead, "Ahead of", "gain")];
    let not_judged = not_judged(findings).map(|title| Table { title, ..Table::default() });
    let found: Vec<Table> = kinds.into_iter().filter_map(table).collect();
    heads.into_iter().chain(uses(findings)).chain(found).chain(not_judged).collect()
}
