//! The worked example of the talk: answers, work and the exact tree after each step, maxima included.

use super::{Checked, PAGE, pages};
use freehold::kva::Request;
use freehold::units::{Align, Span, Work};
use freehold_linux::kva::rbtree::NodeView;
use freehold_linux::kva::{KernelSpace, Placement};
use freehold_trace::TraceError;
use freehold_trace::kva::{Letters, Talk, TalkNode, TalkOp, TalkStep};
use std::collections::BTreeMap;
use std::path::Path;

type Space = KernelSpace;

const NO_RANGE: &str = "no such range";

/// Goes through the example, each of its cases on a tree of its own.
fn walk(
    file: &Path,
    mut each: impl FnMut(u64, &TalkStep, &mut Space) -> Result<(), String>,
) -> Result<(), TraceError> {
    let talk = Talk::read(file)?;
    let mut space = fresh(&talk).map_err(|reason| TraceError::at(file, 1, reason))?;
    for (line, step) in &talk.steps {
        let done = match step {
            TalkStep::Reset => fresh(&talk).map(|fresh| space = fresh),
            step => each(*line, step, &mut space),
        };
        done.map_err(|reason| TraceError::at(file, *line, reason))?;
    }
    Ok(())
}

/// A case without its place in the talk.
fn case(title: &str) -> String {
    title.split(" (").next().unwrap_or(title).to_owned()
}

pub(super) fn verify(file: &Path) -> Result<Vec<Checked>, TraceError> {
    let mut checks: Vec<Checked> = Vec::new();
    walk(file, |line, step, space| {
        if let TalkStep::Case(title) = step {
            checks.push(Checked { placement: Some("linux"), ..Checked::new(case(title), "rbtree") });
            return Ok(());
        }
        let checked = checks.last_mut().ok_or("a step before the first case")?;
        if let TalkStep::Tree(nodes) = step {
            checked.compare(line, nodes_text(nodes), nodes_text(&nodes_of(space)));
        } else if let TalkStep::Op(op, work) = step {
            let (expected, got, events) = run(space, op)?;
            checked.operations += 1;
            checked.compare(line, expected, got);
            checked.same(line, work, &counts(work, &events));
        }
        Ok(())
    })?;
    Ok(checks)
}

/// A step of the example as it went on our tree.
#[derive(Clone, Debug)]
pub struct Played {
    /// The case it belongs to, without its place in the talk.
    pub case: String,
    /// The tree before, in preorder.
    pub before: Vec<TalkNode>,
    /// The tree after.
    pub after: Vec<TalkNode>,
}

/// Plays the whole example, to be looked at.
///
/// # Errors
/// The file cannot be read, or a step cannot be run.
pub fn play_talk(file: &Path) -> Result<Vec<Played>, TraceError> {
    let (mut played, mut now) = (Vec::new(), String::new());
    walk(file, |_, step, space| {
        match step {
            TalkStep::Case(title) => now = case(title),
            TalkStep::Reset | TalkStep::Tree(_) => {}
            TalkStep::Op(op, _) => {
                let before = nodes_of(space);
                run(space, op)?;
                played.push(Played { case: now.clone(), before, after: nodes_of(space) });
            }
        }
        Ok(())
    })?;
    Ok(played)
}

fn fresh(talk: &Talk) -> Result<Space, String> {
    let layout = talk.layout.iter().map(|&(low, high)| pages(low, high.saturating_sub(low)));
    let layout: Vec<Span> = layout.collect::<Option<_>>().ok_or(NO_RANGE)?;
    Space::with_layout(&layout, Align::PAGE, Placement::Linux).map_err(|error| error.to_string())
}

/// Runs a step: what the file expects, what happened, and the work. A free of the example gives addresses that
/// were never allocated: they are added to the space.
fn run(space: &mut Space, op: &TalkOp) -> Result<(String, String, Letters), String> {
    let mut events = Letters::default();
    let (expected, got) = match *op {
        TalkOp::Free { start, size, merge } => {
            space
                .add_probed(pages(start, size).ok_or(NO_RANGE)?, &mut events)
                .map_err(|error| error.to_string())?;
            (merge.to_string(), events.letters.clone())
        }
        TalkOp::Alloc { size, align, window: (low, high), answer } => {
            let align =
                Align::new(align.saturating_mul(PAGE)).ok_or("the alignment is not a power of two")?;
            let window = pages(low, high.saturating_sub(low)).ok_or(NO_RANGE)?;
            let request = Request::new(size.saturating_mul(PAGE)).align(align).window(window);
            let expected = answer.map_or_else(|| "-".to_owned(), |(fit, at)| format!("{fit}{at}"));
            let got = match space.alloc_probed(&request, (), &mut events) {
                Ok(span) => format!("{}{}", events.letters, span.first() / PAGE),
                Err(_) => "-".to_owned(),
            };
            (expected, got)
        }
    };
    Ok((expected, got, events))
}

/// The counts that the file names, as they happened.
fn counts(named: &BTreeMap<String, u64>, events: &Letters) -> BTreeMap<String, u64> {
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

fn nodes_of(space: &Space) -> Vec<TalkNode> {
    let node = |node: NodeView| TalkNode {
        start: node.span.first() / PAGE,
        size: node.span.size_saturating() / PAGE,
        subtree_max: node.subtree_max_size / PAGE,
        depth: node.depth,
    };
    space.tree().preorder().map(node).collect()
}

/// Nodes as the file writes them.
fn nodes_text(nodes: &[TalkNode]) -> String {
    let node = |node: &TalkNode| format!("{}+{}/{}@{}", node.start, node.size, node.subtree_max, node.depth);
    nodes.iter().map(node).collect::<Vec<_>>().join(" ")
}
