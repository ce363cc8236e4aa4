//! The whole test before and after: 160 minutes and 3 minutes in the talk.

use super::runs::{KERNEL_LOOPS, SuiteRuns};
use super::samples;
use crate::commands::reproduce::{Part, row, times};
use crate::measure::{Sampled, SampledRun, Sum, Total};
use crate::output::{Row, Table, count, fixed, nanoseconds};
use crate::published::{Figure as PublishedFigure, Published, Subject, find, rework_2019_v3, talk_2019};
use crate::report::plot::{Axis, Plot, Unit};
use crate::report::section::Figure;
use crate::report::{Key, Section};
use crate::workload::suite::CASES;

/// Nearer to 1 than this is noise.
const SLOWER: f64 = 1.1;

/// What the two ways of running the test are called in rows.
pub(super) const TOGETHER: &str = "test, all cases together";
const IN_TURN: &str = "test, each case by itself";

/// The part.
pub(super) fn part(runs: &SuiteRuns) -> Part {
    let section = Section {
        id: "suite",
        title: "The whole test, before and after".to_owned(),
        about: about(runs),
        figures: vec![Figure::Plot(progress(&runs.together))],
        tables: vec![
            whole(runs),
            cases(runs, "work of an allocation, mean", work_text),
            cases(runs, "time of an allocation, mean of the least of its rounds", ns_text),
            slower(runs),
        ],
    };
    let mut rows = rows_of(TOGETHER, &runs.together, published(&talk_2019::TABLE, Subject::SuiteTogether));
    rows.extend(rows_of_cases(&runs.together, "together"));
    rows.extend(rows_of(IN_TURN, &runs.in_turn, published(&rework_2019_v3::TABLE, Subject::SuiteInTurn)));
    rows.extend(rows_of_cases(&runs.in_turn, "by itself"));
    Part { section, rows, notes: notes(runs), keys: keys(runs), ..Part::default() }
}

fn about(runs: &SuiteRuns) -> Vec<String> {
    vec![
        format!(
            "The talk's test took 160 minutes before the rework and 3 minutes after it, on four CPUs that \
             each ran all cases in an order of its own. Here four CPUs' cases go into one space, a pair of \
             operations of one CPU or another in turn: {} loops of each case, {} times over with the cases \
             in another order. A case by itself hardly fragments the space, and hardly separates the \
             engines; beside what the others hold, the gap allocator walks.",
            count(runs.loops),
            runs.shuffles
        ),
        "With so few loops the setups weigh more than in the kernel's run of 1_000_000 loops. The bodies \
         by themselves, and the extrapolation (marked *), say what becomes of the ratio."
            .to_owned(),
    ]
}

/// Sampled operations, those around them, and both, for the samples that every engine got through.
fn sums(sampled: &Sampled, run: &SampledRun) -> [Sum; 3] {
    let [bodies, around] = run.sums(sampled.common());
    [bodies, around, bodies + around]
}

/// What one run with the kernel's number of loops would take. Cases that run once do not grow with it.
fn extrapolated_ns(runs: &SuiteRuns, run: &SampledRun) -> f64 {
    let [bodies, around, _] = sums(&runs.together, run);
    let totals = runs.together.parts.iter().zip(runs.together.totals(run));
    let once = totals.filter(|(part, _)| CASES.iter().any(|case| case.once && case.name == **part));
    let once_ns: u64 = once.map(|(_, total)| total.ns).sum();
    let grows_ns = bodies.ns.saturating_sub(once_ns);
    extrapolate(grows_ns, around.ns + once_ns, runs.loops, runs.shuffles)
}

/// The time of one run of the kernel's loops, given that of all runs of so many loops: what grows with them, and what
/// does not.
fn extrapolate(grows_ns: u64, stays_ns: u64, loops: u64, runs: u64) -> f64 {
    (stays_ns as f64 + grows_ns as f64 * KERNEL_LOOPS as f64 / loops as f64) / runs as f64
}

/// How many times as much of a figure the gap allocator, which is the first, has as the rework, the second.
fn before_and_after(sampled: &Sampled, figure: impl Fn(&SampledRun) -> f64) -> Option<f64> {
    let (before, after) = (sampled.runs.first()?, sampled.runs.get(1)?);
    Some(figure(before) / figure(after)).filter(|ratio| ratio.is_finite())
}

/// The ratio of the whole test, and that of the bodies alone.
pub(super) fn ratios(sampled: &Sampled) -> [Option<f64>; 2] {
    [
        before_and_after(sampled, |run| sums(sampled, run)[2].ns as f64),
        before_and_after(sampled, |run| sums(sampled, run)[0].ns as f64),
    ]
}

fn published(table: &'static Published, subject: Subject) -> Option<f64> {
    find(table, subject)?.ratio()
}

/// A figure of every engine, and below it how many times as much the first one has.
struct Compared<'a> {
    name: &'static str,
    published: Option<&'static PublishedFigure>,
    sampled: &'a Sampled,
    figure: &'a dyn Fn(&SampledRun) -> f64,
    text: fn(f64) -> String,
}

