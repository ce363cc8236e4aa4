//! The documents' links: every file and heading that they point at is there.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The documents in a folder, not in those below.
fn documents_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_document = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
    entries.map(|entry| entry.unwrap().path()).filter(is_document).collect()
}

fn documents() -> Vec<PathBuf> {
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    // What rustdoc shows has links that rustdoc checks.
    let folders = [root(), root().join("docs")].into_iter().chain(crates);
    // A document that stands in a second place is one.
    let documents: BTreeSet<PathBuf> = folders.flat_map(|folder| documents_in(&folder)).collect();
    let whole: BTreeSet<PathBuf> = documents.iter().map(|path| path.canonicalize().unwrap()).collect();
    whole.into_iter().collect()
}

/// The text without what stands in blocks of code and between backticks.
fn prose(text: &str) -> String {
    let mut in_block = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            let parts = line.split('`').enumerate().filter(|(at, _)| at % 2 == 0);
            parts.for_each(|(_, part)| prose.push_str(part));
            prose.push('\n');
        }
    }
    prose
}

fn targets(text: &str) -> Vec<String> {
    let text = prose(text);
    let behind = text.split("](").skip(1);
    behind.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned()).collect()
}

/// The names by which the headings of a document are linked.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let name = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|&c| c.is_alphanumeric() || c == ' ' || c == '-' || c == '_');
        kept.collect::<String>().replace(' ', "-")
    };
    headings.map(name).collect()
}

#[test]
fn lead_somewhere() {
    let (mut checked, mut outside, mut broken) = (0, BTreeSet::new(), Vec::new());
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for target in targets(&text) {
            if target.contains("://") {
                outside.insert(target);
                continue;
            }
            checked += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let path = if file.is_empty() { document.clone() } else { document.parent().unwrap().join(file) };
            let found = path.exists()
                && (anchor.is_empty() || anchors(&fs::read_to_string(&path).unwrap()).contains(anchor));
            if !found {
                broken.push(format!("{}: {target}", document.display()));
            }
        }
    }
    println!("{checked} links lead to files, these outside were not tried: {outside:?}");
    assert!(checked > 30, "{checked} links were found");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Every chapter is in the table of contents, and the other way round.
#[test]
fn the_book_is_whole() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let listed: BTreeSet<String> = targets(&summary).into_iter().collect();
    let there = documents_in(&root().join("docs"));
    let there = there.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
    let there: BTreeSet<String> = there.filter(|name| name != "SUMMARY.md").collect();
    assert_eq!(listed, there);
}
