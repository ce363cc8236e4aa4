//! What was published after the talk, beside ours where there is a like quantity, and why not where there is none.

use super::runs::SuiteRuns;
use super::suite::ratios;
use crate::commands::reproduce::Part;
use crate::commands::reproduce::beside::{self, Ours};
use crate::measure::{Sampled, SampledRun};
use crate::output::{count, fixed, nanoseconds};
use crate::published::{self, Figure, Subject};

/// The part.
pub(super) fn part(runs: &SuiteRuns) -> Part {
    let before = "The rework split the problem: the search became cheap, and what was left was the lock around it. \
                  Most later figures are of that lock. A single owner, as here, has none, and nothing to set beside \
                  them. The notes of the table:";
    beside::part("kva", before.to_owned(), &published::KVA, |figure| ours(figure, runs))
}

fn ours(figure: &Figure, runs: &SuiteRuns) -> Ours {
    match figure.subject {
        Subject::SuiteTogether => suite(&runs.together, "all cases in one space"),
        Subject::SuiteInTurn => suite(&runs.in_turn, "each case by itself"),
        Subject::AllocationTime(_) => {
            Ours::none("whole vmalloc calls on a laptop of 2012; the plots show like in kind")
        }
        Subject::PagePair(1) => pair(&runs.pairs),
        Subject::PagePair(_) => Ours::none("several workers on one lock; here is one owner and no lock"),
        Subject::LockShare => Ours::none("there is no lock to wait for"),
        Subject::Contended => Ours::none("workers that wait for each other; here is one owner"),
        Subject::ListShare => walk(&runs.together),
    }
}

fn times(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{}x", fixed(ratio)))
}

fn suite(sampled: &Sampled, way: &str) -> Ours {
    let [whole, bodies] = ratios(sampled);
    let note = format!(
        "addresses alone, {way}, gap allocator over rework: {} with setups, {} without",
        times(whole),
        times(bodies)
    );
    Ours { text: times(whole), note }
}

/// One page allocated and freed.
fn pair(sampled: &Sampled) -> Ours {
    let pair_ns = |run: &SampledRun| {
        let [sum, _] = run.sums(sampled.common());
        2.0 * sum.ns as f64 / sum.ops.max(1) as f64
    };
    let texts = sampled.runs.iter().map(|run| format!("{} {}", run.entry.label(), nanoseconds(pair_ns(run))));
    let texts: Vec<String> = texts.collect();
    let note = format!(
        "the address's part of it, without page, page table and lock, gap allocator over rework: {}",
        texts.join(", ")
    );
    let ratio =
        sampled.runs.first().zip(sampled.runs.get(1)).map(|(gap, rework)| pair_ns(gap) / pair_ns(rework));
    let ratio = ratio.filter(|ratio| ratio.is_finite());
    Ours { text: times(ratio), note }
}

/// The longest walk of the gap allocator, against the tree.
fn walk(sampled: &Sampled) -> Ours {
    let most = |run: &SampledRun| run.costs.iter().map(|cost| u64::from(cost.work)).max().unwrap_or(0);
    let texts: Vec<String> = sampled.runs.iter().take(2).map(|run| count(most(run))).collect();
    let note =
        "the cause of it: steps of the worst allocation of the test, gap allocator against rework".to_owned();
    Ours { text: texts.join(" : "), note }
}
