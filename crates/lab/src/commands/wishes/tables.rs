//! The wishes for people and programs: one table of all workloads, a verdict for each wish, rows.

use super::{Measured, PLAIN, WISHES, Wish};
use crate::commands::default_mark;
use crate::measure::bench::BenchRun;
use crate::output::{Document, Row, Table, count, fixed};

/// Less than this part of the other's instructions is a gain; the other's less than this part of it, a loss.
const FEWER: f64 = 0.97;
/// The same of time, which where the memory happens to lie moves by some percent, round after round.
const FASTER: f64 = 0.9;

/// One engine's figures on one workload, per operation.
#[derive(Clone, Copy)]
struct Figures {
    work: f64,
    instructions: Option<f64>,
    /// Time of each round, in nanoseconds.
    ns: f64,
}

impl Figures {
    fn of(measured: &Measured, engine: &str) -> Option<Self> {
        let at = measured.bench.runs.iter().position(|run| run.entry.label() == engine)?;
        let run = measured.bench.runs.get(at)?;
        let instructions = measured.instructions.get(at).copied();
        Some(Self { work: work(run), instructions, ns: median(&run.pair_ns)? / 2.0 })
    }
}

/// What becomes of a wish.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// Fewer instructions or less time, and not more of the other.
    Pays,
    /// More of one, and not less of the other.
    Costs,
    /// More of one and less of the other.
    Mixed,
    /// Neither.
    Nothing,
}

impl Verdict {
    fn of(with: Figures, without: Figures) -> Self {
        let instructions = with.instructions.zip(without.instructions);
        let fewer = instructions.is_some_and(|(with, without)| with < FEWER * without);
        let more = instructions.is_some_and(|(with, without)| without < FEWER * with);
        let gains = fewer || with.ns < FASTER * without.ns;
        let loses = more || without.ns < FASTER * with.ns;
        match (gains, loses) {
            (true, false) => Self::Pays,
            (false, true) => Self::Costs,
            (true, true) => Self::Mixed,
            (false, false) => Self::Nothing,
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Pays => "pays",
            Self::Costs => "costs",
            Self::Mixed => "mixed",
            Self::Nothing => "-",
        }
    }
}

/// Adds everything.
pub(super) fn describe(document: &mut Document, all: &[Measured]) {
    let title = "The talk's wishes, per operation; time and instructions as ratios to the plain tree as well";
    let header =
        ["workload", "n", "engine", "work", "instructions", "ratio", "ns", "ratio", "does the wish pay?"];
    let mut table = Table::new(title, &header);
    table.name_columns = 3;
    for measured in all {
        for run in &measured.bench.runs {
            let Some(figures) = Figures::of(measured, &run.entry.label()) else { continue };
            table.row(cells(measured, run, figures));
            document.rows.push(row(measured, run, figures));
        }
    }
    document.tables.push(table);
    for wish in &WISHES {
        document.notes.extend(summary(wish, all));
    }
    document.notes.push(
        "A wish pays where it takes 3 % fewer instructions or 10 % less time than the engine it is beside, and not \
         as much more of the other; mixed is less of one and more of the other. (Where memory happens to lie moves \
         times by some percent, and no number of rounds helps.) Work is nodes visited, changed or \
         rotated; times are medians over rounds of allocations and frees together, the engines taking turns; \
         answers were checked before. Instructions are callgrind's, of a shorter run."
            .to_owned(),
    );
}

