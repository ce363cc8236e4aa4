//! All that was published of it, then and since, beside ours where there is a like quantity.

use super::aligned::Growth;
use super::churn::Churns;
use super::fills::{Fills, Timed};
use super::{deletion, stale_hint};
use crate::commands::reproduce::beside::{self, Ours};
use crate::commands::reproduce::{Part, times};
use crate::measure::median;
use crate::measure::percpu::{DeletionRun, StaleHintRun};
use crate::output::{fixed, nanoseconds};
use crate::published::Figure;
use crate::published::percpu::{Subject, TABLES};
use crate::workload::percpu::Order;

/// What there is to set beside it.
pub(super) struct Measured<'a> {
    pub(super) seed: &'a Fills,
    pub(super) second_half: &'a Fills,
    pub(super) aligned: &'a [Growth],
    pub(super) churns: &'a Churns,
    pub(super) stale_hint: &'a [StaleHintRun],
    pub(super) deletion: &'a [DeletionRun],
}

/// The part.
pub(super) fn part(measured: &Measured<'_>) -> Part {
    let before = "Figures of whole calls on other machines, of which a ratio can be set beside ours, and a time \
                  only roughly; those of Linux 6.12 were taken on a machine like that of this run, in units of \
                  32 KiB. The notes of the table:";
    beside::part("percpu", before.to_owned(), &TABLES, |figure| ours(figure, measured))
}

fn ours(figure: &Figure<Subject>, measured: &Measured<'_>) -> Ours {
    // Of tables that have both ends a ratio; of the others, which are of Linux 6.12, a time.
    let fill = |fills: &Fills, bytes, timed: Timed| {
        if figure.before.is_some() { ratio(fills, bytes, timed) } else { time(fills, bytes, timed) }
    };
    match figure.subject {
        Subject::SeedAlloc(bytes) => fill(measured.seed, bytes, Timed::Alloc),
        Subject::SeedFree(bytes) => fill(measured.seed, bytes, Timed::Worst),
        Subject::RandomFree(bytes) => fill(measured.seed, bytes, Timed::Free(Order::Random)),
        Subject::SecondHalfAlloc(bytes) => fill(measured.second_half, bytes, Timed::Alloc),
        Subject::SecondHalfFree(bytes) => fill(measured.second_half, bytes, Timed::Free(Order::InOrder)),
        Subject::Aligned => aligned(measured.aligned),
        Subject::AlignedAlloc => {
            let growth = measured.aligned.iter().find(|growth| growth.entry.engine == "bitmap-linux");
            let ns = growth.and_then(Growth::million_alloc_ns);
            let note = "time of bitmap-linux, multiplied up to a million".to_owned();
            Ours { text: ns.map_or_else(String::new, nanoseconds), note }
        }
        Subject::Churn(most_bytes) => churn(measured.churns, most_bytes),
        Subject::StaleHint => stale(measured.stale_hint),
        Subject::FilterInsertion => {
            Ours::none("a whole workload of the network, whose counters of mixed alignment are not recorded")
        }
        Subject::Deletion => deleted(measured.deletion, "bitmap-2017"),
        Subject::DeletionBalanced => deleted(measured.deletion, "bitmap-linux"),
    }
}

/// How many times as long the area map takes as the form that was posted.
fn ratio(fills: &Fills, bytes: u32, timed: Timed) -> Ours {
    let ns = |engine| fills.ns(bytes, engine, timed);
    match ns("area-map").zip(ns("bitmap-2017")) {
        Some((area_map, posted)) => Ours {
            text: times(area_map, posted),
            note: "area-map over bitmap-2017, offsets alone".to_owned(),
        },
        None => Ours::none("no objects of that size were placed"),
    }
}

/// What Linux's placement takes for a million objects.
fn time(fills: &Fills, bytes: u32, timed: Timed) -> Ours {
    match fills.ns(bytes, "bitmap-linux", timed) {
        Some(ns) => Ours {
            text: format!("{} ms", fixed(ns)),
            note: "time of bitmap-linux for a million, offsets alone".to_owned(),
        },
        None => Ours::none("no objects of that size were placed"),
    }
}

fn aligned(growth: &[Growth]) -> Ours {
    let ns = |engine: &str| growth.iter().find(|growth| growth.entry.engine == engine)?.million_ns();
    let both = ns("area-map").zip(ns("bitmap-2017"));
    Ours {
        text: both.map_or_else(String::new, |(area_map, posted)| times(area_map, posted)),
        note: "area-map, extrapolated by the square, over bitmap-2017, multiplied up".to_owned(),
    }
}

fn churn(churns: &Churns, most_bytes: u32) -> Ours {
    let churned = churns.runs.iter().find(|churned| churned.most_bytes == most_bytes);
    let run = churned.and_then(|churned| churned.runs.iter().find(|run| run.entry.engine == "bitmap-linux"));
    Ours {
        text: run.map_or_else(String::new, |run| format!("{} ns", fixed(median(&run.pair_ns)))),
        note: "time of bitmap-linux for a pair".to_owned(),
    }
}

fn stale(runs: &[StaleHintRun]) -> Ours {
    let run = runs.iter().find(|run| run.entry.engine == "bitmap-linux");
    let text = |run: &StaleHintRun| format!("+{:.0} %", stale_hint::more_percent(run));
    Ours {
        text: run.map_or_else(String::new, text),
        note: "more pages of bitmap-linux in the end; the same holes in other units".to_owned(),
    }
}

fn deleted(runs: &[DeletionRun], engine: &str) -> Ours {
    let run = runs.iter().find(|run| run.entry.engine == engine);
    Ours {
        text: run.map_or_else(String::new, deletion::less),
        note: format!("pages of {engine}, about a controller's objects instead of controllers"),
    }
}
