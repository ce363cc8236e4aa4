//! Moves a region in two steps. From the first step to the second, nobody else gets either place.
//!
//! ```text
//!            before    |####|.............|            region at 0x1000
//!   begin    pending   |####|.....|pppp|..|            a look-up finds the region at both places
//!   commit   after     |..........|####|..|            or `cancel`: as before
//! ```
//!
//! A device that moves is still reached at its old place until its doorbells are registered again. So the old place
//! must not be handed out meanwhile, and the new one must not be lost. So a placeholder, an entry without a value,
//! reserves the new place. The places may overlap: the placeholder is the part of the new place outside the old one.
//!
//! The second step cannot fail: `begin_move` reserves the nodes that `commit_move` needs, and every later operation
//! reserves them again on top of its own (`AddressSpace::reserve`). For each move these are a leaf, an inner node for
//! each level, and one more inner node. If the tree becomes a level higher meanwhile, its new root can take 62 more
//! children before it is split, and each split below it has its node.
//!
//! Invariant: K16 every placeholder is the part of the new place of one pending move outside its old place; the region
//! that moves has no other move and no sub-space.

use super::AddressSpace;
use super::identity::Identity;
use crate::regions::{RegionAttrs, RegionEntry};
use crate::{MoveError, OutOfMemory};
use alloc::vec::Vec;
use core::fmt;
use core::iter::FusedIterator;
use freehold_units::{Broken, Hex, Span, check};

/// The token of a pending move. It identifies its space and the move, so using it twice or on another space is an
/// error. [`AddressSpace::pending_moves`] returns a lost token.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "the move stays pending until it is committed or cancelled"]
pub struct PendingMove {
    space: Identity,
    /// Unique among the moves of the space.
    number: u64,
    from: u64,
    to: u64,
}

impl PendingMove {
    /// The region's start until the move is committed. Cost: constant.
    #[must_use]
    pub fn first(self) -> u64 {
        self.from
    }

    /// The region's start after the commit. Cost: constant.
    #[must_use]
    pub fn to(self) -> u64 {
        self.to
    }
}

impl fmt::Debug for PendingMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("PendingMove");
        shown.field("from", &Hex(self.from)).field("to", &Hex(self.to)).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug)]
struct Move {
    number: u64,
    from: u64,
    to: u64,
    /// The start of the placeholder.
    placeholder: u64,
}

/// The pending moves of a space. Cost: O(log pending) to look, O(pending) to change.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// The identity of the space, from its first move on.
    identity: Option<Identity>,
    /// The moves, sorted by the start of the region.
    list: Vec<Move>,
    /// The start of each placeholder and of its region, sorted by the placeholder.
    placeholders: Vec<(u64, u64)>,
    /// Number of moves that were ever begun.
    begun: u64,
}

impl Clone for Moves {
    fn clone(&self) -> Self {
        let identity = self.identity.map(|_| Identity::new());
        Self { identity, list: self.list.clone(), placeholders: self.placeholders.clone(), begun: self.begun }
    }
}

impl Moves {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Reserves memory for one more move.
    pub(super) fn reserve(&mut self) -> Result<(), OutOfMemory> {
        self.placeholders.try_reserve(1)?;
        Ok(self.list.try_reserve(1)?)
    }

    /// Adds a move. Call [`Moves::reserve`] before it and [`Moves::sort`] after it.
    fn push(&mut self, from: u64, to: u64, placeholder: u64) {
        self.identity.get_or_insert_with(Identity::new);
        self.begun += 1;
        self.list.push(Move { number: self.begun, from, to, placeholder });
        self.placeholders.push((placeholder, from));
    }

    fn sort(&mut self) {
        self.list.sort_unstable_by_key(|known| known.from);
        self.placeholders.sort_unstable();
    }

    /// Removes a move that has ended.
    fn remove(&mut self, position: usize) -> Move {
        let ended = self.list.remove(position);
        let placeholder = self
            .placeholders
            .binary_search(&(ended.placeholder, ended.from))
            .expect("K16: a move has a placeholder");
        self.placeholders.remove(placeholder);
        ended
    }