impl Compared<'_> {
    fn add_to(&self, table: &mut Table) {
        let runs = &self.sampled.runs;
        let first = runs.first().map_or(0.0, self.figure);
        let published = |text: fn(&PublishedFigure) -> String| self.published.map_or_else(String::new, text);
        let mut cells = vec![self.name.to_owned(), published(PublishedFigure::ends_text)];
        cells.extend(runs.iter().map(|run| (self.text)((self.figure)(run))));
        table.row(cells);
        let mut cells = vec!["  before / this".to_owned(), published(PublishedFigure::ratio_text)];
        cells.extend(runs.iter().map(|run| ratio_text(first / (self.figure)(run))));
        table.row(cells);
    }
}

fn whole(runs: &SuiteRuns) -> Table {
    let mut table = Table::new("The whole test: published beside this run", &["", "published"]);
    let (together, alone) = (&runs.together, &runs.in_turn);
    table.header.extend(together.runs.iter().map(|run| run.entry.label()));
    let talk = find(&talk_2019::TABLE, Subject::SuiteTogether);
    let letter = find(&rework_2019_v3::TABLE, Subject::SuiteInTurn);
    type FigureOf<'a> = &'a dyn Fn(&SampledRun) -> f64;
    let mut add = |name, published, sampled, figure: FigureOf<'_>, text| {
        Compared { name, published, sampled, figure, text }.add_to(&mut table);
    };
    add("together", talk, together, &|run| sums(together, run)[2].ns as f64, nanoseconds);
    add("together, bodies", None, together, &|run| sums(together, run)[0].ns as f64, nanoseconds);
    if together.runs.iter().all(|run| together.complete(run)) {
        add("together, extrapolated *", talk, together, &|run| extrapolated_ns(runs, run), nanoseconds);
    }
    add("together, steps", None, together, &|run| sums(together, run)[2].work as f64, fixed);
    add("by itself", letter, alone, &|run| sums(alone, run)[2].ns as f64, nanoseconds);
    add("by itself, steps", None, alone, &|run| sums(alone, run)[2].work as f64, fixed);
    table
}

/// A quotient, if there is one.
fn ratio_text(ratio: f64) -> String {
    if ratio.is_finite() { format!("{}x", fixed(ratio)) } else { "-".to_owned() }
}

fn work_text(total: &Total) -> String {
    fixed(total.work as f64 / total.allocs.max(1) as f64)
}

fn ns_text(total: &Total) -> String {
    nanoseconds(total.ns as f64 / total.allocs.max(1) as f64)
}

/// A figure of each case, by itself and together with the others.
fn cases(runs: &SuiteRuns, what: &str, text: fn(&Total) -> String) -> Table {
    let title = format!("Case by case, by itself and together: {what}");
    let mut table = Table { name_columns: 2, ..Table::new(title, &["case", ""]) };
    table.header.extend(runs.in_turn.runs.iter().map(|run| run.entry.label()));
    for part in &runs.in_turn.parts {
        for (way, sampled) in [("itself", &runs.in_turn), ("together", &runs.together)] {
            let of = |run: &SampledRun| {
                let total = total_of(sampled, run, part).filter(|total| total.allocs > 0);
                total.map_or_else(|| "-".to_owned(), |total| text(&total))
            };
            let mut cells = vec![(*part).to_owned(), way.to_owned()];
            cells.extend(sampled.runs.iter().map(of));
            table.row(cells);
        }
    }
    table
}

fn total_of(sampled: &Sampled, run: &SampledRun, part: &str) -> Option<Total> {
    let at = sampled.parts.iter().position(|name| *name == part)?;
    sampled.totals(run).get(at).copied()
}

/// Where one of ours is slower than what it follows: case by case, against the quicker of the gap allocator and the
/// rework.
fn slower(runs: &SuiteRuns) -> Table {
    let header = ["case", "engine", "time", "work", "against", "time", "work", "ratio"];
    let title = "Where ours is slower than the gap allocator or the rework: mean of an allocation";
    let mut table = Table { name_columns: 2, ..Table::new(title, &header) };
    for (way, sampled) in [("together", &runs.together), ("by itself", &runs.in_turn)] {
        for part in &sampled.parts {
            let mean = |run: &SampledRun| {
                let total = total_of(sampled, run, part).filter(|total| total.allocs > 0)?;
                Some((total.ns as f64 / total.allocs as f64, total))
            };
            let (others, ours) = sampled.runs.split_at(sampled.runs.len().min(2));
            let quickest = others.iter().filter_map(|run| Some((run, mean(run)?)));
            let quickest = quickest.min_by(|(_, (a, _)), (_, (b, _))| a.total_cmp(b));
            let Some((other, (other_ns, other_total))) = quickest else { continue };
            for run in ours {
                let Some((ns, total)) = mean(run).filter(|(ns, _)| *ns > SLOWER * other_ns) else { continue };
                table.row(vec![
                    format!("{part} {way}"),
                    run.entry.label(),
                    nanoseconds(ns),
                    work_text(&total),
                    other.entry.label(),
                    nanoseconds(other_ns),
                    work_text(&other_total),
                    times(ns, other_ns),
                ]);
            }
        }
    }
    table
}

