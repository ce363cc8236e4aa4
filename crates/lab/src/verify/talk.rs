//! The worked example of the talk: answers, work and the exact tree after each step, maxima included.

use super::Checked;
use super::events::Events;
use freehold::kva::{FreeIndex, Placement, RbTree, Want};
use freehold::units::{Align, Span, Work};
use freehold_trace::TraceError;
use freehold_trace::kva::{Talk, TalkNode, TalkOp, TalkStep};
use std::collections::BTreeMap;
use std::path::Path;

const PAGE: u64 = Align::PAGE.bytes();

pub(super) fn verify(file: &Path) -> Result<Vec<Checked>, TraceError> {
    let talk = Talk::read(file)?;
    let mut checks: Vec<Checked> = Vec::new();
    let mut tree = fresh(&talk).map_err(|reason| TraceError::at(file, 1, reason))?;
    for (line, step) in &talk.steps {
        if let TalkStep::Case(title) = step {
            let what = title.split(" (").next().unwrap_or(title).to_owned();
            let placement = Some("linux");
            checks.push(Checked { what, engine: "rbtree", placement, ..Checked::default() });
            continue;
        }
        let Some(checked) = checks.last_mut() else {
            return Err(TraceError::at(file, *line, "a step before the first case"));
        };
        let result = match step {
            TalkStep::Case(_) => Ok(()),
            TalkStep::Reset => fresh(&talk).map(|fresh| tree = fresh),
            TalkStep::Tree(nodes) => {
                checked.compare(*line, nodes_text(nodes), nodes_text(&nodes_of(&tree)));
                Ok(())
            }
            TalkStep::Op(op, work) => run(&mut tree, op).map(|(expected, got, events)| {
                checked.operations += 1;
                checked.compare(*line, expected, got);
                checked.compare(*line, format!("{work:?}"), format!("{:?}", counts(work, &events)));
            }),
        };
        result.map_err(|reason| TraceError::at(file, *line, reason))?;
    }
    Ok(checks)
}

fn pages(first: u64, pages: u64) -> Result<Span, String> {
    let span = first.checked_mul(PAGE).zip(pages.checked_mul(PAGE));
    span.and_then(|(first, size)| Span::from_size(first, size)).ok_or_else(|| "no such range".to_owned())
}

fn fresh(talk: &Talk) -> Result<RbTree, String> {
    let mut tree = RbTree::new().map_err(|error| error.to_string())?;
    for &(low, high) in &talk.layout {
        release(&mut tree, pages(low, high.saturating_sub(low))?, &mut Events::default())?;
    }
    Ok(tree)
}

fn release(tree: &mut RbTree, span: Span, events: &mut Events) -> Result<(), String> {
    tree.reserve(1).map_err(|error| error.to_string())?;
    tree.release(span, events).map(|_| ()).map_err(|block| format!("{span} overlaps {block}"))
}

/// Runs a step: what the file expects, what happened, and the work.
fn run(tree: &mut RbTree, op: &TalkOp) -> Result<(String, String, Events), String> {
    let mut events = Events::default();
    let (expected, got) = match *op {
        TalkOp::Free { start, size, merge } => {
            release(tree, pages(start, size)?, &mut events)?;
            (merge.to_string(), events.letters.clone())
        }
        TalkOp::Alloc { size, align, window: (low, high), answer } => {
            let want = Want {
                size_bytes: size.saturating_mul(PAGE),
                align: Align::new(align.saturating_mul(PAGE)).ok_or("the alignment is not a power of two")?,
                window: pages(low, high.saturating_sub(low))?,
            };
            tree.reserve(1).map_err(|error| error.to_string())?;
            let expected = answer.map_or_else(|| "-".to_owned(), |(fit, at)| format!("{fit}{at}"));
            let got = match tree.find(Placement::Linux, &want, &mut events) {
                Some((block, span)) => {
                    tree.carve(block, span, &mut events);
                    format!("{}{}", events.letters, span.first() / PAGE)
                }
                None => "-".to_owned(),
            };
            (expected, got)
        }
    };
    Ok((expected, got, events))
}

/// The counts that the file names, as they happened.
fn counts(named: &BTreeMap<String, u64>, events: &Events) -> BTreeMap<String, u64> {
    let of = |name: &str| match name {
        "find" => events.tally.of(Work::NodeVisited) - events.tally.of(Work::NodeClimbed),
        "climb" => events.tally.of(Work::NodeClimbed),
        "link" => events.tally.of(Work::LinkVisited),
        "propagate" => events.tally.of(Work::MaxRecomputed),
        "rotate" => events.tally.of(Work::Rotated),
        _ => u64::MAX,
    };
    named.keys().map(|name| (name.clone(), of(name))).collect()
}

fn nodes_of(tree: &RbTree) -> Vec<TalkNode> {
    let node = |node: freehold::kva::rbtree::NodeView| TalkNode {
        start: node.span.first() / PAGE,
        size: node.span.size_saturating() / PAGE,
        subtree_max: node.subtree_max_size / PAGE,
        depth: node.depth,
    };
    tree.preorder().map(node).collect()
}

/// Nodes as the file writes them.
fn nodes_text(nodes: &[TalkNode]) -> String {
    let node = |node: &TalkNode| format!("{}+{}/{}@{}", node.start, node.size, node.subtree_max, node.depth);
    nodes.iter().map(node).collect::<Vec<_>>().join(" ")
}
