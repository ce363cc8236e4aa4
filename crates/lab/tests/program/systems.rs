//! Types under other systems' answers, some of what `doctor --systems` runs; and commands under limits.

use super::{freehold, text};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

/// What a cell prints: requests served in each round, and calls answered. `None` where there can be no supervisor.
fn cell(name: &str, under: &str) -> Option<Vec<u64>> {
    let output = freehold(&["run-under", name, under]);
    if output.status.code() == Some(4) {
        eprintln!("not run: {}", text(&output.stderr));
        return None;
    }
    assert_eq!(output.status.code(), Some(0), "{name} under {under}: {}", text(&output.stderr));
    Some(text(&output.stdout).split_whitespace().map(|word| word.parse().unwrap()).collect())
}

#[test]
fn a_barrier_that_is_refused_late_or_for_a_while_ends_no_stores() {
    for name in ["MapleTree", "SharedSpace"] {
        let here = cell(name, "this").unwrap();
        for when in ["always", "late", "while", "once"] {
            let Some(under) = cell(name, &format!("membarrier/1/{when}")) else { return };
            assert_eq!(under[..3], here[..3], "{name}, {when}");
            assert!(under[3] > 0, "membarrier was refused");
        }
    }
}

#[test]
fn older_kernels_and_other_refusals_serve_as_much() {
    for (name, under) in [
        ("slots", "linux-4.14"),
        ("stacks", "linux-4.14"),
        ("MapleTree", "linux-4.14"),
        ("slots", "linux-5.4"),
        ("stacks", "linux-6.13"),
        ("slots", "qemu-user"),
        ("slots", "madvise/1/always"),
        ("slots", "ioctl/25/late"),
        ("Counter", "no-proc-no-sys"),
        ("VmVec", "no-other-calls"),
    ] {
        let here = cell(name, "this").unwrap();
        let Some(served) = cell(name, under) else { return };
        assert_eq!(served[..3], here[..3], "{name} under {under}");
    }
}

#[test]
fn types_and_systems_that_do_not_exist_are_wrong_usage() {
    for args in [
        ["run-under", "Map", "this"],
        ["run-under", "slots", "linux-9.9"],
        ["run-under", "slots", "fork/1/late"],
    ] {
        assert_eq!(freehold(&args).status.code(), Some(2), "{args:?}");
    }
}

/// The program in a shell that limits it first, as another user if one is given. `None` if that cannot be.
fn limited(limit: &str, user: Option<u32>, args: &str) -> Option<Output> {
    let program = env!("CARGO_BIN_EXE_freehold");
    let mut command = Command::new("bash");
    command.args(["-c", &format!("test -x {program} || exit 99; {limit}; exec {program} {args}")]);
    if let Some(user) = user {
        command.uid(user);
    }
    match command.output() {
        Ok(output) if output.status.code() != Some(99) => Some(output),
        lacking => {
            eprintln!("not run: no such shell, user or access for it: {lacking:?}");
            None
        }
    }
}

#[test]
fn a_small_stack_is_enough() {
    if let Some(output) = limited("ulimit -s 64", None, "doctor") {
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
}

#[test]
fn who_can_start_no_thread_is_told_so() {
    const NOBODY: u32 = 65_534;
    for args in [
        "stress counters --loops 1000 --duration 1s",
        "stress kva --mode stress --duration 1s",
        "bench counters",
    ] {
        let Some(output) = limited("ulimit -u 1", Some(NOBODY), args) else { return };
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{args}: {told}");
        assert!(
            told.lines().last().is_some_and(|line| line.contains("no thread can be started")),
            "{args}: {told}"
        );
    }
    let output = limited("ulimit -u 1", Some(NOBODY), "doctor").unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}
