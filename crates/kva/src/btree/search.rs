//! Finding the lowest or the highest place for a request.
//!
//! The walk enters only children that have the room. The window's end is part of it: it stops at the first child
//! that lies beyond. Above the last class of alignment a block may have the room and yet not fit; then no address
//! before its next multiple can serve, and the walk goes on from there.

use super::BTree;
use crate::arena::Link;
use crate::bplus::{Found, Path};
use crate::index::Want;
use freehold_units::{Probe, Span, Work};

/// A search on its way through the tree.
struct Search<'a> {
    index: &'a BTree,
    want: &'a Want,
    class: usize,
    /// The size that is wanted, as rooms are stored.
    short: u32,
    /// Lowest address still in question for the lowest place, highest for the highest.
    edge: u64,
    path: Path,
}

/// What a part of the tree had to say.
enum Verdict {
    /// This place, in this entry of the leaf at the end of the path.
    Fits(usize, Span),
    /// Nothing here, but perhaps further on.
    Further,
    /// Nothing here or further on.
    Nowhere,
}

impl BTree {
    #[inline]
    pub(super) fn lowest(&self, want: &Want, probe: &mut impl Probe) -> Option<(Found, Span)> {
        let mut search = Search::new(self, want, want.window.first());
        let verdict = search.lowest_below(self.tree.root, 0, probe);
        search.found(verdict)
    }

    #[inline]
    pub(super) fn highest(&self, want: &Want, probe: &mut impl Probe) -> Option<(Found, Span)> {
        let mut search = Search::new(self, want, want.window.last());
        let verdict = search.highest_below(self.tree.root, 0, probe);
        search.found(verdict)
    }
}

impl<'a> Search<'a> {
    #[inline]
    fn new(index: &'a BTree, want: &'a Want, edge: u64) -> Self {
        let kept = &index.tree.context;
        let class = kept.class_of(want.align).min(kept.classes - 1);
        let path = Path::to(index.tree.root);
        Self { index, want, class, short: kept.short(want.size_bytes), edge, path }
    }

    #[inline]
    fn found(self, verdict: Verdict) -> Option<(Found, Span)> {
        match verdict {
            Verdict::Fits(at, span) => Some((Found { path: self.path, at }, span)),
            Verdict::Further | Verdict::Nowhere => None,
        }
    }

    fn lowest_below(&mut self, link: Link, level: usize, probe: &mut impl Probe) -> Verdict {
        probe.count(Work::NodeVisited, 1);
        if level == self.index.tree.height {
            return self.lowest_in_leaf(link);
        }
        let inner = &self.index.tree.inners[link];
        let rooms = &inner.sums.classes[self.class][..inner.len];
        let mut child = inner.child_for(self.edge);
        while let Some(ahead) = rooms[child..].iter().position(|&room| room >= self.short) {
            child += ahead;
            if inner.lows[child] > self.want.window.last() {
                return Verdict::Nowhere;
            }
            self.path.set(level, link, child);
            match self.lowest_below(inner.children[child], level + 1, probe) {
                Verdict::Further => child = (child + 1).max(inner.child_for(self.edge)),
                verdict => return verdict,
            }
            if child >= inner.len {
                break;
            }
        }
        Verdict::Further
    }

    #[inline]
    fn lowest_in_leaf(&mut self, link: Link) -> Verdict {
        let &Want { size_bytes, align, window } = self.want;
        let leaf = &self.index.tree.leaves[link];
        self.path.leaf = link;
        let (firsts, lasts) = (leaf.keys(), &leaf.columns.lasts[..leaf.len()]);
        let mut at = leaf.first_above(self.edge).saturating_sub(1);
        let large = |(first, last): (&u64, &u64)| last - first >= size_bytes - 1;
        while let Some(ahead) = firsts[at..].iter().zip(&lasts[at..]).position(large) {
            at += ahead;
            let (first, last) = (firsts[at], lasts[at]);
            if first > window.last() {
                return Verdict::Nowhere;
            }
            let Some(block) = Span::new(first, last) else { return Verdict::Nowhere };
            match block.lowest_fit(size_bytes, align, self.edge) {
                Some(fit) if fit.last() <= window.last() => return Verdict::Fits(at, fit),
                // Every later place is higher still.
                Some(_) => return Verdict::Nowhere,
                None => match align.up(first.max(self.edge)) {
                    Some(next) => self.edge = self.edge.max(next.min(last.saturating_add(1))),
                    None => return Verdict::Nowhere,
                },
            }
            at += 1;
        }
        Verdict::Further
    }

    fn highest_below(&mut self, link: Link, level: usize, probe: &mut impl Probe) -> Verdict {
        probe.count(Work::NodeVisited, 1);
        if level == self.index.tree.height {
            return self.highest_in_leaf(link);
        }
        let inner = &self.index.tree.inners[link];
        let rooms = &inner.sums.classes[self.class][..inner.len];
        let mut until = inner.child_for(self.edge) + 1;
        while let Some(child) = rooms[..until].iter().rposition(|&room| room >= self.short) {
            // What lies below child + 1 is below the window if that child starts at or below it.
            let beyond = inner.lows[..inner.len].get(child + 1);
            if beyond.is_some_and(|&low| low <= self.want.window.first()) {
                return Verdict::Nowhere;
            }
            self.path.set(level, link, child);
            match self.highest_below(inner.children[child], level + 1, probe) {
                Verdict::Further => until = child.min(inner.child_for(self.edge) + 1),
                verdict => return verdict,
            }
        }
        Verdict::Further
    }

    #[inline]
    fn highest_in_leaf(&mut self, link: Link) -> Verdict {
        let &Want { size_bytes, align, window } = self.want;
        let leaf = &self.index.tree.leaves[link];
        self.path.leaf = link;
        let until = leaf.first_above(self.edge);
        let blocks = leaf.keys()[..until].iter().zip(&leaf.columns.lasts[..until]).enumerate().rev();
        for (at, (&first, &last)) in blocks {
            if last < window.first() {
                return Verdict::Nowhere;
            }
            if last - first < size_bytes - 1 {
                continue;
            }
            let Some(block) = Span::new(first, last) else { continue };
            match block.highest_fit(size_bytes, align, self.edge) {
                Some(fit) if fit.first() >= window.first() => return Verdict::Fits(at, fit),
                Some(_) => return Verdict::Nowhere,
                None => self.edge = self.edge.min(first),
            }
        }
        Verdict::Further
    }
}