    fn token(&self, of: &Move) -> PendingMove {
        let space = self.identity.expect("K16: a space with moves has an identity");
        PendingMove { space, number: of.number, from: of.from, to: of.to }
    }

    /// The position of a token's move.
    fn position(&self, token: PendingMove) -> Result<usize, MoveError> {
        if self.identity != Some(token.space) {
            return Err(MoveError::Foreign { first: token.from });
        }
        let position = self.list.binary_search_by_key(&token.from, |known| known.from).ok();
        let position = position.filter(|&position| self.token(&self.list[position]) == token);
        position.ok_or(MoveError::Ended { first: token.from })
    }

    /// The move of the region that starts at `first`.
    fn of_region(&self, first: u64) -> Option<&Move> {
        Some(&self.list[self.list.binary_search_by_key(&first, |known| known.from).ok()?])
    }

    /// The start of the region that moves to the placeholder at `placeholder`.
    fn of_placeholder(&self, placeholder: u64) -> Option<u64> {
        Some(
            self.placeholders
                [self.placeholders.binary_search_by_key(&placeholder, |&(start, _)| start).ok()?]
            .1,
        )
    }

    /// Whether a region that is moving, or a placeholder, starts at `first`.
    #[inline]
    pub(super) fn involve(&self, first: u64) -> bool {
        !self.list.is_empty() && (self.of_region(first).is_some() || self.of_placeholder(first).is_some())
    }

    /// The lowest start in `span` of a region that is moving, or of a placeholder.
    pub(super) fn first_in(&self, span: Span) -> Option<u64> {
        let region = self.list.partition_point(|known| known.from < span.first());
        let placeholder = self.placeholders.partition_point(|&(start, _)| start < span.first());
        let region = self.list.get(region).map(|known| known.from);
        let placeholder = self.placeholders.get(placeholder).map(|&(start, _)| start);
        region.into_iter().chain(placeholder).min().filter(|&first| first <= span.last())
    }

    /// The new place of a region, if it is moving. Both without guard.
    #[inline]
    pub(super) fn place_of(&self, region: Span) -> Option<Span> {
        if self.list.is_empty() {
            return None;
        }
        let to = self.of_region(region.first())?.to;
        Some(Span::new(to, to + (region.last() - region.first())).expect("K16: a new place was checked"))
    }

    /// The old and the new start of the region that moves to the placeholder at `placeholder`.
    pub(super) fn ends_of(&self, placeholder: u64) -> (u64, u64) {
        let from = self.of_placeholder(placeholder).expect("K16: a placeholder is a region's");
        (from, self.of_region(from).expect("K16: a placeholder is a region's").to)
    }

    /// The start of the region that moves to a placeholder.
    #[inline]
    pub(super) fn region_of<V>(&self, entry: &RegionEntry<'_, V>) -> Option<u64> {
        let placeholder = entry.value.is_none().then(|| entry.span.first())?;
        Some(self.ends_of(placeholder).0)
    }

    /// Whether the same moves are pending, in any order of beginning.
    pub(super) fn same(&self, other: &Self) -> bool {
        let places = |known: &Move| (known.from, known.to);
        self.list.iter().map(places).eq(other.list.iter().map(places))
    }

    /// Bytes of memory held, including spare capacity.
    pub(super) fn bytes(&self) -> usize {
        self.list.capacity() * size_of::<Move>() + self.placeholders.capacity() * size_of::<(u64, u64)>()
    }
}

/// A region that is allowed to move.
#[derive(Clone, Copy)]
pub(super) struct Mover {
    /// The region's addresses, without guard.
    pub(super) span: Span,
    /// The region's addresses and its guard.
    pub(super) taken: Span,
    pub(super) terms: RegionAttrs,
}

impl Mover {
    pub(super) fn of<V>(entry: &RegionEntry<'_, V>) -> Self {
        Self { span: entry.span, taken: entry.taken(), terms: entry.terms }
    }