/// The time that each engine needs to get so far.
fn progress(sampled: &Sampled) -> Plot {
    let longest = sampled.runs.iter().map(|run| run.samples.len()).max().unwrap_or(0);
    let line = |run: &SampledRun| {
        let mut spent = 0;
        let mut values: Vec<Option<f64>> = Vec::new();
        for sample in &run.samples {
            spent += sample.sampled.least_ns() + sample.around.least_ns();
            values.push(Some(spent as f64));
        }
        values.resize(longest, None);
        samples::line(run, vec![values])
    };
    let reading = "All cases together, setups and all. The lines' distance at the end is the ratio of the \
                   whole test; where the gap allocator's line is steep, it walks. A line that ends early \
                   ran out of time.";
    let axes = [samples::axis(longest), Axis::log("time since the start", Unit::Nanoseconds)];
    Plot {
        wide: true,
        switch: true,
        named: true,
        lines: sampled.runs.iter().map(line).collect(),
        at: samples::numbers(longest),
        ..Plot::new("Time to get so far in the test", reading, axes)
    }
}

fn keys(runs: &SuiteRuns) -> Vec<Key> {
    let [whole, bodies] = ratios(&runs.together);
    let mut keys = Vec::new();
    if let (Some(whole), Some(bodies)) = (whole, bodies) {
        let published = published(&talk_2019::TABLE, Subject::SuiteTogether).map_or_else(String::new, fixed);
        keys.push(Key {
            value: format!("{}x", fixed(bodies)),
            text: format!(
                "the gap allocator's time for the bodies of the test over the rework's, setups included \
                 {}x; the talk's whole test {published}x",
                fixed(whole)
            ),
        });
    }
    keys
}

fn notes(runs: &SuiteRuns) -> Vec<String> {
    let mut notes = Vec::new();
    for (name, sampled) in [(TOGETHER, &runs.together), (IN_TURN, &runs.in_turn)] {
        let common = sampled.common();
        for run in sampled.runs.iter().filter(|run| run.out_of_time) {
            let (label, got) = (run.entry.label(), run.samples.len());
            notes.push(format!(
                "{name}: {label} was stopped for time after {got} samples; all are compared there."
            ));
        }
        if sampled.runs.iter().any(|run| !sampled.complete(run)) {
            notes.push(format!("{name}: not run to its end; the figures are of its first {common} samples."));
        }
        if sampled.runs.iter().all(|run| run.failures == 0) {
            continue;
        }
        let refused = |run: &SampledRun| format!("{} {}", run.entry.label(), count(run.failures));
        let refused: Vec<String> = sampled.runs.iter().map(refused).collect();
        notes.push(format!(
            "{name}: requests refused (align_shift asks for alignments that the space has no room for): {}.",
            refused.join(", ")
        ));
    }
    if runs.together.runs.iter().all(|run| runs.together.complete(run)) {
        notes.push(
            "* extrapolated to one run of the kernel's 1_000_000 loops: the bodies' time multiplied up, that of \
             setups and of align_shift, which runs once, as it is; not measured."
                .to_owned(),
        );
    }
    notes
}

/// One row for each engine: the whole test.
fn rows_of(workload: &str, sampled: &Sampled, published: Option<f64>) -> Vec<Row> {
    let first_ns = sampled.runs.first().map_or(0, |run| sums(sampled, run)[2].ns);
    let row = |run: &SampledRun| {
        let [bodies, around, all] = sums(sampled, run);
        let per_op = |sum: u64| sum as f64 / all.ops.max(1) as f64;
        let is_rework = run.entry.placement == Some("linux");
        Row {
            count: Some(all.ops),
            ns_median: Some(per_op(all.ns)),
            work_mean: Some(per_op(all.work)),
            ratio: (first_ns > 0).then(|| all.ns as f64 / first_ns as f64),
            failures: Some(run.failures),
            // The gap allocator's time over the rework's.
            published: published.filter(|_| is_rework),
            published_unit: published.filter(|_| is_rework).map(|_| "before / after"),
            note: Some(format!("least of rounds; bodies {} ns, setups {} ns", bodies.ns, around.ns)),
            ..row(workload, &run.entry, "loop")
        }
    };
    sampled.runs.iter().map(row).collect()
}

fn rows_of_cases(sampled: &Sampled, way: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for part in &sampled.parts {
        for run in &sampled.runs {
            let costs = sampled.costs_of_part(run, part);
            let row = row(part, &run.entry, "alloc");
            rows.push(Row { note: Some(way.to_owned()), ..samples::costs_row(row, &costs) });
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loops_are_extrapolated_and_to_one_run() {
        assert_eq!(extrapolate(100, 0, KERNEL_LOOPS, 1), 100.0);
        // Three runs of a thousandth of the loops, 30 ns of loops and 6 ns of setups together.
        assert_eq!(extrapolate(30, 6, KERNEL_LOOPS / 1000, 3), 10_002.0);
    }
}
