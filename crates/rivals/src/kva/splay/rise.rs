//! Moving a node up its path: the splay itself.
//!
//! A rotation counts as one; the maximum that it recomputes is part of it.

use super::Tree;
use super::node::{Link, Node};
use freehold_units::{Probe, Work};

impl Tree {
    /// Moves the last node of the path up until it stands at `depth` of it. The path ends there afterwards.
    pub(super) fn rise_to(&mut self, depth: usize, probe: &mut impl Probe) {
        loop {
            match self.path.get(depth..) {
                Some(&[.., grand, parent, node]) => {
                    if self.is_left(parent, grand) == self.is_left(node, parent) {
                        self.lift(parent, grand, probe);
                        self.lift(node, parent, probe);
                    } else {
                        self.lift(node, parent, probe);
                        self.replace_child(grand, parent, node);
                        self.lift(node, grand, probe);
                    }
                    self.replace_end(3, grand, node);
                }
                Some(&[parent, node]) => {
                    self.lift(node, parent, probe);
                    self.replace_end(2, parent, node);
                }
                _ => return,
            }
        }
    }

    /// Moves the node at `depth` of the path to the root.
    ///
    /// The end of the path rises before it, to just below it: a long way down is paid for by halving it, whatever
    /// node of it is wanted.
    pub(super) fn raise(&mut self, depth: usize, probe: &mut impl Probe) {
        self.rise_to(depth + 1, probe);
        self.path.truncate(depth + 1);
        self.rise_to(0, probe);
    }

    /// Extends the path from `top` to the lowest node below it.
    pub(super) fn descend_to_lowest(&mut self, top: Link, probe: &mut impl Probe) {
        let mut at = top;
        while !at.is_none() {
            probe.count(Work::LinkVisited, 1);
            self.path.push(at);
            at = self.nodes[at].left;
        }
    }

    /// Puts `node` over its parent, whose place above is the caller's to fill.
    ///
    /// The subtree holds the same blocks after as before, so the node takes the parent's maximum as it is.
    fn lift(&mut self, node: Link, parent: Link, probe: &mut impl Probe) {
        probe.count(Work::Rotated, 1);
        if self.is_left(node, parent) {
            self.nodes[parent].left = self.nodes[node].right;
            self.nodes[node].right = parent;
        } else {
            self.nodes[parent].right = self.nodes[node].left;
            self.nodes[node].left = parent;
        }
        self.nodes[node].subtree_max_size = self.nodes[parent].subtree_max_size;
        self.nodes[parent].subtree_max_size = self.computed_max(&self.nodes[parent]);
    }

    /// The last `count` nodes of the path, the first of them `old`, have become a subtree under `node`.
    fn replace_end(&mut self, count: usize, old: Link, node: Link) {
        self.path.truncate(self.path.len() - count);
        match self.path.last() {
            Some(&above) => self.replace_child(above, old, node),
            None => self.root = node,
        }
        self.path.push(node);
    }

    fn replace_child(&mut self, parent: Link, old: Link, new: Link) {
        if self.is_left(old, parent) {
            self.nodes[parent].left = new;
        } else {
            self.nodes[parent].right = new;
        }
    }

    fn is_left(&self, child: Link, parent: Link) -> bool {
        self.nodes[parent].left == child
    }

    /// What the node's maximum must be, given its children's.
    pub(super) fn computed_max(&self, node: &Node) -> u64 {
        let below = self.nodes[node.left].subtree_max_size.max(self.nodes[node.right].subtree_max_size);
        node.span.size_saturating().max(below)
    }

    /// Puts a maximum right whose block or children have changed.
    pub(super) fn recompute(&mut self, link: Link, probe: &mut impl Probe) {
        probe.count(Work::MaxRecomputed, 1);
        self.nodes[link].subtree_max_size = self.computed_max(&self.nodes[link]);
    }
}
