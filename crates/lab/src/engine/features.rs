//! What each engine can be asked: `bench/features.toml`. `tests/program/features.rs` asks every engine for every feature and compares.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Features {
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Each engine's cells by column; the first is its name.
    #[serde(rename = "engine")]
    pub rows: Vec<BTreeMap<String, String>>,
}

/// Of every engine of the bench.
#[allow(clippy::expect_used, reason = "a test reads the table that the program has")]
pub static FEATURES: LazyLock<Features> = LazyLock::new(|| {
    let table: Features =
        toml::from_str(include_str!("../../bench/features.toml")).expect("the features are read");
    for row in &table.rows {
        let has_all = table.columns.iter().all(|column| row.contains_key(column));
        assert!(has_all && row.len() == table.columns.len(), "{row:?} has other columns than the table");
    }
    table
});

impl Features {
    /// The rows in the order of the columns.
    pub fn in_order(&self) -> impl Iterator<Item = Vec<String>> {
        self.rows.iter().map(|row| self.columns.iter().map(|column| row[column].clone()).collect())
    }
}
