//! What each engine can be asked: `bench/features.tsv`. `tests/program/features.rs` asks every engine for every feature and compares.

use std::sync::LazyLock;

/// The table.
#[derive(Clone, Debug)]
pub struct Features {
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Each engine's cells, of which the first is its name.
    pub rows: Vec<Vec<String>>,
}

/// Of every engine of the bench.
pub static FEATURES: LazyLock<Features> = LazyLock::new(|| {
    let lines = include_str!("../../bench/features.tsv").lines().filter(|line| !line.starts_with('#'));
    let mut lines = lines.map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
    let columns = lines.next().unwrap_or_default();
    let rows: Vec<_> = lines.collect();
    let other = rows.iter().find(|cells| cells.len() != columns.len());
    assert!(other.is_none(), "{other:?} has other columns than the table");
    Features { columns, rows }
});
