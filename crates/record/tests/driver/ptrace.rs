//! Commands of this user, by ptrace.

use crate::alone;
use crate::model::{pages_of, replay};
use freehold_harness::filter::refuse;
use freehold_harness::signals::Signals;
use freehold_record::driver::ptrace::record;
use freehold_record::driver::{Ended, Failure, Recorded};
use freehold_record::event::{Call, Event, What};
use freehold_record::folder::{Meta, Origin, maps_file};
use freehold_record::import::{Options, import};
use freehold_record::log::{self, EVENTS_LOG};
use freehold_trace::Lines;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Records a command; `None` where children cannot be traced.
fn recorded(command: &[&str], folder: &Path) -> Option<Recorded> {
    let command: Vec<OsString> = command.iter().map(OsString::from).collect();
    match record(&command, folder, &Signals::catch().unwrap()) {
        Err(Failure::Lacking(what)) => {
            eprintln!("not run: {what}");
            None
        }
        recorded => Some(recorded.unwrap()),
    }
}

fn events(folder: &Path) -> Vec<Event> {
    log::events(Lines::open(&folder.join(EVENTS_LOG)).unwrap()).map(Result::unwrap).collect()
}

/// That the calls of each process make the mappings that it has at its end. The processes whose mappings were compared.
fn assert_agrees(folder: &Path) -> usize {
    let mut compared = 0;
    for (task, space) in replay(events(folder).into_iter()) {
        let Ok(maps) = fs::read_to_string(maps_file(folder, task, true)) else { continue };
        let (theirs, stacks) = pages_of(&maps);
        let mut ours = space.pages;
        ours.retain(|at, _| !stacks.iter().any(|stack| (stack.start..stack.end).contains(at)));
        let differing: Vec<_> = ours
            .iter()
            .filter(|(at, page)| theirs.get(at) != Some(page))
            .chain(theirs.iter().filter(|(at, _)| !ours.contains_key(at)))
            .take(5)
            .collect();
        assert!(differing.is_empty(), "process {task}: {differing:x?}");
        compared += 1;
    }
    compared
}

#[test]
fn a_pipeline_has_the_mappings_that_its_calls_made() {
    let _alone = alone();
    let to = TempDir::new().unwrap();
    let script = "for i in 1 2 3; do cat /proc/self/maps | sort | tail -n 1 > /dev/null & done; wait; exit 4";
    let Some(recorded) = recorded(&["sh", "-c", script], to.path()) else { return };
    assert_eq!(recorded.ended, Some(Ended::Code(4)));
    assert_eq!((recorded.meta.lost(), recorded.meta.source), (0, Origin::Ptrace));
    assert!(recorded.meta.stack_limit.is_some() && recorded.warnings.is_empty(), "{recorded:?}");
    assert_eq!(Meta::read(to.path()).unwrap(), recorded.meta);
    let imported = import(&[to.path().to_owned()], &Options::default(), &mut Vec::new()).unwrap();
    assert_eq!((imported.lost, imported.unknown, imported.differences), (0, 0, Some(0)), "{imported:?}");
    // The shell and nine programs, three of which the shell may have executed without another process.
    assert!(assert_agrees(to.path()) >= 10);
}

#[test]
fn a_process_sees_its_own_mappings_as_they_were_recorded() {
    let _alone = alone();
    let to = TempDir::new().unwrap();
    let seen = to.path().join("seen");
    let script = format!("exec cat /proc/self/maps > {}", seen.display());
    let Some(recorded) = recorded(&["sh", "-c", &script], to.path()) else { return };
    let pid = recorded.meta.pid.unwrap();
    let (own, _) = pages_of(&fs::read_to_string(&seen).unwrap());
    let until = events(to.path());
    // What it has seen is from before it gave its buffer back.
    let last = until
        .iter()
        .rposition(|event| !matches!(event.what, What::Call { call: Call::Munmap, .. } | What::Exit));
    let space = replay(until.into_iter().take(last.unwrap() + 1)).remove(&pid).unwrap();
    let (_, stacks) = pages_of(&fs::read_to_string(maps_file(to.path(), pid, true)).unwrap());
    let mut ours = space.pages;
    ours.retain(|at, _| !stacks.iter().any(|stack| (stack.start..stack.end).contains(at)));
    assert_eq!(ours, own);
}

