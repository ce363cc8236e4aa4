//! The program as a user meets it: exit codes, what goes where, errors that say what is wrong.

use freehold_lab::commands::main_job::data_folder;
use std::process::{Command, Output};

fn freehold(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_freehold")).args(args).output().unwrap()
}

fn data(file: &str) -> String {
    data_folder().unwrap().join(file).display().to_string()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn verify_says_what_it_checked() {
    let output =
        freehold(&["verify", &data("vectors/kva/talk.txt"), &data("vectors/kva/gap_fix_size.txt.zst")]);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        text(&output.stdout).contains("passed: 2 files, 6_014 operations checked, 0 mismatches"),
        "{}",
        text(&output.stdout)
    );
}

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
fn wrong_usage_is_exit_code_2() {
    for args in [&["verify"][..], &["replay", "x", "--rounds", "0"], &["fly"], &["--format", "poem"]] {
        assert_eq!(freehold(args).status.code(), Some(2), "{args:?}");
    }
    let output = freehold(&["replay", "churn:100", "--engine", "nobody"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("there are rbtree:lowest"));
}

#[test]
fn json_is_one_document_of_flat_rows() {
    let output = freehold(&["replay", "churn:200", "--rounds", "1", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "freehold/1");
    assert_eq!(document["command"], "replay");
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.iter().filter(|row| row["default"] == true).count(), 3);
    for row in rows {
        assert!(row.as_object().unwrap().values().all(|value| !value.is_object()), "{row}");
    }
    let work = |engine: &str, placement: Option<&str>| {
        let mine = |row: &&serde_json::Value| {
            row["engine"] == engine
                && row["op"] == "alloc"
                && placement.is_none_or(|name| row["placement"] == name)
        };
        rows.iter().find(mine).unwrap()["work_mean"].as_f64().unwrap()
    };
    assert!(work("gap-list", None) > work("rbtree", Some("lowest")));
}

#[test]
fn mail_text_is_72_columns_wide() {
    let output = freehold(&["replay", "churn:200", "--rounds", "1", "--format", "lkml"]);
    assert_eq!(output.status.code(), Some(0));
    let text = text(&output.stdout);
    assert!(text.lines().all(|line| line.chars().count() <= 72), "{text}");
    assert!(text.contains("gap-list"));
}

#[test]
fn inspect_tells_the_shape_of_a_trace() {
    let output = freehold(&["inspect", &data("traces/bpfvm.kva.csv.zst")]);
    assert_eq!(output.status.code(), Some(0));
    let text = text(&output.stdout);
    for part in ["10_769", "10_791", "sizes of allocations", "lifetime", "live objects over time"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}

#[test]
fn completions_and_manual_come_from_the_command_line() {
    assert!(text(&freehold(&["completions", "bash"]).stdout).contains("_freehold"));
    assert!(text(&freehold(&["man"]).stdout).contains(".TH freehold"));
}
