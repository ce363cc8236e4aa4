//! The program `freehold`: reads the command line, runs the command, writes what it found.

#![forbid(unsafe_code)]

mod cli;

use clap::{CommandFactory, Parser};
use cli::{Cli, Command, Common};
use freehold_lab::commands::{self, Progress};
use freehold_lab::failure::Failure;
use freehold_lab::family::Suite;
use freehold_lab::measure::GrowthPoint;
use freehold_lab::output::{Document, Environment, Format};
use freehold_lab::report::{self, Replayed, Section, Study};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Something failed or differs.
const FAILED: u8 = 1;
/// Under the build folder of the repository, where the program is started.
const DEFAULT_REPORT: &str = "target/freehold/report.html";

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

/// Runs the command; whether something differed.
fn run(cli: &Cli) -> anyhow::Result<bool> {
    let mut progress = Progress::default();
    if cli.command.is_some() && cli.report.is_some() {
        return Err(Failure::Usage("--report of a command goes after the command".to_owned()).into());
    }
    match &cli.command {
        None => {
            let outcome = commands::main_job::run(&mut progress)?;
            drop(progress);
            let file = cli.report.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_REPORT));
            let page = Page::Report(file, &outcome.replays, &outcome.growth, &outcome.sections);
            finish(&cli.common, "freehold", &outcome.document, Some(page))
        }
        Some(command @ Command::Verify { files }) => {
            let document = commands::verify::run(files, &mut progress);
            drop(progress);
            finish(&cli.common, command.name(), &document, None)
        }
        Some(command @ Command::Replay { files, engine, instructions: true, .. }) => {
            let document = commands::instructions::run(files, engine, &mut progress)?;
            drop(progress);
            finish(&cli.common, command.name(), &document, None)
        }
        Some(command @ Command::Replay { files, engine, rounds, report, .. }) => {
            let (document, replays) = commands::replay::run(files, engine, *rounds, &mut progress)?;
            drop(progress);
            let page = report.as_ref().map(|file| Page::Report(file.clone(), &replays, &[], &[]));
            finish(&cli.common, command.name(), &document, page)
        }
        Some(Command::Bench { suite: Suite::Kva | Suite::Percpu, instructions: true, .. }) => {
            Err(Failure::Usage("bench --instructions: for maple alone".to_owned()).into())
        }
        Some(Command::Bench { suite: Suite::Percpu | Suite::Maple, wishes: true, .. }) => {
            Err(Failure::Usage("--wishes: the talk's wishes are kva's".to_owned()).into())
        }
        Some(command @ Command::Bench { suite: Suite::Percpu, quick, engine, workload, n, unit, .. }) => {
            let options = commands::bench_percpu::Options {
                quick: *quick,
                engines: engine.clone(),
                workloads: workload.clone(),
                objects: n.clone(),
                unit: *unit,
            };
            let document = commands::bench_percpu::run(&options, &mut progress)?;
            drop(progress);
            finish(&cli.common, command.name(), &document, None)
        }
        Some(
            command @ Command::Bench { suite: Suite::Maple, quick, engine, workload, n, instructions, .. },
        ) => {
            let options = commands::bench_maple::Options {
                instructions: *instructions,
                quick: *quick,
                engines: engine.clone(),
                workloads: workload.clone(),
                sizes: n.clone(),
            };
            let document = commands::bench_maple::run(&options, &mut progress)?;
            drop(progress);
            finish(&cli.common, command.name(), &document, None)
        }
        Some(command @ Command::Bench { suite: Suite::Kva, wishes: true, .. }) => {
            let document = commands::wishes::run(&mut progress)?;
            drop(progress);
            finish(&cli.common, command.name(), &document, None)
        }
        Some(Command::CountInstructions { workload, n, engine }) => {
            let of_maple = workload.strip_prefix(commands::bench_maple::UNDER_CALLGRIND.1);
            match n {
                Some(n) if let Some(workload) = of_maple => {
                    commands::bench_maple::run_under_callgrind(workload, *n, engine)?;
                }
                Some(n) => commands::wishes::run_under_callgrind(workload, *n, engine)?,
                None => commands::instructions::run_under_callgrind(workload, engine)?,
            }
            Ok(false)
        }
        Some(command @ Command::Bench { suite: Suite::Kva, quick, engine, workload, n, .. }) => {
            let options = commands::bench::Options {
                quick: *quick,
                engines: engine.clone(),
                workloads: workload.clone(),
                sizes: n.clone(),
            };
            let document = commands::bench::run(&options, &mut progress)?;
            drop(progress);
            finish(&cli.common, command.name(), &document, None)
        }
        Some(command @ Command::Reproduce { what, options, report }) => {
            let outcome = commands::reproduce::run(*what, options, &mut progress)?;
            drop(progress);
            let default = || PathBuf::from(format!("target/freehold/{}.html", what.name()));
            let page = Page::Study(report.clone().unwrap_or_else(default), &outcome.study);
            finish(&cli.common, command.name(), &outcome.document, Some(page))
        }
        Some(command @ Command::Stress { suite, options }) => {
            let document = commands::stress::run(*suite, options, &mut progress)?;
            drop(progress);
            finish(&cli.common, command.name(), &document, None)
        }
        Some(command @ Command::Inspect { file }) => {
            finish(&cli.common, command.name(), &commands::inspect::run(file)?, None)
        }
        Some(Command::Doctor) => {
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
        Some(Command::Completions { shell }) => {
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "freehold", &mut text);
            print(&text)
        }
        Some(Command::Man) => {
            let mut text = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut text)?;
            print(&text)
        }
    }
}

/// A page to write beside the results, and where to.
enum Page<'a> {
    /// Workloads on engines, how work grows, and what other families have to show.
    Report(PathBuf, &'a [Replayed], &'a [GrowthPoint], &'a [Section]),
    /// A publication.
    Study(PathBuf, &'a Study),
}

/// Writes the page, then the results; whether something differed.
fn finish(
    common: &Common,
    command: &str,
    document: &Document,
    page: Option<Page<'_>>,
) -> anyhow::Result<bool> {
    let environment = Environment::here();
    let format = if common.json { Format::Json } else { common.format };
    let mut text = document.render(format, command, &environment)?;
    if let Some(page) = page {
        let file = page.write(&environment, document)?;
        match format {
            // A JSON document stays one document: the path goes where people look.
            Format::Json => drop(writeln!(std::io::stderr(), "report: {}", file.display())),
            Format::Screen | Format::Lkml => text.push_str(&format!("report: {}\n", file.display())),
        }
    }
    print(text.as_bytes())?;
    Ok(document.failed)
}

/// Writes to standard output. That whoever reads it has had enough is no failure.
fn print(text: &[u8]) -> anyhow::Result<bool> {
    match std::io::stdout().lock().write_all(text) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(false),
    }
}

impl Page<'_> {
    /// Writes it; where it is.
    fn write(&self, environment: &Environment, document: &Document) -> anyhow::Result<&Path> {
        match self {
            Self::Report(file, replays, growth, sections) => {
                let (tables, notes) = (&document.tables, &document.notes);
                report::write(
                    file,
                    &report::Input { environment, replays, growth, sections, tables, notes },
                )?;
                Ok(file)
            }
            Self::Study(file, study) => {
                report::write_study(file, study, environment, &document.notes)?;
                Ok(file)
            }
        }
    }
}
