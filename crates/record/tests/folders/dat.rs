//! trace.dat of version 6 and 7, written as the manual pages say, with the same records as a folder.

use super::kernels::{AREA_ALLOC, AREA_FREE};
use super::pages::{Event, Pages, header_page, write_folder};
use super::{imported, recording};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

const MAGIC: &[u8] = b"\x17\x08\x44tracing";
const EVENTS: [Event; 2] = [AREA_ALLOC, AREA_FREE];
const NAMES: &str = "5 bash\n";

/// The sub-buffers of two CPUs.
fn cpus() -> Vec<Vec<u8>> {
    let mut pages = [Pages::new(4096), Pages::new(4096)];
    for turn in 0..300u64 {
        let at = 0xffff_c900_0000_0000 + turn * 4096;
        let placed = [("addr", at), ("size", 4096), ("align", 1), ("vstart", 1), ("vend", u64::MAX)];
        pages[turn as usize % 2].push(5000 + turn * 100, &AREA_ALLOC.record(5, &placed));
        pages[(turn as usize + 1) % 2].push(5050 + turn * 100, &AREA_FREE.record(6, &[("va_start", at)]));
    }
    pages.map(Pages::finish).into()
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend(text.as_bytes());
    out.push(0);
}

fn long(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u64).to_le_bytes());
    out.extend(bytes);
}

/// What both versions have of headers: `header_page`, `header_event`.
fn headers(out: &mut Vec<u8>) {
    text(out, "header_page");
    long(out, header_page(4096).as_bytes());
    text(out, "header_event");
    long(out, b"# compressed entry header\n");
}

fn formats(out: &mut Vec<u8>) {
    out.extend(1u32.to_le_bytes());
    text(out, "vmalloc");
    out.extend((EVENTS.len() as u32).to_le_bytes());
    EVENTS.iter().for_each(|event| long(out, event.format().as_bytes()));
}

fn start(version: &str) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    text(&mut out, version);
    out.extend([0, 8]);
    out.extend(4096u32.to_le_bytes());
    out
}

fn version_6() -> Vec<u8> {
    let mut out = start("6");
    headers(&mut out);
    out.extend(1u32.to_le_bytes());
    long(&mut out, b"name: function\nID: 1\n");
    formats(&mut out);
    for symbols in [&b"ffffffff81000000 T mm_init\n"[..], b""] {
        out.extend((symbols.len() as u32).to_le_bytes());
        out.extend(symbols);
    }
    long(&mut out, NAMES.as_bytes());
    out.extend(2u32.to_le_bytes());
    out.extend(b"options  \0");
    for (id, data) in [
        (5u16, &b"Linux host 6.2.0 #1 x86_64"[..]),
        (2, b"CPU: 1\noverrun: 4\ncommit overrun: 0\ndropped events: 0\n"),
    ] {
        out.extend(id.to_le_bytes());
        out.extend((data.len() as u32).to_le_bytes());
        out.extend(data);
    }
    out.extend(0u16.to_le_bytes());
    out.extend(b"flyrecord\0");
    let mut at = (out.len() + 32).next_multiple_of(4096);
    let cpus = cpus();
    for pages in &cpus {
        out.extend((at as u64).to_le_bytes());
        out.extend((pages.len() as u64).to_le_bytes());
        at += pages.len();
    }
    out.resize(out.len().next_multiple_of(4096), 0);
    out.extend(cpus.concat());
    out
}

/// Adds a section and says where it is.
fn section(out: &mut Vec<u8>, id: u16, content: &[u8], compress: bool) -> u64 {
    let at = out.len() as u64;
    let mut body = content.to_vec();
    if compress {
        let packed = zstd::encode_all(content, 3).unwrap();
        body = (packed.len() as u32).to_le_bytes().to_vec();
        body.extend((content.len() as u32).to_le_bytes());
        body.extend(packed);
    }
    out.extend(id.to_le_bytes());
    out.extend(u16::from(compress).to_le_bytes());
    out.extend(0u32.to_le_bytes());
    long(out, &body);
    at
}

fn version_7(compress: bool) -> Vec<u8> {
    let mut out = start("7");
    text(&mut out, if compress { "zstd" } else { "none" });
    text(&mut out, "1.5");
    let first = out.len();
    out.extend([0; 8]);
    let (mut head, mut events, mut names) = (Vec::new(), Vec::new(), Vec::new());
    headers(&mut head);
    formats(&mut events);
    long(&mut names, NAMES.as_bytes());
    let mut options: Vec<(u16, Vec<u8>)> = Vec::new();
    for (id, content) in [(16, head), (18, events), (21, names)] {
        options.push((id, section(&mut out, id, &content, compress).to_le_bytes().to_vec()));
    }
    options.push((5, b"Linux host 6.2.0 #1 x86_64".to_vec()));
    options.push((2, b"CPU: 1\noverrun: 4\ncommit overrun: 0\ndropped events: 0\n".to_vec()));
    // The sub-buffers, in chunks of two where they are compressed.
    let mut buffer = (out.len() as u64).to_le_bytes().to_vec();
    out.extend(3u16.to_le_bytes());
    out.extend(u16::from(compress).to_le_bytes());
    out.extend([0; 12]);
    text(&mut buffer, "");
    text(&mut buffer, "mono");
    buffer.extend(4096u32.to_le_bytes());
    buffer.extend(2u32.to_le_bytes());
    for (cpu, pages) in cpus().into_iter().enumerate() {
        let mut stored = pages.clone();
        if compress {
            let chunks = pages.chunks(2 * 4096);
            stored = (chunks.len() as u32).to_le_bytes().to_vec();
            for chunk in chunks {
                let packed = zstd::encode_all(chunk, 3).unwrap();
                stored.extend((packed.len() as u32).to_le_bytes());
                stored.extend((chunk.len() as u32).to_le_bytes());
                stored.extend(packed);
            }
        }
        buffer.extend((cpu as u32).to_le_bytes());
        buffer.extend((out.len() as u64).to_le_bytes());
        buffer.extend((stored.len() as u64).to_le_bytes());
        out.extend(stored);
    }
    // Two sections of options: the second has the sub-buffers.
    let section_of = |out: &mut Vec<u8>, options: &[(u16, Vec<u8>)], next: u64| {
        let mut content = Vec::new();
        for (id, data) in options.iter().chain([&(0, next.to_le_bytes().to_vec())]) {
            content.extend(id.to_le_bytes());
            content.extend((data.len() as u32).to_le_bytes());
            content.extend(data);
        }
        section(out, 0, &content, compress)
    };
    let second = section_of(&mut out, &[(3, buffer)], 0);
    let at = section_of(&mut out, &options, second);
    out[first..first + 8].copy_from_slice(&at.to_le_bytes());
    out
}

