//! The worked examples of what a store asks for, by both formulas.

use super::requests::{Formula, Situation};
use crate::verify::Checked;
use freehold::maple::linux::{Heights, Planner};
use freehold::units::Span;
use freehold_trace::TraceError;
use freehold_trace::maple::{Example, Examples};
use std::path::Path;

pub(in crate::verify) fn verify(file: &Path) -> Result<Vec<Checked>, TraceError> {
    let mut examples = Examples::open(file)?;
    let mut older = Formula::new("requests 6.12", Planner::Worst);
    let mut newer = Formula::new("requests 6.16", Planner::Vacancy);
    while let Some(example) = examples.next().transpose()? {
        let (line, situation) = (examples.line(), situation(&example));
        let over_index_0 = Span::new(0, 0) == Some(example.asked);
        older.check(line, situation, over_index_0, example.requested_6_12, 1);
        newer.check(line, situation, over_index_0, example.requested_6_16, 1);
    }
    Ok(vec![older.checked, newer.checked])
}

fn situation(example: &Example) -> Situation {
    let heights = Heights {
        height: example.height.into(),
        vacant: example.vacant_height.into(),
        sufficient: example.sufficient_height.into(),
    };
    Situation { store_type: example.store_type, heights, rcu: false }
}
