//! Each operation, on the space and on its model.

use super::model::{Cell, Owner, Refusal, Run};
use super::play::{Twins, Wanted};
use freehold_kva::{AllocError, FreeError, FreeRangeError, MergeError, Placement, Request, SplitError};
use freehold_units::{Align, Span};

impl Twins {
    pub(super) fn alloc(&mut self, placement: Placement, wanted: &Wanted, is_reserved: bool) {
        let Wanted { size, guard, align, window } = *wanted;
        let all = size + guard;
        let place = self.model.place(placement, all, |at| {
            self.align_at(at) >= align
                && window.0 <= at
                && at + all <= window.1
                && self.is_whole((at, at + all))
        });
        let granule = 1u64 << self.shift;
        let request =
            Request::new(size as u64 * granule).guard(guard as u64 * granule).align_bytes(granule << align);
        let request = request.window(self.span(window));
        let value = self.value();
        let answer = if is_reserved {
            self.space.reserve_with(&request, placement).map(|pending| {
                let (span, guard) = (pending.span(), pending.guard());
                assert_eq!(pending.commit(value), span);
                assert!(guard.is_none_or(|guard| span.touches(guard)));
                span
            })
        } else {
            self.space.alloc_with(&request, placement, value).map_err(|rejected| rejected.cause)
        };
        match place {
            Some(at) => {
                assert_eq!(answer, Ok(self.span((at, at + size))));
                self.model.take(at, size, guard, Owner { value, align, is_carved: false, to: None });
            }
            None => assert!(answer.is_err(), "{answer:?}"),
        }
    }

    pub(super) fn reserve_and_cancel(&mut self, placement: Placement, size: usize) {
        let place = self.model.place(placement, size, |at| self.is_whole((at, at + size)));
        let request = Request::new((size as u64) << self.shift);
        let span = place.map(|at| self.span((at, at + size)));
        match self.space.reserve_with(&request, placement) {
            Ok(pending) => {
                assert_eq!(
                    (Some(pending.span()), pending.space().region_at(pending.span().first())),
                    (span, None)
                );
                pending.cancel();
            }
            Err(error) => assert!(span.is_none(), "{error}"),
        }
    }

    pub(super) fn alloc_at(&mut self, run: Run, guard: usize) {
        let value = self.value();
        let end = run.1 + guard;
        let fits = end <= self.len() && self.is_whole((run.0, end));
        let fits = fits && self.model.cells[run.0..end].iter().all(|&cell| cell == Cell::Free);
        if !self.is_whole(run) {
            return;
        }
        let span = self.span(run);
        let answer = match guard {
            0 => self.space.alloc_at(span, value),
            _ => self.space.alloc_at_guarded(span, (guard as u64) << self.shift, value),
        };
        assert_eq!(answer.is_ok(), fits, "{answer:?}");
        if fits {
            self.model.take(
                run.0,
                run.1 - run.0,
                guard,
                Owner { value, align: 0, is_carved: false, to: None },
            );
        }
    }

    pub(super) fn refused_free(&self, error: FreeError) -> Refusal {
        let start = |region: Span| self.granule_of(region.first());
        match error {
            FreeError::AlreadyFree { .. } => Refusal::AlreadyFree,
            FreeError::Interior { region, .. } => Refusal::Interior(start(region)),
            FreeError::Carved { region } => Refusal::Carved(start(region)),
            FreeError::Moving { region } => Refusal::Moving(start(region)),
            FreeError::OtherSpan { region, .. } => Refusal::OtherSpan(start(region)),
            FreeError::Unknown { .. } => Refusal::Unknown,
            error => panic!("{error}"),
        }
    }

    pub(super) fn free(&mut self, at: usize) {
        let answer = self.space.free(self.address(at)).map_err(|error| self.refused_free(error));
        let wanted = self.model.starting(at).map(|id| {
            let span = self.span(self.model.usable(id));
            (span, self.model.forget(id).value)
        });
        assert_eq!(answer, wanted);
    }

