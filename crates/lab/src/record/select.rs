//! Which records a view is about.

use super::{Field, Key, Record, Value};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// What a field may be.
#[derive(Clone, Debug)]
enum Wanted {
    Number(u64),
    Text(String),
    Any(Vec<Wanted>),
}

impl Display for Wanted {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::Any(any) => any
                .iter()
                .enumerate()
                .try_for_each(|(at, wanted)| write!(f, "{}{wanted}", if at > 0 { "|" } else { "" })),
        }
    }
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
#[serde(try_from = "String")]
pub struct Select(BTreeMap<Field, Wanted>);

impl Select {
    /// The same, and what another asks for instead or besides.
    pub fn with(mut self, other: &Self) -> Self {
        self.0.extend(other.0.clone());
        self
    }

    /// The same, and this field is that.
    pub fn and(mut self, field: Field, value: &str) -> Self {
        self.0.insert(field, Wanted::Text(value.to_owned()));
        self
    }

    /// The key that has these fields; a list, which stands for several values, is not in it.
    pub fn key(&self, suite: &str, engine: &str) -> Key {
        let mut key = Key::new(suite, "").engine(engine);
        for (&field, wanted) in &self.0 {
            let value = match wanted {
                Wanted::Number(number) => Value::Number(*number),
                Wanted::Text(text) => Value::Text(text.clone()),
                Wanted::Any(_) => continue,
            };
            key = match field {
                Field::Workload => Key { workload: value.to_string(), ..key },
                Field::Op => key.op(value.to_string()),
                _ => key.param(field, value),
            };
        }
        key
    }

    /// How many values the fields that may have several have together: a record for each.
    pub fn values(&self) -> usize {
        let number = |wanted: &Wanted| if let Wanted::Any(any) = wanted { any.len() } else { 1 };
        self.0.values().map(number).product()
    }

    /// The fields that are numbers.
    pub fn numbers(&self) -> impl Iterator<Item = (Field, u64)> {
        self.0.iter().filter_map(|(field, wanted)| match wanted {
            Wanted::Number(number) => Some((*field, *number)),
            _ => None,
        })
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the field is asked for.
    pub fn asks(&self, field: Field) -> bool {
        self.0.contains_key(&field)
    }

    /// Whether the record is one of them.
    pub fn takes(&self, record: &Record) -> bool {
        self.0.iter().all(|(field, wanted)| wanted.is(&record.field(*field).unwrap_or_default()))
    }
}

/// Fields between semicolons, values between bars: `op=free;order=in-order|reverse`.
impl FromStr for Select {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let value =
            |value: &str| value.parse().map_or_else(|_| Wanted::Text(value.to_owned()), Wanted::Number);
        let field = |field: &str| {
            let (name, values) = field.split_once('=').ok_or_else(|| format!("no value: {field:?}"))?;
            let field = Field::named(name).ok_or_else(|| format!("no field {name:?}"))?;
            let mut all: Vec<Wanted> = values.split('|').map(value).collect();
            let wanted = if all.len() == 1 { all.pop() } else { None }.unwrap_or(Wanted::Any(all));
            Ok((field, wanted))
        };
        text.split(';').filter(|field| !field.is_empty()).map(field).collect::<Result<_, _>>().map(Self)
    }
}

impl TryFrom<String> for Select {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl Display for Select {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.0.iter().enumerate().try_for_each(|(at, (field, wanted))| {
            write!(f, "{}{}={wanted}", if at > 0 { ";" } else { "" }, field.name())
        })
    }
}

/// The records by the values of some fields, in the order in which they come first.
pub fn parts<'a>(records: &[&'a Record], fields: &[Field]) -> Vec<(Vec<String>, Vec<&'a Record>)> {
    let mut parts: Vec<(Vec<String>, Vec<&Record>)> = Vec::new();
    for &record in records {
        let values = values(record, fields);
        match parts.iter_mut().find(|(of, _)| *of == values) {
            Some((_, part)) => part.push(record),
            None => parts.push((values, vec![record])),
        }
    }
    parts
}

/// These values alone.
pub fn groups(records: &[&Record], fields: &[Field]) -> Vec<Vec<String>> {
    parts(records, fields).into_iter().map(|(values, _)| values).collect()
}

/// The values of these fields; nothing of one that does not apply.
pub fn values(record: &Record, fields: &[Field]) -> Vec<String> {
    fields.iter().map(|&field| record.field(field).unwrap_or_default()).collect()
}

/// The record with the largest figure: the worst of what is not told apart.
pub fn largest<'a>(records: &[&'a Record]) -> Option<&'a Record> {
    records.iter().copied().reduce(|most, next| if next.value > most.value { next } else { most })
}