#[test]
fn threads_that_map_at_the_same_time_are_recorded_in_the_kernels_order() {
    let _alone = alone();
    let to = TempDir::new().unwrap();
    let Some(recorded) = recorded(&crate::storms::command("mappings"), to.path()) else { return };
    assert_eq!(recorded.ended, Some(Ended::Code(0)));
    let calls = events(to.path()).iter().filter(|event| matches!(event.what, What::Call { .. })).count();
    assert!(calls > 2 * crate::storms::THREADS * crate::storms::MAPPINGS, "{calls} calls");
    assert!(assert_agrees(to.path()) >= 1);
}

#[test]
fn a_thread_that_executes_a_program_becomes_the_first_one() {
    let _alone = alone();
    let to = TempDir::new().unwrap();
    let Some(recorded) = recorded(&crate::storms::command("executing"), to.path()) else { return };
    assert_eq!(recorded.ended, Some(Ended::Code(0)));
    let pid = recorded.meta.pid.unwrap();
    let events = events(to.path());
    let executed = events.iter().rposition(|event| event.what == What::Exec).unwrap();
    let ended = |event: &Event| event.what == What::Exit && event.tid == pid;
    assert!(events[executed].tid == pid && !events[..executed].iter().any(ended));
    assert!(events[executed..].iter().any(ended));
    assert_eq!(assert_agrees(to.path()), 1);
}

#[test]
fn a_signal_goes_to_the_command() {
    let _alone = alone();
    for signal in ["TERM", "QUIT"] {
        let to = TempDir::new().unwrap();
        let script = format!("trap 'exit 9' {signal}; while :; do sleep 0.01; done");
        let recorded = thread::scope(|scope| {
            let recording = scope.spawn(|| recorded(&["sh", "-c", &script], to.path()));
            // Signals are caught before anything is written.
            while !to.path().join(EVENTS_LOG).exists() && !recording.is_finished() {
                thread::sleep(Duration::from_millis(1));
            }
            if !recording.is_finished() {
                let pid = std::process::id().to_string();
                assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
            }
            recording.join().unwrap()
        });
        let Some(recorded) = recorded else { return };
        assert_eq!(recorded.signal.map(|name| name.trim_start_matches("SIG")), Some(signal));
        assert!(matches!(recorded.ended, Some(Ended::Code(9) | Ended::Signal(_))), "{recorded:?}");
    }
}

/// The command has ended, and what it left in the background ignores the signal.
#[test]
fn a_second_signal_ends_a_recording_whatever_still_runs() {
    let _alone = alone();
    let to = TempDir::new().unwrap();
    let started = Instant::now();
    let recorded = thread::scope(|scope| {
        let recording =
            scope.spawn(|| recorded(&["sh", "-c", "trap '' TERM; sleep 100 & exit 3"], to.path()));
        while !to.path().join(EVENTS_LOG).exists() && !recording.is_finished() {
            thread::sleep(Duration::from_millis(1));
        }
        while !recording.is_finished() {
            let pid = std::process::id().to_string();
            assert!(Command::new("kill").args(["-s", "TERM", &pid]).status().unwrap().success());
            thread::sleep(Duration::from_millis(500));
        }
        recording.join().unwrap()
    });
    let Some(recorded) = recorded else { return };
    assert!(started.elapsed() < Duration::from_secs(90), "it waits for the program in the background");
    assert_eq!(recorded.signal, Some("SIGTERM"));
}

#[test]
fn a_command_that_is_not_there_is_an_error() {
    let _alone = alone();
    let to = TempDir::new().unwrap();
    match record(&["/no such program".into()], to.path(), &Signals::catch().unwrap()) {
        Err(Failure::Lacking(what)) => eprintln!("not run: {what}"),
        failed => assert!(matches!(failed.unwrap_err(), Failure::Command { .. })),
    }
}

#[test]
fn where_no_filter_may_be_installed_something_is_lacking() {
    let _alone = alone();
    let to = TempDir::new().unwrap();
    let recorded = thread::scope(|scope| {
        let recording = scope.spawn(|| {
            refuse(&[libc::SYS_seccomp], libc::EPERM as u16).unwrap();
            record(&["true".into()], to.path(), &Signals::catch().unwrap())
        });
        recording.join().unwrap()
    });
    assert!(matches!(recorded, Err(Failure::Lacking(_))), "{recorded:?}");
}
