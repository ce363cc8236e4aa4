//! Traces as Parquet, by a program with the feature and by one without.

use super::{data, freehold, text};
use std::fs;
use std::io::Read;
use std::path::Path;
use tempfile::TempDir;

/// The text of a trace, however it lies in the file.
fn trace(file: &str) -> String {
    let mut text = String::new();
    freehold_trace::open(Path::new(file)).unwrap().read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_trace_goes_there_and_back_or_is_refused() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (columns, plain, from) = (file("a.parquet"), file("a.csv"), data("traces/pynumpy.vma.csv.zst"));
    let written = freehold(&["import", &from, "-o", &columns]);
    if !cfg!(feature = "parquet") {
        assert_eq!(written.status.code(), Some(2));
        assert!(text(&written.stderr).contains("--features parquet"), "{}", text(&written.stderr));
        fs::write(&columns, b"PAR1 and so on").unwrap();
        let read = freehold(&["inspect", &columns]);
        assert_eq!(read.status.code(), Some(1));
        assert!(text(&read.stderr).contains("--features parquet"), "{}", text(&read.stderr));
        return;
    }
    assert!(written.status.success(), "{}", text(&written.stderr));
    assert!(fs::read(&columns).unwrap().starts_with(b"PAR1"));
    let verified = text(&freehold(&["verify", &columns]).stdout);
    assert!(verified.contains("passed: 1 file, ") && verified.contains(" 0 mismatches"), "{verified}");
    assert!(freehold(&["import", &columns, "-o", &plain]).status.success());
    assert!(trace(&plain) == trace(&from), "the same text");
    // What is recorded goes there at once, as far as this user may trace a child.
    let recorded = freehold(&["record", "vma", "-o", &columns, "--", "true"]);
    if recorded.status.code() != Some(4) {
        assert!(recorded.status.success(), "{}", text(&recorded.stderr));
        assert!(
            fs::read(&columns).unwrap().starts_with(b"PAR1") && trace(&columns).contains("#workload true")
        );
    }
}

/// What is a trace already is written anew, compressed or not, by any program.
#[test]
fn a_trace_is_written_in_another_form() {
    let folder = TempDir::new().unwrap();
    let (plain, packed) = (folder.path().join("a.csv"), folder.path().join("b.csv.zst"));
    let (plain, packed) = (plain.display().to_string(), packed.display().to_string());
    let from = data("traces/netns.pcpu.csv.zst");
    for (from, to) in [(&from, &plain), (&plain, &packed)] {
        let output = freehold(&["import", from, "-o", to]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(text(&output.stdout), format!("next: freehold replay {to}\n"));
    }
    assert!(fs::read(&plain).unwrap().starts_with(b"#vml-trace ") && trace(&packed) == trace(&from));
    // A file that is cut off is named, and what was written before stays.
    fs::write(&packed, &fs::read(&from).unwrap()[..100_000]).unwrap();
    let output = freehold(&["import", &packed, "-o", &plain]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with(&format!("freehold: {packed} ")), "{}", text(&output.stderr));
    assert!(trace(&plain) == trace(&from));
}
