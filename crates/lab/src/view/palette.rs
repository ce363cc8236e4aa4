//! The colours of engines: one for each throughout a report, and the same in every report.

use super::escape::html;
use crate::engine::{ENGINES, EngineEntry, percpu, vma};

/// Colours that the style sheet names `--e0`, `--e1` and so on.
const COLOURS: usize = 8;

/// Which engine has which colour.
#[derive(Clone, Debug)]
pub(crate) struct Palette {
    /// Engines with their numbers.
    labels: Vec<(String, usize)>,
}

impl Palette {
    /// The known engines alone, each family's from the first colour on, and those first that every comparison has, so
    /// that these do not share a colour. An engine of two families has the colour that it has in the first.
    pub(super) fn known() -> Self {
        let mut engines: Vec<&EngineEntry> = ENGINES.iter().collect();
        engines.sort_by_key(|entry| entry.compared);
        let kva = engines.into_iter().map(EngineEntry::label).enumerate();
        let percpu = percpu::ENGINES.iter().map(|entry| entry.engine.to_owned()).enumerate();
        let maple = vma::ENGINES.iter().map(|entry| entry.engine.to_owned()).enumerate();
        Self { labels: kva.chain(percpu).chain(maple).map(|(at, label)| (label, at)).collect() }
    }

    /// The engine's number, which decides its colour and how its line is dashed; `None` for what is no engine.
    pub(super) fn number(&self, label: &str) -> Option<usize> {
        self.labels.iter().find(|(other, _)| other == label).map(|&(_, number)| number)
    }

    /// The class of the engine's bars; nothing for what is no engine.
    pub(super) fn class(&self, label: &str) -> String {
        self.number(label).map(|number| format!("e{}", number % COLOURS)).unwrap_or_default()
    }

    /// The engine's name as HTML, a patch of its colour before it. Where it is too long for its place it breaks between words.
    pub(super) fn name(&self, label: &str) -> String {
        let name = html(label).replace('_', "_<wbr>");
        match self.class(label) {
            class if class.is_empty() => name,
            class => format!("<span class=\"engine\"><i class=\"patch {class}\"></i>{name}</span>"),
        }
    }
}
