//! A purge, stage by stage: the pools decay node by node, then the freed areas go back node by node.

use super::area::{Areas, Held};
use super::{Decay, LazySpace, MOST_NODES, Pools, Refill};
use crate::Error;
use alloc::vec::Vec;
use freehold_units::Span;

/// What a stage of a purge did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The pool of this node gave part of its areas to the tree.
    Decayed(u32),
    /// The freed areas of this node went to its pool and to the tree.
    Refilled(u32),
}

/// A purge that runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Purge {
    /// The freed areas that it took, node by node, each in the order in which they go back.
    batches: Vec<Vec<u64>>,
    /// Nodes that have decayed.
    decayed: usize,
    /// Lists that have decayed, and areas that the next one still loses if memory ran out within it.
    lists: usize,
    left: Option<usize>,
    /// Nodes that are refilled, and areas of the next one that are.
    refilled: usize,
    done: usize,
    /// The areas that go to the tree when the node is done.
    large: Vec<u64>,
}

impl Purge {
    /// The areas that it has yet to give back, in order of address. Some may be others' by now.
    pub(super) fn waiting(&self) -> Vec<u64> {
        let batches = self.batches.get(self.refilled..).unwrap_or_default();
        let in_batches = batches.iter().flatten().skip(self.done);
        let mut waiting: Vec<u64> = in_batches.chain(&self.large).copied().collect();
        waiting.sort_unstable();
        waiting
    }
}

impl LazySpace {
    /// Purges the `taken` areas that were freed first, or all if there are fewer. Cost: O(log n) for each area that is moved,
    /// O(k log k) to sort them, and O(nodes).
    ///
    /// # Errors
    /// [`Error::NoMemory`]. The rest of the purge is done by the next call of [`LazySpace::step_purge`].
    #[doc(alias = "purge_vmap_area_lazy")]
    pub fn purge(&mut self, taken: usize) -> Result<(), Error> {
        self.begin_purge(taken)?;
        while self.step_purge()?.is_some() {}
        Ok(())
    }

    /// Begins a purge of the `taken` areas that were freed first. One that runs is ended first. Cost: O(k log k) for k areas,
    /// and O(nodes).
    ///
    /// # Errors
    /// [`Error::NoMemory`]; the purge may run and have taken nothing.
    pub fn begin_purge(&mut self, taken: usize) -> Result<(), Error> {
        while self.step_purge()?.is_some() {}
        let mut purge = Purge::default();
        let nodes = self.choices.sets() as usize;
        purge.batches.try_reserve_exact(nodes).map_err(|_| Error::NoMemory)?;
        purge.batches.resize_with(nodes, Vec::new);
        self.returned.clear();
        self.counts.purges += 1;
        self.purge = Some(purge);
        self.take_lazy(taken)
    }

    /// Lets the purge that runs take `more` of the areas that were freed first; none if no purge runs, or the one that runs has
    /// refilled every node. Cost: O(k log k) for the areas that it has.
    ///
    /// # Errors
    /// [`Error::NoMemory`]; nothing was taken.
    pub fn take_lazy(&mut self, more: usize) -> Result<(), Error> {
        let running = self.purge.as_mut().filter(|purge| purge.refilled < purge.batches.len());
        let Some(purge) = running else { return Ok(()) };
        let mut taken = Vec::new();
        taken.try_reserve_exact(more.min(self.lazy.len)).map_err(|_| Error::NoMemory)?;
        taken.extend(self.lazy.iter(&self.areas).take(more));
        // A node that is refilled already is not refilled again.
        let batch_of = |areas: &Areas, first| match areas.at(first).held {
            Held::Lazy(node) => node.max(purge.refilled),
            _ => purge.refilled,
        };
        let mut counts = [0; MOST_NODES as usize];
        taken.iter().for_each(|&first| counts[batch_of(&self.areas, first)] += 1);
        for (batch, count) in purge.batches.iter_mut().zip(counts) {
            batch.try_reserve(count).map_err(|_| Error::NoMemory)?;
        }
        for first in taken {
            purge.batches[batch_of(&self.areas, first)].push(first);
            self.lazy.remove(&mut self.areas, first);
            self.areas.at_mut(first).held = Held::Taken;
        }
        for (node, batch) in purge.batches.iter_mut().enumerate().skip(purge.refilled) {
            let rest = if node == purge.refilled { purge.done.min(batch.len()) } else { 0 };
            match self.choices.refill {
                Refill::LowestFirst => batch[rest..].sort_unstable(),
                Refill::HighestFirst => batch[rest..].sort_unstable_by(|a, b| b.cmp(a)),
                Refill::ByTime => {}
            }
        }
        Ok(())
    }

    /// Does the next stage of the purge that runs; `None` at its end, or if none runs. Cost: O(log n) for each area that is
    /// moved, and 256 lists.
    ///
    /// # Errors
    /// [`Error::NoMemory`]. Part of the stage may be done; the next call does the rest.
    pub fn step_purge(&mut self) -> Result<Option<Stage>, Error> {
        let Some(purge) = &mut self.purge else { return Ok(None) };
        let node = purge.decayed;
        if node < purge.batches.len() {
            self.decay(node)?;
            if let Some(purge) = &mut self.purge {
                purge.decayed += 1;
            }
            return Ok(Some(Stage::Decayed(node as u32)));
        }
        let node = purge.refilled;
        if node < purge.batches.len() {
            let count = purge.batches[node].len();
            self.refill(count)?;
            self.end_batch()?;
            return Ok(Some(Stage::Refilled(node as u32)));
        }
        self.purge = None;
        Ok(None)
    }

