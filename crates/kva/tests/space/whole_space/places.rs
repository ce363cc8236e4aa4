//! Fixed places, resized and moved regions, and sub-spaces, against the model.

use super::Twins;
use super::model::{Interval, Taken};
use freehold_kva::{AllocError, FreeError, MoveError, Placement, Request, ResizeError, ReturnError};
use freehold_units::Span;
use std::cmp::Ordering;

impl Twins {
    pub(super) fn alloc_at(&mut self, at: u64, place: Span) {
        let wanted = Interval::of(place);
        match self.space.alloc_at(place, at) {
            Ok(taken) => {
                assert_eq!(taken, place);
                self.model.take(self.model.placed(wanted, at));
            }
            Err(rejected) => {
                assert_eq!((rejected.value, rejected.cause), (at, self.model.why_not_at(place)));
            }
        }
    }

    pub(super) fn resize(&mut self, which: usize, size_bytes: u64) {
        let Some(taken) = self.region(which) else { return };
        let first = taken.usable.span().first();
        let guard = taken.with_guard.end - taken.usable.end;
        let usable = Interval::sized(taken.usable.first, size_bytes.into());
        let with_guard = Interval { end: usable.end + guard, ..usable };
        let request = Request::new(size_bytes);
        let overflow = with_guard.end > 1 << 64 || with_guard.end - with_guard.first >= 1 << 64;
        let expected = if taken.is_carved {
            Err(ResizeError::Address(FreeError::Carved { region: taken.usable.span() }))
        } else if let Some(&fault) = self.model.faults(&request).first() {
            Err(ResizeError::Size(fault))
        } else if overflow {
            Err(ResizeError::Size(AllocError::SizeOverflow))
        } else {
            let more = Interval { first: taken.with_guard.end, ..with_guard };
            let blocked = more.first < more.end && !self.model.is_free(more);
            if blocked { Err(self.model.why_not_at(more.span()).into()) } else { Ok(usable.span()) }
        };
        assert_eq!(self.space.resize(first, size_bytes), expected);
        if expected.is_ok() {
            self.model.forget(taken);
            self.model.take(Taken { usable, with_guard, ..taken });
        }
    }

    /// Begins a move and ends it at once, at one place or the other.
    pub(super) fn move_to(&mut self, which: usize, to: u64) {
        let Some(taken) = self.region(which) else { return };
        let first = taken.usable.span().first();
        let [usable, with_guard] =
            [taken.usable, taken.with_guard].map(|old| Interval::sized(to.into(), old.end - old.first));
        let old = taken.with_guard;
        let beyond = match with_guard.first.cmp(&old.first) {
            Ordering::Less => Interval { end: with_guard.end.min(old.first), ..with_guard },
            _ => Interval { first: with_guard.first.max(old.end), ..with_guard },
        };
        let expected = if taken.is_carved {
            Err(MoveError::Address(FreeError::Carved { region: taken.usable.span() }))
        } else if with_guard.end > 1 << 64 {
            Err(MoveError::PastTheEnd { region: taken.usable.span(), first: to })
        } else if !taken.align.divides(to) {
            Err(MoveError::Misaligned {
                region: taken.usable.span(),
                place: with_guard.span(),
                align: taken.align,
            })
        } else if to == first {
            Err(MoveError::SamePlace { region: taken.usable.span() })
        } else if !self.model.is_free(beyond) {
            Err(MoveError::Place(self.model.why_not_at(beyond.span())))
        } else {
            Ok((first, to))
        };
        let begun = self.space.begin_move(first, to);
        assert_eq!(begun.map(|token| (token.first(), token.to())), expected);
        let Ok(token) = begun else { return };
        self.space.validate().unwrap();
        for place in [taken.usable, usable] {
            let at = self.space.region_at(place.span().last()).unwrap();
            assert_eq!((at.span(), at.moving_to()), (taken.usable.span(), Some(usable.span())));
        }
        if which.is_multiple_of(3) {
            return assert_eq!(self.space.cancel_move(token), Ok(()));
        }
        assert_eq!(self.space.commit_move(token), Ok(usable.span()));
        self.model.forget(taken);
        self.model.take(Taken { usable, with_guard, ..taken });
    }

    pub(super) fn carve(&mut self, at: u64, request: &Request) {
        let answer = self.space.carve(request, at, Placement::Highest);
        let given_back = answer.as_ref().err().map_or(at, |rejected| rejected.value);
        assert_eq!(given_back, at);
        let cause = answer.as_ref().map(|sub_space| sub_space.span()).map_err(|rejected| rejected.cause);
        self.judge_and_take(at, request, cause);
        if let Ok(sub_space) = answer {
            sub_space.validate().unwrap();
            assert!(sub_space.free_blocks().eq([sub_space.span()]));
            self.model.mark(Interval::of(sub_space.span()), true);
            self.sub_spaces.push(sub_space);
        }
    }

    pub(super) fn take_back(&mut self, which: usize) {
        if self.sub_spaces.is_empty() {
            return;
        }
        let mut sub_space = self.sub_spaces.swap_remove(which % self.sub_spaces.len());
        let span = sub_space.span();
        let foreign = ReturnError::Foreign { space: span };
        assert_eq!(self.space.take_back(sub_space.clone()).unwrap_err().cause, foreign);
        sub_space.alloc_at(span, ()).unwrap();
        let refused = self.space.take_back(sub_space).unwrap_err();
        assert_eq!(refused.cause, ReturnError::InUse { region: span });
        self.compare();
        let mut sub_space = refused.value;
        sub_space.free(span.first()).unwrap();
        let taken = self.model.taken[&span.first().into()];
        assert_eq!(self.space.take_back(sub_space).unwrap(), (span, taken.value));
        self.model.forget(taken);
    }

    pub(super) fn disown(&mut self, which: usize) {
        if self.sub_spaces.is_empty() {
            return;
        }
        let sub_space = self.sub_spaces.swap_remove(which % self.sub_spaces.len());
        let span = sub_space.span();
        assert!(self.space.disown(span.first()));
        assert!(!self.space.disown(span.first()));
        let foreign = ReturnError::Foreign { space: span };
        assert_eq!(self.space.take_back(sub_space).unwrap_err().cause, foreign);
        self.model.mark(Interval::of(span), false);
    }
}
