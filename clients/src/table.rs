//! What is measured, and the table of it: our memory and a client's own do the same work by turns, A B B A, and what they
//! answer is checked by the work itself.

use crate::Answer;
use std::hint::black_box;
use std::time::Instant;

/// How much is done.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Rounds of each side that are timed, after one that is not.
    pub rounds: usize,
    /// Whether loads are a fraction of what is compared, since answers are wanted and no times.
    pub is_check: bool,
}

impl Effort {
    /// A load: all of it, or a tenth.
    pub fn of(self, load: usize) -> usize {
        if self.is_check { load.div_ceil(10) } else { load }
    }
}

/// One comparison.
pub struct Row {
    what: String,
    ours: Figure,
    its: Figure,
    ratio: Ratio,
    aim: Aim,
}

/// What is aimed at.
#[derive(Clone, Copy)]
enum Aim {
    Nothing,
    /// A ratio of at most that.
    Ratio(f64),
    /// So many of ours at most.
    Ours(f64),
}

struct Figure {
    value: f64,
    unit: Unit,
}

#[derive(Clone, Copy)]
pub enum Unit {
    Nanoseconds,
    Bytes,
    Mappings,
    Number,
}

/// Ours by its: the median of all rounds, the least and the greatest.
struct Ratio {
    median: f64,
    spread: Option<(f64, f64)>,
}

/// Times `ours` and `its` by turns. Each does its work once for `count` items and checks what it answers.
pub fn compare(
    effort: Effort,
    what: &str,
    count: usize,
    mut ours: impl FnMut() -> Answer<()>,
    mut its: impl FnMut() -> Answer<()>,
) -> Answer<Row> {
    let each = count as f64;
    measure(effort, what, Unit::Nanoseconds, || timed(each, &mut ours), || timed(each, &mut its))
}

/// The time of one of `count` items of some work.
fn timed(count: f64, work: &mut impl FnMut() -> Answer<()>) -> Answer<f64> {
    let started = Instant::now();
    black_box(work())?;
    Ok(started.elapsed().as_nanos() as f64 / count)
}

/// Measures `ours` and `its` by turns. Each checks what it answers, and says what it took.
pub fn measure(
    effort: Effort,
    what: &str,
    unit: Unit,
    mut ours: impl FnMut() -> Answer<f64>,
    mut its: impl FnMut() -> Answer<f64>,
) -> Answer<Row> {
    let mut taken = [Vec::new(), Vec::new()];
    for round in 0..=effort.rounds {
        for turn in 0..2 {
            let side = (round + turn) % 2;
            let value = match side {
                0 => ours(),
                _ => its(),
            }
            .map_err(|error| format!("{what}, {}: {error}", ["ours", "its own"][side]))?;
            if round > 0 {
                taken[side].push(value);
            }
        }
    }
    let mut ratios: Vec<f64> = taken[0].iter().zip(&taken[1]).map(|(ours, its)| ours / its).collect();
    ratios.sort_by(f64::total_cmp);
    let [ours, its] = taken.map(|taken| Figure { value: median(taken), unit });
    let ratio = Ratio { median: median(ratios.clone()), spread: Some((ratios[0], ratios[ratios.len() - 1])) };
    Ok(Row { what: what.to_owned(), ours, its, ratio, aim: Aim::Nothing })
}

/// Sets a count of ours beside its.
pub fn count(what: &str, unit: Unit, ours: u64, its: u64) -> Row {
    let [ours, its] = [ours, its].map(|value| Figure { value: value as f64, unit });
    let ratio = Ratio { median: ours.value / its.value, spread: None };
    Row { what: what.to_owned(), ours, its, ratio, aim: Aim::Nothing }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { (values[half - 1] + values[half]) / 2.0 }
}

impl Row {
    /// The ratio that is aimed at.
    pub fn at_most(self, ratio: f64) -> Self {
        Self { aim: Aim::Ratio(ratio), ..self }
    }

    /// The same of a count that is the same each time: more is an error.
    pub fn must_be_at_most(self, ratio: f64) -> Answer<Self> {
        match self.ours.value > ratio * self.its.value {
            true => Err(format!(
                "{}: {} beside {}, not {ratio} times as many at most",
                self.what,
                self.ours.shown(),
                self.its.shown()
            )
            .into()),
            false => Ok(self.at_most(ratio)),
        }
    }

    /// How many of ours there may be, whatever its are. More are an error: no noise moves a count.
    pub fn of_ours_at_most(self, most: u64) -> Answer<Self> {
        match self.ours.value > most as f64 {
            true => Err(format!("{}: {}, not {most} at most", self.what, self.ours.shown()).into()),
            false => Ok(Self { aim: Aim::Ours(most as f64), ..self }),
        }
    }
}

impl Figure {
    fn shown(&self) -> String {
        let Self { value, unit } = *self;
        match unit {
            Unit::Nanoseconds if value < 1e3 => format!("{value:.1} ns"),
            Unit::Nanoseconds if value < 1e6 => format!("{:.1} us", value / 1e3),
            Unit::Nanoseconds => format!("{:.1} ms", value / 1e6),
            Unit::Bytes => format!("{:.0} KiB", value / 1024.0),
            Unit::Mappings => format!("{value:.0} maps"),
            Unit::Number => format!("{value:.0}"),
        }
    }
}

/// Prints the heads of the columns.
pub fn print_head() {
    println!(
        "{:<15}{:<33}{:>10}{:>10}{:>8}  {:<13}{:>7}",
        "", "", "ours", "its own", "ratio", "rounds", "at most"
    );
}

/// Prints how many lines of glue a client has.
pub fn print_lines(client: &str, lines: usize, most: usize) {
    let verdict = if lines > most { "  more" } else { "" };
    println!("{client:<15}{:<33}{lines:>10}{most:>40}{verdict}", "lines of glue");
}

/// Prints the rows of a client.
pub fn print(client: &str, rows: &[Row]) {
    for row in rows {
        let spread = row.ratio.spread.map_or(String::new(), |(least, most)| format!("{least:.2}-{most:.2}"));
        let (aim, is_met) = match row.aim {
            Aim::Nothing => (String::new(), true),
            // As far as it is printed.
            Aim::Ratio(most) => (format!("{most}"), (row.ratio.median * 100.0).round() <= most * 100.0),
            Aim::Ours(most) => (format!("{most} maps"), row.ours.value <= most),
        };
        let verdict = if is_met { "" } else { "  more" };
        let ratio = if row.its.value > 0.0 { format!("{:.2}", row.ratio.median) } else { String::new() };
        println!(
            "{client:<15}{:<33}{:>10}{:>10}{ratio:>8}  {spread:<13}{aim:>7}{verdict}",
            row.what,
            row.ours.shown(),
            row.its.shown(),
        );
    }
}
