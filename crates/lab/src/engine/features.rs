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
    pub engine: Vec<BTreeMap<String, String>>,
}

/// Of every engine of the bench.
#[allow(clippy::expect_used, reason = "a test reads the table that the program has")]
pub static FEATURES: LazyLock<Features> = LazyLock::new(|| {
    toml::from_str(include_str!("../../bench/features.toml")).expect("the features are read")
});

impl Features {
    /// The rows in the order of the columns.
    pub fn rows(&self) -> impl Iterator<Item = Vec<String>> {
        let cell = |row: &BTreeMap<String, String>, column| row.get(column).cloned().unwrap_or_default();
        self.engine.iter().map(move |row| self.columns.iter().map(|column| cell(row, column)).collect())
    }
}