    /// The addresses of the region and its guard if it started at `first`, which must be a multiple of its alignment.
    pub(super) fn place(&self, first: u64) -> Result<Span, MoveError> {
        let (region, last) = (self.span, first.checked_add(self.taken.last() - self.taken.first()));
        let place =
            last.and_then(|last| Span::new(first, last)).ok_or(MoveError::PastTheEnd { region, first })?;
        let align = self.terms.align();
        if align.divides(first) { Ok(place) } else { Err(MoveError::Misaligned { region, place, align }) }
    }
}

/// The part of `place` outside `old`, which has the same length.
pub(crate) fn beyond(place: Span, old: Span) -> Option<Span> {
    if !place.overlaps(old) {
        return Some(place);
    }
    place.below(old).or_else(|| place.above(old))
}

impl<V> AddressSpace<V> {
    /// Takes the place at `to` for the region that starts at `first`, with its guard, and keeps the old one. The places
    /// may overlap. Until the move is [committed](Self::commit_move) or [cancelled](Self::cancel_move),
    /// [`region_at`](Self::region_at) finds the region at both places. Meanwhile it cannot be freed, resized or moved
    /// otherwise.
    ///
    /// # Errors
    /// [`MoveError::Address`] if no region starts at `first`, or it is carved or moving; [`MoveError::Misaligned`],
    /// [`MoveError::SamePlace`], [`MoveError::PastTheEnd`]; [`MoveError::Place`] with the obstacle in the part of the
    /// place that the region does not have yet. Nothing was changed.
    ///
    /// # Cost
    /// O(log n), and O(pending moves). A leaf of the tree of regions and an inner node for each level stay reserved
    /// until the move ends.
    ///
    /// ```
    /// use freehold_kva::{AddressSpace, Placement, Request};
    /// use freehold_units::{Align, Span};
    ///
    /// let bus = Span::new(0xc000_0000, 0xcfff_ffff).unwrap();
    /// let mut bus = AddressSpace::new(bus, Align::PAGE, Placement::Lowest)?;
    /// let old = bus.alloc(&Request::natural(0x4000), "nic")?;
    ///
    /// // The guest writes another address into the BAR.
    /// let pending = bus.begin_move(old.first(), 0xc800_0000)?;
    /// // Doorbells are taken down at the old place and put up at the new one; nobody is given either meanwhile.
    /// assert_eq!(*bus.region_at(0xc000_0123).unwrap().value(), "nic");
    /// assert_eq!(*bus.region_at(0xc800_0123).unwrap().value(), "nic");
    /// assert!(bus.free(old.first()).is_err());
    ///
    /// let new = bus.commit_move(pending)?;
    /// assert_eq!(new.first(), 0xc800_0000);
    /// assert!(bus.region_at(old.first()).is_none());
    /// assert!(bus.commit_move(pending).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn begin_move(&mut self, first: u64, to: u64) -> Result<PendingMove, MoveError> {
        let mover = self.mover(first)?;
        let place = mover.place(to)?;
        let placeholder = beyond(place, mover.taken).ok_or(MoveError::SamePlace { region: mover.span })?;
        self.moves.reserve()?;
        // One for the placeholder, one for the region at the commit.
        self.reserve_regions(2)?;
        let block = self.block_over(placeholder).ok_or_else(|| self.in_the_way(placeholder))?;
        self.occupy(block, placeholder, self.unaligned(), None, &mut ());
        self.moves.push(first, to, placeholder.first());
        self.moves.sort();
        let begun = self.moves.of_region(first).expect("K16: a move was added");
        Ok(self.moves.token(begun))
    }

    /// Commits a move: the region is at the new place, and the old one becomes free. Returns the region's new
    /// addresses.
    ///
    /// # Errors
    /// [`MoveError::Ended`] if the move was committed or cancelled before, [`MoveError::Foreign`] if it belongs to
    /// another space. Nothing was changed.
    ///
    /// # Cost
    /// O(log n), and O(pending moves). [`begin_move`](Self::begin_move) reserved the memory.
    pub fn commit_move(&mut self, token: PendingMove) -> Result<Span, MoveError> {
        let position = self.moves.position(token)?;
        let Move { from, to, placeholder, .. } = self.moves.remove(position);
        let (_, entry) = self.regions.region(from).expect("K16: a move is of a region");
        let mover = Mover::of(&entry);
        let place = mover.place(to).expect("K16: the new place was checked");
        let old = self.regions.remove(from, &mut ()).expect("K16: a move is of a region");
        let held = self.regions.remove(placeholder, &mut ()).expect("K16: a move has a placeholder");
        let (entry, _) = self.regions.block_over(place).expect("K16: both places were taken");
        self.regions.insert(entry, place, mover.terms, old.value);
        let freed = beyond(old.taken, place).expect("K16: a region moves");
        let (_, block) = self.regions.block_over(freed).expect("K16: the old place was taken");
        self.join(block, freed, &mut ());
        self.free_bytes += held.taken.size_bytes();
        let size_bytes = mover.span.size_saturating();
        Ok(Span::from_size(to, size_bytes).expect("K16: the new place was checked"))
    }

    /// Cancels a move: the region stays at the old place, and the new one becomes free.
    ///
    /// # Errors
    /// As [`AddressSpace::commit_move`].
    ///
    /// # Cost
    /// As [`AddressSpace::commit_move`].
    pub fn cancel_move(&mut self, token: PendingMove) -> Result<(), MoveError> {
        let position = self.moves.position(token)?;
        let Move { placeholder, .. } = self.moves.remove(position);
        self.free_entry(placeholder, &mut ()).expect("K16: a move has a placeholder");
        Ok(())
    }

    /// The tokens of all pending moves. A lost token is found by the start of its region, above all after
    /// [`from_bytes`](Self::from_bytes) and in a clone.
    ///
    /// Cost: constant for each.
    pub fn pending_moves(&self) -> impl FusedIterator<Item = PendingMove> {
        self.moves.list.iter().map(|known| self.moves.token(known))
    }

    /// The region that starts at `first`, if it is allowed to move.
    pub(super) fn mover(&self, first: u64) -> Result<Mover, MoveError> {
        self.check_whole(first)?;
        let Some((_, entry)) = self.regions.region(first) else {
            return Err(MoveError::Address(self.why_not(first)));
        };
        Ok(Mover::of(&entry))
    }

    /// Adds the moves of an image, each `(from, to, placeholder)`; the placeholders exist already. Returns the address
    /// of an invalid move.
    pub(super) fn restore_moves(&mut self, moves: &[(u64, u64, u64)]) -> Result<Option<u64>, OutOfMemory> {
        for &(from, to, placeholder) in moves {
            self.moves.reserve()?;
            self.moves.push(from, to, placeholder);
        }
        self.moves.sort();
        if let Err(broken) = self.check_moves() {
            return Ok(Some(broken.at));
        }
        self.reserve_regions(0)?;
        Ok(None)
    }

    /// Checks K16, except for the number of placeholders. Cost: O(pending moves · log n).
    pub(super) fn check_moves(&self) -> Result<(), Broken> {
        for two in self.moves.list.windows(2) {
            check(two[0].from < two[1].from, "K16", "a region has one move", two[1].from)?;
        }
        let known = |&(placeholder, from): &(u64, u64)| {
            self.moves.of_region(from).is_some_and(|known| known.placeholder == placeholder)
        };
        let all =
            self.moves.placeholders.iter().all(known) && self.moves.placeholders.len() == self.moves.len();
        check(
            all && self.moves.placeholders.is_sorted(),
            "K16",
            "placeholders are listed by their start",
            0,
        )?;
        for known in &self.moves.list {
            let region = self.regions.region(known.from).filter(|(_, entry)| entry.value.is_some());
            let whole = region.is_some() && !self.carved.holds(known.from);
            check(whole, "K16", "a whole region moves", known.from)?;
            let place = region.and_then(|(_, entry)| {
                let mover = Mover::of(&entry);
                beyond(mover.place(known.to).ok()?, mover.taken)
            });
            let placeholder =
                self.regions.region(known.placeholder).filter(|(_, entry)| entry.value.is_none());
            let held = placeholder.map(|(_, entry)| entry.taken());
            check(
                held.is_some() && held == place,
                "K16",
                "a placeholder is what the new place needs",
                known.placeholder,
            )?;
        }
        Ok(())
    }
}
