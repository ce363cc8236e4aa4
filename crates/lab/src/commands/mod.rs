//! The commands: each turns its options into [`Results`](crate::record::Results), and has a definition of what is shown of
//! them.

pub mod adversary;
pub mod bench;
pub mod compare;
pub mod doctor;
pub mod emit_c;
pub mod import;
pub mod inspect;
pub mod instructions;
pub mod main_job;
pub mod record;
pub mod replay;
pub mod shrink;
pub mod stress;
pub mod verify;
pub mod wishes;

use crate::failure::usage;
use crate::view::Definition;
use crate::workload::shown;
use std::collections::HashSet;
use std::path::Path;

macro_rules! bench {
    ($($name:literal),*) => { &[$(include_str!(concat!("../../bench/", $name, ".toml"))),*] };
}

/// The definitions of what is shown, by command, each in parts.
pub const DEFINITIONS: &[(&str, &[&str])] = &[
    ("freehold", bench!("lead-main", "head", "predicted", "main", "replay", "main-percpu", "programs")),
    ("replay", bench!("lead-replay", "head", "predicted", "replay")),
    ("verify", bench!("verify")),
    ("inspect", bench!("inspect")),
    ("bench kva", bench!("kva", "promised")),
    ("bench percpu", bench!("percpu", "promised")),
    ("bench maple", bench!("maple", "promised")),
    ("bench counters", bench!("counters", "promised")),
    ("bench readers", bench!("readers", "promised")),
    ("bench pools", bench!("pools", "promised")),
    ("bench memory", bench!("memory", "promised")),
    ("stress counters", bench!("storm")),
    ("stress kva", bench!("stress", "threads")),
    ("stress percpu", bench!("stress")),
    ("stress maple", bench!("stress", "threads")),
    ("stress --adversary", bench!("adversary")),
    ("reproduce kva-2019", bench!("studies/kva-2019")),
    ("reproduce percpu-2017", bench!("studies/percpu-2017")),
    ("reproduce maple-2025", bench!("studies/maple-2025", "programs", "studies/maple-2025-later")),
    ("compare", bench!("compare")),
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

/// Refuses what is named twice: its figures could not be told apart.
fn named_once<'a>(names: impl IntoIterator<Item = &'a Path>) -> anyhow::Result<()> {
    let mut seen = HashSet::new();
    let twice = names.into_iter().find(|name| !seen.insert(*name));
    twice.map_or(Ok(()), |name| usage(format!("{} is named twice", shown(name))))
}
