//! The head of the report: what is compared, where, and the figures to remember, all out of the data.

use super::Input;
use super::escape::html;
use super::growth::sizes;
use super::palette::Palette;
use super::study::Described;
use crate::family::{Entry, Replayable};
use crate::measure::{EngineRun, GrowthPoint, Replay};
use crate::output::{fixed, nanoseconds};
use std::fmt::Write;

/// Below this share of the first engine's time, another one is named as quicker; nearer to 1 is noise.
const QUICKER: f64 = 0.8;

/// A figure to remember, and what it is; both HTML.
pub(super) struct KeyFigure {
    pub(super) value: String,
    pub(super) text: String,
}

/// The head of the page.
pub(super) fn render(input: &Input<'_>, palette: &Palette) -> String {
    let mut page = String::from("<header><h1>Allocators, side by side</h1><p class=\"lead\">");
    let mut leads: Vec<&str> = input.replays.iter().map(|replay| replay.shown().lead()).collect();
    leads.dedup();
    for lead in leads {
        let _ = write!(page, "{lead} ");
    }
    page.push_str(
        "Here the engines below were given the same operations. Every answer was checked, then each engine's work \
         was counted exactly and its time taken, all engines in turn on one machine.</p>\n",
    );
    let _ =
        writeln!(page, "<p class=\"environment\">{}</p>", html(&input.environment.lines().join(" \u{b7} ")));
    page.push_str(&keys(input, palette));
    page.push_str(&engines(input, palette));
    page.push_str("</header>\n");
    page
}

fn keys(input: &Input<'_>, palette: &Palette) -> String {
    let mut keys: Vec<KeyFigure> =
        input.replays.iter().filter_map(|replay| replay.shown().slowest(palette)).collect();
    keys.extend(growth(input.growth, palette));
    keys.extend(input.replays.iter().filter_map(|replay| replay.shown().quicker(palette)));
    key_list(&keys)
}

/// The figures to remember as a row of cards; nothing of none.
pub(super) fn key_list(keys: &[KeyFigure]) -> String {
    if keys.is_empty() {
        return String::new();
    }
    let mut page = String::from("<ul class=\"keys\">");
    for key in keys {
        let _ = write!(page, "<li><b>{}</b><span>{}</span></li>", key.value, key.text);
    }
    page.push_str("</ul>\n");
    page
}

/// Each engine of the report with what it is.
fn engines(input: &Input<'_>, palette: &Palette) -> String {
    let replayed = input.replays.iter().flat_map(|replay| replay.shown().engines());
    let mut engines: Vec<Described> = Vec::new();
    for engine in replayed.chain(input.growth.iter().map(|point| Described::of(&point.entry))) {
        if engines.iter().all(|other| other.label != engine.label) {
            engines.push(engine);
        }
    }
    engine_list(&engines, palette)
}

/// Engines with what they are.
pub(super) fn engine_list(engines: &[Described], palette: &Palette) -> String {
    let mut page = String::from("<dl class=\"engines\">");
    for engine in engines {
        let mark = if engine.default { " <em>default</em>" } else { "" };
        let _ = write!(page, "<dt>{}{mark}</dt><dd>{}</dd>", palette.name(&engine.label), html(engine.about));
    }
    page.push_str("</dl>\n");
    page
}

/// A time whose unit stays on the line of its number.
fn unbroken(ns: f64) -> String {
    nanoseconds(ns).replace(' ', "\u{a0}")
}

fn comparison<F: Replayable>(
    replay: &Replay<F>,
    [run, first]: [&EngineRun<F>; 2],
    [ns, first_ns]: [f64; 2],
    op: &str,
    palette: &Palette,
) -> KeyFigure {
    let text = format!(
        "{}'s {op} against {}'s in {}: median {} against {}",
        palette.name(&run.entry.label()),
        palette.name(&first.entry.label()),
        html(&replay.workload.title()),
        unbroken(ns),
        unbroken(first_ns)
    );
    KeyFigure { value: format!("{}x", fixed(ns / first_ns)), text }
}

/// The engine with the slowest operation of the first kind, if it is slower than the first engine.
pub(super) fn slowest<F: Replayable>(replay: &Replay<F>, palette: &Palette) -> Option<KeyFigure> {
    let (first, others) = replay.runs.split_first()?;
    let first_ns = first.timed.of(0).median_ns();
    let timed = others.iter().map(|run| (run, run.timed.of(0).median_ns()));
    let (run, ns) = timed.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let noun = F::KINDS.first()?.noun;
    (first_ns > 0.0 && ns > first_ns).then(|| comparison(replay, [run, first], [ns, first_ns], noun, palette))
}

/// What another engine does quickest compared with the first: a report shows where the first one loses.
pub(super) fn quicker<F: Replayable>(replay: &Replay<F>, palette: &Palette) -> Option<KeyFigure> {
    let (first, others) = replay.runs.split_first()?;
    let pairs = others.iter().flat_map(|run| {
        let median_ns = |run: &EngineRun<F>, kind| run.timed.of(kind).median_ns();
        F::KINDS
            .iter()
            .enumerate()
            .map(move |(kind, name)| (run, median_ns(run, kind), median_ns(first, kind), name.noun))
    });
    let quicker = pairs.filter(|&(_, ns, first_ns, _)| ns > 0.0 && ns < QUICKER * first_ns);
    let (run, ns, first_ns, op) = quicker.min_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2)))?;
    Some(comparison(replay, [run, first], [ns, first_ns], op, palette))
}

/// Work at the largest size that every engine ran, and how it grew up to there.
fn growth(points: &[GrowthPoint], palette: &Palette) -> Vec<KeyFigure> {
    let at = |n: u64| points.iter().filter(move |point| point.n == n);
    let sizes = sizes(points);
    let Some((&least, rest)) = sizes.split_first() else { return Vec::new() };
    let engines = at(least).count();
    let Some(&most) = rest.iter().rev().find(|&&n| at(n).count() == engines) else { return Vec::new() };
    let Some(first) = at(most).next() else { return Vec::new() };
    let heaviest = at(most).max_by(|a, b| a.alloc_work.mean().total_cmp(&b.alloc_work.mean()));
    let Some(heaviest) = heaviest.filter(|other| other.entry.label() != first.entry.label()) else {
        return Vec::new();
    };
    let (a, b) = (palette.name(&first.entry.label()), palette.name(&heaviest.entry.label()));
    let growth = |point: &GrowthPoint| {
        let start = at(least).find(|start| start.entry.label() == point.entry.label())?;
        Some(format!("{}x", fixed(point.alloc_work.mean() / start.alloc_work.mean())))
    };
    let [least, most] = [least, most].map(crate::output::count);
    let steps = KeyFigure {
        value: format!("{} : {}", fixed(first.alloc_work.mean()), fixed(heaviest.alloc_work.mean())),
        text: format!("steps per allocation at {most} live objects, {a} against {b}"),
    };
    let grown = growth(first).zip(growth(heaviest)).map(|(first, heaviest)| KeyFigure {
        value: format!("{first} : {heaviest}"),
        text: format!("growth of work from {least} to {most} live objects, {a} against {b}"),
    });
    std::iter::once(steps).chain(grown).collect()
}
