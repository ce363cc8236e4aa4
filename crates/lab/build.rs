//! Lists the published tables, so that a new one is a file and nothing else; and says what the program is built of and with.

use std::process::Command;
use std::{env, fs, io, path::PathBuf};

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let folder = here.join("bench/published");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let tables: String = files.iter().map(|file| format!("    include_str!({file:?}),\n")).collect();
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("published.rs");
    fs::write(out, format!("/// Every table.\nconst TABLES: &[&str] = &[\n{tables}];\n"))?;
    let told = |program: &str, args: &[&str]| -> Option<String> {
        let output = Command::new(program).args(args).current_dir(&here).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (output.status.success() && !text.is_empty()).then_some(text)
    };
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
    Ok(())
}
