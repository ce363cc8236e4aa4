//! An engine's state in the form of the digests: counts, sums and hashes in units of the file.

use freehold::units::Span;
use freehold_linux::kva::RbTree;
use freehold_linux::kva::rbtree::Colour;
use freehold_rivals::kva::GapList;
use freehold_trace::Fnv;
use freehold_trace::kva::{Engine, FreeDigest, GapDigest};

/// The free blocks, and the tree's shape where there is one.
pub(super) fn free_digest(engine: &impl Engine, tree: Option<&RbTree>, unit: u64) -> FreeDigest {
    let mut digest = FreeDigest {
        blocks: 0,
        sum: 0,
        largest: 0,
        list_hash: 0,
        shape: tree.map(|tree| shape(tree, unit)),
        first: Vec::new(),
    };
    let mut hash = Fnv::default();
    engine.free_blocks(&mut |block| {
        let (start, length) = in_units(block, unit);
        digest.blocks += 1;
        digest.sum += length;
        digest.largest = digest.largest.max(length);
        hash.word(start);
        hash.word(length);
        if digest.first.len() < 16 {
            digest.first.push((start, length));
        }
    });
    digest.list_hash = hash.value();
    digest
}

/// Hash over the tree in preorder, and its depth in nodes.
fn shape(tree: &RbTree, unit: u64) -> (u64, u64) {
    let (mut hash, mut depth) = (Fnv::default(), 0);
    for node in tree.preorder() {
        let (start, length) = in_units(node.span, unit);
        hash.word(start);
        hash.word(length);
        hash.word(node.subtree_max_size / unit);
        hash.word(u64::from(node.colour == Colour::Black));
        depth = depth.max(u64::from(node.depth) + 1);
    }
    (hash.value(), depth)
}

/// The busy areas and the four cached values.
pub(super) fn gap_digest(engine: &GapList, unit: u64) -> GapDigest {
    let (mut hash, mut areas, mut sum) = (Fnv::default(), 0, 0);
    for area in engine.busy_areas() {
        let (start, length) = in_units(area, unit);
        areas += 1;
        sum += length;
        hash.word(start);
        hash.word(length);
    }
    GapDigest {
        areas,
        sum,
        hash: hash.value(),
        cached_hole: engine.cached_hole_bytes() / unit,
        cached_vstart: engine.cached_vstart() / unit,
        cached_align: engine.cached_align_bytes() / unit,
        cache: engine.cache_start().map(|start| start / unit),
    }
}

fn in_units(span: Span, unit: u64) -> (u64, u64) {
    (span.first() / unit, span.size_saturating() / unit)
}
