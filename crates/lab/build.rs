//! Says what the program is built of and with.

use std::process::Command;
use std::{env, path::PathBuf};

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let told = |program: &str, args: &[&str]| -> Option<String> {
        let output = Command::new(program).args(args).current_dir(&here).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (output.status.success() && !text.is_empty()).then_some(text)
    };
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = env::var("RUSTC").unwrap_or_default();
    let compiler = told(&rustc, &["--version"]).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=FREEHOLD_COMPILER={compiler}");
    // Builds without optimisation, whose times mean nothing, are not built again for a commit alone.
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = || {
        let log = told("git", &["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"])?;
        println!("cargo::rerun-if-changed={log}");
        told("git", &["rev-parse", "--short=12", "HEAD"])
    };
    let commit = if is_release { commit() } else { None };
    println!("cargo::rustc-env=FREEHOLD_COMMIT={}", commit.unwrap_or_else(|| "unknown".to_owned()));
}
