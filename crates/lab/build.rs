//! Lists the published tables, so that a new one is a file and nothing else.

use std::{env, fs, io, path::PathBuf};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("bench/published");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let tables: String = files.iter().map(|file| format!("    include_str!({file:?}),\n")).collect();
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("published.rs");
    fs::write(out, format!("/// Every table.\nconst TABLES: &[&str] = &[\n{tables}];\n"))
}