    pub(super) fn free_exact(&mut self, run: Run) {
        if !self.is_whole(run) {
            return;
        }
        let answer = self.space.free_exact(self.span(run)).map_err(|error| self.refused_free(error));
        let wanted = self.model.starting(run.0).and_then(|id| {
            if self.model.usable(id) == run {
                Ok(self.model.forget(id).value)
            } else {
                Err(Refusal::OtherSpan(run.0))
            }
        });
        assert_eq!(answer, wanted);
    }

    pub(super) fn split_at(&mut self, at: usize) {
        let value = self.value();
        let align_at = self.align_at(at);
        let wanted =
            self.model.split_at(at, |old| if value == 0 { old } else { (old + value) % 3 }, align_at);
        let address = self.address(at);
        let answer = if value == 0 {
            self.space.split_at(address)
        } else {
            self.space.split_at_with(address, |first, second, &old| {
                assert!(first.touches(second) && second.first() == address);
                (old + value) % 3
            })
        };
        let refused = |error| match error {
            SplitError::Address(error) => self.refused_free(error),
            SplitError::AtStart { region } => Refusal::AtStart(self.granule_of(region.first())),
            SplitError::InGuard { region, .. } => Refusal::InGuard(self.granule_of(region.first())),
            error => panic!("{error}"),
        };
        assert_eq!(answer.map(|(_, second)| assert_eq!(second.first(), address)).map_err(refused), wanted);
    }

    pub(super) fn merge(&mut self, at: usize) {
        let answer = self.space.merge(self.address(at)).map(|(_, value)| value);
        let refused = |error| match error {
            MergeError::Address(error) => self.refused_free(error),
            MergeError::NoNeighbour { region } => Refusal::NoNeighbour(self.granule_of(region.first())),
            MergeError::Guarded { region, .. } => Refusal::Guarded(self.granule_of(region.first())),
            MergeError::Disagree { region, .. } => Refusal::Disagree(self.granule_of(region.first())),
            error => panic!("{error}"),
        };
        assert_eq!(answer.map_err(refused), self.model.merge(at));
    }

    pub(super) fn free_range(&mut self, run: Run) {
        let value = self.value();
        let (addresses, shift) = (&self.addresses, self.shift);
        let align_at = |at: usize| addresses[at].trailing_zeros().min(63 - shift);
        let wanted =
            self.model.free_range(run, |old| if value == 0 { old } else { (old + value) % 3 }, align_at);
        let span = self.span(run);
        let answer = if value == 0 {
            self.space.free_range(span).map(Iterator::collect)
        } else {
            let (mut freed, mut end) = (Vec::new(), None);
            let split = |first: Span, second: Span, &old: &u64| {
                assert!(first.touches(second));
                (old + value) % 3
            };
            let answer = self.space.free_range_with(span, split, |span, value| {
                assert!(end.replace(span) < Some(span), "in address order");
                freed.push((span, value));
            });
            answer.map(|()| freed)
        };
        let refused = |error| match error {
            FreeRangeError::Moving { region } => Refusal::Moving(self.granule_of(region.first())),
            FreeRangeError::Carved { region } => Refusal::Carved(self.granule_of(region.first())),
            error => panic!("{error}"),
        };
        let wanted =
            wanted.map(|freed| freed.into_iter().map(|(run, value)| (self.span(run), value)).collect());
        assert_eq!(answer.map_err(refused), wanted);
    }

    pub(super) fn resize(&mut self, at: usize, size: usize) {
        let answer = self.space.resize(self.address(at), (size as u64) << self.shift);
        let Ok(id) = self.model.starting(at) else { return assert!(answer.is_err()) };
        let (owner, guard) = (self.model.owners[&id], self.model.guard(id));
        let mut without = self.model.clone();
        without.forget(id);
        let end = at + size + guard;
        let fits = end <= self.len() && self.is_whole((at, end));
        let fits = fits && without.cells[at..end].iter().all(|&cell| cell == Cell::Free);
        assert_eq!(answer.is_ok(), fits, "{answer:?}");
        if fits {
            self.model = without;
            self.model.take(at, size, guard, owner);
        }
    }

