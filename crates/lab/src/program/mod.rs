//! The program `freehold`: reads the command line, runs the command, writes what it found.

mod cli;

use crate::commands::{self, definition};
use crate::engine::outside;
use crate::failure::{Failure, unknown, usage};
use crate::record::{Document, Environment, Results, read};
use crate::{Progress, concurrent, output, study, systems, view, workload};
use anyhow::Context;
use clap::{CommandFactory, Parser};
use cli::{Cli, Command, Common, Format};
use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// As the standard library says it of a panic.
const PANICKED: u8 = 101;
/// Something failed or differs.
const FAILED: u8 = 1;
/// Where pages go, under the build folder of the repository, where the program is started.
const PAGES: &str = "target/freehold";

/// Columns that are used of a terminal, however narrow it is.
const LEAST_COLUMNS: usize = 40;

/// Bytes of the stack that commands run on.
const STACK: usize = 8 << 20;

/// Runs the program with these arguments, the first of which is its name; the exit code. It runs on a thread with a stack of its
/// own, since the caller's may be limited to less than commands need; or here, where there can be no thread.
pub fn main(arguments: Vec<OsString>) -> u8 {
    let again = arguments.clone();
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(|| with_stack(arguments));
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // The panic has said its message.
        Ok(Err(_)) => PANICKED,
        Err(_) => with_stack(again),
    }
}

fn with_stack(arguments: Vec<OsString>) -> u8 {
    let ended = match Cli::try_parse_from(arguments) {
        Ok(cli) => run_command(&cli).map(|differs| if differs { FAILED } else { 0 }),
        // Help is such an error, too.
        Err(told) => written(told.print()).map(|()| u8::try_from(told.exit_code()).unwrap_or(FAILED)),
    };
    ended.unwrap_or_else(|error| say(&error))
}

/// Says what failed; the exit code.
fn say(error: &anyhow::Error) -> u8 {
    let text: Vec<String> = format!("freehold: {error:#}").lines().map(view::plain).collect();
    let _ = writeln!(std::io::stderr(), "{}", text.join("\n"));
    error.downcast_ref::<Failure>().map_or(FAILED, Failure::exit_code)
}

/// What a command made.
struct Made {
    /// Its name.
    command: String,
    results: Results,
    /// Where it was measured.
    environment: Environment,
    /// Where its page goes, if it has one.
    page: Option<PathBuf>,
    /// Whether something was measured or checked, so that it is kept for `show`.
    is_new: bool,
}

impl Made {
    fn new(command: impl Into<String>, results: Results) -> Self {
        let environment = Environment::here();
        Self { command: command.into(), results, environment, page: None, is_new: true }
    }

    /// Of results that are there already.
    fn again(command: impl Into<String>, results: Results) -> Self {
        Self { is_new: false, ..Self::new(command, results) }
    }
}

/// Runs the command; whether something differed.
fn run_command(cli: &Cli) -> anyhow::Result<bool> {
    if cli.command.is_some() && cli.report.is_some() {
        return usage("--report of a command goes after the command");
    }
    outside::set_timeout(cli.common.engine_timeout);
    let mut progress = Progress::default();
    let made = match &cli.command {
        None => {
            let page = cli.report.clone().unwrap_or_else(|| Path::new(PAGES).join("report.html"));
            tried(Some(&page), &[])?;
            Made { page: Some(page), ..Made::new("freehold", commands::main_job::run(&mut progress)?) }
        }
        Some(command) => match run_without_results(command, &cli.common, &mut progress)? {
            Some(differs) => return Ok(differs),
            None => run_with_results(command, &mut progress)?,
        },
    };
    drop(progress);
    finish(&cli.common, made, false)
}

/// Refuses a page that cannot be written, or is one of the files that are read, before anything is measured for it.
fn tried(page: Option<&Path>, read: &[PathBuf]) -> anyhow::Result<()> {
    let Some(page) = page else { return Ok(()) };
    output::keep(read, page)?;
    output::try_file(page).context("nothing was run; --report FILE writes the page elsewhere")
}

