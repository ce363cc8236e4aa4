//! Guards, backlogs and domains, each by its contract.

use crate::{Backlog, BacklogError, Domain, Mode, SynchronizeError, read, read_owned, register, synchronize};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// Retires the numbers from `from` to `to`.
fn retire(backlog: &mut Backlog<'_, u32>, numbers: std::ops::Range<u32>) {
    for number in numbers {
        backlog.reserve(1, |early| panic!("{early} came back early")).unwrap();
        backlog.retire(number).unwrap();
    }
}

fn polled(backlog: &mut Backlog<'_, u32>) -> Vec<u32> {
    let mut came = Vec::new();
    let count = backlog.poll(|number| came.push(number)).unwrap();
    assert_eq!(count, came.len());
    came
}

fn assert_full(refused: Result<(), BacklogError>, all: usize) {
    assert!(
        matches!(refused, Err(BacklogError::Full { held, limit, oldest: Some(_) }) if (held, limit) == (all, all)),
        "{refused:?}"
    );
}

#[test]
fn a_reader_holds_back_what_was_retired_since_it_began_and_nothing_older() {
    for domain in [Domain::new(), Domain::fenced()] {
        let mut backlog = Backlog::new(&domain, 100);
        let reader = domain.reader().unwrap();
        retire(&mut backlog, 0..3);
        let mut came = polled(&mut backlog);
        assert_eq!(came, [0, 1, 2]);
        retire(&mut backlog, 3..5);
        let guard = reader.read();
        retire(&mut backlog, 5..7);
        // The guard may have reached all four.
        assert_eq!(polled(&mut backlog), []);
        assert_eq!(backlog.held(), 4);
        let later = domain.reader().unwrap();
        let later_guard = later.read();
        drop(guard);
        // The later guard began after these were retired and their epoch ended.
        came = polled(&mut backlog);
        assert_eq!(came, [3, 4, 5, 6]);
        retire(&mut backlog, 7..8);
        assert_eq!(polled(&mut backlog), []);
        drop(later_guard);
        assert_eq!(polled(&mut backlog), [7]);
        let stats = backlog.stats();
        assert_eq!((stats.retired, stats.reclaimed, stats.held, stats.peak), (8, 8, 0, 4));
        // Before anybody has asked for it back, it counts, too.
        retire(&mut backlog, 8..9);
        let stats = backlog.stats();
        assert_eq!((stats.retired, stats.reclaimed, stats.held), (9, 8, 1));
    }
}

#[test]
fn the_outermost_guard_counts() {
    for domain in [Domain::new(), Domain::fenced()] {
        let reader = domain.reader().unwrap();
        let mut backlog = Backlog::new(&domain, 10);
        let outer = reader.read();
        retire(&mut backlog, 0..1);
        let inner = outer.clone();
        drop(outer);
        assert_eq!(polled(&mut backlog), []);
        let third = reader.read();
        drop(inner);
        assert_eq!(polled(&mut backlog), []);
        assert_eq!(domain.stats().reading, 1);
        drop(third);
        assert_eq!(polled(&mut backlog), [0]);
        assert_eq!(domain.stats().reading, 0);
    }
}

#[test]
fn a_guard_that_leaks_holds_on_without_its_reader() {
    for domain in [Domain::new(), Domain::fenced()] {
        let mut backlog = Backlog::new(&domain, 10);
        let reader = domain.reader().unwrap();
        std::mem::forget(reader.read());
        drop(reader.read());
        drop(reader);
        retire(&mut backlog, 0..1);
        assert_eq!(polled(&mut backlog), []);
        let next = domain.reader().unwrap();
        assert_eq!((domain.stats().registered, domain.stats().reading), (2, 1), "its slot is nobody else's");
        drop(next);
        backlog.take_all(drop);
    }
}

