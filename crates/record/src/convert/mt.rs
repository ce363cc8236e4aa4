//! Events within maple trees: nodes get numbers in the order in which they appear.

use super::Rows;
use crate::Error;
use crate::event::{Event, TreeOp, What};
use freehold_trace::mt::{Action, Event as Row};
use freehold_units::Span;
use std::collections::HashMap;

/// Writes the rows.
pub(super) fn convert(
    events: impl Iterator<Item = Result<Event, Error>>,
    mut rows: Rows,
) -> Result<Rows, Error> {
    let mut nodes: HashMap<u64, u32> = HashMap::new();
    for event in events {
        let event = event?;
        let stamp = rows.take(&event)?;
        let What::Tree { op, ref function, node, min, max, index, last } = event.what else {
            rows.other(&event.what);
            continue;
        };
        let action = match op {
            TreeOp::Read => Action::Read,
            TreeOp::Write { pivot, value } => Action::Write { pivot, value },
            TreeOp::Restructure => Action::Restructure,
        };
        let next = nodes.len() as u32;
        let node = *nodes.entry(node).or_insert(next);
        let (Some(node_span), Some(span)) = (Span::new(min, max), Span::new(index, last)) else {
            let what = format!("keys {min:x}-{max:x}, {index:x}-{last:x} in no order");
            return Err(Error::Odd { at: event.at, what });
        };
        rows.row(&Row { stamp, action, function: function.to_string(), node, node_span, span })?;
    }
    Ok(rows)
}
