//! `freehold doctor --systems`: every type under the answers of other systems, and under every refusal, with its contents checked.
//!
//! ```text
//!   types      what each is asked for, and what of it is checked
//!   cell       one type under one system, in a process of its own
//!   mod        all of them, side by side, as a table
//! ```

mod cell;
mod types;

pub use cell::{Under, run};

use crate::concurrent::place::cpus;
use cell::{ERRORS, EXACTLY, Served, When};
use freehold_harness::supervisor;
use freehold_harness::systems::{Refusable, System};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use types::TYPES;

/// What the hidden command is called that runs one cell.
pub const CELL: &str = "run-under";

/// A row of the table.
struct Row {
    name: String,
    /// What its cells are made of: one system, or one call refused by each number.
    under: Vec<Under>,
}

fn rows() -> Vec<Row> {
    let systems =
        System::ALL.into_iter().map(|system| Row { name: system.name(), under: vec![Under::System(system)] });
    let exactly = Row { name: EXACTLY.to_owned(), under: vec![Under::Exactly] };
    let refusals = Refusable::ALL.into_iter().flat_map(|call| {
        When::ALL.iter().map(move |&when| Row {
            name: format!("{}, {}", call.name, when.name()),
            under: ERRORS.into_iter().map(|errno| Under::Refused(call, errno, when)).collect(),
        })
    });
    systems.chain([exactly]).chain(refusals).collect()
}

/// What a process of a cell said.
type Said = Result<Served, String>;

/// A process of its own for a cell.
fn command(program: &Path, name: &str, under: Under) -> Command {
    let mut command = Command::new(program);
    // One arena: others take their memory by calls that are refused here.
    command.args([CELL, name, &under.to_string()]).env("MALLOC_ARENA_MAX", "1").stdin(Stdio::null());
    if let Under::System(system) = under {
        system.prepare(&mut command);
    }
    command
}

/// Runs a cell.
fn spawn(program: &Path, name: &str, under: Under) -> Said {
    let output = command(program, name, under).output().map_err(|error| error.to_string())?;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        return Err(format!("{}: {}", output.status, err.lines().next().unwrap_or_default()));
    }
    let mut words = out.split_whitespace().map_while(|word| word.parse().ok());
    let mut next = || words.next().ok_or_else(|| format!("no figures: {out}"));
    Ok(([next()?, next()?, next()?], next()?))
}

/// What a cell shows, and whether it is right: contents always are; what is served is all that the type served before, once nothing is
/// refused any more, and wherever there is a fallback.
fn judge(under: Under, (served, answered): Served, whole: [u64; 3]) -> (String, bool) {
    let percent = |round: usize| 100 * served[round] / whole[round].max(1);
    let shown = |round| if served == whole { "all".to_owned() } else { format!("{} %", percent(round)) };
    match under {
        Under::System(system) => (shown(2), served == whole || !system.takes_back()),
        Under::Exactly => (shown(2), served == whole),
        Under::Refused(..) if answered == 0 => ("-".to_owned(), served == whole),
        Under::Refused(_, _, When::Always | When::Late) => (shown(2), true),
        // Abilities that were refused at their trial have their fallback for good.
        Under::Refused(_, _, When::First) => (shown(2), served[1..] == whole[1..]),
        Under::Refused(_, _, When::While | When::Once) => (shown(1), served[2] == whole[2]),
    }
}

/// The table, with what failed below it, and whether anything did.
///
/// # Errors
/// This process can have no supervisor, or a type does not run here as it is.
pub fn table(program: &Path) -> anyhow::Result<(String, bool)> {
    if !supervisor::is_possible() {
        let lacking = "the kernel lets this process have no filter of system calls with a listener";
        return Err(crate::failure::Failure::Lacking(lacking.to_owned()).into());
    }
    let here = TYPES.iter().map(|entry| spawn(program, entry.name, Under::System(System::Here)));
    let here: Vec<Served> =
        here.collect::<Result<_, _>>().map_err(|error| anyhow::anyhow!("as it is: {error}"))?;
    let mut rows = rows();
    let mut not_run = String::new();
    // Only root becomes nobody, and only if that one may run the program.
    let nobody = command(program, TYPES[0].name, Under::System(System::Nobody)).output();
    if let Err(error) = nobody {
        rows.retain(|row| row.name != System::Nobody.name());
        not_run = format!("not run: {}: {error}\n", System::Nobody.name());
    }
    let of_row = |(row, of): (usize, &Row)| {
        let cell = move |under| (0..TYPES.len()).map(move |column| (row, column, under));
        of.under.clone().into_iter().flat_map(cell).collect::<Vec<_>>()
    };
    let cells: Vec<(usize, usize, Under)> = rows.iter().enumerate().flat_map(of_row).collect();
    let mut shown = vec![vec![String::new(); TYPES.len()]; rows.len()];
    let mut failures = String::new();
    for (&(row, column, under), said) in cells.iter().zip(all(program, &cells)) {
        let (whole, cell) = (here[column].0, &mut shown[row][column]);
        let judged = said.and_then(|served| match judge(under, served, whole) {
            (text, true) => Ok(text),
            (_, false) => Err(format!("served {served:?} of {whole:?}")),
        });
        match judged {
            Ok(text) if cell.is_empty() || worth(&text) < worth(cell) => *cell = text,
            Ok(_) => {}
            Err(wrong) => {
                FAILED.clone_into(cell);
                failures.push_str(&format!("{} under {under}: {wrong}\n", TYPES[column].name));
            }
        }
    }
    Ok((lines(&rows, &shown) + &not_run + &failures, !failures.is_empty()))
}

/// What a cell shows that is wrong.
const FAILED: &str = "FAILED";

/// How good it is what a cell shows: of several numbers of errors the worst is shown.
fn worth(cell: &str) -> u64 {
    match cell {
        FAILED => 0,
        "-" => 102,
        "all" => 101,
        percent => percent.trim_end_matches(" %").parse().unwrap_or(0),
    }
}

/// What each cell said, in their order. As many run at once as there are CPUs.
fn all(program: &Path, cells: &[(usize, usize, Under)]) -> Vec<Said> {
    let next = AtomicUsize::new(0);
    let said: Vec<OnceLock<Said>> = cells.iter().map(|_| OnceLock::new()).collect();
    let work = || {
        while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&at| at < cells.len()) {
            let (_, column, under) = cells[at];
            said[at].get_or_init(|| spawn(program, TYPES[column].name, under));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..cpus() {
            // One thread does it all where there can be no other.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    said.into_iter()
        .map(|said| said.into_inner().unwrap_or_else(|| Err("it was not run".to_owned())))
        .collect()
}

fn lines(rows: &[Row], shown: &[Vec<String>]) -> String {
    let mut text = format!("{:<25}", "");
    TYPES.iter().for_each(|entry| text.push_str(&format!("{:>12}", entry.name)));
    text.push('\n');
    // What no type calls in its rounds is no row.
    let asked = |cells: &&Vec<String>| cells.iter().any(|cell| cell != "-");
    for (row, cells) in rows.iter().zip(shown).filter(|(_, cells)| asked(cells)) {
        text.push_str(&format!("{:<25}", row.name));
        cells.iter().for_each(|cell| text.push_str(&format!("{cell:>12}")));
        text.push('\n');
    }
    text
}
