//! Passes the signals that end a recording on to what is traced.
//!
//! The first signal goes to the command, or to all that it left running if it has ended. A second one kills all of it, and what it makes
//! meanwhile, so a recording that is to end does so.

use super::failure::Failure;
use super::tasks::Living;
use freehold_harness::ptrace;
use freehold_harness::signals::{Signal, Signals};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How often the thread that passes signals on looks whether all is over.
const PAUSE: Duration = Duration::from_millis(50);

/// How far a command is. Relaxed throughout: nothing else is read by who sees it.
#[derive(Debug, Default)]
pub(super) struct Progress {
    executed: AtomicBool,
    over: AtomicBool,
}

impl Progress {
    /// The command has executed its program: it takes signals in its own way from now on.
    pub(super) fn executed(&self) {
        self.executed.store(true, Ordering::Relaxed);
    }

    /// All tasks have ended.
    pub(super) fn over(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn is_executed(&self) -> bool {
        self.executed.load(Ordering::Relaxed)
    }
}

/// Passes signals on until all is over: the first one, if there was one. Before the command has executed its program it would take them
/// as this process does.
pub(super) fn pass_on(
    signals: &Signals,
    command: u32,
    living: &Living,
    progress: &Progress,
) -> Result<Option<Signal>, Failure> {
    let (mut first, mut kills) = (None, false);
    while !progress.is_over() {
        if let Some(signal) = signals.wait(PAUSE)? {
            while !progress.is_executed() && !progress.is_over() {
                thread::sleep(PAUSE);
            }
            match first {
                None => send(living, Some(command), signal),
                Some(_) => kills = true,
            }
            first = first.or(Some(signal));
        }
        if kills {
            send(living, None, Signal::KILL);
        }
    }
    Ok(first)
}

/// Sends a signal to one process if it is there, else to all.
fn send(living: &Living, to: Option<u32>, signal: Signal) {
    let numbers = living.numbers();
    let one = to.filter(|to| numbers.contains(to));
    for &number in numbers.iter().filter(|&&number| one.is_none_or(|one| one == number)) {
        // It may have ended by now.
        let _ = ptrace::signal(number, signal);
    }
}
