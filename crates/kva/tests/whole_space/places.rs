//! Fixed places, resized and moved regions, and sub-spaces, against the model.

use super::model::{Interval, Taken};
use super::{Index, Twins};
use freehold_kva::{AllocError, FreeError, Request, ResizeError, ReturnError, btree};
use freehold_units::Span;

impl<I: Index> Twins<I> {
    pub(super) fn alloc_at(&mut self, at: usize, place: Span) {
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

    pub(super) fn move_to(&mut self, which: usize, window: Span) {
        let Some(taken) = self.region(which) else { return };
        let first = taken.usable.span().first();
        let answer = self.space.move_to(first, window);
        if taken.is_carved {
            let carved = FreeError::Carved { region: taken.usable.span() };
            return assert_eq!(answer, Err(ResizeError::Address(carved)));
        }
        let answer = answer.map_err(|error| match error {
            ResizeError::Size(cause) => cause,
            error => panic!("{error}, but a region starts there"),
        });
        if taken.with_guard.end - taken.with_guard.first == 1 << 64 {
            return assert_eq!(answer, Err(AllocError::SizeOverflow), "it has nowhere to go");
        }
        // Size, guard and alignment are kept.
        let size_bytes = taken.usable.span().size_saturating();
        let guard_bytes = (taken.with_guard.end - taken.usable.end).try_into().unwrap();
        let request = Request { size_bytes, guard_bytes, align: taken.align, window };
        self.moved(taken, &request, answer);
    }

    /// The old place counts as taken if there is another, else as free.
    fn moved(&mut self, taken: Taken, request: &Request, answer: Result<Span, AllocError>) {
        let elsewhere = answer.is_ok_and(|span| {
            let usable = Interval::of(span);
            self.model.is_free(Interval { end: usable.end + u128::from(request.guard_bytes), ..usable })
        });
        if elsewhere {
            self.judge_and_take(taken.value, request, answer);
            return self.model.forget(taken);
        }
        self.model.forget(taken);
        self.judge_and_take(taken.value, request, answer);
        if answer.is_err() {
            self.model.take(taken);
        }
    }

    pub(super) fn carve(&mut self, at: usize, request: &Request) {
        let answer = self.space.carve(request, at, btree::Placement::Highest);
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
