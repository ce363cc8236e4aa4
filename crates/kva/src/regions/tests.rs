mod lanes;
mod model;
mod mutants;
mod property;
mod work;

use super::{EntryHandle, GranuleRequest, RegionAttrs, RegionTree};
use crate::request::CheckedRequest;
use freehold_units::{Align, Span};

/// Granules `start..end` in bytes.
fn bytes(shift: u32, start: u128, end: u128) -> Span {
    Span::new((start << shift) as u64, ((end << shift) - 1) as u64).unwrap()
}

/// A request in granules, for a window that begins at `from` and ends with `until`.
fn wanted(shift: u32, size: u64, align: u32, window: (u128, u128)) -> Option<GranuleRequest> {
    let request = CheckedRequest {
        size_bytes: size << shift,
        align: Align::new(1 << (shift + align)).unwrap(),
        window: bytes(shift, window.0, window.1),
    };
    GranuleRequest::new(&request, shift)
}

/// A tree of one span, from 0 on.
fn tree_of(granules: u128) -> RegionTree<u32> {
    let mut tree = RegionTree::empty(Align::ONE).unwrap();
    tree.reserve(1).unwrap();
    tree.add_span(bytes(0, 0, granules)).unwrap();
    tree
}

/// Adds a region at a place that is free.
fn take(tree: &mut RegionTree<u32>, start: u128, end: u128) {
    let span = bytes(tree.shift(), start, end);
    tree.reserve(1).unwrap();
    let (entry, _): (EntryHandle, Span) = tree.block_over(span).expect("the place is free");
    tree.insert(entry, span, RegionAttrs::default(), Some(start as u32));
}