/// Runs a command that prints something else than results; `None` for any other.
fn run_without_results(
    command: &Command,
    common: &Common,
    progress: &mut Progress,
) -> anyhow::Result<Option<bool>> {
    let format = common.format();
    let has_one_form = matches!(
        command,
        Command::Doctor { systems: true }
            | Command::Record { .. }
            | Command::Shrink { .. }
            | Command::EmitC { .. }
            | Command::Completions { .. }
            | Command::Man { .. }
    );
    if has_one_form && format != Format::Screen {
        return usage("--format, --json: this command has one form alone");
    }
    match command {
        Command::CountInstructions { workload, n, engine } => {
            commands::instructions::run_under_callgrind(workload, *n, engine)?;
        }
        Command::MeasureResident { workload, engine } => {
            let bytes = concurrent::measure_resident(workload, engine)?;
            print(&bytes.iter().map(|bytes| format!("{bytes}\n")).collect::<String>())?;
        }
        Command::ServeEngine { path } => freehold_harness::outside::serve(path)?,
        Command::RunUnder { name, under } => print(&format!("{}\n", systems::run(name, under.parse()?)?))?,
        Command::Record { what, asked } => {
            let (text, failed) = commands::record::run(*what, asked)?;
            return print(&text).map(|()| Some(failed));
        }
        Command::Shrink { file, asked } => {
            let (text, failed) = commands::shrink::run(file, asked, progress)?;
            return print(&text).map(|()| Some(failed));
        }
        Command::EmitC { file, asked } => print(&commands::emit_c::run(file, asked)?)?,
        Command::Doctor { systems: true } => {
            let (text, failed) = systems::table(&std::env::current_exe()?)?;
            return print(&text).map(|()| Some(failed));
        }
        Command::Doctor { systems: false } => {
            use commands::doctor::{checks, json, text};
            if format == Format::Json {
                print(&json(&checks().collect::<Vec<_>>()))?;
            } else {
                // Each is told at once: a later one may take long, or end the program.
                checks().try_for_each(|check| print(&text(&check)))?;
            }
        }
        Command::Import { files, output, vmallocinfo, kind, strict } => {
            if format == Format::Lkml {
                return usage("--format lkml: of results alone");
            }
            if let ([trace], Some(into)) = (files.as_slice(), output)
                && commands::import::is_trace(trace)
            {
                if *strict || kind.is_some() || !vmallocinfo.is_empty() || format == Format::Json {
                    return usage(
                        "--strict, --kind, --vmallocinfo, --json: this is a trace, which is written as it is",
                    );
                }
                commands::import::rewrite(trace, into)?;
                print(&format!("next: freehold replay {}\n", view::plain(&workload::shown(into))))?;
                return Ok(Some(false));
            }
            let imported = commands::import::run(files, output.as_deref(), vmallocinfo, *kind)?;
            print(&if format == Format::Json { imported.json() } else { imported.text() })?;
            let differs = imported.lost > 0 || imported.differences.is_some_and(|number| number > 0);
            return Ok(Some(*strict && differs));
        }
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "freehold", &mut text);
            print(&String::from_utf8(text)?)?;
        }
        Command::Man { command } => print(&man(command.as_deref())?)?,
        Command::Show { all, report, file } => {
            if *all && format != Format::Screen {
                return usage("--all: of the screen; the other formats have every table");
            }
            tried(report.as_deref(), file.as_slice())?;
            let (name, results, environment) = read(file.as_deref())?;
            let made = Made { page: report.clone(), environment, ..Made::again(name, results) };
            return finish(common, made, *all).map(Some);
        }
        _ => return Ok(None),
    }
    Ok(Some(false))
}

