//! One line of a worked example, and the example as it is put together from its lines.

use super::{Example, LeafSlot, NodeKind, Path, PathNode, StoreType, Usage};
use freehold_units::Span;
use std::str::FromStr;

/// A store: whether of nothing, the range asked for and the range after widening.
#[derive(Clone, Copy)]
struct Store {
    null: bool,
    asked: Span,
    widened: Option<Span>,
}

/// Type of the store, vacant and sufficient height.
#[derive(Clone, Copy)]
struct Plan {
    store_type: StoreType,
    vacant_height: u32,
    sufficient_height: u32,
}

/// An example of which some lines have been read.
#[derive(Default)]
pub(super) struct Draft {
    tree: Option<(bool, u32)>,
    first: Path,
    last: Option<Path>,
    store: Option<Store>,
    plan: Option<Plan>,
    requested: Option<(u32, u32)>,
    used: Option<Usage>,
}

impl Draft {
    /// The example, if no line is missing.
    pub(super) fn finish(self, number: u32) -> Result<Example, String> {
        let (alloc_tree, height) = self.tree.ok_or("the example lacks its tree")?;
        let store = self.store.ok_or("the example lacks its store")?;
        let plan = self.plan.ok_or("the example lacks its store type")?;
        let (requested_6_12, requested_6_16) =
            self.requested.ok_or("the example lacks what was requested")?;
        let used = self.used.ok_or("the example lacks what was used")?;
        for path in [Some(&self.first), self.last.as_ref()].into_iter().flatten() {
            if path.nodes.len() != height as usize || path.leaf.is_empty() != path.nodes.is_empty() {
                return Err(format!("a path does not lead to a leaf of a tree of height {height}"));
            }
        }
        Ok(Example {
            number,
            alloc_tree,
            height,
            first: self.first,
            last: self.last,
            null: store.null,
            asked: store.asked,
            widened: store.widened,
            store_type: plan.store_type,
            vacant_height: plan.vacant_height,
            sufficient_height: plan.sufficient_height,
            requested_6_12,
            requested_6_16,
            used,
        })
    }

    fn path(&mut self, which: &str) -> &mut Path {
        if which == "first" { &mut self.first } else { self.last.get_or_insert_default() }
    }
}

/// Reads a line into the draft.
pub(super) fn line(text: &str, draft: &mut Draft) -> Result<(), String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["tree:", kind, "height", height] if draft.tree.is_none() => {
            let alloc_tree = match *kind {
                "plain," => false,
                "alloc_range," => true,
                other => return Err(format!("unknown tree {other:?}")),
            };
            draft.tree = Some((alloc_tree, number(height)?));
        }
        // A tree of height 0 that held an entry at index 0 would have another root.
        ["root:", "empty"] => {}
        [which @ ("first" | "last"), "depth", node @ ..] => {
            let node = path_node(node)?;
            let path = draft.path(which);
            if path.nodes.len() != node.depth as usize || !path.leaf.is_empty() {
                return Err(format!("depth {} does not follow", node.depth));
            }
            path.nodes.push(node);
        }
        [which @ ("first" | "last"), "leaf", "slots:", slots @ ..] => {
            let leaf = leaf(slots)?;
            let path = draft.path(which);
            if !path.leaf.is_empty() {
                return Err("a leaf twice".to_owned());
            }
            path.leaf = leaf;
        }
        ["store:", rest @ ..] if draft.store.is_none() => draft.store = Some(store(rest)?),
        ["store_type:", name, "vacant_height", vacant, "sufficient_height", sufficient]
            if draft.plan.is_none() =>
        {
            let (vacant_height, sufficient_height) = (number(vacant)?, number(sufficient)?);
            let store_type = StoreType::named(name).ok_or_else(|| format!("unknown store type {name:?}"))?;
            draft.plan = Some(Plan { store_type, vacant_height, sufficient_height });
        }
        ["requested:", "6.12", old, "6.16", new] if draft.requested.is_none() => {
            draft.requested = Some((number(old)?, number(new)?));
        }
        ["used", rest @ ..] if draft.used.is_none() => draft.used = Some(used(rest)?),
        _ => return Err(format!("unknown or repeated line {:?}", text.trim())),
    }
    Ok(())
}

