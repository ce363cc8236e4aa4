//! Finding the lowest or the highest place for a request.
//!
//! The walk enters only children that have the room. The window's end is part of it: it stops at the first child
//! that lies beyond. Above the last class of alignment a block may have the room and yet not fit; then no address
//! before its next multiple can serve, and the walk goes on from there.

use super::{At, OneTree, lanes};
use crate::arena::Link;
use crate::bplus::{Position, Way};
use crate::index::Want;
use freehold_units::{Probe, Span, Work};

/// A search on its way through the tree.
struct Search<'a, V> {
    index: &'a OneTree<V>,
    want: &'a Want,
    class: usize,
    /// The size that is wanted, as rooms are stored.
    short: u32,
    /// Lowest address still in question for the lowest place, highest for the highest.
    edge: u64,
    /// Whether it moved since the walk passed the nodes above.
    leapt: bool,
}

/// What a leaf has to say.
enum Verdict {
    /// This place, in the block of this entry.
    Fits(usize, Span, Span),
    /// Nothing here, but perhaps further on.
    Further,
    /// Nothing here or further on.
    Nowhere,
}

impl<V> OneTree<V> {
    #[inline]
    pub(super) fn lowest(&self, want: &Want, probe: &mut impl Probe) -> Option<(At, Span)> {
        Search::new(self, want, want.window.first()).lowest(probe)
    }

    #[inline]
    pub(super) fn highest(&self, want: &Want, probe: &mut impl Probe) -> Option<(At, Span)> {
        Search::new(self, want, want.window.last()).highest(probe)
    }
}

impl<'a, V> Search<'a, V> {
    #[inline]
    fn new(index: &'a OneTree<V>, want: &'a Want, edge: u64) -> Self {
        let kept = &index.tree.sums.kept;
        let class = kept.nearest(kept.class_of(want.align));
        Self { index, want, class, short: kept.short(want.size_bytes - 1), edge, leapt: false }
    }

    /// Down to the first leaf that has the room, and on to the next one if it turns out not to fit.
    #[inline]
    fn lowest(mut self, probe: &mut impl Probe) -> Option<(At, Span)> {
        let tree = &self.index.tree;
        let mut way = Way::from_here(tree.root);
        let mut level = 0;
        let mut from = None;
        loop {
            probe.count(Work::NodeVisited, u64::from(from.is_none()));
            let roomy = if level == tree.height {
                self.index.touch(way);
                probe.touch(tree.leaves[way.end()].keys());
                probe.touch(tree.leaves[way.end()].columns.lanes());
                match self.lowest_in_leaf(way.end()) {
                    Verdict::Fits(at, block, span) => return Some((At::new(way.entry(at), block), span)),
                    Verdict::Nowhere => return None,
                    Verdict::Further => None,
                }
            } else {
                let inner = &tree.inners[way.end()];
                let from = match from {
                    Some(from) if !self.leapt => from,
                    from => {
                        if level + 1 == tree.height {
                            self.index.touch_node(way.end(), self.class, self.edge, probe);
                        }
                        inner.child_for(self.edge).max(from.unwrap_or(0))
                    }
                };
                lanes::first_with(tree.sums.row(self.class, way.end()), from, self.short)
            };
            if let Some(child) = roomy {
                let inner = &tree.inners[way.end()];
                if probe.counts_lines() {
                    probe.touch(inner.read_for(self.edge));
                    probe.touch(lanes::read_for(tree.sums.row(self.class, way.end()), child));
                    probe.touch(&inner.lows[child]);
                    probe.touch(&inner.children[child]);
                }
                if inner.lows[child] > self.want.window.last() && child > 0 {
                    return None;
                }
                way = way.down(inner.children[child], child);
                (level, from) = (level + 1, None);
            } else {
                let (parent, taken) = if level == tree.height { way.above() } else { tree.above(way.end()) }?;
                way = Way::from_here(parent);
                (level, from) = (level - 1, Some(taken + 1));
            }
        }
    }

    #[inline]
    fn lowest_in_leaf(&mut self, link: Link) -> Verdict {
        let &Want { size_bytes, align, window } = self.want;
        let leaf = &self.index.tree.leaves[link];
        let mut from = leaf.first_above(self.edge).saturating_sub(1);
        while let Some(at) = lanes::first_with(leaf.columns.lanes(), from, self.short) {
            let Some(block) = self.index.span(Position { leaf: link, at }) else { return Verdict::Nowhere };
            if block.first() > window.last() {
                return Verdict::Nowhere;
            }
            match block.lowest_fit(size_bytes, align, self.edge) {
                Some(fit) if fit.last() <= window.last() => return Verdict::Fits(at, block, fit),
                // Every later place is higher still.
                Some(_) => return Verdict::Nowhere,
                None => match align.up(block.first().max(self.edge)) {
                    Some(next) => {
                        self.edge = self.edge.max(next.min(block.last().saturating_add(1)));
                        self.leapt = true;
                    }
                    None => return Verdict::Nowhere,
                },
            }
            from = at + 1;
        }
        Verdict::Further
    }

    /// As [`Search::lowest`], from the other end.
    #[inline]
    fn highest(mut self, probe: &mut impl Probe) -> Option<(At, Span)> {
        let tree = &self.index.tree;
        let mut way = Way::from_here(tree.root);
        let mut level = 0;
        let mut until = None;
        loop {
            probe.count(Work::NodeVisited, u64::from(until.is_none()));
            let roomy = if level == tree.height {
                match self.highest_in_leaf(way.end()) {
                    Verdict::Fits(at, block, span) => return Some((At::new(way.entry(at), block), span)),
                    Verdict::Nowhere => return None,
                    Verdict::Further => None,
                }
            } else {
                let inner = &tree.inners[way.end()];
                let until = until.unwrap_or(inner.len).min(inner.child_for(self.edge) + 1);
                lanes::last_with(tree.sums.row(self.class, way.end()), until, self.short)
            };
            if let Some(child) = roomy {
                let inner = &tree.inners[way.end()];
                // What lies below the next child is below the window if that one starts at or below it.
                let beyond = inner.lows[..inner.len].get(child + 1);
                if beyond.is_some_and(|&low| low <= self.want.window.first()) {
                    return None;
                }
                way = way.down(inner.children[child], child);
                (level, until) = (level + 1, None);
            } else {
                let (parent, taken) = if level == tree.height { way.above() } else { tree.above(way.end()) }?;
                way = Way::from_here(parent);
                (level, until) = (level - 1, Some(taken));
            }
        }
    }

    #[inline]
    fn highest_in_leaf(&mut self, link: Link) -> Verdict {
        let &Want { size_bytes, align, window } = self.want;
        let leaf = &self.index.tree.leaves[link];
        let mut until = leaf.first_above(self.edge);
        while let Some(at) = lanes::last_with(leaf.columns.lanes(), until, self.short) {
            let Some(block) = self.index.span(Position { leaf: link, at }) else { return Verdict::Nowhere };
            if block.last() < window.first() {
                return Verdict::Nowhere;
            }
            match block.highest_fit(size_bytes, align, self.edge) {
                Some(fit) if fit.first() >= window.first() => return Verdict::Fits(at, block, fit),
                Some(_) => return Verdict::Nowhere,
                None => self.edge = self.edge.min(block.first()),
            }
            until = at;
        }
        Verdict::Further
    }
}