    pub(super) fn begin_move(&mut self, at: usize, to: usize) {
        let answer = self.space.begin_move(self.address(at), self.address(to));
        let Ok(id) = self.model.starting(at) else { return assert!(answer.is_err()) };
        let (first, end) = self.model.usable(id);
        let place = (to, to + (end - first) + self.model.guard(id));
        let is_free =
            |&cell: &Cell| cell == Cell::Free || cell == Cell::Usable(id) || cell == Cell::Guard(id);
        let fits = place.1 <= self.len() && self.is_whole(place) && to != first;
        let fits = fits && self.model.cells[place.0..place.1].iter().all(is_free);
        let fits = fits && self.align_at(to) >= self.model.owners[&id].align;
        assert_eq!(answer.is_ok(), fits, "{answer:?}");
        if let Ok(token) = answer {
            for cell in &mut self.model.cells[place.0..place.1] {
                *cell = if *cell == Cell::Free { Cell::Held(id) } else { *cell };
            }
            self.model.owners.get_mut(&id).unwrap().to = Some(to);
            self.tokens.push((id, token));
        }
    }

    pub(super) fn end_move(&mut self, which: usize, is_committed: bool) {
        if self.tokens.is_empty() {
            return;
        }
        let (id, token) = self.tokens.remove(which % self.tokens.len());
        let ((first, end), guard) = (self.model.usable(id), self.model.guard(id));
        let owner = Owner { to: None, ..self.model.forget(id) };
        let at = if is_committed { self.granule_of(token.to()) } else { first };
        self.model.take(at, end - first, guard, owner);
        match is_committed {
            true => assert_eq!(self.space.commit_move(token).unwrap().first(), self.address(at)),
            false => self.space.cancel_move(token).unwrap(),
        }
    }

    pub(super) fn carve(&mut self, size: usize) {
        let (placement, value) = (self.space.placement(), self.value());
        let place = self.model.place(placement, size, |at| self.is_whole((at, at + size)));
        let request = Request::new((size as u64) << self.shift);
        let answer = self.space.carve::<()>(&request, value, placement).map(|child| child.span());
        assert_eq!(answer.as_ref().ok().copied(), place.map(|at| self.span((at, at + size))));
        if let Some(at) = place {
            self.model.take(at, size, 0, Owner { value, align: 0, is_carved: true, to: None });
        }
    }

    pub(super) fn disown(&mut self, at: usize) {
        let id = match self.model.cells[at] {
            Cell::Usable(id) if self.model.usable(id).0 == at => Some(id),
            _ => None,
        };
        let owner = id.and_then(|id| self.model.owners.get_mut(&id));
        let was = owner.is_some_and(|owner| std::mem::replace(&mut owner.is_carved, false));
        assert_eq!(self.space.disown(self.address(at)), was);
    }

    pub(super) fn retain(&mut self, which: u8) {
        let kept = u64::from(which) % 3;
        let mut asked = Vec::new();
        self.space.retain(|span, &mut value| {
            asked.push(span);
            value == kept
        });
        let whole: Vec<u32> =
            self.model.regions().into_iter().filter(|&id| self.model.whole(id).is_ok()).collect();
        assert!(whole.iter().map(|&id| self.span(self.model.usable(id))).eq(asked));
        for id in whole {
            if self.model.owners[&id].value != kept {
                self.model.forget(id);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        let all = self.model.regions();
        let refused = all.iter().any(|&id| self.model.whole(id).is_err());
        assert_eq!(self.space.clear().is_err(), refused);
        if !refused {
            all.into_iter().for_each(|id| _ = self.model.forget(id));
        }
    }

    pub(super) fn congruent(&mut self, size: usize, at: usize) {
        let (bytes, values) = ((size as u64) << self.shift, [self.value(), self.value()]);
        let areas = [0, 3 * bytes].map(|first| Span::from_size(first, bytes).unwrap());
        let asked = areas.into_iter().zip(values).collect();
        let window = self.span((at, self.len()));
        match self.space.alloc_congruent(asked, Align::ONE, window) {
            Ok(base) => {
                for (area, value) in areas.into_iter().zip(values) {
                    let first = self.granule_of(area.first() + base);
                    assert!(self.model.cells[first..first + size].iter().all(|&cell| cell == Cell::Free));
                    self.model.take(first, size, 0, Owner { value, align: 0, is_carved: false, to: None });
                }
            }
            Err(refused) => assert_ne!(refused.cause, AllocError::OutOfMemory),
        }
    }
}
