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

use crate::view::Definition;

/// The definitions of what is shown, by command, each in parts.
pub const DEFINITIONS: &[(&str, &[&str])] = &[
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
    ("bench counters", &[include_str!("../../bench/counters.toml")]),
    ("bench readers", &[include_str!("../../bench/readers.toml")]),
    ("bench pools", &[include_str!("../../bench/pools.toml")]),
    ("bench memory", &[include_str!("../../bench/memory.toml")]),
    ("stress counters", &[include_str!("../../bench/storm.toml")]),
    ("stress kva", &[include_str!("../../bench/stress.toml"), include_str!("../../bench/threads.toml")]),
    ("stress percpu", &[include_str!("../../bench/stress.toml")]),
    ("stress maple", &[include_str!("../../bench/stress.toml"), include_str!("../../bench/threads.toml")]),
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
