//! Domains of their own, read by threads: each slot has one owner, whatever threads come and go.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use freehold_rcu::{Backlog, BacklogError, Domain, SynchronizeError};
use std::cell::RefCell;
use std::sync::{Arc, Barrier};
use std::time::Duration;

/// Whether something that is retired now can be reclaimed at once.
fn nobody_reads(domain: &Domain) -> bool {
    let mut backlog = Backlog::new(domain, 10);
    backlog.reserve(1, |(): ()| ()).unwrap();
    backlog.retire(()).unwrap();
    let came = backlog.poll(drop).unwrap() == 1;
    backlog.take_all(drop);
    came
}

#[test]
fn a_backlog_tells_what_it_holds_and_what_came_back() {
    let domain = Domain::new();
    let mut backlog = Backlog::new(&domain, 10);
    let reader = domain.read();
    for number in 0..3 {
        backlog.reserve(1, |_| ()).unwrap();
        backlog.retire(number).unwrap();
    }
    let figures = |backlog: &Backlog<'_, i32>| {
        let stats = backlog.stats();
        (stats.held, stats.peak, stats.limit, stats.retired, stats.reclaimed)
    };
    assert_eq!((backlog.poll(drop), figures(&backlog)), (Ok(0), (3, 3, 10, 3, 0)));
    drop(reader);
    assert_eq!((backlog.poll(drop), figures(&backlog)), (Ok(3), (0, 3, 10, 3, 3)));
}

#[test]
fn a_thread_reads_in_each_domain_for_itself() {
    for (one, other) in [(Domain::new(), Domain::new()), (Domain::fenced(), Domain::named("bus"))] {
        let outer = one.read();
        let inner = one.read();
        assert_eq!((nobody_reads(&one), nobody_reads(&other)), (false, true));
        assert!(outer.is_of(&one) && inner.is_of(&one) && !outer.is_of(&other));
        drop(outer);
        assert!(!nobody_reads(&one));
        let copy = inner.clone();
        drop(inner);
        let global = freehold_rcu::read();
        assert!(!nobody_reads(&one) && nobody_reads(&other));
        drop(copy);
        assert!(nobody_reads(&one));
        drop(global);
    }
}

#[test]
fn a_guard_is_of_the_domain_that_made_it_wherever_that_was_moved() {
    let (mut one, mut other) = (Domain::named("one"), Domain::named("other"));
    let is_right = |here: &Domain, there: &Domain| {
        let (guard, owned, reader) = (here.read(), here.read_owned().unwrap(), here.reader().unwrap());
        assert!(guard.is_of(here) && owned.is_of(here) && reader.read().is_of(here), "{}", here.name());
        assert!(!guard.is_of(there) && !owned.is_of(there) && !guard.is_of(Domain::global()));
    };
    is_right(&one, &other);
    is_right(&other, &one);
    // This thread keeps its slot in both.
    std::mem::swap(&mut one, &mut other);
    is_right(&one, &other);
    is_right(&other, &one);
    // The chunks behind the inline slots stay where they are.
    let many: Vec<_> = (0..100).map(|_| one.read_owned().unwrap()).collect();
    assert!(many.iter().all(|guard| guard.is_of(&one) && !guard.is_of(&other)));
}

#[test]
fn a_guard_shows_the_epoch_of_the_statistics() {
    let domain = Domain::new();
    let mut backlog = Backlog::new(&domain, 10);
    for _ in 0..3 {
        backlog.poll(|(): ()| ()).unwrap();
        let (guard, owned, epoch) = (domain.read(), domain.read_owned().unwrap(), domain.stats().epoch);
        assert_eq!(format!("{guard:?}"), format!("Guard {{ since: {epoch}, .. }}"));
        assert_eq!(format!("{owned:?}"), format!("OwnedGuard {{ since: {epoch}, .. }}"));
    }
}

#[test]
fn the_global_domain_is_read_the_same_by_either_name() {
    let guard = Domain::global().read();
    assert!(guard.is_of(Domain::global()));
    assert_eq!(Domain::global().synchronize(), Err(SynchronizeError::Reading));
    drop((guard, freehold_rcu::read()));
}

#[test]
fn threads_beyond_the_inline_slots_have_slots_and_hold_on() {
    const THREADS: usize = if cfg!(miri) { 40 } else { 200 };
    let domain = Domain::new();
    let (all_in, all_out) = (Barrier::new(THREADS + 1), Barrier::new(THREADS + 1));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let _guard = domain.read();
                all_in.wait();
                all_out.wait();
            });
        }
        all_in.wait();
        assert_eq!((domain.stats().reading, domain.stats().registered), (THREADS, THREADS));
        assert!(!nobody_reads(&domain));
        all_out.wait();
    });
    assert_eq!(domain.stats().reading, 0);
    assert!(nobody_reads(&domain));
}

#[test]
fn a_guard_that_an_ended_thread_leaked_holds_on_beside_the_next_thread() {
    let domain = Domain::new();
    std::thread::scope(|scope| scope.spawn(|| std::mem::forget(domain.read())).join().unwrap());
    // Many threads, so that one of them gets the index of the ended one.
    for _ in 0..8 {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..3 {
                    let guard = domain.read();
                    let nested = domain.read();
                    assert!(guard.is_of(&domain));
                    drop(guard);
                    drop(nested);
                }
            });
        });
    }
    assert_eq!(domain.stats().reading, 1, "the leaked guard, and none of the others");
    assert!(!nobody_reads(&domain));
}

