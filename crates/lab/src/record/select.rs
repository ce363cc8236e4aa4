//! Which records a view is about.

use super::{Field, Key, Record, Value};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// Whether a field is what is wanted. `*` behind a text stands for any more letters, but not for a field that does not apply; `!`
/// before it for anything else.
fn is(field: &str, wanted: &Value) -> bool {
    let Value::Text(text) = wanted else { return wanted.to_string() == field };
    match (text.strip_prefix('!'), text.strip_suffix('*')) {
        (Some(not), _) => field != not,
        (None, Some(begin)) => !field.is_empty() && field.starts_with(begin),
        (None, None) => text == field,
    }
}

/// Fields with what they may be: a value, a list of them, `""` where the field must not apply.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "String")]
pub struct Select(BTreeMap<Field, Vec<Value>>);

impl Select {
    /// The same, and what another asks for instead or besides.
    pub fn with(mut self, other: &Self) -> Self {
        self.0.extend(other.0.clone());
        self
    }

    /// The same, and this field is that.
    pub fn and(mut self, field: Field, value: &str) -> Self {
        self.0.insert(field, vec![value.into()]);
        self
    }

    /// The key that has these fields; a list, which stands for several values, is not in it.
    pub fn key(&self, suite: &str, engine: &str) -> Key {
        let mut key = Key::new(suite, "").engine(engine);
        for (&field, values) in &self.0 {
            let [value] = values.as_slice() else { continue };
            key = match field {
                Field::Workload => Key { workload: value.to_string(), ..key },
                Field::Op => key.op(value.to_string()),
                _ => key.param(field, value.clone()),
            };
        }
        key
    }

    /// How many values the fields that may have several have together: a record for each.
    pub fn values(&self) -> usize {
        self.0.values().map(Vec::len).product()
    }

    /// The fields that are numbers.
    pub fn numbers(&self) -> impl Iterator<Item = (Field, u64)> {
        self.0.iter().filter_map(|(&field, values)| match values[..] {
            [Value::Number(number)] => Some((field, number)),
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
        self.0.iter().all(|(field, values)| {
            let found = record.field(*field).unwrap_or_default();
            values.iter().any(|wanted| is(&found, wanted))
        })
    }
}

/// Fields between semicolons, values between bars: `op=free;order=in-order|reverse`.
impl FromStr for Select {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let value = |value: &str| value.parse().map_or_else(|_| value.into(), Value::Number);
        let field = |field: &str| {
            let (name, values) = field.split_once('=').ok_or_else(|| format!("no value: {field:?}"))?;
            let field = Field::named(name).ok_or_else(|| format!("no field {name:?}"))?;
            Ok((field, values.split('|').map(value).collect()))
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
        let words = |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>().join("|");
        let fields = self.0.iter().map(|(field, values)| format!("{}={}", field.name(), words(values)));
        f.write_str(&fields.collect::<Vec<_>>().join(";"))
    }
}

/// What was gathered under a key; something new, behind all others, if nothing was.
pub fn under<K: PartialEq, V: Default>(all: &mut Vec<(K, V)>, key: K) -> &mut V {
    let at = all.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
        all.push((key, V::default()));
        all.len() - 1
    });
    &mut all[at].1
}

/// The records by the values of some fields, in the order in which they come first.
pub fn parts<'a>(records: &[&'a Record], fields: &[Field]) -> Vec<(Vec<String>, Vec<&'a Record>)> {
    let mut parts: Vec<(Vec<String>, Vec<&Record>)> = Vec::new();
    for &record in records {
        under(&mut parts, values(record, fields)).push(record);
    }
    parts
}

/// The values of these fields; nothing of one that does not apply.
pub fn values(record: &Record, fields: &[Field]) -> Vec<String> {
    fields.iter().map(|&field| record.field(field).unwrap_or_default()).collect()
}

/// The record with the largest figure: the worst of what is not told apart.
pub fn largest<'a>(records: &[&'a Record]) -> Option<&'a Record> {
    records.iter().copied().reduce(|most, next| if next.value > most.value { next } else { most })
}