#[test]
#[cfg_attr(miri, ignore = "so many guards are slow there")]
fn more_guards_than_a_state_counts_hold_as_long_as_one_is_left() {
    for domain in [Domain::new(), Domain::fenced()] {
        let mut backlog = Backlog::new(&domain, 10);
        let reader = domain.reader().unwrap();
        for count in [16_382, 16_383, 20_000] {
            let guards: Vec<_> = (0..count).map(|_| reader.read()).collect();
            retire(&mut backlog, count..count + 1);
            assert_eq!(polled(&mut backlog), []);
            let mut guards = guards.into_iter();
            let last = guards.next_back();
            drop(guards);
            assert_eq!(polled(&mut backlog), [], "one of {count} guards is left");
            drop(last);
            assert_eq!(polled(&mut backlog), [count]);
        }
        assert_eq!(domain.stats().reading, 0);
    }
}

#[test]
fn a_reader_that_stalls_has_the_backlog_refuse_at_its_limit_and_nothing_is_lost() {
    const LIMIT: u32 = if cfg!(miri) { 300 } else { 3000 };
    let domain = Domain::new();
    let stalled = domain.reader().unwrap();
    let guard = stalled.read();
    let mut backlog = Backlog::new(&domain, LIMIT as usize);
    retire(&mut backlog, 0..LIMIT);
    let capacity = backlog.stats().peak;
    for more in [1, 2, usize::MAX] {
        let refused = backlog.reserve(more, |early| panic!("{early} came back early"));
        assert_full(refused, LIMIT as usize);
    }
    assert_eq!((backlog.stats().peak, backlog.stats().refused), (capacity, 3));
    drop(guard);
    let mut came = Vec::new();
    backlog.reserve(1, |number| came.push(number)).unwrap();
    assert!(came.iter().copied().eq(0..LIMIT));
    retire(&mut backlog, LIMIT..LIMIT + 1);
}

#[test]
fn a_request_beyond_the_limit_is_granted_where_less_waits() {
    let domain = Domain::new();
    let mut backlog = Backlog::new(&domain, 10);
    assert_eq!(backlog.retire(0), Err(0), "nothing was reserved");
    retire(&mut backlog, 0..9);
    backlog.reserve(500, drop).unwrap();
    (9..509).for_each(|number| backlog.retire(number).unwrap());
    let mut came = Vec::new();
    backlog.reserve(1, |number| came.push(number)).unwrap();
    assert!(came.iter().copied().eq(0..509));
    let stalled = domain.reader().unwrap();
    let _guard = stalled.read();
    (0..10).for_each(|number| backlog.retire(number).unwrap());
    assert_full(backlog.reserve(1, drop), 10);
}

#[test]
fn a_small_request_leaves_the_room_of_a_larger_one() {
    let domain = Domain::new();
    let mut backlog = Backlog::new(&domain, 10_000);
    backlog.reserve(1000, drop).unwrap();
    (0..600).for_each(|number| backlog.retire(number).unwrap());
    // So many open records make it poll, and reserve anew.
    backlog.reserve(1, drop).unwrap();
    assert!((600..1000).all(|number| backlog.retire(number).is_ok()), "{:?}", backlog.stats());
}

#[test]
fn a_backlog_that_may_hold_nothing_is_full_without_a_barrier() {
    let domain = Domain::refusing();
    let _reader = domain.reader().unwrap();
    let mut backlog = Backlog::<u32>::new(&domain, 0);
    let refused = backlog.reserve(1, drop);
    assert!(matches!(refused, Err(BacklogError::Full { held: 0, limit: 0, oldest: None })), "{refused:?}");
    assert_eq!(domain.stats().refused_barriers, 0);
}

