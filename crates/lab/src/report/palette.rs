//! The colours of engines: one for each throughout a report, and the same in every report.

use super::Input;
use super::escape::html;
use crate::engine::{ENGINES, EngineEntry, percpu};

/// Colours that the style sheet names `--e0`, `--e1` and so on.
const COLOURS: usize = 8;

/// Which engine has which colour.
#[derive(Clone, Debug)]
pub(super) struct Palette {
    labels: Vec<String>,
    /// Those of per-CPU objects, which no report shows among the others.
    percpu: Vec<&'static str>,
}

impl Palette {
    /// The known engines, then what else the report shows.
    pub(super) fn of(input: &Input<'_>) -> Self {
        let mut labels = Self::known().labels;
        let replayed = input.replays.iter().flat_map(|replay| &replay.runs).map(|run| run.entry.label());
        for label in replayed.chain(input.growth.iter().map(|point| point.entry.label())) {
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        Self { labels, ..Self::known() }
    }

    /// The known engines alone, those first that every comparison has, so that these do not share a colour.
    pub(super) fn known() -> Self {
        let mut engines: Vec<&EngineEntry> = ENGINES.iter().collect();
        engines.sort_by_key(|entry| entry.compared);
        Self {
            labels: engines.into_iter().map(EngineEntry::label).collect(),
            percpu: percpu::ENGINES.iter().map(|entry| entry.engine).collect(),
        }
    }

    /// The number of the engine's colour; `None` for what is no engine.
    pub(super) fn colour(&self, label: &str) -> Option<usize> {
        let at = self.labels.iter().position(|other| other == label);
        at.or_else(|| self.percpu.iter().position(|other| *other == label)).map(|at| at % COLOURS)
    }

    /// The engine's name as HTML, a patch of its colour before it.
    pub(super) fn name(&self, label: &str) -> String {
        let name = html(label);
        match self.colour(label) {
            Some(colour) => {
                format!("<span class=\"engine\"><i class=\"patch e{colour}\"></i>{name}</span>")
            }
            None => name,
        }
    }
}
