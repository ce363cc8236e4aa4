//! Files that are cut off, unknown or hostile: an error with file and line.

use super::{Results, data, freehold, text};
use std::io::Read;

#[test]
fn a_file_that_is_cut_off_or_unknown_fails_with_its_line() {
    let folder = std::env::temp_dir().join(format!("freehold-program-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let cut = folder.join("cut.txt");
    std::fs::write(&cut, "# kva-vectors 1\nunit 4096\ninit 1 9\nzone z0 1 9\ncols k\nbegin\na 1 1 z0 L1\n")
        .unwrap();
    let half = folder.join("half.txt.zst");
    let whole = std::fs::read(data("vectors/kva/talk.txt")).unwrap();
    std::fs::write(&half, &whole[..40]).unwrap();
    for (file, says) in [(&cut, "cut.txt:8: the file is cut off"), (&half, "half.txt.zst:1: cannot be read")]
    {
        let output = freehold(&["verify", &file.display().to_string()]);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stdout).contains(says), "{}", text(&output.stdout));
    }
    std::fs::remove_dir_all(folder).unwrap();
    let output = freehold(&["inspect", "no-such-file"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("no-such-file"));
}

#[test]
fn a_file_that_cannot_be_read_is_of_the_suite_that_its_beginning_tells() {
    let folder = std::env::temp_dir().join(format!("freehold-suites-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let unit = "# unit 32768 page 4096 cpus 1 variant stock balance off seed 1 digest_every 10\n";
    for (begins, suite) in [
        (unit, Some("percpu")),
        ("@run unit 32768 size 4\n", Some("percpu")),
        ("# kva-vectors 1\n", Some("kva")),
        ("neither\n", None),
    ] {
        let file = folder.join("cut.txt");
        std::fs::write(&file, begins).unwrap();
        let output = freehold(&["verify", &file.display().to_string(), "--json"]);
        assert_eq!(output.status.code(), Some(1), "{begins}");
        let results = Results::read(&output.stdout);
        let record = results.records().next().unwrap();
        assert_eq!((record["suite"].as_str(), record["value"].as_f64()), (suite, Some(0.0)), "{record}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn hostile_tables_and_traces_are_refused() {
    let folder = std::env::temp_dir().join(format!("freehold-hostile-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let trace = "#vml-trace v1 kind=kva kernel=6 ncpu=2 pagesize=4096 clock=mono\n#workload w: d\n#lost_records=0\n\
                 #dt_ns,cpu,tid,op,obj,addr,size,align,vstart,vend,aux\n";
    for (name, content, command, says) in [
        (
            "a.tsv",
            "workload\tseed\tN\tM\tanswers_fnv\nchurn\t1\t99999999999\t1\t0\n".to_owned(),
            "verify",
            "a.tsv:2: N must be",
        ),
        (
            "b.tsv",
            "workload\tseed\tN\tM\nchurn\t1\t10\t1\n".to_owned(),
            "verify",
            "b.tsv:2: answers_fnv is missing",
        ),
        (
            "c.csv",
            format!("{trace}0,0,0,A,1,1000,5,1,1000,ffffffff,x\n"),
            "inspect",
            "c.csv:5: a size of 5 bytes",
        ),
        (
            "d.csv",
            format!("{trace}0,0,0,A,1,1000,4096,1,1000,ffffffff,x\n0,0,0,I,2,5000,4096,,,,x\n"),
            "inspect",
            "d.csv:6: an object live at the start",
        ),
    ] {
        let file = folder.join(name);
        std::fs::write(&file, content).unwrap();
        let output = freehold(&[command, &file.display().to_string()]);
        assert_eq!(output.status.code(), Some(1), "{name}");
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(said.contains(says), "{name}: {said}");
    }
    // One object with an enormous name is one object.
    let file = folder.join("e.csv");
    std::fs::write(&file, format!("{trace}0,0,0,A,4294967295,1000,4096,1,1000,ffffffff,x\n")).unwrap();
    assert_eq!(freehold(&["replay", &file.display().to_string(), "--rounds", "1"]).status.code(), Some(0));
    std::fs::remove_dir_all(folder).unwrap();
}

/// A library panics on this: the name of a field that ends within a letter.
#[test]
fn no_panic_of_a_library_is_shown() {
    let folder = tempfile::TempDir::new().unwrap();
    let recorded = concat!(env!("CARGO_MANIFEST_DIR"), "/../record/tests/data/perf.data.zst");
    let mut bytes = Vec::new();
    freehold_trace::open(recorded.as_ref()).unwrap().read_to_end(&mut bytes).unwrap();
    let at = bytes.windows(12).position(|name| name == b"common_flags").unwrap();
    bytes[at + 9] = 0xe5;
    let file = folder.path().join("damaged.data");
    std::fs::write(&file, &bytes).unwrap();
    let into = folder.path().join("x.csv");
    let output = freehold(&["import", &file.display().to_string(), "-o", &into.display().to_string()]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stderr),
        format!("freehold: {}: perf.data: the file is damaged\n", file.display())
    );
}
