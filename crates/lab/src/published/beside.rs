//! A published figure beside ours, and whether ours says the same.

use super::{Figure, Quantity, of_suite};
use crate::named::named;
use crate::record::{Origin, Record, Results, Select, count, fixed, largest};

/// A ratio or a time is reproduced if it is within so many times the published one.
const NEAR: f64 = 2.0;

named! {
    /// Whether ours says what was published.
    Reproduced {
        Yes    "yes"     "It is within a factor of 2 of what was published."
        InPart "in part" "The change goes the same way, and is not within a factor of 2."
        No     "no"      "Neither."
    }
}

/// What of ours stands beside a published figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// As a cell has it: a ratio, or a figure in the published unit.
    pub text: String,
    /// Whether it says the same.
    pub reproduced: Reproduced,
}

impl Figure {
    /// What of ours stands beside it; `None` where nothing does.
    ///
    /// # Errors
    /// The run has not exactly one record for each that is asked for.
    pub fn beside(&self, records: &[Record]) -> Result<Option<Beside>, String> {
        let find = |side: &Select| self.find(side, records);
        Ok(match self.ours.as_slice() {
            [before, after] => {
                let (before, after) = (find(before)?, find(after)?);
                let mark = if before.origin.mark().is_empty() { after } else { before }.origin.mark();
                let ratio = before.value / after.value;
                let reproduced = self.ratio().map_or(Reproduced::No, |theirs| self.compare(theirs, ratio));
                (after.value > 0.0).then(|| Beside { text: format!("{}x{mark}", fixed(ratio)), reproduced })
            }
            [side] => {
                let record = find(side)?;
                let Some(theirs) = &self.after else { return Ok(None) };
                let Quantity { value, unit, .. } = theirs;
                let ours = record.value * self.per / unit.2;
                let near = (ours / value).max(value / ours) <= NEAR;
                let reproduced = if near { Reproduced::Yes } else { Reproduced::No };
                Some(Beside {
                    text: format!("{} {}{}", fixed(ours), unit.0, record.origin.mark()),
                    reproduced,
                })
            }
            _ => None,
        })
    }

    /// The record of a side; of several that the figure is the worst of, the largest.
    fn find<'a>(&self, side: &Select, records: &'a [Record]) -> Result<&'a Record, String> {
        let select = self.of.clone().with(side);
        let is = |record: &&Record| {
            (record.metric, record.stat) == (self.metric, self.stat)
                && !matches!(record.origin, Origin::Published(_))
                && select.takes(record)
        };
        let same: Vec<&Record> = records.iter().filter(is).collect();
        let wanted = select.values();
        let (what, got) = (&self.what, same.len());
        largest(&same)
            .filter(|_| got == wanted)
            .ok_or_else(|| format!("published {what:?}: {got} records instead of {wanted} are {select}"))
    }

    fn compare(&self, theirs: f64, ours: f64) -> Reproduced {
        let at_least = self.before.as_ref().is_some_and(|before| before.at_least);
        let near = ours * NEAR >= theirs && (at_least || ours <= theirs * NEAR);
        match (near, (ours - 1.0) * (theirs - 1.0) > 0.0) {
            (true, _) => Reproduced::Yes,
            (false, true) => Reproduced::InPart,
            (false, false) => Reproduced::No,
        }
    }
}

/// Says how many of a family's published figures are reproduced.
///
/// # Errors
/// A figure has not exactly one record of ours for each that stands beside it.
pub fn conclude(suite: &str, results: &mut Results) -> anyhow::Result<()> {
    let mut counts = [0; 4];
    for figure in of_suite(suite).flat_map(|source| &source.figure) {
        let beside = figure.beside(&results.records).map_err(anyhow::Error::msg)?;
        counts[beside.map_or(3, |beside| beside.reproduced as usize)] += 1;
    }
    let [yes, in_part, no, none] = counts.map(count);
    let text = format!(
        "Published figures reproduced within a factor of 2: {yes}; in part, since the change goes the same way: {in_part}; not: {no}; \
         with nothing here that compares: {none}."
    );
    results.fact("reproduced", text.clone());
    results.note(text);
    Ok(())
}
