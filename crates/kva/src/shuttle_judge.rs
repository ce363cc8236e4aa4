//! A linearizability checker for histories of a space. There must be an order of all calls, each at a moment between
//! its begin and its end, in which every answer is right. It models only blocks, not slabs or trees.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at once")]

use freehold_units::Span;
use shuttle::scheduler::Scheduler;
use shuttle::{Config, Runner};
use std::collections::HashSet;
use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

/// The effect or the answer of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Did {
    /// The call allocated a block.
    Take(Span),
    /// The call freed a block.
    Free(Span),
    /// The call made the first blocks the second ones, all at once: it cut, merged, or freed a part.
    Replace([Option<Span>; 2], [Option<Span>; 2]),
    /// A purge took free addresses.
    Purge(Span),
    /// A purge returned them.
    GiveBack(Span),
    /// A look-up found no block at the address.
    FindFree(u64),
    /// A look-up found a held block.
    FindHeld(Span),
}

/// A call with its begin and end. All times are distinct.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) begun: u64,
    pub(crate) ended: u64,
    pub(crate) did: Did,
}

/// Whether such an order exists for the threads' histories, and no block is held at its end.
pub(crate) fn is_right(threads: &[Vec<Event>]) -> bool {
    let mut search = Search { threads, seen: HashSet::new(), held: Vec::new() };
    search.goes_on(&mut vec![0; threads.len()])
}

#[derive(Clone, Copy, PartialEq)]
enum Holder {
    Block,
    Purge,
}

struct Search<'h> {
    threads: &'h [Vec<Event>],
    /// Dead ends: for each thread, the number of its events so far, from where no order continues. The held blocks
    /// follow from these numbers.
    seen: HashSet<Vec<usize>>,
    held: Vec<(Span, Holder)>,
}

impl Search<'_> {
    fn goes_on(&mut self, at: &mut Vec<usize>) -> bool {
        let next = |at: &[usize], thread: usize| self.threads[thread].get(at[thread]).copied();
        let all = (0..at.len()).filter_map(|thread| Some((thread, next(at, thread)?)));
        let mut open: Vec<(usize, Event)> = all.collect();
        let Some(first_end) = open.iter().map(|(_, event)| event.ended).min() else {
            return self.held.is_empty();
        };
        // A call that begins after another has ended comes after it. Calls that ended first are tried first.
        open.retain(|(_, event)| event.begun < first_end);
        open.sort_by_key(|(_, event)| event.ended);
        if !self.seen.insert(at.clone()) {
            return false;
        }
        for (thread, event) in open {
            if self.change(event.did) {
                at[thread] += 1;
                if self.goes_on(at) {
                    return true;
                }
                at[thread] -= 1;
                self.change_back(event.did);
            }
        }
        false
    }

    /// Applies a call to the model, if its answer is right at this point.
    fn change(&mut self, did: Did) -> bool {
        match did {
            Did::Take(span) => self.hold(span, Holder::Block),
            Did::Purge(span) => self.hold(span, Holder::Purge),
            Did::Free(span) => self.release(span, Holder::Block),
            Did::GiveBack(span) => self.release(span, Holder::Purge),
            Did::Replace(old, new) => self.replace(old, new),
            Did::FindHeld(span) => self.held.contains(&(span, Holder::Block)),
            Did::FindFree(address) => {
                !self.held.iter().any(|&(span, holder)| holder == Holder::Block && span.contains(address))
            }
        }
    }

    fn change_back(&mut self, did: Did) {
        match did {
            Did::Take(span) => _ = self.release(span, Holder::Block),
            Did::Purge(span) => _ = self.release(span, Holder::Purge),
            Did::Free(span) => self.held.push((span, Holder::Block)),
            Did::GiveBack(span) => self.held.push((span, Holder::Purge)),
            Did::Replace(old, new) => _ = self.replace(new, old),
            Did::FindHeld(_) | Did::FindFree(_) => {}
        }
    }

    fn hold(&mut self, span: Span, holder: Holder) -> bool {
        let is_free = !self.held.iter().any(|(other, _)| other.overlaps(span));
        if is_free {
            self.held.push((span, holder));
        }
        is_free
    }

    /// Nothing has changed if the answer is false.
    fn replace(&mut self, old: [Option<Span>; 2], new: [Option<Span>; 2]) -> bool {
        let before = self.held.clone();
        let is_right = old.into_iter().flatten().all(|span| self.release(span, Holder::Block))
            && new.into_iter().flatten().all(|span| self.hold(span, Holder::Block));
        if !is_right {
            self.held = before;
        }
        is_right
    }

    fn release(&mut self, span: Span, holder: Holder) -> bool {
        let place = self.held.iter().position(|&held| held == (span, holder));
        place.map(|place| self.held.swap_remove(place)).is_some()
    }
}

