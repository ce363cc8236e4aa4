//! Moves in a shared space: readers find a region at both places while it moves, then at the new one only.

use super::{SharedSpace, show};
use crate::error::SharedError;
use crate::space::beyond;
use crate::{AddressSpace, MoveError, PendingMove};
use alloc::vec::Vec;
use freehold_units::{OutOfMemory, Span};
use std::sync::Arc;

impl<V: ?Sized> SharedSpace<V> {
    /// Takes the place at `to` for the region that starts at `first`, and keeps the old one. Look-ups find the region
    /// at both.
    ///
    /// Cost: the lock, [`AddressSpace::begin_move`], and a transaction of one change in the tree of readers: O(log n).
    ///
    /// # Errors
    /// As [`AddressSpace::begin_move`], or the tree cannot store the new place (readers, memory or the barrier);
    /// nothing was changed.
    pub fn begin_move(&self, first: u64, to: u64) -> Result<PendingMove, SharedError<MoveError>> {
        self.change(
            |core, tree| {
                let Some(region) = core.region_at(first) else { return Ok(()) };
                let old = region.span();
                let Some(added) = at_size_of(old, to).and_then(|new| beyond(new, old)) else { return Ok(()) };
                show(tree, added, region.value())
            },
            |core| core.begin_move(first, to),
        )
    }

    /// Commits a move: the region is at the new place only. The change is atomic for readers. Returns the region's new
    /// addresses.
    ///
    /// Cost: the lock, [`AddressSpace::commit_move`], and a transaction of two changes in the tree of readers: O(log
    /// n).
    ///
    /// # Errors
    /// As [`AddressSpace::commit_move`], or the tree cannot make the change (readers, memory or the barrier). The move
    /// then stays pending, and the call may be repeated.
    pub fn commit_move(&self, pending: PendingMove) -> Result<Span, SharedError<MoveError>> {
        self.change(
            |core, tree| {
                let Some(Places { old, new, value }) = places(core, pending) else { return Ok(()) };
                tree.remove_range(old)?;
                show(tree, new, &value)
            },
            |core| core.commit_move(pending),
        )
    }

    /// Cancels a move: the region stays at the old place, and the new one becomes free.
    ///
    /// Cost: the lock, [`AddressSpace::cancel_move`], and a transaction of one change in the tree of readers: O(log
    /// n).
    ///
    /// # Errors
    /// As [`commit_move`](Self::commit_move).
    pub fn cancel_move(&self, pending: PendingMove) -> Result<(), SharedError<MoveError>> {
        self.change(
            |core, tree| {
                let places = places(core, pending);
                let added = places.and_then(|places| beyond(places.new, places.old));
                added.map_or(Ok(()), |added| tree.remove_range(added))
            },
            |core| core.cancel_move(pending),
        )
    }

    /// The tokens of all pending moves: for one that was lost.
    ///
    /// Cost: the lock, and constant for each.
    ///
    /// # Errors
    /// There is no memory for the list.
    pub fn pending_moves(&self) -> Result<Vec<PendingMove>, OutOfMemory> {
        let core = self.lock();
        let mut moves = Vec::new();
        moves.try_reserve_exact(core.pending_moves().count())?;
        moves.extend(core.pending_moves());
        Ok(moves)
    }

    /// Moves regions, each given by its start, to new places, all at once. Readers see all of them move at the same
    /// moment.
    ///
    /// Cost: the lock, [`AddressSpace::rearrange`], and a transaction of 2m changes in the tree of readers.
    ///
    /// # Errors
    /// As [`AddressSpace::rearrange`], or the tree cannot make the change (readers, memory or the barrier); no region
    /// has moved.
    pub fn rearrange(&self, moves: &[(u64, Span)]) -> Result<(), SharedError<MoveError>> {
        self.change(
            |core, tree| {
                let regions =
                    || moves.iter().filter_map(|&(first, place)| Some((core.region_at(first)?, place)));
                regions().try_for_each(|(region, _)| tree.remove_range(region.span()))?;
                regions().try_for_each(|(region, place)| show(tree, place, region.value()))
            },
            |core| core.rearrange(moves),
        )
    }
}

/// The places of a region that is moving: their usable addresses.
struct Places<V: ?Sized> {
    old: Span,
    new: Span,
    value: Arc<V>,
}

/// The places of a pending move; `None` if it has ended.
fn places<V: ?Sized>(core: &AddressSpace<Arc<V>>, pending: PendingMove) -> Option<Places<V>> {
    let region = core.region_at(pending.first()).filter(|region| region.span().first() == pending.first())?;
    let new = region.moving_to().filter(|new| new.first() == pending.to())?;
    Some(Places { old: region.span(), new, value: Arc::clone(region.value()) })
}

/// As many addresses as `span` has, from `first` on.
fn at_size_of(span: Span, first: u64) -> Option<Span> {
    Span::new(first, first.checked_add(span.last() - span.first())?)
}
