//! Giving a span back: its neighbours rise, and it merges with the block before, the block after, or both.

use super::Tree;
use super::node::Link;
use freehold_units::{Probe, Span, Work};

/// The block that a descent passed last on one side of a span.
#[derive(Clone, Copy)]
struct Neighbour {
    span: Span,
    /// Where on the path it is.
    depth: usize,
}

impl Tree {
    /// Adds `span`, merged with the blocks that it touches.
    ///
    /// # Errors
    /// A free block that it overlaps; nothing was changed.
    pub(super) fn release(&mut self, span: Span, probe: &mut impl Probe) -> Result<(), Span> {
        let (previous, next) = self.descend_to_place(span, probe)?;
        let previous = previous.filter(|previous| previous.span.touches(span));
        let next = next.filter(|next| span.touches(next.span));
        match (previous, next) {
            (None, None) => {
                probe.count(Work::MergedNone, 1);
                self.rise_to(0, probe);
                self.add_root(span, probe);
            }
            (Some(Neighbour { span: before, depth }), None) => {
                probe.count(Work::MergedPrevious, 1);
                self.raise(depth, probe);
                self.resize_root(joined(before, span), probe);
            }
            (None, Some(Neighbour { span: after, depth })) => {
                probe.count(Work::MergedNext, 1);
                self.raise(depth, probe);
                self.resize_root(joined(span, after), probe);
            }
            (Some(Neighbour { span: before, depth }), Some(Neighbour { span: after, .. })) => {
                probe.count(Work::MergedBoth, 1);
                self.raise(depth, probe);
                self.remove_next(probe);
                self.resize_root(joined(before, after), probe);
            }
        }
        Ok(())
    }

    /// Writes down the path to the vacant place of `span`; the last turns lead past its neighbours.
    fn descend_to_place(
        &mut self,
        span: Span,
        probe: &mut impl Probe,
    ) -> Result<(Option<Neighbour>, Option<Neighbour>), Span> {
        let (mut previous, mut next) = (None, None);
        self.path.clear();
        let mut at = self.root;
        while !at.is_none() {
            probe.count(Work::LinkVisited, 1);
            let node = &self.nodes[at];
            let here = Some(Neighbour { span: node.span, depth: self.path.len() });
            self.path.push(at);
            at = if span.last() < node.span.first() {
                next = here;
                node.left
            } else if node.span.last() < span.first() {
                previous = here;
                node.right
            } else {
                return Err(node.span);
            };
        }
        Ok((previous, next))
    }

    /// Makes `span` the root. It lies next to the root that is there, so that one's children part around it.
    pub(super) fn add_root(&mut self, span: Span, probe: &mut impl Probe) {
        let old = self.root;
        let new = self.nodes.take(span);
        self.root = new;
        if old.is_none() {
            return;
        }
        if span.last() < self.nodes[old].span.first() {
            self.nodes[new].left = std::mem::replace(&mut self.nodes[old].left, Link::NONE);
            self.nodes[new].right = old;
        } else {
            self.nodes[new].right = std::mem::replace(&mut self.nodes[old].right, Link::NONE);
            self.nodes[new].left = old;
        }
        self.recompute(old, probe);
        self.recompute(new, probe);
    }

    /// Removes the block after the root, once it stands to its right with nothing between. The root's maximum is
    /// left to the caller.
    fn remove_next(&mut self, probe: &mut impl Probe) {
        self.path.clear();
        self.path.push(self.root);
        self.descend_to_lowest(self.nodes[self.root].right, probe);
        self.rise_to(1, probe);
        let next = self.nodes[self.root].right;
        self.nodes[self.root].right = self.nodes[next].right;
        self.nodes.give_back(next);
    }
}

/// From the start of the first to the end of the last.
fn joined(first: Span, last: Span) -> Span {
    Span::new(first.first(), last.last()).unwrap_or(first)
}
