//! Three races between what happens and when it is recorded: an event follows what it tells, and another CPU may come between.
//!
//! ```text
//!   in a purge      the allocation fell between two stages of the purge whose event comes next
//!   before a purge  a block of the tree was taken before the last purges, and its event came after theirs
//!   after another   the place that came next was taken first by a task whose event comes later
//! ```
//!
//! Cost: each is tried on a copy of the model, which takes credit in proportion to its size; each row earns [`CREDIT`], so that all
//! tries together are linear in rows.

use super::history::What;
use super::{Kind, Predictor, request};
use freehold::units::Span;
use freehold_linux::kva::LazySpace;
use freehold_linux::kva::lazy::{LazyRequest, Stage};

/// What a row earns, and what a try costs for each area and block of the model.
pub(super) const CREDIT: u64 = 1_024;
/// The longest that a purge runs before its event.
const PURGE_NS: u64 = 30_000_000;
/// How long a task may be put aside between taking a place and its event.
pub(super) const ASIDE_NS: u64 = 20_000_000;
/// Rows that are looked at ahead.
const AHEAD: usize = 1_024;
/// Freed areas of a purge whose events may come after its first stage: some of them go to the node that comes second, and an event
/// follows what it tells.
const LATE: usize = 16;
/// Allocations that may have come first.
const FIRST: usize = 8;
/// Purges before which an allocation may have come.
pub(super) const PURGES: usize = 4;

impl Predictor<'_> {
    /// Which race explains that the request got `place`, if one does. The model is then as that race leaves it.
    pub(super) fn race(&mut self, at: usize, asked: &LazyRequest, place: Span) -> Option<Kind> {
        if self.in_purge(at, asked, place) {
            return Some(Kind::InPurge);
        }
        if self.before_purge(at, asked, place) {
            return Some(Kind::BeforePurge);
        }
        self.after_another(at, asked, place).then_some(Kind::AfterAnother)
    }

    /// A copy of the model to try something on, if there is credit for it.
    fn copy(&mut self) -> Option<LazySpace> {
        let cost = (self.space.areas_len() + self.space.tree().len()) as u64;
        self.credit = self.credit.checked_sub(cost)?;
        Some(self.space.clone())
    }

    fn in_purge(&mut self, at: usize, asked: &LazyRequest, place: Span) -> bool {
        let row = &self.history.rows[at];
        let ahead = self
            .next_purge
            .filter(|&purge| self.history.rows[purge].at_ns.saturating_sub(row.at_ns) <= PURGE_NS);
        let Some(What::Purge { areas }) = ahead.map(|purge| self.history.rows[purge].what) else {
            return false;
        };
        let areas = usize::try_from(areas).unwrap_or(usize::MAX);
        let (taken, lazy) = (self.purging.unwrap_or(0), self.space.lazy_len());
        let more = areas.saturating_sub(taken).min(lazy);
        // A node's freed areas are taken as soon as its pool has decayed: all but the latest are freed by then.
        if areas.saturating_sub(taken + more) > LATE {
            return false;
        }
        let Some(mut copy) = self.copy() else { return false };
        let begun = if self.purging.is_some() { copy.take_lazy(more) } else { copy.begin_purge(more) };
        if begun.is_err() {
            return false;
        }
        // A node is refilled after the last free that it took.
        let is_whole = taken + more == areas;
        let is_next = |space: &LazySpace| space.find(asked).is_ok_and(|found| found.place == place);
        loop {
            if is_whole && copy.refill_to(place.first()) != Ok(false) && is_next(&copy) || is_next(&copy) {
                (self.space, self.purging) = (copy, Some(taken + more));
                return true;
            }
            match copy.step_purge() {
                Ok(Some(Stage::Decayed(_))) => {}
                Ok(Some(Stage::Refilled(_))) if is_whole => {}
                _ => return false,
            }
        }
    }

    /// The tree without what the last purges gave to it.
    fn before_purge(&mut self, at: usize, asked: &LazyRequest, place: Span) -> bool {
        if self.space.block_of(place).is_none() || self.returned.is_empty() {
            return false;
        }
        let since = self.last_of_task.get(&self.history.rows[at].task).copied().unwrap_or(0);
        let Some(mut copy) = self.copy() else { return false };
        let purges: Vec<_> = self.returned.iter().rev().take_while(|(at_ns, _)| *at_ns >= since).collect();
        for (_, spans) in purges {
            if copy.find_in_tree(asked) == Some(place) {
                return true;
            }
            for &span in spans {
                // What was taken since is not free, and stays as it is.
                let _ = copy.block_of(span).map(|_| copy.withdraw(span));
            }
            if copy.find_in_tree(asked) == Some(place) {
                return true;
            }
        }
        false
    }

    /// Lets those go first whose events come soon and who took what came next.
    fn after_another(&mut self, at: usize, asked: &LazyRequest, place: Span) -> bool {
        let (mut copy, mut first) = (None, Vec::new());
        for _ in 0..FIRST {
            let space = copy.as_ref().unwrap_or(&self.space);
            let Ok(found) = space.find(asked) else { return false };
            if found.place == place {
                break;
            }
            let Some((other, taken)) = self.who_takes(at, found.place) else { return false };
            if first.contains(&other) {
                return false;
            }
            let wants = request(&self.history.rows[other]);
            let Some(wants) = wants.filter(|wants| space.find(wants).is_ok_and(|found| found.place == taken))
            else {
                return false;
            };
            if copy.is_none() {
                copy = self.copy();
            }
            let Some(space) = copy.as_mut() else { return false };
            if space.alloc_at(&wants, taken).is_err() {
                return false;
            }
            first.push(other);
        }
        let is_next =
            copy.as_ref().is_some_and(|copy| copy.find(asked).is_ok_and(|found| found.place == place));
        if let Some(space) = copy.filter(|_| is_next) {
            self.space = space;
            self.done.extend(first);
        }
        is_next
    }

    /// The row of another task, soon after, that took part of `place`.
    fn who_takes(&self, at: usize, place: Span) -> Option<(usize, Span)> {
        let row = &self.history.rows[at];
        let rows = self.history.rows.iter().enumerate().skip(at + 1).take(AHEAD);
        let soon = rows.take_while(|(_, other)| other.at_ns.saturating_sub(row.at_ns) <= ASIDE_NS);
        let mut taken = soon.filter_map(|(number, other)| match other.what {
            What::Alloc { place: taken, .. } if taken.overlaps(place) => Some((number, other.task, taken)),
            _ => None,
        });
        let (number, task, taken) = taken.next()?;
        (task != row.task && !self.done.contains(&number)).then_some((number, taken))
    }
}
