//! What the stores of a history do to our tree: its nodes, and the effects of stores in the kernel's words.

use super::Step;
use crate::engine::maple::{PlannedRanges, TYPES};
use freehold_trace::maple::Ranges;
use freehold_trace::vma::{AreaMap, Nodes};
use std::collections::BTreeMap;

/// Two lines of it.
pub(super) fn told(steps: &[Step]) -> [String; 2] {
    let mut tree = PlannedRanges::new();
    let (mut types, mut vacant) = (BTreeMap::new(), BTreeMap::new());
    let mut before = (0, Nodes::default());
    for (span, stores) in steps.iter().filter_map(|step| step.stores) {
        before = (tree.areas(), tree.nodes().unwrap_or_default());
        if stores {
            tree.store(span, span.first());
        } else {
            tree.clear(span);
        }
        for facts in tree.take_committed() {
            let name = TYPES.iter().find(|(of, _)| *of == facts.store_type).map_or("", |(_, name)| *name);
            *types.entry(name).or_insert(0_u64) += 1;
            *vacant.entry(facts.heights.vacant).or_insert(0_u64) += 1;
        }
    }
    let after = (tree.areas(), tree.nodes().unwrap_or_default());
    let words = |(areas, nodes): (u64, Nodes)| {
        format!("{areas} entries in {} nodes of {} levels", nodes.in_use, nodes.height)
    };
    let types: Vec<String> = types.iter().map(|(name, count)| format!("{name} {count}")).collect();
    let vacant: Vec<String> = vacant.iter().map(|(height, count)| format!("{height}: {count}")).collect();
    [
        format!("freehold's tree: {} before the last store, {} after", words(before), words(after)),
        format!("stores: {}; vacant_height {}", types.join(", "), vacant.join(", ")),
    ]
}
