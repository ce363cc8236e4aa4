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

/// Settings as they were given, and the last value of each key.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    texts: Vec<String>,
    lazy: Option<bool>,
    pools: Option<Pools>,
    decay: Option<Decay>,
    refill: Option<Refill>,
    nodes: Option<u32>,
    limit_pages: Option<u64>,
    aside: Option<bool>,
}

impl Settings {
    /// Reads what was given.
    ///
    /// # Errors
    /// A key or a value that there is not.
    pub fn read(texts: &[String]) -> Result<Self, Failure> {
        let mut settings = Self { texts: texts.to_vec(), ..Self::default() };
        texts.iter().try_for_each(|text| settings.set(text))?;
        Ok(settings)
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
    pub(super) fn apply(&self, choices: Choices) -> Choices {
        Choices {
            lazy: self.lazy.unwrap_or(choices.lazy),
            pools: self.pools.unwrap_or(choices.pools),
            decay: self.decay.unwrap_or(choices.decay),
            refill: self.refill.unwrap_or(choices.refill),
            nodes: self.nodes.unwrap_or(choices.nodes),
            limit_pages: self.limit_pages.unwrap_or(choices.limit_pages),
        }
    }

    /// Whether a place that the model has next and the kernel passes over is set aside.
    pub(super) fn sets_aside(&self) -> bool {
        self.aside.unwrap_or(true)
    }

    /// Whether the model's own limit says when it purges. Otherwise it purges when the recorded kernel did.
    pub(super) fn has_limit(&self) -> bool {
        self.limit_pages.is_some()
    }

    fn set(&mut self, text: &str) -> Result<(), Failure> {
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
        match (key, value) {
            ("lazy", "on" | "off") => self.lazy = Some(value == "on"),
            ("pools", "on") => self.pools = Some(Pools::PerNode),
            ("pools", "off") => self.pools = Some(Pools::Off),
            ("pools", "shared") => self.pools = Some(Pools::Shared),
            ("pools", "fifo") => self.pools = Some(Pools::Fifo),
            ("decay", "6.16") => self.decay = Some(Decay::Quarter),
            ("decay", "6.9") => self.decay = Some(Decay::ShortAll),
            ("decay", "off") => self.decay = Some(Decay::Off),
            ("decay", "tail") => self.decay = Some(Decay::Tail),
            ("refill", "lowest") => self.refill = Some(Refill::LowestFirst),
            ("refill", "highest") => self.refill = Some(Refill::HighestFirst),
            ("refill", "by-time") => self.refill = Some(Refill::ByTime),
            ("nodes", _) => {
                self.nodes = Some(u32::try_from(number(u64::from(MOST_NODES))?).unwrap_or(MOST_NODES))
            }
            ("aside", "on" | "off") => self.aside = Some(value == "on"),
            ("lazy-limit", _) => self.limit_pages = Some(number(u64::MAX >> 12)?),
            _ => return Err(unknown(&format!("value of {key}"), value, words)),
        }
        Ok(())
    }
}
