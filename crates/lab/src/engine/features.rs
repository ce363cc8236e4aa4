//! What each engine can be asked: `bench/features.tsv`. `tests/program/features.rs` asks every engine for every feature and compares.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The table.
#[derive(Clone, Debug)]
pub struct Features {
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Each engine's cells by column; the first is its name.
    pub rows: Vec<BTreeMap<String, String>>,
}

/// Of every engine of the bench.
pub static FEATURES: LazyLock<Features> = LazyLock::new(|| {
    let lines = include_str!("../../bench/features.tsv").lines().filter(|line| !line.starts_with('#'));
    let mut lines = lines.map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
    let columns = lines.next().unwrap_or_default();
    let row = |cells: Vec<String>| {
        assert_eq!(cells.len(), columns.len(), "{cells:?} has other columns than the table");
        columns.iter().cloned().zip(cells).collect()
    };
    Features { rows: lines.map(row).collect(), columns }
});

impl Features {
    /// The rows in the order of the columns.
    pub fn in_order(&self) -> impl Iterator<Item = Vec<String>> {
        self.rows.iter().map(|row| self.columns.iter().map(|column| row[column].clone()).collect())
    }
}
