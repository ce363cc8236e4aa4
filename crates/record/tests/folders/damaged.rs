//! No folder, however damaged, makes the import panic; what is wrong names the file.

use super::kernels::*;
use super::pages::{Pages, write_folder};
use super::{imported, recording};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

fn folder(at: &Path) {
    let mut pages = Pages::new(4096);
    for turn in 0..60 {
        let at = 0xffff_c900_0000_0000 + turn * 4096;
        let placed = [("addr", at), ("size", 4096), ("align", 1), ("vstart", 1), ("vend", u64::MAX)];
        pages.push(1000 + (turn << 28), &AREA_ALLOC.record(5, &placed));
        pages.push(1001 + (turn << 28), &AREA_FREE.record(5, &[("va_start", at)]));
        if turn == 30 {
            pages.lose(Some(3));
        }
    }
    let events = [AREA_ALLOC, AREA_FREE, PURGE, EXEC, NEW_TASK];
    write_folder(at, &recording("kva", "6.18", "snapshot_start=1 2\n"), &events, 4096, &[pages.finish()]);
    let areas = "0xffffc90000000000-0xffffc90000005000   20480 irq_init_percpu_irqstack+0xca/0x100 vmap\n";
    fs::write(at.join("vmallocinfo.start"), areas).unwrap();
    fs::write(at.join("saved_cmdlines"), "5 bash\n").unwrap();
    fs::write(at.join("kallsyms"), "ffffffff81000000 T mm_init\n").unwrap();
    fs::write(at.join("cpu0.stats"), "overrun: 0\ncommit overrun: 0\ndropped events: 0\n").unwrap();
}

const FILES: [&str; 9] = [
    "recording",
    "events/header_page",
    "events/vmalloc/alloc_vmap_area/format",
    "events/vmalloc/free_vmap_area_noflush/format",
    "cpu0.raw",
    "vmallocinfo.start",
    "saved_cmdlines",
    "kallsyms",
    "cpu0.stats",
];

/// Changes bytes; what is cut off is cut off.
fn damage(bytes: &mut Vec<u8>, changes: &[(prop::sample::Index, u8)], cut: Option<prop::sample::Index>) {
    for (at, byte) in changes {
        let at = at.index(bytes.len());
        bytes[at] = *byte;
    }
    if let Some(at) = cut {
        bytes.truncate(at.index(bytes.len()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(384) })]

    #[test]
    fn damaged_folders_are_errors_that_name_a_file(
        file in prop::sample::select(&FILES[..]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let at = tempfile::tempdir().unwrap();
        folder(at.path());
        let file = at.path().join(file);
        let mut bytes = fs::read(&file).unwrap();
        damage(&mut bytes, &changes, cut);
        fs::write(&file, &bytes).unwrap();
        if let Err(error) = imported(at.path()) {
            let error = error.to_string();
            let named = at.path().to_str().unwrap();
            prop_assert!(error.contains(named) || error.starts_with("the event at "), "{}", error);
        }
    }
}

#[track_caller]
fn fails(change: impl FnOnce(&Path), words: &str) {
    let at = tempfile::tempdir().unwrap();
    folder(at.path());
    imported(at.path()).unwrap();
    change(at.path());
    let error = imported(at.path()).unwrap_err().to_string();
    assert!(error.contains(words), "{error}");
}

#[test]
fn errors_say_the_file_and_the_line_or_record() {
    let write =
        |file: &'static str, bytes: &'static [u8]| move |at: &Path| fs::write(at.join(file), bytes).unwrap();
    fails(write("recording", b"recorded\n"), "recording:1: not a recording");
    fails(
        write("recording", b"#freehold-recording v1\nkind=kva\nkind=kva\n"),
        "recording:3: kind is there twice",
    );
    fails(write("recording", b"#freehold-recording v1\nkind=kva\n"), "no line begins `release=`");
    fails(write("recording", b"#freehold-recording v1\nclock=local\n"), "only mono is read");
    fails(write("events/header_page", b"field:\n"), "events/header_page:1: ");
    fails(
        write("events/vmalloc/alloc_vmap_area/format", b"name: x\nID: many\n"),
        "format:2: ID is no number",
    );
    fails(write("events/vmalloc/alloc_vmap_area/format", b"name: x\n"), "no line begins `ID: `");
    fails(write("vmallocinfo.start", b"0x1-0x2 3 x\n"), "vmallocinfo.start:1: 3 bytes from 1");
    fails(write("cpu0.stats", b"overrun: 0\n"), "cpu0.stats: it does not say how many events were lost");
    fails(write("cpu0.raw", b"short"), "cpu0.raw: record 1: a sub-buffer of 5 bytes is cut off");
    fails(write("cpu0.raw", &[0xff; 4096]), "cpu0.raw: record 1: 1048575 bytes of records");
    fails(|at| fs::remove_file(at.join("cpu0.raw")).unwrap(), "neither cpuN.raw nor events.log");
    fails(
        |at| fs::remove_dir_all(at.join("events/vmalloc/alloc_vmap_area")).unwrap(),
        "Linux has it from 6.2 on",
    );
    // A field that the event means nothing without.
    let without = |name: &'static str| {
        move |at: &Path| {
            let file: PathBuf = at.join("events/vmalloc/alloc_vmap_area/format");
            let text = fs::read_to_string(&file).unwrap();
            fs::write(&file, text.replace(&format!("unsigned long {name};"), "unsigned long other;"))
                .unwrap();
        }
    };
    fails(without("size"), "cpu0.raw: record 1: alloc_vmap_area has no field size");
}

/// A recording by ptrace lasts as long as its command, so it has no limit of lines; a trace that is read has one.
#[test]
fn a_long_log_is_read_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = recording("vma", "6.18", "").replace("=tracefs", "=ptrace");
    fs::write(folder.path().join("recording"), kernel).unwrap();
    let log = "1 0 5 exit\n".repeat(freehold_trace::MOST_LINES as usize);
    fs::write(folder.path().join("events.log"), log + "2 0 5 exec sh\n").unwrap();
    assert_eq!(imported(folder.path()).unwrap().1.rows, 1);
}

/// What a file says that is small when it is compressed must not take any memory.
#[test]
fn processes_have_so_many_mappings_at_most() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = recording("vma", "6.18", "").replace("=tracefs", "=ptrace");
    fs::write(folder.path().join("recording"), kernel).unwrap();
    let map = |at: u64| format!("1 0 5 call mmap 0 1000 3 22 0 0 = {} -\n", at * 0x2000);
    let fork = |child: u64| format!("1 0 5 fork {child} 11\n");
    let log = |maps, children: u64| {
        let log: String = (1..=maps).map(map).chain((6..6 + children).map(fork)).collect();
        fs::write(folder.path().join("events.log"), format!("1 0 5 exec sh\n{log}")).unwrap();
        imported(folder.path()).map(|(_, summary)| summary.rows)
    };
    assert_eq!(log(10, 10).unwrap(), 21);
    let error = log(1 << 14, 257).unwrap_err().to_string();
    assert!(error.contains("more than 4194304 mappings"), "{error}");
}
