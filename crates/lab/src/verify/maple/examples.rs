//! The worked examples of what a store asks for, by both formulas.

use super::requests::{Planner, Situation, agrees, requested};
use crate::verify::Checked;
use freehold::units::Span;
use freehold_trace::TraceError;
use freehold_trace::maple::{Example, Examples};
use std::path::Path;

pub(in crate::verify) fn verify(file: &Path) -> Result<Vec<Checked>, TraceError> {
    let mut examples = Examples::open(file)?;
    let planners =
        [("requests 6.12", "worst", Planner::Worst), ("requests 6.16", "vacancy", Planner::Vacancy)];
    let mut checks = planners.map(|(what, engine, planner)| {
        (Checked { what: what.to_owned(), engine, ..Checked::default() }, planner)
    });
    while let Some(example) = examples.next().transpose()? {
        let line = examples.line();
        for (checked, planner) in &mut checks {
            let recorded = match planner {
                Planner::Worst => example.requested_6_12,
                Planner::Vacancy => example.requested_6_16,
            };
            let (situation, over_index_0) = (situation(&example), Span::new(0, 0) == Some(example.asked));
            checked.operations += 1;
            if agrees(*planner, situation, over_index_0, u64::from(recorded)) {
                checked.comparisons += 1;
            } else {
                let got = requested(*planner, situation);
                checked.compare(line, format!("example {}: {recorded}", example.number), got.to_string());
            }
        }
    }
    Ok(checks.map(|(checked, _)| checked).into())
}

fn situation(example: &Example) -> Situation {
    // Levels are few; what does not fit would differ from the recorded figure.
    let level = |height: u32| u8::try_from(height).unwrap_or(u8::MAX);
    Situation {
        store_type: example.store_type,
        height: level(example.height),
        vacant: level(example.vacant_height),
        sufficient: level(example.sufficient_height),
        rcu: false,
    }
}
