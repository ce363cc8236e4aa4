//! Objects of mixed sizes that come and go: what a pair takes, and how dense they lie.

use super::pictures;
use super::scale::Scale;
use crate::commands::bench_percpu::rows;
use crate::commands::reproduce::{Part, times};
use crate::measure::median;
use crate::measure::percpu::{ChurnRun, Watched, churn, watch_churn};
use crate::output::{Table, count, fixed};
use crate::published::percpu::Subject;
use crate::published::{find, linux_6_12};
use crate::report::bars::{Bar, Bars, Group, Origin};
use crate::report::section::Figure;
use crate::report::{Key, Section};
use crate::workload::percpu::Churn;

/// The largest sizes, and what their workloads are called.
const SIZES: [(u32, &str); 2] = [(64, "churn-4-64"), (1024, "churn-4-1024")];

/// What was measured.
pub(super) struct Churns {
    /// Each workload on every engine.
    pub(super) runs: Vec<Churned>,
    /// The one of larger objects, looked at.
    watched: Vec<Watched>,
}

/// A workload.
pub(super) struct Churned {
    /// Its largest size, in bytes.
    pub(super) most_bytes: u32,
    workload: &'static str,
    /// Pages that would do.
    ideal_pages: u64,
    /// The engines.
    pub(super) runs: Vec<ChurnRun>,
}

/// Runs them.
pub(super) fn measure(scale: &Scale, tick: &mut dyn FnMut(&str)) -> Result<Churns, String> {
    let mut churned = Vec::new();
    for (most_bytes, workload) in SIZES {
        let plan = Churn::new(most_bytes, scale.live, scale.objects);
        let runs = churn(&scale.compared, &scale.whole, &plan, tick)?;
        churned.push(Churned { most_bytes, workload, ideal_pages: plan.ideal_pages, runs });
    }
    let plan = Churn::new(1024, scale.watched_live, 2 * scale.watched_live);
    let mut watched = Vec::new();
    for entry in &scale.hinted {
        tick(&format!("looking at {} in churn", entry.engine));
        watched.push(watch_churn(entry, &scale.on_demand, &plan)?);
    }
    Ok(Churns { runs: churned, watched })
}

/// The part.
pub(super) fn part(scale: &Scale, churns: &Churns) -> Part {
    let phases = ["placed", "replaced at random"];
    let section = Section {
        id: "churn",
        title: "Mixed sizes that come and go".to_owned(),
        about: vec![format!(
            "The posting measures one size at a time. Here {} objects of random sizes are live; one of them, at \
             random, is freed and another placed, again and again, in units of {}. What counts is the time of a \
             pair, and how many pages hold what would fit into fewer.",
            count(u64::from(scale.live)),
            scale.unit()
        )],
        figures: vec![
            Figure::Bars(bars(churns)),
            Figure::Plot(pictures::quality(&churns.watched)),
            Figure::Strips(pictures::occupancy(
                &churns.watched,
                &phases,
                "Objects of 4 to 1024 bytes, fewer than above. What is not dark is memory that nothing lies in.",
            )),
        ],
        tables: churns
            .runs
            .iter()
            .map(|churned| table(scale, churned))
            .chain([pictures::hint_table("churn-4-1024", &churns.watched)])
            .collect(),
    };
    let mut rows = Vec::new();
    for churned in &churns.runs {
        let mut measured = rows::churn(churned.workload, &churned.runs, scale.unit_bytes);
        for row in measured.iter_mut().filter(|row| row.engine == Some("bitmap-linux")) {
            row.published = published_ns(churned.most_bytes);
            row.published_unit = row.published.map(|_| "ns for a pair");
        }
        rows.extend(measured);
    }
    rows.extend(pictures::hint_rows("churn-4-1024", &churns.watched));
    Part { section, rows, keys: keys(churns), ..Part::default() }
}

fn published_ns(most_bytes: u32) -> Option<f64> {
    let figure = find(&linux_6_12::TABLE, Subject::Churn(most_bytes))?;
    figure.after.map(|ns| ns.in_base() * 1e9)
}

fn table(scale: &Scale, churned: &Churned) -> Table {
    let title = format!(
        "{}, units of {}: {} pages would do; Linux 6.12 in units of 32 KiB: {} ns/pair",
        churned.workload,
        scale.unit(),
        count(churned.ideal_pages),
        published_ns(churned.most_bytes).map_or_else(|| "-".to_owned(), fixed)
    );
    let mut table = Table::new(title, &["engine", "ns/pair", "pages", "of ideal"]);
    for run in &churned.runs {
        let pages = run.end.populated_pages;
        table.row(vec![
            run.entry.engine.to_owned(),
            fixed(median(&run.pair_ns)),
            count(pages),
            format!("{:.3}", pages as f64 / churned.ideal_pages.max(1) as f64),
        ]);
    }
    table
}

fn bars(churns: &Churns) -> Bars {
    let group = |churned: &Churned| {
        let measured = churned.runs.iter().map(|run| Bar {
            name: run.entry.engine.to_owned(),
            value: median(&run.pair_ns),
            origin: Origin::Measured,
        });
        let published = published_ns(churned.most_bytes).map(|value| Bar {
            name: "Linux 6.12".to_owned(),
            value,
            origin: Origin::Published,
        });
        let name = format!("4 to {} B", churned.most_bytes);
        Group { name, bars: measured.chain(published).collect() }
    };
    Bars {
        heading: "A free and an allocation".to_owned(),
        reading: "Shaded: the kernel's own code, run in User Mode Linux in units of 32 KiB.".to_owned(),
        scale: "ns for a pair".to_owned(),
        groups: churns.runs.iter().map(group).collect(),
    }
}

fn keys(churns: &Churns) -> Vec<Key> {
    let Some(churned) = churns.runs.last() else { return Vec::new() };
    let of = |engine: &str| churned.runs.iter().find(|run| run.entry.engine == engine);
    let Some((linux, ours)) = of("bitmap-linux").zip(of("bitmap")) else { return Vec::new() };
    let ideal = |run: &ChurnRun| run.end.populated_pages as f64 / churned.ideal_pages.max(1) as f64;
    vec![Key {
        value: times(median(&linux.pair_ns), median(&ours.pair_ns)),
        text: format!(
            "Linux 6.12's placement over ours for a free and an allocation of 4 to 1024 bytes; pages {:.3} of \
             ideal against {:.3}",
            ideal(linux),
            ideal(ours)
        ),
    }]
}