#[test]
fn where_barriers_are_refused_a_reader_that_was_idle_all_the_time_holds_back_all() {
    let domain = Domain::refusing();
    assert_eq!(domain.mode(), Mode::Membarrier);
    let reader = domain.reader().unwrap();
    let mut backlog = Backlog::new(&domain, 2);
    retire(&mut backlog, 0..2);
    // Its last stamp may not be visible yet.
    let refused = backlog.poll(drop).unwrap_err();
    assert!(matches!(refused, BacklogError::NoGracePeriod(_)));
    assert!(
        refused.to_string().contains("membarrier: ") && refused.to_string().contains("use_fences"),
        "{refused}"
    );
    assert!(matches!(backlog.reserve(1, drop), Err(BacklogError::NoGracePeriod(_))));
    assert!(matches!(backlog.barrier(drop), Err(SynchronizeError::NoGracePeriod(_))));
    assert_eq!(backlog.held(), 2);
    assert_eq!((domain.stats().refused_barriers, domain.stats().grace_periods), (3, 0));
    // The first guard with the flag shows that the reader has seen it.
    let guard = reader.read();
    assert_eq!(polled(&mut backlog), []);
    assert_eq!(domain.stats().grace_periods, 1);
    drop(guard);
    assert_eq!(polled(&mut backlog), [0, 1]);
    let refused = domain.stats().refused_barriers;
    for number in 2..10 {
        let guard = reader.read();
        retire(&mut backlog, number..number + 1);
        assert_eq!(polled(&mut backlog), []);
        drop(guard);
        assert_eq!(polled(&mut backlog), [number]);
    }
    assert_eq!(domain.stats().refused_barriers, refused, "all readers fence");
    assert_eq!(domain.mode(), Mode::Fences);
    drop(domain.reader().unwrap().read());
    drop(domain.read_owned().unwrap());
    assert_eq!(domain.synchronize(), Ok(()));
}

#[test]
fn where_barriers_are_refused_a_reader_that_ends_is_no_longer_in_the_way() {
    let domain = Domain::refusing();
    let mut backlog = Backlog::new(&domain, 10);
    let (reader, idle) = (domain.reader().unwrap(), domain.reader().unwrap());
    let (early, owned) = (reader.read(), domain.read_owned().unwrap());
    retire(&mut backlog, 0..1);
    assert!(backlog.poll(drop).is_err());
    drop(idle);
    assert_eq!(polled(&mut backlog), [], "stamps that are seen count as always");
    drop(early);
    // Without a flag it may be reading.
    assert!(backlog.poll(drop).is_err());
    drop(reader);
    assert_eq!(polled(&mut backlog), []);
    drop(owned);
    assert_eq!(polled(&mut backlog), [0]);
    assert_eq!(domain.stats().mode, Mode::Fences);
}

#[test]
fn a_backlog_takes_more_while_a_barrier_is_refused_up_to_its_limit() {
    let domain = Domain::refusing();
    let idle = domain.reader().unwrap();
    let mut backlog = Backlog::new(&domain, 1000);
    retire(&mut backlog, 0..1000);
    assert!(matches!(backlog.reserve(1, drop), Err(BacklogError::NoGracePeriod(_))));
    drop(idle);
    let mut came = Vec::new();
    backlog.reserve(1, |number| came.push(number)).unwrap();
    assert!(came.iter().copied().eq(0..1000));
}

#[test]
fn fences_can_be_chosen_before_anybody_reads_and_later() {
    let early = Domain::new();
    early.use_fences();
    assert_eq!(early.mode(), Mode::Fences);
    let domain = Domain::new();
    let reader = domain.reader().unwrap();
    drop(reader.read());
    domain.use_fences();
    assert_eq!(domain.mode(), Mode::Fences);
    drop(reader.read());
    let mut backlog = Backlog::new(&domain, 10);
    let guard = reader.read();
    retire(&mut backlog, 0..1);
    assert_eq!(polled(&mut backlog), []);
    drop(guard);
    assert_eq!(polled(&mut backlog), [0]);
}

#[test]
fn a_record_whose_reclaiming_panics_is_gone_and_the_others_come_later() {
    let domain = Domain::new();
    let mut backlog = Backlog::new(&domain, 10);
    retire(&mut backlog, 0..4);
    let poll = catch_unwind(AssertUnwindSafe(|| backlog.poll(|number| assert_ne!(number, 1, "as told"))));
    assert!(poll.is_err());
    assert_eq!(backlog.held(), 2);
    assert_eq!(polled(&mut backlog), [2, 3]);
}

