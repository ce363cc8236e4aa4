//! An area that is not in the tree, and lists of areas that are linked through themselves.

use crate::kva::busy::BusyTree;

/// Who holds an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// The caller.
    Live,
    /// Freed; in the set of this node.
    Lazy(usize),
    /// Ready for use, in the list of this number.
    Pooled(usize),
    /// Taken by the purge that runs.
    Taken,
}

/// What is known of an area. Lists are linked by the addresses at which areas start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    /// The node that it was allocated for; none if its window was not the whole zone, or there are no pools.
    pub(super) origin: Option<usize>,
    pub(super) held: Held,
    before: Option<u64>,
    after: Option<u64>,
}

/// An area's node of the tree has 40 bytes beside it.
const _: () = assert!(size_of::<Option<Area>>() == 64);

impl Area {
    pub(super) const fn live(origin: Option<usize>) -> Self {
        Self { origin, held: Held::Live, before: None, after: None }
    }
}

/// Areas by where they start.
pub(super) type Areas = BusyTree<Area>;

/// A list of areas: first, last and number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct List {
    pub(super) head: Option<u64>,
    pub(super) tail: Option<u64>,
    pub(super) len: usize,
}

impl List {
    pub(super) fn push_head(&mut self, areas: &mut Areas, first: u64) {
        let area = areas.at_mut(first);
        (area.before, area.after) = (None, self.head);
        match self.head {
            Some(head) => areas.at_mut(head).before = Some(first),
            None => self.tail = Some(first),
        }
        self.head = Some(first);
        self.len += 1;
    }

    pub(super) fn push_tail(&mut self, areas: &mut Areas, first: u64) {
        let area = areas.at_mut(first);
        (area.before, area.after) = (self.tail, None);
        match self.tail {
            Some(tail) => areas.at_mut(tail).after = Some(first),
            None => self.head = Some(first),
        }
        self.tail = Some(first);
        self.len += 1;
    }

    pub(super) fn remove(&mut self, areas: &mut Areas, first: u64) {
        let Area { before, after, .. } = *areas.at_mut(first);
        match before {
            Some(before) => areas.at_mut(before).after = after,
            None => self.head = after,
        }
        match after {
            Some(after) => areas.at_mut(after).before = before,
            None => self.tail = before,
        }
        self.len -= 1;
    }

    /// The areas from head to tail.
    pub(super) fn iter(self, areas: &Areas) -> impl Iterator<Item = u64> {
        core::iter::successors(self.head, |&first| areas.at(first).after)
    }
}