/// A history, one call a line.
pub(crate) fn shown(history: &[Vec<Event>]) -> String {
    let line = |thread, &Event { begun, ended, did }: &Event| {
        format!("\nthread {thread}, {begun} to {ended}: {did:x?}")
    };
    let of = |(thread, events): (usize, &Vec<Event>)| -> String {
        events.iter().map(|event| line(thread, event)).collect()
    };
    history.iter().enumerate().map(of).collect()
}

/// Runs many schedules.
pub(crate) fn explore(scheduler: impl Scheduler + 'static, run: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::new();
    config.stack_size = 1 << 18;
    // Of orders that are weaker than it knows, and of statics that are dropped with a schedule.
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(run);
}

/// Histories that the judge must reject: two holders, a block that is freed twice, stale answers, a block that is never
/// freed.
#[test]
fn shuttle_judge_finds_what_is_wrong() {
    let event = |begun, ended, did| Event { begun, ended, did };
    let block = Span::new(0x10, 0x1f).unwrap();
    let half = Span::new(0x18, 0x1f).unwrap();
    let take = event(0, 1, Did::Take(block));
    let free = event(8, 9, Did::Free(block));
    let first = vec![take, free];
    let low = Span::new(0x10, 0x17).unwrap();
    let cut = vec![
        take,
        event(4, 5, Did::Replace([Some(block), None], [Some(low), Some(half)])),
        event(8, 9, Did::Replace([Some(low), Some(half)], [Some(half), None])),
        event(12, 13, Did::Free(half)),
    ];
    for (right, found) in [
        (true, event(2, 3, Did::FindHeld(block))),
        (true, event(6, 7, Did::FindHeld(low))),
        (true, event(6, 7, Did::FindHeld(half))),
        (true, event(10, 11, Did::FindFree(0x10))),
        (false, event(2, 3, Did::FindHeld(half))),
        (false, event(6, 7, Did::FindHeld(block))),
        (false, event(6, 7, Did::FindFree(0x10))),
        (false, event(10, 11, Did::FindHeld(low))),
    ] {
        assert_eq!(is_right(&[cut.clone(), vec![found]]), right, "{found:?}");
    }
    for right in [
        vec![event(2, 3, Did::FindHeld(block))],
        // At one time with the call that takes it.
        vec![event(0, 5, Did::FindFree(0x18)), event(6, 7, Did::FindHeld(block))],
        vec![event(4, 12, Did::Take(half)), event(13, 14, Did::Free(half))],
        vec![event(10, 11, Did::Purge(half)), event(12, 13, Did::GiveBack(half))],
        vec![
            event(10, 11, Did::Purge(half)),
            event(12, 13, Did::FindFree(0x18)),
            event(14, 15, Did::GiveBack(half)),
        ],
    ] {
        assert!(is_right(&[first.clone(), right.clone()]), "{right:?}");
    }
    for wrong in [
        vec![event(2, 3, Did::FindFree(0x18))],
        vec![event(10, 11, Did::FindHeld(block))],
        vec![event(2, 3, Did::Take(half)), event(10, 11, Did::Free(half))],
        vec![event(2, 12, Did::Free(block))],
        vec![event(2, 3, Did::Purge(half)), event(10, 11, Did::GiveBack(half))],
        vec![event(10, 11, Did::GiveBack(half))],
        vec![event(10, 11, Did::Take(half))],
        vec![event(2, 3, Did::FindHeld(half))],
    ] {
        assert!(!is_right(&[first.clone(), wrong.clone()]), "{wrong:?}");
    }
}