#[test]
fn a_dropped_backlog_drops_its_records_unless_its_own_thread_reads() {
    let alive = Rc::new(());
    for reading in [false, true] {
        let mut backlog = Backlog::new(Domain::global(), 1);
        backlog.reserve(1, drop).unwrap();
        backlog.retire(Rc::clone(&alive)).unwrap();
        let guard = reading.then(read);
        drop(backlog);
        drop(guard);
        assert_eq!(Rc::strong_count(&alive), 1 + usize::from(reading));
    }
}

#[test]
fn synchronize_waits_for_those_who_read_and_refuses_to_wait_for_itself() {
    let guard = read();
    assert_eq!(synchronize(), Err(SynchronizeError::Reading));
    drop(guard);
    let (reading, left) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let guard = read();
            reading.store(true, Ordering::Release);
            std::thread::sleep(Duration::from_millis(20));
            left.store(true, Ordering::Release);
            drop(guard);
        });
        while !reading.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        synchronize().unwrap();
        assert!(left.load(Ordering::Acquire), "it did not wait");
    });
}

#[test]
fn an_owned_guard_reads_on_after_its_thread() {
    let domain = Domain::new();
    let mut backlog = Backlog::new(&domain, 1);
    let guard = std::thread::scope(|scope| scope.spawn(|| domain.read_owned().unwrap()).join().unwrap());
    assert!(guard.is_of(&domain) && !guard.is_of(Domain::global()));
    retire(&mut backlog, 0..1);
    assert_eq!(polled(&mut backlog), []);
    drop(guard);
    assert_eq!(polled(&mut backlog), [0]);
    assert_eq!(domain.stats().registered, 0);
    drop(read_owned().unwrap());
}

#[test]
fn slots_are_added_and_used_again() {
    let domain = Domain::new();
    let readers: Vec<_> = (0..100).map(|_| domain.reader().unwrap()).collect();
    let guards: Vec<_> = readers.iter().map(|reader| reader.read()).collect();
    assert_eq!((domain.stats().registered, domain.stats().reading), (100, 100));
    drop(guards);
    drop(readers);
    let stats = domain.stats();
    assert_eq!((stats.slots, stats.registered, stats.reading, stats.oldest), (160, 0, 0, None));
}

/// A second slot would never be entered. So it would never show the flag that a scan without a barrier waits for.
#[test]
fn a_thread_that_registers_in_the_global_domain_has_one_slot_there() {
    Domain::global().register().unwrap();
    drop(Domain::global().read());
    assert!(Domain::global().threads.iter().all(|slot| !slot.is_taken()));
}

/// Threads that end take no slot with them. In a process of its own the count would be exact; here other tests run too.
#[test]
fn short_threads_leave_no_slots_behind() {
    let threads = if cfg!(miri) { 40 } else { 10_000 };
    for _ in 0..threads {
        std::thread::spawn(|| drop(read())).join().unwrap();
    }
    let stats = Domain::global().stats();
    assert!(stats.slots <= 64, "{stats:?}");
}

/// Records the order in which thread-locals are dropped, and reads where the thread's own slot may be gone.
struct ReadsAtItsEnd(&'static std::thread::LocalKey<RefCell<Vec<crate::Guard<'static>>>>);

impl Drop for ReadsAtItsEnd {
    fn drop(&mut self) {
        let outer = read();
        let inner = read();
        drop(outer);
        drop(inner);
        let _ = self.0.try_with(|guards| guards.borrow_mut().push(read()));
    }
}