fn rows(trace: &str) -> Vec<&str> {
    trace.lines().skip(4).collect()
}

#[test]
fn both_versions_have_what_a_folder_has() {
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path(), &recording("kva", "6.2.0", ""), &EVENTS, 4096, &cpus());
    fs::write(folder.path().join("saved_cmdlines"), NAMES).unwrap();
    let (of_folder, _) = imported(folder.path()).unwrap();
    let files = [("6", version_6()), ("7", version_7(false)), ("7z", version_7(true))];
    for (name, bytes) in files {
        let file = folder.path().join(format!("{name}.dat"));
        fs::write(&file, &bytes).unwrap();
        let (of_file, summary) = imported(&file).unwrap_or_else(|error| panic!("{error}"));
        // But for the first, whose time is since the start, which a file does not tell.
        assert_eq!(rows(&of_folder)[1..], rows(&of_file)[1..], "{name}");
        assert_eq!(rows(&of_file).len(), 601);
        assert!(of_file.starts_with("#vml-trace v2 kind=kva kernel=6.2.0 ncpu=2 "), "{of_file}");
        assert_eq!(summary.lost, 4);
        // Compressed as a whole, it is the same.
        let packed = folder.path().join(format!("{name}.dat.zst"));
        fs::write(&packed, zstd::encode_all(bytes.as_slice(), 3).unwrap()).unwrap();
        assert_eq!(rows(&imported(&packed).unwrap().0), rows(&of_file));
    }
}

#[track_caller]
fn fails(bytes: &[u8], words: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("odd.dat");
    fs::write(&file, bytes).unwrap();
    let error = imported(&file).unwrap_err().to_string();
    assert!(error.contains("odd.dat") && error.contains(words), "{error}");
}

#[test]
fn what_cannot_be_read_is_said() {
    let with = |from: &[u8], to: &[u8]| {
        let mut bytes = version_7(false);
        let at = bytes.windows(from.len()).position(|part| part == from).unwrap();
        bytes.splice(at..at + from.len(), to.iter().copied());
        bytes
    };
    fails(&with(b"tracing7", b"tracing8"), "version \"8\"; 6 and 7 are read");
    fails(&with(b"tracing7\0\0", b"tracing7\0\x01"), "big-endian");
    fails(&with(b"none\0", b"zlib\0"), "compressed with zlib");
    fails(&with(b"header_page", b"header_pagf"), "no header_page where it should be");
    fails(&version_7(true)[..2000], "trace.dat: ");
}

/// A section of 16 MiB that is small when it is compressed, and names itself as the next.
#[test]
fn sections_that_go_round_are_not_followed_for_long() {
    let mut bytes = start("7");
    text(&mut bytes, "zstd");
    text(&mut bytes, "1.5");
    let at = bytes.len() as u64 + 8;
    bytes.extend(at.to_le_bytes());
    let mut options = [0; 6].to_vec();
    options[2] = 8;
    options.extend(at.to_le_bytes());
    options.resize(16 << 20, 0);
    assert_eq!(section(&mut bytes, 0, &options, true), at);
    fails(&bytes, "sections of more than 256 MiB");
}

fn damaged(bytes: &mut Vec<u8>, changes: &[(prop::sample::Index, u8)], cut: Option<prop::sample::Index>) {
    for (at, byte) in changes {
        let at = at.index(bytes.len());
        bytes[at] = *byte;
    }
    if let Some(at) = cut {
        bytes.truncate(at.index(bytes.len()));
    }
}

fn never_panics(file: &Path, bytes: &[u8]) -> Result<(), TestCaseError> {
    fs::write(file, bytes).unwrap();
    if let Err(error) = imported(file) {
        let error = error.to_string();
        prop_assert!(error.contains("damaged.dat") || error.starts_with("the event at "), "{}", error);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(192) })]

    #[test]
    fn damaged_files_are_errors(
        version in 0..3usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        // Most of a file is sub-buffers; its beginning decides more.
        early in prop::collection::vec((0..4096usize, any::<u8>()), 0..6),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let mut bytes = if version == 0 { version_6() } else { version_7(version == 2) };
        for (at, byte) in early {
            let at = MAGIC.len() + at % (bytes.len() - MAGIC.len());
            bytes[at] = byte;
        }
        damaged(&mut bytes, &changes, cut);
        let folder = tempfile::tempdir().unwrap();
        never_panics(&folder.path().join("damaged.dat"), &bytes)?;
    }
}
