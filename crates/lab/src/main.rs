//! The program `freehold`: reads the command line, runs the command, writes what it found.

#![forbid(unsafe_code)]

mod cli;

use clap::{CommandFactory, Parser};
use cli::{Cli, Command, Common, Format};
use freehold_lab::Progress;
use freehold_lab::commands::{self, definition};
use freehold_lab::failure::{Failure, usage};
use freehold_lab::record::{Document, Environment, Results, read};
use freehold_lab::{concurrent, run, study, systems, view};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// As the standard library says it of a panic.
const PANICKED: u8 = 101;
/// Something failed or differs.
const FAILED: u8 = 1;
/// Where pages go, under the build folder of the repository, where the program is started.
const PAGES: &str = "target/freehold";

/// Bytes of the stack that commands run on.
const STACK: usize = 8 << 20;

/// Runs on a thread with a stack of its own, since the first one's may be limited to less than commands need; or here, where
/// there can be no thread.
fn main() -> ExitCode {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(with_stack);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // The panic has said its message.
        Ok(Err(_)) => ExitCode::from(PANICKED),
        Err(_) => with_stack(),
    }
}

fn with_stack() -> ExitCode {
    let cli = Cli::parse();
    match run_command(&cli) {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::from(FAILED),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "freehold: {error:#}");
            ExitCode::from(error.downcast_ref::<Failure>().map_or(FAILED, Failure::exit_code))
        }
    }
}

/// What a command made: its name, its results, and where its page goes if it has one.
type Made = (String, Results, Option<PathBuf>);

/// Runs the command; whether something differed.
fn run_command(cli: &Cli) -> anyhow::Result<bool> {
    if cli.command.is_some() && cli.report.is_some() {
        return usage("--report of a command goes after the command");
    }
    let Some(command) = &cli.command else {
        let results = commands::main_job::run(&mut Progress::default())?;
        let page = cli.report.clone().unwrap_or_else(|| Path::new(PAGES).join("report.html"));
        let made = ("freehold".to_owned(), results, Some(page));
        return finish(&cli.common, &Environment::here(), made, false);
    };
    let mut progress = Progress::default();
    let shown = |name: &str, results| (name.to_owned(), results, None);
    let made: Made = match command {
        Command::CountInstructions { workload, n, engine } => {
            commands::instructions::run_under_callgrind(workload, *n, engine)?;
            return Ok(false);
        }
        Command::MeasureResident { workload, engine } => {
            let bytes = concurrent::measure_resident(workload, engine)?;
            return print(bytes.iter().map(|bytes| format!("{bytes}\n")).collect::<String>().as_bytes());
        }
        Command::RunUnder { name, under } => {
            return print(format!("{}\n", systems::run(name, under.parse()?)?).as_bytes());
        }
        Command::Doctor { systems: true } => {
            let (text, failed) = systems::table(&std::env::current_exe()?)?;
            return print(text.as_bytes()).map(|_| failed);
        }
        Command::Doctor { systems: false } => {
            use commands::doctor::{checks, json, text};
            if cli.common.json {
                return print(json(&checks().collect::<Vec<_>>()).as_bytes());
            }
            // Each is told at once: a later one may take long, or end the program.
            return checks().try_fold(false, |_, check| print(text(&check).as_bytes()));
        }
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "freehold", &mut text);
            return print(&text);
        }
        Command::Man => {
            let mut text = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut text)?;
            return print(&text);
        }
        Command::Show { all, report, file } => {
            let (name, results, environment) = read(file.as_deref())?;
            if let Some(page) = report {
                view::write(page, &definition(&name)?, &results, &environment)?;
            }
            return finish(&cli.common, &environment, (name, results, None), *all);
        }
        Command::Verify { files } => shown("verify", commands::verify::run(files, &mut progress)),
        Command::Replay { files, engine, instructions: true, .. } => {
            shown("replay", commands::instructions::run(files, engine, &mut progress)?)
        }
        Command::Replay { files, engine, rounds, report, .. } => {
            let files: Vec<_> = files.iter().map(|file| (file.as_str(), *rounds)).collect();
            ("replay".to_owned(), commands::replay::run(&files, engine, &mut progress)?, report.clone())
        }
        Command::Bench { subject, options } => {
            let results = commands::bench::run(*subject, options, &mut progress)?;
            shown(&format!("bench {}", subject.name()), results)
        }
        Command::Reproduce { what, options, report } => {
            let page = || Path::new(PAGES).join(format!("{}.html", what.name()));
            let results = study::run(*what, options, &mut progress)?;
            (format!("reproduce {}", what.name()), results, Some(report.clone().unwrap_or_else(page)))
        }
        Command::Suffer { subject, sequence, n } => {
            commands::adversary::run_under_callgrind(*subject, *sequence, *n)?;
            return Ok(false);
        }
        Command::Stress { subject, options, adversary } if adversary.adversary => {
            let seed = options.seed;
            if *options != (run::stress::Options { seed, ..Default::default() }) {
                return usage("stress --adversary has --largest, --sequence, --search, --seed and --keep");
            }
            let results = commands::adversary::run(*subject, adversary, seed, &mut progress)?;
            shown("stress --adversary", results)
        }
        Command::Stress { subject, options, .. } => {
            let results = commands::stress::run(*subject, options, &mut progress)?;
            shown(&format!("stress {}", subject.name()), results)
        }
        Command::Compare { before, after } => shown("compare", commands::compare::run(before, after)?),
        Command::Inspect { file } => shown("inspect", commands::inspect::run(file)?),
    };
    drop(progress);
    finish(&cli.common, &Environment::here(), made, false)
}

/// Writes the page, then the results; whether something differed.
fn finish(
    common: &Common,
    environment: &Environment,
    (command, results, page): Made,
    all: bool,
) -> anyhow::Result<bool> {
    let definition = definition(&command)?;
    let found = view::findings(&results);
    let document = Document::of(&command, environment, &results, &found);
    let format = if common.json { Format::Json } else { common.format };
    let mut text = match format {
        Format::Screen => view::screen(&definition, &results, environment, all),
        Format::Lkml => view::lkml(&definition, &results, environment, all),
        Format::Json => document.text()?,
    };
    if let Some(file) = page {
        view::write(&file, &definition, &results, environment)?;
        document.keep()?;
        match format {
            // A JSON document stays one document: the path goes where people look.
            Format::Json => drop(writeln!(std::io::stderr(), "report: {}", file.display())),
            Format::Screen | Format::Lkml => text.push_str(&format!("report: {}\n", file.display())),
        }
    }
    print(text.as_bytes())?;
    Ok(results.failed)
}

/// Writes to standard output. That whoever reads it has had enough is no failure.
fn print(text: &[u8]) -> anyhow::Result<bool> {
    match std::io::stdout().lock().write_all(text) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(false),
    }
}
