//! What each engine can be asked: `bench/features.toml`. `tests/program/features.rs` asks every engine for every feature and compares.

use serde::Deserialize;
use std::sync::LazyLock;

/// One engine's features, all its placements together: `yes`, `no`, or how far.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Features {
    /// The engine's name.
    pub engine: String,
    /// Requests aligned beyond a page.
    pub alignment: String,
    /// Requests within any window.
    pub window: String,
    /// Regions at a fixed place.
    pub fixed_place: String,
    /// From the highest address down.
    pub top_down: String,
    /// Several areas at one base.
    pub congruent: String,
    /// Which address it takes.
    pub takes: String,
    /// What a free must be given.
    pub free_needs: String,
    /// What it keeps and what an allocation costs.
    pub structure: String,
}

#[derive(Deserialize)]
struct All {
    engine: Vec<Features>,
}

#[allow(clippy::expect_used, reason = "a test reads the table that the program has")]
static FEATURES: LazyLock<Vec<Features>> = LazyLock::new(|| {
    let all: All = toml::from_str(include_str!("../../bench/features.toml")).expect("the features are read");
    all.engine
});

impl Features {
    /// Every engine of the bench.
    pub fn all() -> &'static [Self] {
        &FEATURES
    }

    /// The names of the columns of a table, and the cells.
    pub fn cells(&self) -> [(&'static str, &str); 9] {
        [
            ("engine", &self.engine),
            ("alignment", &self.alignment),
            ("window", &self.window),
            ("fixed place", &self.fixed_place),
            ("top-down", &self.top_down),
            ("congruent", &self.congruent),
            ("address taken", &self.takes),
            ("free needs", &self.free_needs),
            ("structure", &self.structure),
        ]
    }
}