#[test]
fn a_guard_of_a_thread_that_ends_holds_on_and_gives_its_slot_back() {
    std::thread_local! {
        static BEFORE: RefCell<Option<ReadsAtItsEnd>> = const { RefCell::new(None) };
        static AFTER: RefCell<Option<ReadsAtItsEnd>> = const { RefCell::new(None) };
        static GUARDS_BEFORE: RefCell<Vec<crate::Guard<'static>>> = const { RefCell::new(Vec::new()) };
        static GUARDS_AFTER: RefCell<Vec<crate::Guard<'static>>> = const { RefCell::new(Vec::new()) };
    }
    // More than the number that may be left behind.
    for _ in 0..if cfg!(miri) { 70 } else { 200 } {
        std::thread::spawn(|| {
            GUARDS_BEFORE.with_borrow_mut(Vec::clear);
            BEFORE.with_borrow_mut(|reads| *reads = Some(ReadsAtItsEnd(&GUARDS_AFTER)));
            register().unwrap();
            GUARDS_AFTER.with_borrow_mut(|guards| guards.push(read()));
            GUARDS_BEFORE.with_borrow_mut(|guards| guards.push(read()));
            AFTER.with_borrow_mut(|reads| *reads = Some(ReadsAtItsEnd(&GUARDS_BEFORE)));
        })
        .join()
        .unwrap();
    }
    let stats = Domain::global().stats();
    assert!(stats.registered <= 64, "{stats:?}");
}

#[test]
fn the_mode_is_fixed_and_visible() {
    assert_eq!(Domain::fenced().mode(), Mode::Fences);
    let domain = Domain::new();
    let mode = domain.mode();
    let expected = match freehold_sys::membarrier::Membarrier::memory() {
        Ok(_) => Mode::Membarrier,
        Err(_) => Mode::Fences,
    };
    assert_eq!(mode, expected);
    drop(domain.reader().unwrap());
    assert_eq!(domain.stats().mode, mode);
}

#[test]
fn errors_say_what_is_in_the_way() {
    let full = BacklogError::Full { held: 5, limit: 6, oldest: None };
    assert_eq!(full.to_string(), "readers hold back 5 of at most 6 retired records");
    assert_eq!(SynchronizeError::Reading.to_string(), "this thread holds a guard, and would wait for itself");
}

/// Calls `at_end` in a thread-local destructor that runs after the thread's slot has ended.
fn at_the_end_of_a_thread(at_end: impl FnOnce() + Send + 'static) {
    struct AtEnd(Cell<Option<Box<dyn FnOnce()>>>);
    impl Drop for AtEnd {
        fn drop(&mut self) {
            self.0.take().unwrap()();
        }
    }
    thread_local!(static AT_END: AtEnd = const { AtEnd(Cell::new(None)) });
    std::thread::spawn(move || {
        // Older than the thread's slot, so it is dropped later.
        AT_END.with(|at| at.0.set(Some(Box::new(at_end))));
        drop(read());
    })
    .join()
    .unwrap();
}

#[test]
fn a_thread_that_ends_does_not_wait_for_its_own_guard() {
    let (said, heard) = mpsc::channel();
    at_the_end_of_a_thread(move || {
        let outer = read();
        let guard = read();
        drop(outer);
        let mut backlog = Backlog::new(Domain::global(), 10);
        retire(&mut backlog, 0..1);
        assert!(polled(&mut backlog).is_empty());
        // It would wait for this thread.
        drop(backlog);
        said.send(synchronize()).unwrap();
        drop(guard);
        said.send(synchronize()).unwrap();
    });
    assert_eq!(heard.recv(), Ok(Err(SynchronizeError::Reading)));
    assert_eq!(heard.recv(), Ok(Ok(())));
}

/// Another thread may have the slot by then.
#[test]
fn a_thread_that_ends_forgets_the_slot_that_its_guard_gave_back() {
    let (said, heard) = mpsc::channel();
    at_the_end_of_a_thread(move || {
        for _ in 0..2 {
            let guard = read();
            said.send(crate::thread::registered().unwrap().is_some()).unwrap();
            drop(guard);
            said.send(crate::thread::registered().unwrap().is_some()).unwrap();
        }
    });
    assert_eq!(heard.iter().collect::<Vec<_>>(), [true, false, true, false]);
}
