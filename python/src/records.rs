//! Records of the lab, schema `freehold/2`, as an Arrow batch: one row a figure.
//!
//! Columns are the same for every command, so that tables of many runs can be put together. Parameters that few records have are in
//! `params`, a JSON object by their names.

use arrow_array::builder::{BooleanBuilder, Float64Builder, StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field as Of, Schema};
use freehold_lab::engine::FLOOR;
use freehold_lab::engine::outside::GUEST;
use freehold_lab::record::{Field, Origin, Record};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Parameters that have a column of their own.
const PARAMETERS: [Field; 4] = [Field::Placement, Field::File, Field::Content, Field::N];

/// A column's name, and what it holds of a record.
type Column<T> = (&'static str, fn(&Record) -> T);

/// The columns of texts.
const TEXTS: [Column<Option<String>>; 13] = [
    ("suite", |record| record.key.field(Field::Suite)),
    ("workload", |record| record.key.field(Field::Workload)),
    ("engine", |record| record.key.field(Field::Engine)),
    ("op", |record| record.key.field(Field::Op)),
    ("metric", |record| record.field(Field::Metric)),
    ("stat", |record| record.field(Field::Stat)),
    ("unit", |record| Some(record.metric.unit().name().to_owned())),
    ("origin", |record| record.field(Field::Origin)),
    ("source", |record| record.field(Field::Source)),
    ("file", |record| record.key.field(Field::File)),
    ("content", |record| record.key.field(Field::Content)),
    ("n", |record| record.key.field(Field::N)),
    ("params", params),
];

/// The columns of numbers.
const NUMBERS: [Column<Option<f64>>; 3] = [
    ("value", |record| Some(record.value)),
    ("lo", |record| record.spread.map(|[lo, _]| lo)),
    ("hi", |record| record.spread.map(|[_, hi]| hi)),
];

/// The columns of flags: what is the same in every run, what may be compared, and of which engine.
const FLAGS: [Column<bool>; 5] = [
    ("exact", |record| record.metric.is_exact()),
    ("compared", is_compared),
    ("default", |record| record.key.default),
    ("ours", |record| record.key.ours),
    ("linux", |record| record.key.linux),
];

/// The columns of counts.
const COUNTS: [Column<Option<u64>>; 2] = [
    ("samples", |record| Some(record.samples)),
    ("from", |record| match record.origin {
        Origin::Extrapolated(from) => Some(from),
        _ => None,
    }),
];

/// Whether a figure may be set beside another engine's: not times of classes in Python, nor anything of the engine that does no work.
fn is_compared(record: &Record) -> bool {
    let engine = &record.key.engine;
    engine != FLOOR.engine && (record.metric.is_exact() || !engine.starts_with(GUEST))
}

/// The other parameters as a JSON object; nothing of none.
fn params(record: &Record) -> Option<String> {
    let others = record.key.params.iter().filter(|(field, _)| !PARAMETERS.contains(field));
    let others: BTreeMap<&str, _> = others.map(|(field, value)| (field.name(), value)).collect();
    if others.is_empty() { None } else { serde_json::to_string(&others).ok() }
}

/// The records, a row each.
///
/// # Errors
/// Arrow's own, of columns that do not belong together.
pub(crate) fn batch(records: &[Record]) -> Result<RecordBatch, ArrowError> {
    let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
    for (name, of) in TEXTS {
        let mut built = StringBuilder::new();
        records.iter().for_each(|record| built.append_option(of(record)));
        columns.push((name, Arc::new(built.finish())));
    }
    for (name, of) in NUMBERS {
        let mut built = Float64Builder::new();
        records.iter().for_each(|record| built.append_option(of(record)));
        columns.push((name, Arc::new(built.finish())));
    }
    for (name, of) in COUNTS {
        let mut built = UInt64Builder::new();
        records.iter().for_each(|record| built.append_option(of(record)));
        columns.push((name, Arc::new(built.finish())));
    }
    for (name, of) in FLAGS {
        let mut built = BooleanBuilder::new();
        records.iter().for_each(|record| built.append_value(of(record)));
        columns.push((name, Arc::new(built.finish())));
    }
    let field = |(name, array): &(&str, ArrayRef)| {
        let of: &DataType = array.data_type();
        Of::new(*name, of.clone(), true)
    };
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, array)| array).collect())
}
