//! Running a program of tests again under valgrind's callgrind, for those that hold work in instructions.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

/// Whether there is no valgrind; says so.
pub(crate) fn is_missing() -> bool {
    let valgrind = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    let is_missing = !valgrind.is_ok_and(|status| status.success());
    if is_missing {
        eprintln!("not run: valgrind is not installed");
    }
    is_missing
}

/// Runs this program under callgrind, with these arguments for callgrind, and told by a variable what to do. The figures go to
/// `out`, or to files beside it.
pub(crate) fn run(arguments: &[&str], out: &Path, (variable, task): (&str, &str)) {
    let ran = Command::new("valgrind")
        .arg("--tool=callgrind")
        .args(arguments)
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(env::current_exe().unwrap())
        .env(variable, task)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// The instructions in a file of callgrind's.
pub(crate) fn total(file: &Path) -> f64 {
    let text = fs::read_to_string(file).unwrap();
    let total = text.lines().find_map(|line| line.strip_prefix("totals: ")).unwrap();
    total.trim().parse().unwrap()
}
