//! Finding the lowest block for a request. Whatever is stepped on last rises to the root, found or not.

use super::Tree;
use super::node::Link;
use freehold_units::{Align, Probe, Span, Work};

impl Tree {
    /// The lowest span for a request that starts at or after `from` (`None`: anywhere) and ends at or below
    /// `until`. Its block is the root then.
    pub(super) fn raise_fit(
        &mut self,
        size_bytes: u64,
        align: Align,
        from: Option<u64>,
        until: u64,
        probe: &mut impl Probe,
    ) -> Option<Span> {
        // At the root stands the first block that is not ruled out.
        let mut candidate = match from {
            Some(from) => self.raise_nearest(from, probe),
            None => self.raise_roomy(None, size_bytes, probe),
        };
        while candidate {
            let block = self.nodes[self.root].span;
            if let Some(span) = block.lowest_fit(size_bytes, align, from.unwrap_or(0)) {
                // Blocks come in address order: if the first that fits passes the end, so does every other.
                return Some(span).filter(|span| span.last() <= until);
            }
            candidate = block.first() <= until && self.raise_roomy(Some(self.root), size_bytes, probe);
        }
        None
    }

    /// Raises the block that holds `address`, or else one of the two around it; whether there is any.
    fn raise_nearest(&mut self, address: u64, probe: &mut impl Probe) -> bool {
        self.path.clear();
        let mut at = self.root;
        while !at.is_none() {
            probe.count(Work::NodeVisited, 1);
            self.path.push(at);
            let node = &self.nodes[at];
            if node.span.contains(address) {
                break;
            }
            at = if address < node.span.first() { node.left } else { node.right };
        }
        self.rise_to(0, probe);
        !self.root.is_none()
    }

    /// Raises the lowest block of at least `size_bytes`, of those behind the root or of all; whether there is one.
    /// The way down never turns back: a maximum promises a block.
    fn raise_roomy(&mut self, behind: Option<Link>, size_bytes: u64, probe: &mut impl Probe) -> bool {
        self.path.clear();
        self.path.extend(behind);
        let mut at = behind.map_or(self.root, |root| self.peek(self.nodes[root].right, probe));
        if self.nodes[at].subtree_max_size < size_bytes {
            return false;
        }
        loop {
            probe.count(Work::NodeVisited, 1);
            self.path.push(at);
            let (left, right) = (self.nodes[at].left, self.nodes[at].right);
            at = if self.nodes[self.peek(left, probe)].subtree_max_size >= size_bytes {
                left
            } else if self.nodes[at].span.size_saturating() >= size_bytes {
                break;
            } else {
                right
            };
        }
        self.rise_to(0, probe);
        true
    }

    /// A child whose maximum is read from its parent.
    #[inline]
    fn peek(&self, child: Link, probe: &mut impl Probe) -> Link {
        if !child.is_none() {
            probe.count(Work::ChildPeeked, 1);
        }
        child
    }
}