/// `D KIND end=E (used U of S, min_slots M) offset=O covers A..B`, then for inner nodes `vacant:yes sufficient:no`
fn path_node(words: &[&str]) -> Result<PathNode, String> {
    let [
        depth,
        kind,
        end,
        "(used",
        used,
        "of",
        slots,
        "min_slots",
        min_slots,
        offset,
        "covers",
        span,
        flags @ ..,
    ] = words
    else {
        return Err("unreadable node".to_owned());
    };
    let kind = NodeKind::named(kind).ok_or_else(|| format!("unknown node {kind:?}"))?;
    let (vacant, sufficient) = match (kind, flags) {
        (NodeKind::Leaf64, []) => (None, None),
        (NodeKind::Range64 | NodeKind::Arange64, [vacant, sufficient]) => {
            (Some(yes_no("vacant:", vacant)?), Some(yes_no("sufficient:", sufficient)?))
        }
        _ => return Err("inner nodes alone are vacant or sufficient".to_owned()),
    };
    let node = PathNode {
        depth: number(depth)?,
        kind,
        end: prefixed("end=", end)?,
        slots: number(slots.trim_end_matches(','))?,
        min_slots: number(min_slots.trim_end_matches(')'))?,
        offset: prefixed("offset=", offset)?,
        span: span_of(span, "..")?,
        vacant,
        sufficient,
    };
    if node.end.checked_add(1) != Some(number(used)?) || node.end >= node.slots || node.offset > node.end {
        return Err("the node's numbers contradict each other".to_owned());
    }
    Ok(node)
}

/// `FIRST-LAST`, with `(-)` behind it where nothing is stored; each begins where the one before ends.
fn leaf(words: &[&str]) -> Result<Vec<LeafSlot>, String> {
    let mut slots: Vec<LeafSlot> = Vec::new();
    for word in words {
        let (range, null) = word.strip_suffix("(-)").map_or((*word, false), |range| (range, true));
        let span = span_of(range, "-")?;
        if slots.last().is_some_and(|before| !before.span.touches(span)) {
            return Err(format!("slot {word} does not follow the one before"));
        }
        slots.push(LeafSlot { span, null });
    }
    if slots.is_empty() { Err("a leaf without slots".to_owned()) } else { Ok(slots) }
}

/// `entry|NULL over A..B (spanning: not widened)` or `... (after widening to neighbouring NULLs A..B)`
fn store(words: &[&str]) -> Result<Store, String> {
    let [what, "over", asked, rest @ ..] = words else {
        return Err("unreadable store".to_owned());
    };
    let null = match *what {
        "entry" => false,
        "NULL" => true,
        other => return Err(format!("unknown store of {other:?}")),
    };
    let widened = match rest {
        ["(spanning:", "not", "widened)"] => None,
        ["(after", "widening", "to", "neighbouring", "NULLs", span] => {
            Some(span_of(span.trim_end_matches(')'), "..")?)
        }
        _ => return Err("unreadable store".to_owned()),
    };
    Ok(Store { null, asked: span_of(asked, "..")?, widened })
}

/// `(6.16): nodes taken T, old nodes handed back for reuse H, net N; height after A`
fn used(words: &[&str]) -> Result<Usage, String> {
    let [
        "(6.16):",
        "nodes",
        "taken",
        taken,
        "old",
        "nodes",
        "handed",
        "back",
        "for",
        "reuse",
        handed_back,
        "net",
        net,
        "height",
        "after",
        height,
    ] = words
    else {
        return Err("unreadable usage".to_owned());
    };
    let usage = Usage {
        taken: number(taken.trim_end_matches(','))?,
        handed_back: number(handed_back.trim_end_matches(','))?,
        net: number(net.trim_end_matches(';'))?,
        height: number(height)?,
    };
    if i64::from(usage.taken) - i64::from(usage.handed_back) != i64::from(usage.net) {
        return Err("net is not what was taken without what was handed back".to_owned());
    }
    Ok(usage)
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("unreadable number {text:?}"))
}

fn prefixed(prefix: &str, text: &str) -> Result<u32, String> {
    number(text.strip_prefix(prefix).ok_or_else(|| format!("{prefix} must stand before {text:?}"))?)
}

fn yes_no(prefix: &str, text: &str) -> Result<bool, String> {
    match text.strip_prefix(prefix) {
        Some("yes") => Ok(true),
        Some("no") => Ok(false),
        _ => Err(format!("{prefix}yes or {prefix}no must stand where {text:?} does")),
    }
}

fn span_of(text: &str, separator: &str) -> Result<Span, String> {
    let (first, last) = text.split_once(separator).ok_or_else(|| format!("unreadable range {text:?}"))?;
    Span::new(number(first)?, number(last)?).ok_or_else(|| format!("the range {text:?} is empty"))
}