    /// Goes on with the purge that runs until the freed area at `first` is at the head of its list, if that is within the refill
    /// that comes next; whether it is. Cost: as [`LazySpace::step_purge`], and linear in the areas of the node.
    ///
    /// # Errors
    /// As [`LazySpace::step_purge`].
    pub fn refill_to(&mut self, first: u64) -> Result<bool, Error> {
        let Some(purge) = self.purge.as_ref().filter(|purge| purge.decayed == purge.batches.len()) else {
            return Ok(false);
        };
        let batch = purge.batches.get(purge.refilled);
        let Some(at) = batch.and_then(|batch| batch.iter().position(|&other| other == first)) else {
            return Ok(false);
        };
        self.refill(at + 1)?;
        // The area may have gone to the tree, or to another owner, since the purge took it.
        let at = Span::from_size(first, 1).and_then(|at| self.areas.last_in(at));
        Ok(at.is_some_and(|(area, at)| area.first() == first && matches!(at.held, Held::Pooled(_))))
    }

    /// Takes from each list of a node what a purge takes. After an error the next call goes on where this one stopped.
    fn decay(&mut self, node: usize) -> Result<(), Error> {
        let lists = self.lists.len().min((node + 1) * super::LISTS);
        while let Some(purge) = self.purge.as_mut().filter(|purge| purge.lists < lists) {
            let list = purge.lists;
            let mut left = purge.left.take().unwrap_or_else(|| self.choices.decayed(self.lists[list].len));
            let decayed = self.decay_list(list, &mut left);
            if let Some(purge) = &mut self.purge {
                match decayed {
                    Ok(()) => purge.lists += 1,
                    Err(_) => purge.left = Some(left),
                }
            }
            decayed?;
        }
        Ok(())
    }

    /// Moves at most so many areas of a list to the tree, and counts `most` down.
    pub(super) fn decay_list(&mut self, list: usize, most: &mut usize) -> Result<(), Error> {
        let from_tail = self.choices.decay == Decay::Tail;
        while *most > 0 {
            let end = if from_tail { self.lists[list].tail } else { self.lists[list].head };
            let Some(first) = end else { return Ok(()) };
            self.tree.reserve(1)?;
            self.returned.try_reserve(1).map_err(|_| Error::NoMemory)?;
            let area = self.span_at(first);
            self.unlist(area);
            self.make_free(area);
            self.returned.push(area);
            *most -= 1;
        }
        Ok(())
    }

    /// Puts the areas of the batch at hand back, up to and without its `until`th. What no list is for waits for the end.
    fn refill(&mut self, until: usize) -> Result<(), Error> {
        while let Some(purge) = &mut self.purge {
            let next = purge.batches.get(purge.refilled).and_then(|batch| batch.get(purge.done));
            let Some(&first) = next.filter(|_| purge.done < until) else { return Ok(()) };
            purge.large.try_reserve(1).map_err(|_| Error::NoMemory)?;
            purge.done += 1;
            let Some(area) = self.taken(first) else { continue };
            if self.list_of(area).is_some() {
                self.counts.lazy_pages -= self.pages(area);
                self.refill_one(area);
            } else if let Some(purge) = &mut self.purge {
                purge.large.push(first);
            }
        }
        Ok(())
    }

    /// Gives what waited to the tree, and goes on to the next node.
    fn end_batch(&mut self) -> Result<(), Error> {
        loop {
            self.returned.try_reserve(1).map_err(|_| Error::NoMemory)?;
            self.tree.reserve(1)?;
            let Some(first) = self.purge.as_mut().and_then(|purge| purge.large.pop()) else { break };
            let Some(area) = self.taken(first) else { continue };
            self.counts.lazy_pages -= self.pages(area);
            self.make_free(area);
            self.returned.push(area);
        }
        if let Some(purge) = &mut self.purge {
            (purge.refilled, purge.done) = (purge.refilled + 1, 0);
        }
        Ok(())
    }

    /// Puts an area that is in no list into its list, or into the tree if no list is for it. For the tree the caller has
    /// reserved a node.
    pub(super) fn refill_one(&mut self, area: Span) {
        let Some(list) = self.list_of(area) else { return self.make_free(area) };
        self.areas.at_mut(area.first()).held = Held::Pooled(list);
        if self.choices.pools == Pools::Fifo {
            self.lists[list].push_tail(&mut self.areas, area.first());
        } else {
            self.lists[list].push_head(&mut self.areas, area.first());
        }
        self.counts.pooled_pages += self.pages(area);
        self.note_held();
    }

    /// What the last purge, and drains since, gave to the tree. Cost: constant.
    #[must_use]
    pub fn returned(&self) -> &[Span] {
        &self.returned
    }

    /// The area that starts at `first`, if the purge still has it.
    fn taken(&self, first: u64) -> Option<Span> {
        let (area, at) = self.areas.last_in(Span::from_size(first, 1)?)?;
        (area.first() == first && at.held == Held::Taken).then_some(area)
    }

    /// The list that an area goes to when it is purged.
    fn list_of(&self, area: Span) -> Option<usize> {
        self.list(self.areas.at(area.first()).origin?, area.size_saturating())
    }

    pub(super) fn span_at(&self, first: u64) -> Span {
        let at = Span::from_size(first, 1).expect("K4: an area has a byte");
        self.areas.last_in(at).expect("K4: an area starts there").0
    }
}
