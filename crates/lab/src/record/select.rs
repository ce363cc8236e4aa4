//! Which records a view is about.

use super::Record;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What a field may be.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Wanted {
    Number(u64),
    Text(String),
    Any(Vec<Wanted>),
}

impl Wanted {
    /// `*` behind a text stands for any more letters, but not for a field that does not apply; `!` before it for anything else.
    fn is(&self, field: &str) -> bool {
        match self {
            Self::Number(number) => number.to_string() == field,
            Self::Text(text) => match (text.strip_prefix('!'), text.strip_suffix('*')) {
                (Some(not), _) => field != not,
                (None, Some(begin)) => !field.is_empty() && field.starts_with(begin),
                (None, None) => text == field,
            },
            Self::Any(any) => any.iter().any(|wanted| wanted.is(field)),
        }
    }
}

/// Fields with what they may be: a value, a list of them, `""` where the field must not apply.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Select(BTreeMap<String, Wanted>);

impl From<&BTreeMap<String, toml::Value>> for Select {
    fn from(fields: &BTreeMap<String, toml::Value>) -> Self {
        let wanted = |value: &toml::Value| match value {
            toml::Value::Array(any) => {
                Wanted::Any(any.iter().map(|value| Wanted::Text(text(value))).collect())
            }
            other => Wanted::Text(text(other)),
        };
        Self(fields.iter().map(|(field, value)| (field.clone(), wanted(value))).collect())
    }
}

fn text(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl Select {
    /// The same, and what another asks for instead or besides.
    pub fn with(mut self, other: &Self) -> Self {
        self.0.extend(other.0.clone());
        self
    }

    /// The same, and this field is that.
    pub fn and(mut self, field: &str, value: &str) -> Self {
        self.0.insert(field.to_owned(), Wanted::Text(value.to_owned()));
        self
    }

    /// Whether the field is asked for.
    pub fn asks(&self, field: &str) -> bool {
        self.0.contains_key(field)
    }

    /// Whether the record is one of them.
    pub fn takes(&self, record: &Record) -> bool {
        self.takes_fields(|name| record.field(name))
    }

    /// The same of anything that has fields.
    pub fn takes_fields(&self, field: impl Fn(&str) -> Option<String>) -> bool {
        self.0.iter().all(|(name, wanted)| wanted.is(&field(name).unwrap_or_default()))
    }
}