thread_local! {
    /// Dropped after the thread has lost its index, or before: in either case it holds on until then.
    static LATE: RefCell<Option<Late>> = const { RefCell::new(None) };
}

struct Late(
    &'static Domain,
    #[allow(dead_code, reason = "held until the drop")] Option<freehold_rcu::Guard<'static>>,
);

impl Drop for Late {
    fn drop(&mut self) {
        assert!(!nobody_reads(self.0), "the guard is still there");
        drop(self.1.take());
        // A guard made so late works, too.
        let guard = self.0.read();
        assert!(guard.is_of(self.0) && !nobody_reads(self.0));
    }
}

#[test]
fn guards_in_thread_locals_hold_until_they_are_dropped() {
    static DOMAIN: Domain = Domain::new();
    let domain = &DOMAIN;
    for reads_first in [true, false] {
        std::thread::spawn(move || {
            if reads_first {
                freehold_rcu::register().unwrap();
            }
            LATE.with(|late| *late.borrow_mut() = Some(Late(domain, Some(domain.read()))));
        })
        .join()
        .unwrap();
        assert!(nobody_reads(domain));
    }
}

#[test]
fn a_wait_ends_with_its_limit_or_with_the_reader() {
    let domain = Arc::new(Domain::new());
    let reader = domain.read_owned().unwrap();
    assert_eq!(domain.synchronize_for(Duration::from_millis(2)), Err(SynchronizeError::TimedOut));
    assert_eq!(domain.synchronize_for(Duration::ZERO), Err(SynchronizeError::TimedOut));
    drop(reader);
    assert_eq!(domain.synchronize_for(Duration::ZERO), Ok(()));
    assert_eq!(domain.synchronize_for(Duration::MAX), Ok(()));
    let guard = domain.read();
    assert_eq!(domain.synchronize_for(Duration::MAX), Err(SynchronizeError::Reading));
    drop(guard);
}

#[test]
fn a_refusal_names_the_domain_the_thread_and_the_time() {
    let domain = Arc::new(Domain::named("bus 3"));
    let mut backlog = Backlog::new(Arc::clone(&domain), 1);
    let _guard = domain.read();
    backlog.reserve(1, |(): ()| ()).unwrap();
    backlog.retire(()).unwrap();
    backlog.poll(drop).unwrap();
    std::thread::sleep(Duration::from_millis(3));
    let refused = backlog.reserve(1, drop).unwrap_err();
    let BacklogError::Full { oldest: Some(oldest), .. } = refused else { panic!("{refused:?}") };
    assert_eq!(oldest.domain, "bus 3");
    assert!(oldest.inside >= Duration::from_millis(3), "{oldest:?}");
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        let here = std::fs::read_link("/proc/thread-self").unwrap();
        let here = here.file_name().unwrap().to_str().unwrap();
        assert_eq!(oldest.thread, here.parse().ok());
        assert!(refused.to_string().ends_with(&format!("on thread {here}")), "{refused}");
    }
    drop(_guard);
    backlog.reserve(1, drop).unwrap();
}

/// The figures of the page on what comes back when.
#[test]
fn records_come_back_by_the_figures_that_are_documented() {
    let domain = Domain::new();
    let mut backlog = Backlog::new(&domain, 1 << 20);
    let mut came = 0;
    let mut retire = |backlog: &mut Backlog<'_, u32>, count: u32| {
        let before = came;
        for number in 0..count {
            backlog.reserve(1, |_| came += 1).unwrap();
            backlog.retire(number).unwrap();
        }
        came - before
    };
    // `reserve` polls once 512 have been retired.
    assert_eq!((retire(&mut backlog, 512), retire(&mut backlog, 1)), (0, 512));
    assert_eq!(backlog.take_all(drop), 1);
    // A guard holds back up to 512 from before its begin.
    retire(&mut backlog, 500);
    let reading = domain.read();
    retire(&mut backlog, 600);
    assert_eq!(backlog.poll(drop).unwrap(), 0);
    // Or as many as a single request asked for.
    let mut large = Backlog::new(&domain, 1 << 20);
    large.reserve(2000, |_: u32| ()).unwrap();
    (0..2000).for_each(|number| large.retire(number).unwrap());
    let later = domain.read_owned().unwrap();
    assert_eq!(large.poll(drop).unwrap(), 0);
    drop(later);
    // No timer: a reader that has left does nothing by itself.
    drop(reading);
    assert_eq!(backlog.held(), 1100);
    assert_eq!(backlog.poll(drop).unwrap(), 1100);
    // Eight batches are kept apart; the ninth joins the last, and waits for the readers of its end.
    let first = domain.read_owned().unwrap();
    let mut guards = vec![first];
    for number in 0..10 {
        backlog.reserve(1, |_: u32| ()).unwrap();
        backlog.retire(number).unwrap();
        assert_eq!(backlog.poll(drop).unwrap(), 0);
        guards.push(domain.read_owned().unwrap());
    }
    let left: Vec<usize> = guards
        .drain(..)
        .map(|guard| {
            drop(guard);
            backlog.poll(drop).unwrap()
        })
        .collect();
    assert_eq!(left, [1, 1, 1, 1, 1, 1, 1, 0, 0, 3, 0]);
}
