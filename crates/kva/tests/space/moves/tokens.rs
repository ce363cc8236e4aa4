//! Tokens that end no move, and copies of spaces with tokens of their own.

use super::{Stale, Twins, placement};
use crate::{image, restored};
use freehold_kva::{AddressSpace, FreeRangeError, MoveError, Placement, Request};
use freehold_units::{Align, Span};

impl Twins {
    pub(super) fn stale(&mut self, which: usize, commit: bool) {
        let Some(at) = which.checked_rem(self.stale.len()) else { return };
        let (token, why) = self.stale[at];
        let first = token.first();
        let expected = match why {
            Stale::Ended => MoveError::Ended { first },
            Stale::Foreign => MoveError::Foreign { first },
        };
        let answer =
            if commit { self.space.commit_move(token).map(drop) } else { self.space.cancel_move(token) };
        assert_eq!(answer, Err(expected));
    }

    /// Returns the original. Its sub-spaces stay with it.
    pub(super) fn go_on_with_a_copy(&mut self) -> Self {
        let copy = self.space.clone();
        assert!(copy == self.space);
        self.go_on_with(copy)
    }

    pub(super) fn go_on_with_what_is_restored(&mut self, which: usize) -> Self {
        let before = image(&self.space);
        let placement = placement(which);
        let space: AddressSpace<u64> = restored(&before, placement);
        assert!(space == self.space);
        assert_eq!(image(&space), before);
        self.go_on_with(space)
    }

    fn go_on_with(&mut self, space: AddressSpace<u64>) -> Self {
        let mut other = Self {
            space,
            model: self.model.clone(),
            sub_spaces: Vec::new(),
            tokens: self.tokens.clone(),
            stale: self.stale.iter().map(|&(token, _)| (token, Stale::Foreign)).collect(),
        };
        other.new_tokens();
        std::mem::swap(self, &mut other);
        let strange = self.tokens.iter().map(|&(token, _)| (token, Stale::Foreign));
        other.stale.extend(strange);
        for at in 0..other.stale.len() {
            other.stale(at, at.is_multiple_of(2));
        }
        other.compare();
        other
    }
}

/// A space that takes the memory of one that is gone is another space all the same.
#[test]
fn a_token_of_a_space_that_is_gone_is_foreign() {
    let page = |at: u64| Span::from_size(at * 4096, 4096).unwrap();
    let whole = Span::from_size(0, 16 * 4096).unwrap();
    let begun = || {
        let mut space = AddressSpace::<u64>::new(whole, Align::PAGE, Placement::Lowest).unwrap();
        space.alloc_at(page(0), 7).unwrap();
        let token = space.begin_move(0, page(8).first()).unwrap();
        (space, token)
    };
    let (gone, mut old) = begun();
    drop(gone);
    for _ in 0..64 {
        let (mut space, token) = begun();
        let foreign = Err(MoveError::Foreign { first: 0 });
        assert_eq!((space.commit_move(old), space.len()), (foreign.map(|()| page(8)), 1));
        assert_eq!(space.cancel_move(old), foreign);
        assert_eq!(space.commit_move(token), Ok(page(8)));
        old = token;
    }
}

#[test]
fn addresses_that_a_region_moves_to_are_not_freed_where_its_guard_was() {
    let page = |first: u64, pages: u64| Span::from_size(0x1000 * first, 0x1000 * pages).unwrap();
    let mut space = AddressSpace::new(page(0, 16), Align::PAGE, Placement::Lowest).unwrap();
    assert_eq!(space.alloc_at_guarded(page(0, 2), 0x2000, 1u64), Ok(page(0, 2)));
    let pending = space.begin_move(0, 0x2000).unwrap();
    for range in [page(2, 2), page(3, 1), page(3, 9)] {
        let moving = FreeRangeError::Moving { region: page(0, 2) };
        assert_eq!(space.free_range(range).map(drop), Err(moving));
    }
    space.cancel_move(pending).unwrap();
    // A guard alone is nobody's addresses.
    assert_eq!(space.free_range(page(2, 2)).map(Iterator::count), Ok(0));
}

#[test]
fn of_what_forbids_to_free_a_range_the_lowest_is_named() {
    let page = |first: u64, pages: u64| Span::from_size(0x1000 * first, 0x1000 * pages).unwrap();
    let mut space = AddressSpace::new(page(0, 16), Align::PAGE, Placement::Lowest).unwrap();
    space.alloc_at_guarded(page(0, 2), 0x2000, 1u64).unwrap();
    let request = Request::new(0x2000).window(page(4, 2));
    let _child: AddressSpace<u64> = space.carve(&request, 2, Placement::Lowest).unwrap();
    // The guard ends below the carved region, the new place lies above it.
    let _pending = space.begin_move(0, 0x6000).unwrap();
    let (moving, carved) =
        (FreeRangeError::Moving { region: page(0, 2) }, FreeRangeError::Carved { region: page(4, 2) });
    for (range, named) in [(page(3, 6), carved), (page(1, 8), moving), (page(6, 1), moving)] {
        assert_eq!(space.free_range(range).map(drop), Err(named));
    }
}
