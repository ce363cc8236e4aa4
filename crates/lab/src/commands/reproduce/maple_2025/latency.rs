//! What a call costs: the posting's `do_mmap`, and our maps' part of it.

use crate::commands::reproduce::Part;
use crate::engine::vma::find_engines;
use crate::family::{Entry, Family, Maple};
use crate::measure::measure;
use crate::output::{Row, Table, count, fixed, nanoseconds};
use crate::published::do_mmap_2025::DO_MMAP;
use crate::report::Section;
use crate::workload::Workload;

/// Timed rounds.
const ROUNDS: usize = 3;

/// The part.
pub(super) fn part(stress: &Workload<Maple>, tick: &mut dyn FnMut(&str)) -> anyhow::Result<Part> {
    let replay = measure(stress.clone(), &find_engines(&[])?, ROUNDS, tick)?;
    let mut table = Table::new(
        "The time of a call in stress-ng --mmap, on the map alone; do_mmap as published, whole",
        &["who", "op", "calls", "p50", "p99", "mean of a run"],
    );
    for (name, latency) in ["published, before", "published, after"].into_iter().zip(DO_MMAP) {
        let mean = nanoseconds(latency.average_ns as f64);
        table.row(vec![
            name.to_owned(),
            "do_mmap".to_owned(),
            count(latency.count),
            "-".into(),
            "-".into(),
            mean,
        ]);
    }
    let mut rows = Vec::new();
    let mut firsts: Vec<f64> = Vec::new();
    for run in &replay.runs {
        for (at, kind) in Maple::KINDS.iter().enumerate().take(4) {
            let mut times = run.timed.of(at).all_ns;
            let (median, p99) = (times.percentile(500), times.percentile(990));
            table.row(vec![
                run.entry.label(),
                kind.op.to_owned(),
                count(times.len() as u64 / ROUNDS as u64),
                nanoseconds(median as f64),
                nanoseconds(p99 as f64),
                nanoseconds(times.mean()),
            ]);
            if firsts.len() <= at {
                firsts.push(median as f64);
            }
            let published =
                (at == 0).then(|| DO_MMAP.first().map(|before| before.average_ns as f64)).flatten();
            rows.push(Row {
                workload: Some("stress-mmap".to_owned()),
                op: Some(kind.op),
                count: Some(times.len() as u64),
                ns_median: Some(median as f64),
                ns_p99: Some(p99),
                ratio: firsts.get(at).filter(|first| **first > 0.0).map(|first| median as f64 / first),
                published,
                published_unit: published.map(|_| "ns in the mean, all of do_mmap, before"),
                ..run.entry.row()
            });
        }
        table.row(vec![
            run.entry.label(),
            "any".to_owned(),
            count(stress.ops.len() as u64),
            "-".to_owned(),
            "-".to_owned(),
            nanoseconds(run.timed.loop_median_ns()),
        ]);
    }
    let gain = DO_MMAP[0].average_ns as f64 / DO_MMAP[1].average_ns as f64;
    let section = Section {
        id: "latency",
        title: "What a call costs".to_owned(),
        about: vec![format!(
            "The posting looked for a regression in do_mmap and found it {}x quicker. A whole do_mmap is locks, limits, \
             accounting and the tree; here is the map's part alone, with finding what is there and merging with \
             neighbours. Which formula asks makes no difference here: nodes come from the tree's own slab, and only \
             those that are taken are asked for, so there is one time for all planners. The same calls on a BTreeMap of \
             the standard library stand beside it.",
            fixed(gain)
        )],
        tables: vec![table],
        ..Section::default()
    };
    Ok(Part { section, rows, ..Part::default() })
}
