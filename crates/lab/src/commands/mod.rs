//! The commands: each turns its options into [`Results`](crate::record::Results), and has a definition of what is shown of
//! them.

pub mod bench;
pub mod compare;
pub mod doctor;
pub mod inspect;
pub mod instructions;
pub mod main_job;
pub mod replay;
pub mod stress;
pub mod verify;
pub mod wishes;

use crate::failure::Failure;
use crate::view::Definition;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The definitions of what is shown, by command, each in parts.
const DEFINITIONS: &[(&str, &[&str])] = &[
    (
        "freehold",
        &[
            include_str!("../../bench/main.toml"),
            include_str!("../../bench/replay.toml"),
            include_str!("../../bench/main-percpu.toml"),
            include_str!("../../bench/main-maple.toml"),
        ],
    ),
    ("replay", &[include_str!("../../bench/head.toml"), include_str!("../../bench/replay.toml")]),
    ("verify", &[include_str!("../../bench/verify.toml")]),
    ("inspect", &[include_str!("../../bench/inspect.toml")]),
    ("bench kva", &[include_str!("../../bench/kva.toml")]),
    ("bench percpu", &[include_str!("../../bench/percpu.toml")]),
    ("bench maple", &[include_str!("../../bench/maple.toml")]),
    ("stress kva", &[include_str!("../../bench/stress.toml")]),
    ("stress percpu", &[include_str!("../../bench/stress.toml")]),
    ("stress maple", &[include_str!("../../bench/stress.toml")]),
    ("reproduce kva-2019", &[include_str!("../../bench/studies/kva-2019.toml")]),
    ("reproduce percpu-2017", &[include_str!("../../bench/studies/percpu-2017.toml")]),
    ("reproduce maple-2025", &[include_str!("../../bench/studies/maple-2025.toml")]),
    ("compare", &[include_str!("../../bench/compare.toml")]),
];

/// What is shown of a command's results.
///
/// # Errors
/// There is no such command.
pub fn definition(command: &str) -> anyhow::Result<Definition> {
    let parts = DEFINITIONS.iter().find(|(name, _)| *name == command);
    let (_, parts) = parts.ok_or_else(|| anyhow::anyhow!("nothing is defined for {command:?}"))?;
    Definition::read(&parts.concat())
}

/// The folder of bundled data: beside the sources it was built from, or `data` where the program is started.
///
/// # Errors
/// There is no such folder.
pub fn data_folder() -> anyhow::Result<PathBuf> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    let found = [built, PathBuf::from("data")].into_iter().find(|folder| folder.is_dir());
    let lacking = || Failure::Lacking("the folder `data` of the repository is not here".to_owned());
    Ok(found.ok_or_else(lacking)?)
}

/// Tells on standard error what is being done, once it has taken more than a second.
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
    shown: bool,
}

impl Default for Progress {
    fn default() -> Self {
        let bar = ProgressBar::hidden();
        bar.set_style(ProgressStyle::default_spinner());
        Self { bar, started: Instant::now(), shown: false }
    }
}

impl Progress {
    /// There is progress, of this kind.
    pub fn tick(&mut self, what: &str) {
        if !self.shown && self.started.elapsed() > Duration::from_secs(1) {
            self.shown = true;
            self.bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
        }
        self.bar.set_message(what.to_owned());
        self.bar.tick();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_definition_is_read() {
        for (command, _) in DEFINITIONS {
            let definition = definition(command).map_err(|error| format!("{command}: {error:#}")).unwrap();
            assert!(!definition.section.is_empty(), "{command}");
        }
    }
}
