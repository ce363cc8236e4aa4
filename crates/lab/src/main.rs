//! The program `freehold`: reads the command line, runs the command, writes what it found.

mod cli;

use clap::{CommandFactory, Parser};
use cli::{Cli, Command, Common};
use freehold_lab::commands::{self, Progress};
use freehold_lab::measure::{GrowthPoint, Replay};
use freehold_lab::output::{Document, Environment, Format};
use freehold_lab::report;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Something failed or differs.
const FAILED: u8 = 1;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::from(FAILED),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("freehold: {error:#}");
            ExitCode::from(FAILED)
        }
    }
}

/// Whoever read our output has had enough.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Runs the command; whether something differed.
fn run(cli: &Cli) -> anyhow::Result<bool> {
    let mut progress = Progress::default();
    match &cli.command {
        None => {
            let outcome = commands::main_job::run(&mut progress)?;
            drop(progress);
            let report = cli.common.report.clone().unwrap_or_else(default_report);
            let measured = Measured { replays: &outcome.replays, growth: &outcome.growth };
            finish(&cli.common, "freehold", &outcome.document, Some((&report, measured)))
        }
        Some(command @ Command::Verify { files }) => {
            let document = commands::verify::run(files, &mut progress);
            drop(progress);
            finish(&cli.common, command.name(), &document, None)
        }
        Some(command @ Command::Replay { files, engine, rounds }) => {
            let (document, replays) = commands::replay::run(files, engine, *rounds, &mut progress)?;
            drop(progress);
            let measured = Measured { replays: &replays, growth: &[] };
            let report = cli.common.report.as_ref().map(|file| (file, measured));
            finish(&cli.common, command.name(), &document, report)
        }
        Some(command @ Command::Inspect { file }) => {
            finish(&cli.common, command.name(), &commands::inspect::run(file)?, None)
        }
        Some(Command::Completions { shell }) => {
            clap_complete::generate(*shell, &mut Cli::command(), "freehold", &mut std::io::stdout());
            Ok(false)
        }
        Some(Command::Man) => {
            clap_mangen::Man::new(Cli::command()).render(&mut std::io::stdout())?;
            Ok(false)
        }
    }
}

/// What a report draws beside the tables.
struct Measured<'a> {
    replays: &'a [Replay],
    growth: &'a [GrowthPoint],
}

/// Under the build folder, wherever the program is started in the repository.
fn default_report() -> PathBuf {
    PathBuf::from("target/freehold/report.html")
}

fn finish(
    common: &Common,
    command: &str,
    document: &Document,
    report: Option<(&PathBuf, Measured<'_>)>,
) -> anyhow::Result<bool> {
    let environment = Environment::here();
    let format = if common.json { Format::Json } else { common.format };
    let mut out = std::io::stdout().lock();
    out.write_all(document.render(format, command, &environment)?.as_bytes())?;
    if let Some((file, measured)) = report {
        write_report(file, &environment, document, &measured)?;
        // A JSON document stays one document: the path goes where people look.
        match format {
            Format::Json => eprintln!("report: {}", file.display()),
            Format::Screen | Format::Lkml => writeln!(out, "report: {}", file.display())?,
        }
    }
    Ok(document.failed)
}

fn write_report(
    file: &Path,
    environment: &Environment,
    document: &Document,
    measured: &Measured<'_>,
) -> anyhow::Result<()> {
    report::write(
        file,
        &report::Input {
            environment,
            replays: measured.replays,
            growth: measured.growth,
            tables: &document.tables,
            notes: &document.notes,
        },
    )
}