/// The manual page of a command, or of all.
fn man(command: Option<&str>) -> anyhow::Result<String> {
    let mut all = Cli::command();
    // Only then do commands have their full names and the options that all have.
    all.build();
    let shown = match command {
        None => all,
        Some(name) => {
            let names: Vec<String> = cli::commands().into_iter().collect();
            let found = all.find_subcommand(name).filter(|_| names.iter().any(|known| known == name));
            found.cloned().ok_or_else(|| unknown("manual page of a command", name, &names))?
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(shown).render(&mut text)?;
    Ok(String::from_utf8(text)?)
}

/// Runs a command that has results.
fn run_with_results(command: &Command, progress: &mut Progress) -> anyhow::Result<Made> {
    Ok(match command {
        Command::Verify { files, engine } => {
            let engines = outside::named(engine)?;
            Made::new("verify", commands::verify::run(files, &engines, progress)?)
        }
        Command::Replay { files, engine, instructions: true, .. } => {
            Made::new("replay", commands::instructions::run(files, engine, progress)?)
        }
        Command::Replay { files, report, predict, .. } if predict.is_asked() => {
            tried(report.as_deref(), files)?;
            let results = commands::replay::predict(files, &predict.set, predict.way())?;
            Made { page: report.clone(), ..Made::new("replay", results) }
        }
        Command::Replay { files, engine, rounds, report, .. } => {
            tried(report.as_deref(), files)?;
            let files: Vec<_> = files.iter().map(|file| (file, *rounds)).collect();
            let results = commands::replay::run(&files, engine, progress)?;
            Made { page: report.clone(), ..Made::new("replay", results) }
        }
        Command::Bench { subject, options } => {
            let results = commands::bench::run(*subject, options, progress)?;
            Made::new(format!("bench {}", subject.name()), results)
        }
        Command::Reproduce { what, options, report } => {
            let page = || Path::new(PAGES).join(format!("{}.html", what.name()));
            let page = report.clone().unwrap_or_else(page);
            tried(Some(&page), &[])?;
            let results = study::run(*what, options, progress)?;
            Made { page: Some(page), ..Made::new(format!("reproduce {}", what.name()), results) }
        }
        Command::Stress { subject, options, adversary } if adversary.adversary => {
            let takes = ["--seed", "--largest", "--sequence", "--search", "--keep"];
            options.only("stress --adversary", &takes)?;
            let results = commands::adversary::run(*subject, adversary, options.seed, progress)?;
            Made::new("stress --adversary", results)
        }
        Command::Stress { subject, options, .. } => {
            let results = commands::stress::run(*subject, options, progress)?;
            Made::new(format!("stress {}", subject.name()), results)
        }
        Command::Compare { before, after } => {
            let (results, environment) = commands::compare::run(before, after)?;
            Made { environment, ..Made::again("compare", results) }
        }
        Command::Inspect { file } => Made::again("inspect", commands::inspect::run(file)?),
        _ => anyhow::bail!("no results of {command:?}"),
    })
}

/// Prints the results, whatever becomes of files; writes the page, and keeps what is new. Whether something differed.
fn finish(common: &Common, made: Made, all: bool) -> anyhow::Result<bool> {
    let Made { command, results, environment, page, is_new } = made;
    let definition = definition(&command)?;
    let found = view::findings(&results);
    let document = Document::of(&command, &environment, &results, &found);
    let format = common.format();
    let printed = match format {
        Format::Screen => {
            let text = view::screen(&definition, &results, &environment, columns(), all);
            print(&if is_ascii() { view::ascii(&text) } else { text })
        }
        Format::Lkml => print(&view::ascii(&view::lkml(&definition, &results, &environment, all))),
        Format::Json => print(&document.text()?),
    };
    if is_new && let Err(error) = document.keep() {
        say(&error.context("the results are not kept for `show`"));
    }
    if let Some(file) = page {
        output::write(&file, view::page(&definition, &results, &environment)?.as_bytes())?;
        let told = view::plain(&format!("report: {}", file.display()));
        match format {
            // A JSON document stays one document: the path goes where people look.
            Format::Json => drop(writeln!(std::io::stderr(), "{told}")),
            Format::Screen | Format::Lkml => print(&format!("{told}\n"))?,
        }
    }
    printed.map(|()| results.failed)
}

/// Columns of the terminal, as far as they are used.
fn columns() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let asked = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    told.or_else(asked).map_or(view::SCREEN, |columns: usize| columns.clamp(LEAST_COLUMNS, view::SCREEN))
}

/// Whether the locale has no letters but those of ASCII.
fn is_ascii() -> bool {
    let set = |name: &str| std::env::var(name).ok().filter(|locale| !locale.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    locale.is_some_and(|locale| locale == "C" || locale == "POSIX")
}

/// Writes to standard output.
fn print(text: &str) -> anyhow::Result<()> {
    written(std::io::stdout().lock().write_all(text.as_bytes()))
}

/// Flushes what was written to standard output. That whoever reads it has had enough is no failure.
fn written(written: std::io::Result<()>) -> anyhow::Result<()> {
    match written.and_then(|()| std::io::stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(anyhow::Error::from(error).context("the output cannot be written"))
        }
        _ => Ok(()),
    }
}