fn cells(measured: &Measured, run: &BenchRun, figures: Figures) -> Vec<String> {
    let label = run.entry.label();
    let plain = Figures::of(measured, PLAIN);
    let ratio = |ours: Option<f64>, plain: Option<f64>| {
        let ratio = ours.zip(plain).filter(|(_, plain)| *plain > 0.0).map(|(ours, plain)| ours / plain);
        ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}x"))
    };
    let wish = WISHES.iter().find(|wish| wish.engine == label);
    let verdict = wish.and_then(|wish| Figures::of(measured, wish.beside));
    vec![
        measured.bench.workload.case.name.to_owned(),
        measured.bench.workload.n.map_or_else(|| "-".to_owned(), count),
        label,
        fixed(figures.work),
        figures.instructions.map_or_else(|| "-".to_owned(), fixed),
        ratio(figures.instructions, plain.and_then(|plain| plain.instructions)),
        fixed(figures.ns),
        ratio(Some(figures.ns), plain.map(|plain| plain.ns)),
        verdict.map_or("", |without| Verdict::of(figures, without).text()).to_owned(),
    ]
}

/// Where a wish pays and where it costs; `None` if no engine of the list has it.
fn summary(wish: &Wish, all: &[Measured]) -> Option<String> {
    let verdicts: Vec<(String, Verdict)> = all
        .iter()
        .filter_map(|measured| {
            let (with, without) = (Figures::of(measured, wish.engine)?, Figures::of(measured, wish.beside)?);
            let workload = &measured.bench.workload;
            let size = workload.n.filter(|_| workload.case.sized).map(|n| format!(" {}", count(n)));
            let name = format!("{}{}", workload.case.name, size.unwrap_or_default());
            Some((name, Verdict::of(with, without)))
        })
        .collect();
    if verdicts.is_empty() {
        return None;
    }
    let of = |verdict| {
        let names = verdicts.iter().filter(|(_, other)| *other == verdict).map(|(name, _)| name.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    let kinds = [
        ("pays on", Verdict::Pays),
        ("costs on", Verdict::Costs),
        ("mixed on", Verdict::Mixed),
        ("changes nothing on", Verdict::Nothing),
    ];
    let parts = kinds.map(|(text, verdict)| (text, of(verdict)));
    let parts = parts.iter().filter(|(_, names)| !names.is_empty());
    let parts: Vec<String> = parts.map(|(text, names)| format!("{text} {names}")).collect();
    Some(format!("{} ({} beside {}): {}.", wish.name, wish.engine, wish.beside, parts.join("; ")))
}

fn row(measured: &Measured, run: &BenchRun, figures: Figures) -> Row {
    let plain = Figures::of(measured, PLAIN).filter(|plain| plain.ns > 0.0);
    Row {
        suite: "kva",
        workload: Some(measured.bench.workload.case.name.to_owned()),
        engine: Some(run.entry.engine),
        placement: run.entry.placement,
        default: default_mark(&run.entry),
        n: measured.bench.workload.n,
        op: Some("loop"),
        count: Some((run.round * run.pair_ns.len()) as u64),
        ns_median: Some(figures.ns),
        ratio: plain.map(|plain| figures.ns / plain.ns),
        work_mean: Some(figures.work),
        instructions_mean: figures.instructions,
        ..Row::default()
    }
}

/// Mean work of allocations and frees together.
fn work(run: &BenchRun) -> f64 {
    let kinds = [&run.alloc_work, &run.free_work];
    let (sum, operations) = kinds.iter().fold((0.0, 0), |(sum, operations), work| {
        (sum + work.mean() * work.len() as f64, operations + work.len())
    });
    sum / operations.max(1) as f64
}

fn median(times: &[f64]) -> Option<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_needs_more_than_noise() {
        let figures = |instructions, ns| Figures { work: 1.0, instructions, ns };
        let plain = figures(Some(100.0), 50.0);
        for (instructions, ns, verdict) in [
            (99.0, 46.0, Verdict::Nothing),
            (90.0, 46.0, Verdict::Pays),
            (99.0, 40.0, Verdict::Pays),
            (104.0, 50.0, Verdict::Costs),
            (101.0, 60.0, Verdict::Costs),
            (104.0, 40.0, Verdict::Mixed),
        ] {
            assert!(Verdict::of(figures(Some(instructions), ns), plain) == verdict, "{instructions} {ns}");
        }
        assert!(Verdict::of(figures(None, 40.0), plain) == Verdict::Pays);
    }
}
