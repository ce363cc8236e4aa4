//! What is tried on a history beside what the recorded kernel does: `--set KEY=VALUE`.

use crate::failure::{Failure, unknown};
use freehold_linux::kva::lazy::{Choices, Decay, MOST_NODES, Pools, Refill};

/// Each key, and the words that it takes; `N` and `PAGES` stand for numbers.
const KEYS: [(&str, &[&str]); 7] = [
    ("lazy", &["on", "off"]),
    ("pools", &["on", "off", "shared", "fifo"]),
    ("decay", &["6.16", "6.9", "off", "tail"]),
    ("refill", &["lowest", "highest", "by-time"]),
    ("nodes", &["N"]),
    ("lazy-limit", &["PAGES"]),
    ("aside", &["on", "off"]),
];

/// Settings, in the order in which they were given.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    texts: Vec<String>,
    changes: Vec<Change>,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Lazy(bool),
    Pools(Pools),
    Decay(Decay),
    Refill(Refill),
    Nodes(u32),
    Limit(u64),
    Aside(bool),
}

impl Settings {
    /// Reads what was given.
    ///
    /// # Errors
    /// A key or a value that there is not.
    pub fn read(texts: &[String]) -> Result<Self, Failure> {
        let changes = texts.iter().map(|text| change(text)).collect::<Result<_, _>>()?;
        Ok(Self { texts: texts.to_vec(), changes })
    }

    /// Whether nothing was given.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// As they were given.
    pub fn text(&self) -> String {
        self.texts.join(" ")
    }

    /// What a kernel with these settings chooses.
    pub(super) fn apply(&self, mut choices: Choices) -> Choices {
        for &change in &self.changes {
            match change {
                Change::Lazy(lazy) => choices.lazy = lazy,
                Change::Pools(pools) => choices.pools = pools,
                Change::Decay(decay) => choices.decay = decay,
                Change::Refill(refill) => choices.refill = refill,
                Change::Nodes(nodes) => choices.nodes = nodes,
                Change::Limit(pages) => choices.limit_pages = pages,
                // Of the prediction, not of the kernel.
                Change::Aside(_) => {}
            }
        }
        choices
    }

    /// Whether a place that the model has next and the kernel passes over is set aside.
    pub(super) fn sets_aside(&self) -> bool {
        let last = self.changes.iter().rev().find_map(|change| match change {
            Change::Aside(aside) => Some(*aside),
            _ => None,
        });
        last.unwrap_or(true)
    }

    /// Whether the model's own limit says when it purges. Otherwise it purges when the recorded kernel did.
    pub(super) fn has_limit(&self) -> bool {
        self.changes.iter().any(|change| matches!(change, Change::Limit(_)))
    }
}

fn change(text: &str) -> Result<Change, Failure> {
    let (key, value) = text.split_once('=').unwrap_or((text, ""));
    let names = KEYS.map(|(name, _)| name);
    let Some((_, words)) = KEYS.iter().find(|(name, _)| *name == key) else {
        return Err(unknown("setting", key, &names));
    };
    let number = |most: u64| {
        let number = value.parse::<u64>().ok().filter(|number| (1..=most).contains(number));
        number.ok_or_else(|| {
            Failure::Usage(format!("--set {key}={value}: a number from 1 to {most} is needed"))
        })
    };
    Ok(match (key, value) {
        ("lazy", "on" | "off") => Change::Lazy(value == "on"),
        ("pools", "on") => Change::Pools(Pools::PerNode),
        ("pools", "off") => Change::Pools(Pools::Off),
        ("pools", "shared") => Change::Pools(Pools::Shared),
        ("pools", "fifo") => Change::Pools(Pools::Fifo),
        ("decay", "6.16") => Change::Decay(Decay::Quarter),
        ("decay", "6.9") => Change::Decay(Decay::ShortAll),
        ("decay", "off") => Change::Decay(Decay::Off),
        ("decay", "tail") => Change::Decay(Decay::Tail),
        ("refill", "lowest") => Change::Refill(Refill::LowestFirst),
        ("refill", "highest") => Change::Refill(Refill::HighestFirst),
        ("refill", "by-time") => Change::Refill(Refill::ByTime),
        ("nodes", _) => Change::Nodes(u32::try_from(number(u64::from(MOST_NODES))?).unwrap_or(MOST_NODES)),
        ("aside", "on" | "off") => Change::Aside(value == "on"),
        ("lazy-limit", _) => Change::Limit(number(u64::MAX >> 12)?),
        _ => return Err(unknown(&format!("value of {key}"), value, words)),
    })
}
