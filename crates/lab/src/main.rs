//! The program `freehold`: reads the command line, runs the command, writes what it found.

#![forbid(unsafe_code)]

mod cli;

use clap::{CommandFactory, Parser};
use cli::{Cli, Command, Common, Format, Subject};
use freehold_lab::Progress;
use freehold_lab::commands::{self, definition};
use freehold_lab::failure::Failure;
use freehold_lab::kind::Suite;
use freehold_lab::record::{Document, Environment, Found, Results, read};
use freehold_lab::{concurrent, study, view};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Something failed or differs.
const FAILED: u8 = 1;
/// Where pages go, under the build folder of the repository, where the program is started.
const PAGES: &str = "target/freehold";

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::from(FAILED),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "freehold: {error:#}");
            ExitCode::from(error.downcast_ref::<Failure>().map_or(FAILED, Failure::exit_code))
        }
    }
}

/// What a command made: its name, its results, and where its page goes if it has one.
type Made<'a> = (&'a str, Results, Option<PathBuf>);

/// Runs the command; whether something differed.
fn run(cli: &Cli) -> anyhow::Result<bool> {
    if cli.command.is_some() && cli.report.is_some() {
        return Err(Failure::Usage("--report of a command goes after the command".to_owned()).into());
    }
    let Some(command) = &cli.command else {
        let results = commands::main_job::run(&mut Progress::default())?;
        let page = cli.report.clone().unwrap_or_else(|| Path::new(PAGES).join("report.html"));
        return finish(&cli.common, &Environment::here(), ("freehold", results, Some(page)), false);
    };
    match command {
        Command::CountInstructions { workload, n, engine } => {
            commands::instructions::run_under_callgrind(workload, *n, engine)?;
            Ok(false)
        }
        Command::MeasureResident { workload, engine } => {
            let bytes = concurrent::measure_resident(workload, engine)?;
            print(bytes.iter().map(|bytes| format!("{bytes}\n")).collect::<String>().as_bytes())
        }
        Command::Doctor => {
            let checks = commands::doctor::run();
            print(
                if cli.common.json {
                    commands::doctor::json(&checks)
                } else {
                    commands::doctor::text(&checks)
                }
                .as_bytes(),
            )
        }
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "freehold", &mut text);
            print(&text)
        }
        Command::Man => {
            let mut text = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut text)?;
            print(&text)
        }
        Command::Show { all, report, file } => {
            let (name, results, environment) = read(file.as_deref())?;
            if let Some(page) = report {
                view::write(page, &definition(&name)?, &results, &environment)?;
            }
            finish(&cli.common, &environment, (&name, results, None), *all)
        }
        command => finish(&cli.common, &Environment::here(), made(command)?, false),
    }
}

/// Runs a command that measures or checks.
fn made(command: &Command) -> anyhow::Result<Made<'_>> {
    let mut progress = Progress::default();
    let name = command.name();
    let (results, page) = match command {
        Command::Verify { files } => (commands::verify::run(files, &mut progress), None),
        Command::Replay { files, engine, instructions: true, .. } => {
            (commands::instructions::run(files, engine, &mut progress)?, None)
        }
        Command::Replay { files, engine, rounds, report, .. } => {
            (commands::replay::run(files, engine, *rounds, &mut progress)?, report.clone())
        }
        Command::Bench { subject, instructions: true, .. } if *subject != Subject::Family(Suite::Maple) => {
            return Err(Failure::Usage("bench --instructions: for maple alone".to_owned()).into());
        }
        Command::Bench { subject, wishes: true, .. } if *subject != Subject::Family(Suite::Kva) => {
            return Err(Failure::Usage("--wishes: the talk's wishes are kva's".to_owned()).into());
        }
        Command::Bench { wishes: true, workload, .. } => {
            (commands::wishes::run(workload, &mut progress)?, None)
        }
        Command::Bench { subject, growth: true, .. } if !matches!(subject, Subject::Family(_)) => {
            return Err(Failure::Usage("--growth: of families alone".to_owned()).into());
        }
        Command::Bench {
            subject: subject @ (Subject::Readers | Subject::Pools | Subject::Memory | Subject::Counters),
            quick,
            engine,
            workload,
            n,
            ..
        } => {
            let options = concurrent::Options {
                quick: *quick,
                engines: engine.clone(),
                workloads: workload.clone(),
                sizes: n.clone(),
            };
            let suite = match subject {
                Subject::Pools => concurrent::POOLS,
                Subject::Memory => concurrent::MEMORY,
                Subject::Counters => concurrent::COUNTERS,
                _ => concurrent::READERS,
            };
            (suite.bench(&options, &mut progress)?, None)
        }
        Command::Bench {
            subject: Subject::Family(suite),
            quick,
            instructions,
            engine,
            workload,
            n,
            growth,
            unit,
            ..
        } => {
            let options = commands::bench::Options {
                quick: *quick,
                instructions: *instructions,
                engines: engine.clone(),
                workloads: workload.clone(),
                sizes: n.clone(),
                growth: *growth,
                unit: *unit,
            };
            (commands::bench::run(*suite, &options, &mut progress)?, None)
        }
        Command::Reproduce { what, options, report } => {
            let page =
                report.clone().unwrap_or_else(|| Path::new(PAGES).join(format!("{}.html", what.name())));
            (study::run(*what, options, &mut progress)?, Some(page))
        }
        Command::Stress { subject: Subject::Counters, options } => {
            (commands::stress::counters(options, &mut progress)?, None)
        }
        Command::Stress { subject: Subject::Readers | Subject::Pools | Subject::Memory, .. } => {
            let reason =
                "threads that share maps and spaces: stress maple --threads N, stress kva --mode stress";
            return Err(Failure::Usage(reason.to_owned()).into());
        }
        Command::Stress { subject: Subject::Family(suite), options } => {
            (commands::stress::run(*suite, options, &mut progress)?, None)
        }
        Command::Compare { before, after } => (commands::compare::run(before, after)?, None),
        Command::Inspect { file } => (commands::inspect::run(file)?, None),
        Command::CountInstructions { .. }
        | Command::MeasureResident { .. }
        | Command::Completions { .. }
        | Command::Doctor
        | Command::Man
        | Command::Show { .. } => (Results::default(), None),
    };
    Ok((name, results, page))
}

/// Writes the page, then the results; whether something differed.
fn finish(
    common: &Common,
    environment: &Environment,
    (command, results, page): Made<'_>,
    all: bool,
) -> anyhow::Result<bool> {
    let definition = definition(command)?;
    let found: Vec<Found> = view::findings(&results).iter().map(Found::from).collect();
    let document = Document::of(command, environment, &results, &found);
    let format = if common.json { Format::Json } else { common.format };
    let mut text = match format {
        Format::Screen => view::screen(&definition, &results, environment, all),
        Format::Lkml => view::lkml(&definition, &results, environment),
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
