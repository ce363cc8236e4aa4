//! Every example of `docs/formats.md` is read as a file of its own.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use freehold_record::folder::Meta;
use freehold_record::import::{Options, import};
use freehold_record::log;
use freehold_trace::{Lines, TraceError, kva, maple, mt, percpu, vma};
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

/// The examples, by name.
fn examples() -> Vec<(String, String)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let text = fs::read_to_string(file).unwrap();
    let mut examples: Vec<(String, String)> = Vec::new();
    let mut within = false;
    for line in text.lines() {
        match (line.strip_prefix("```"), within) {
            (Some(opened), false) => {
                let name = opened.split_once(' ').unwrap_or_else(|| panic!("a nameless example: {line}")).1;
                examples.push((name.to_owned(), String::new()));
                within = true;
            }
            (Some(_), true) => within = false,
            (None, true) => {
                let (_, text) = examples.last_mut().unwrap();
                text.push_str(line);
                text.push('\n');
            }
            (None, false) => {}
        }
    }
    examples
}

fn count<T, E: Display>(items: impl Iterator<Item = Result<T, E>>) -> usize {
    let whole: Result<Vec<T>, E> = items.collect();
    whole.unwrap_or_else(|error| panic!("{error}")).len()
}

fn opened<T>(name: &str, opened: Result<T, TraceError>) -> T {
    opened.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Imports a text; how many rows it has.
fn rows(name: &str, text: &str) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let file: PathBuf = folder.path().join(name);
    fs::write(&file, text).unwrap();
    let summary = import(&[file], &Options::default(), &mut Vec::new());
    summary.unwrap_or_else(|error| panic!("{error}")).rows as usize
}

#[test]
fn every_example_is_read() {
    let examples = examples();
    let mut names = Vec::new();
    for (name, text) in &examples {
        let lines = || Lines::from_text(name, text);
        // Lines without those of the header.
        let body = text.lines().filter(|line| !line.starts_with('#')).count();
        let (read, expected) = match name.as_str() {
            "trace.kva" => (count(opened(name, kva::Events::new(lines()))), body),
            "trace.pcpu" => (count(opened(name, percpu::Events::new(lines()))), body),
            "trace.vma" => (count(opened(name, vma::Events::new(lines()))), body),
            "trace.mt" => (count(opened(name, mt::Events::new(lines()))), body),
            "recording" => {
                let meta = Meta::parse(Path::new(name), text).unwrap_or_else(|error| panic!("{error}"));
                let mut written = Vec::new();
                meta.write(&mut written).unwrap();
                assert_eq!(text, &String::from_utf8(written).unwrap(), "what is read is written");
                (meta.lost.len(), 2)
            }
            "events.log" => {
                let mut written = Vec::new();
                for event in log::events(lines()) {
                    log::write(&mut written, &event.unwrap()).unwrap();
                }
                assert_eq!(text, &String::from_utf8(written).unwrap(), "what is read is written");
                (count(log::events(lines())), body)
            }
            "ftrace" | "bpftrace" => (rows(name, text), 2),
            // The space appears before the call.
            "perf-script" => (rows(name, text), 2),
            "trace-cmd" => (rows(name, text), 1),
            // Two spaces, three calls, the end of a task and of its space.
            "strace" => (rows(name, text), 7),
            "kva-vectors" => (count(opened(name, kva::Vectors::new(lines()))), 6),
            "kva-talk" => (opened(name, kva::Talk::from_lines(lines())).steps.len(), 5),
            "percpu-vectors" => (count(opened(name, percpu::Vectors::new(lines()))), 9),
            "maple-vectors" => (count(opened(name, maple::Vectors::new(lines()))), 5),
            "anchors" => (opened(name, kva::Anchors::from_lines(lines())).rows.len(), 2),
            // The program's tests read them.
            "document" | "import" => (text.matches("\"schema\"").count(), 1),
            other => panic!("no reader of {other:?}"),
        };
        assert_eq!(read, expected, "{name}");
        assert!(!names.contains(name), "{name} is there twice");
        names.push(name.clone());
    }
    assert_eq!(names.len(), 18, "{names:?}");
}

/// What the example of areas says can have happened: places are aligned and within their window, and a purge covers what was freed.
#[test]
fn the_example_of_areas_is_possible() {
    let (_, text) = examples().into_iter().find(|(name, _)| name == "trace.kva").unwrap();
    let (mut freed, mut checked) = (Vec::new(), 0);
    for event in opened("trace.kva", kva::Events::new(Lines::from_text("trace.kva", &text))) {
        let event = event.unwrap();
        match event.kind {
            kva::EventKind::Alloc => {
                let span = event.span.unwrap();
                assert_eq!(span.first() % event.align.unwrap().bytes(), 0, "{event:?}");
                let window = event.window.unwrap();
                assert!(window.first() <= span.first() && span.last() <= window.last(), "{event:?}");
            }
            kva::EventKind::InitialLazy | kva::EventKind::Free | kva::EventKind::FreeUnknown => {
                freed.push(event.address.unwrap());
                continue;
            }
            kva::EventKind::Purge => {
                let span = event.span.unwrap();
                assert_eq!(event.note, freed.len().to_string(), "{event:?}");
                assert_eq!(freed.iter().min(), Some(&span.first()), "{event:?}");
                assert!(freed.iter().all(|address| *address <= span.last()), "{event:?}");
            }
            _ => continue,
        }
        checked += 1;
    }
    assert_eq!(checked, 2, "an allocation and a purge");
}
