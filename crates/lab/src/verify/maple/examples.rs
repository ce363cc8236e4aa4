//! The worked examples of what a store asks for, by both formulas.

use super::requests::{Situation, agrees, name, requested};
use crate::verify::Checked;
use freehold::maple::linux::{Heights, Planner};
use freehold::units::Span;
use freehold_trace::TraceError;
use freehold_trace::maple::{Example, Examples};
use std::path::Path;

pub(in crate::verify) fn verify(file: &Path) -> Result<Vec<Checked>, TraceError> {
    let mut examples = Examples::open(file)?;
    let planners = [("requests 6.12", Planner::Worst), ("requests 6.16", Planner::Vacancy)];
    let mut checks = planners.map(|(what, planner)| {
        (Checked { what: what.to_owned(), engine: name(planner), ..Checked::default() }, planner)
    });
    while let Some(example) = examples.next().transpose()? {
        let line = examples.line();
        for (checked, planner) in &mut checks {
            let recorded = match planner {
                Planner::Worst => example.requested_6_12,
                _ => example.requested_6_16,
            };
            let (situation, over_index_0) = (situation(&example), Span::new(0, 0) == Some(example.asked));
            checked.operations += 1;
            if agrees(*planner, situation, over_index_0, u64::from(recorded)) {
                checked.comparisons += 1;
            } else {
                let got = requested(*planner, situation);
                checked.compare(line, format!("example {}: {recorded}", example.number), format!("{got:?}"));
            }
        }
    }
    Ok(checks.map(|(checked, _)| checked).into())
}

fn situation(example: &Example) -> Situation {
    let heights = Heights {
        height: example.height.into(),
        vacant: example.vacant_height.into(),
        sufficient: example.sufficient_height.into(),
    };
    Situation { store_type: example.store_type, heights, rcu: false }
}
