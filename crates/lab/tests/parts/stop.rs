//! A run that is asked to end does so at its next batch, and what is no such request passes through.

use freehold_lab::engine::EngineEntry;
use freehold_lab::engine::Facts;
use freehold_lab::run::measure;
use freehold_lab::stop::{Stopped, check, until};
use freehold_lab::workload::churn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn flag(is_set: bool) -> Arc<AtomicBool> {
    Arc::new(AtomicBool::new(is_set))
}

/// Replays a little on the default engine; the answers.
fn replay(mut at_tick: impl FnMut()) -> usize {
    let engine: EngineEntry = freehold_lab::engine::KvaFacts::ALL[0];
    let replay = measure(churn(100, 100, 1_000).unwrap(), &[engine], 2, &mut |_| at_tick()).unwrap();
    replay.runs.iter().map(|run| run.counted.answers.len()).sum()
}

#[test]
fn a_run_ends_at_its_next_batch() {
    assert_eq!(until(flag(true), || replay(|| ())), Err(Stopped));
    let stop = flag(false);
    let (set, mut ticks) = (Arc::clone(&stop), 0);
    let ran = until(stop, || {
        replay(|| {
            ticks += 1;
            set.store(true, Ordering::Relaxed);
        })
    });
    assert_eq!((ran, ticks), (Err(Stopped), 1), "it did not end after the batch that asked for it");
}

#[test]
fn a_run_that_nobody_ends_is_whole() {
    assert_eq!(until(flag(false), || replay(|| ())), Ok(replay(|| ())));
    // What ends one run does not end the one around it.
    let outer = until(flag(false), || {
        let inner = until(flag(true), check);
        check();
        inner
    });
    assert_eq!(outer, Ok(Err(Stopped)));
}

#[test]
fn a_panic_is_no_request() {
    let ran = catch_unwind(AssertUnwindSafe(|| until(flag(true), || panic!("a defect"))));
    assert_eq!(ran.unwrap_err().downcast_ref(), Some(&"a defect"));
    check();
}
