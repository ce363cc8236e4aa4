//! This machine, as root: storms are recorded, and nothing is left of it.

use crate::{alone, storms};
use freehold_harness::signals::Signals;
use freehold_harness::threads::cpu_time;
use freehold_record::convert::Summary;
use freehold_record::driver::tracefs::{Request, record};
use freehold_record::driver::{Ended, Failure, Machine, Workload};
use freehold_record::import::{Options, import};
use freehold_sys::Reservation;
use freehold_trace::Kind;
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// Records a load; `None` where the machine or this user lacks something.
fn recorded(request: &Request, folder: &Path) -> Option<freehold_record::driver::Recorded> {
    let kptr = || fs::read_to_string("/proc/sys/kernel/kptr_restrict").ok();
    let before = (kptr(), fs::read_to_string("/proc/self/mounts").unwrap());
    let machine = match Machine::with_tracefs() {
        Ok(machine) => machine,
        Err(lacking) => {
            eprintln!("not run: {lacking}");
            return None;
        }
    };
    let recorded = match record(request, &machine, folder, &Signals::catch().unwrap()) {
        // Anything else that is lacking is a fault of ours on kernels that this runs on.
        Err(Failure::Lacking(what)) if what.ends_with("run as root") || what.contains("is missing") => {
            eprintln!("not run: {what}");
            return None;
        }
        recorded => recorded.unwrap(),
    };
    assert_eq!((kptr(), fs::read_to_string("/proc/self/mounts").unwrap()), before);
    Some(recorded)
}

fn request(kind: Kind, storm: &str) -> Request {
    let workload = Workload::Command(storms::command(storm).map(Into::into).into());
    Request { kind, workload, pid: None, keep_pools: false, purge_times: false }
}

/// What becomes of it.
fn imported(folder: &Path) -> Summary {
    let mut trace = Vec::new();
    let summary = import(&[folder.to_owned()], &Options::default(), &mut trace).unwrap();
    if summary.kind == Some(Kind::Vma) {
        assert_no_space_is_used_after_its_end(str::from_utf8(&trace).unwrap());
    }
    summary
}

fn assert_no_space_is_used_after_its_end(trace: &str) {
    let mut ended = HashSet::new();
    for row in trace.lines().filter(|row| !row.starts_with('#')) {
        let fields: Vec<&str> = row.split(',').collect();
        // A program that is executed names the space before its own.
        assert!(fields[3] == "x" || !ended.contains(fields[4]), "{row}");
        if fields[3] == "z" {
            ended.insert(fields[4]);
        }
    }
}

/// Events that were read, by the kernel's own count.
fn read_events(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let stats = files.filter(|file| file.extension().is_some_and(|it| it == "stats"));
    let read = |text: String| -> Option<u64> {
        text.lines().find_map(|line| line.strip_prefix("read events: ")?.parse().ok())
    };
    stats.map(|file| read(fs::read_to_string(file).unwrap()).unwrap()).sum()
}

/// A storm of areas of which no event is lost, and after which the machine has the areas that were recorded.
fn assert_recorded(storm: &str, least_events: u64) {
    let to = TempDir::new().unwrap();
    let Some(recorded) = recorded(&request(Kind::Kva, storm), to.path()) else { return };
    assert_eq!(recorded.ended, Some(Ended::Code(0)));
    assert_eq!(recorded.meta.lost(), 0);
    assert!(read_events(to.path()) > least_events);
    let imported = imported(to.path());
    assert_eq!((imported.lost, imported.implied_frees), (0, 0));
    assert!(imported.events > least_events && imported.events <= read_events(to.path()));
    let differences = imported.differences.unwrap();
    println!("{storm}: {} events, 0 lost, {differences} differences to the last snapshot", imported.events);
    // Other programs allocate and free while the kernel lists areas.
    assert!(differences <= 16, "{imported:?}");
    for name in ["vmallocinfo.start", "vmallocinfo.end"] {
        let areas = fs::read_to_string(to.path().join(name)).unwrap();
        let address = areas.split('-').next().unwrap();
        // Neither 0 nor a hash.
        assert!(address.starts_with("0xffff"), "{address}");
    }
}

#[test]
fn a_storm_of_areas_is_recorded() {
    let _alone = alone();
    match storms::areas(1) {
        // Each is allocated while its command runs. The kernel frees them later, the last ones after it has ended.
        Ok(()) => assert_recorded("areas:3000", 3000),
        Err(error) => eprintln!("not run: {error}"),
    }
}

#[test]
fn a_storm_of_threads_is_recorded() {
    let _alone = alone();
    assert_recorded("threads:10000", 10_000);
}

#[test]
fn a_storm_of_objects_is_recorded() {
    let _alone = alone();
    if let Err(error) = storms::objects(1) {
        return eprintln!("not run: {error}");
    }
    let to = TempDir::new().unwrap();
    let Some(recorded) = recorded(&request(Kind::Pcpu, "objects:75000"), to.path()) else { return };
    assert_eq!((recorded.ended, recorded.meta.lost()), (Some(Ended::Code(0)), 0));
    assert!(read_events(to.path()) > 300_000);
    let imported = imported(to.path());
    assert_eq!(imported.lost, 0);
    assert!(imported.events > 300_000);
}

#[test]
fn a_burst_is_recorded_and_what_it_costs_is_printed() {
    let _alone = alone();
    if let Err(error) = storms::objects(1) {
        return eprintln!("not run: {error}");
    }
    let burst = || {
        let before = cpu_time().unwrap();
        storms::objects(300_000).unwrap();
        let time = cpu_time().unwrap() - before;
        // The kernel frees them later; the next burst shall not wait for it.
        thread::sleep(Duration::from_millis(300));
        time
    };
    let median = |mut times: Vec<Duration>| {
        times.sort();
        times[times.len() / 2].as_secs_f64() * 1e3
    };
    burst();
    let alone: Vec<_> = (0..5).map(|_| burst()).collect();
    let to = TempDir::new().unwrap();
    let request = Request { workload: Workload::UntilSignal, ..request(Kind::Pcpu, "") };
    let (recorded, times) = thread::scope(|scope| {
        let recording = scope.spawn(|| recorded(&request, to.path()));
        while !to.path().join("percpu_stats.start").exists() && !recording.is_finished() {
            thread::sleep(Duration::from_millis(1));
        }
        if recording.is_finished() {
            return (recording.join().unwrap(), Vec::new());
        }
        thread::sleep(Duration::from_millis(50));
        let times: Vec<_> = (0..5).map(|_| burst()).collect();
        let pid = std::process::id().to_string();
        assert!(Command::new("kill").args(["-s", "INT", &pid]).status().unwrap().success());
        (recording.join().unwrap(), times)
    });
    let Some(recorded) = recorded else { return };
    assert_eq!((recorded.meta.lost(), recorded.signal), (0, Some("SIGINT")));
    let events = read_events(to.path());
    assert!(events >= 5 * 600_000, "{events}");
    let (alone, recorded) = (median(alone), median(times));
    println!(
        "{events} events of 5 bursts, 0 lost; CPU time of a burst {alone:.0} ms, recorded {recorded:.0} ms: {:.2}",
        recorded / alone
    );
}

#[test]
fn a_command_and_what_it_makes_is_followed() {
    let _alone = alone();
    for kind in [Kind::Vma, Kind::Mt] {
        let to = TempDir::new().unwrap();
        let Some(recorded) = recorded(&request(kind, "mappings:50"), to.path()) else { return };
        assert_eq!((recorded.ended, recorded.meta.lost()), (Some(Ended::Code(0)), 0));
        assert!(read_events(to.path()) > 800);
    }
}

#[test]
fn mappings_by_the_kernels_events_are_those_that_processes_have() {
    let _alone = alone();
    let to = TempDir::new().unwrap();
    let script = "for i in 1 2 3; do cat /proc/self/maps | sort | tail -n 1 > /dev/null & done; wait; exec cat /dev/null";
    let workload = Workload::Command(["sh", "-c", script].map(Into::into).into());
    let Some(recorded) = recorded(&Request { workload, ..request(Kind::Vma, "") }, to.path()) else { return };
    assert_eq!((recorded.ended, recorded.meta.lost()), (Some(Ended::Code(0)), 0));
    let imported = imported(to.path());
    assert_eq!((imported.lost, imported.unknown, imported.differences), (0, 0, Some(0)), "{imported:?}");
    let ends = fs::read_dir(to.path()).unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name().into_string().unwrap();
        name.starts_with("maps.") && name.ends_with(".end")
    });
    // The shell and nine programs, three of which the shell may have executed without another process.
    assert!(ends.count() >= 7);
}

#[test]
fn a_process_that_runs_is_followed() {
    let _alone = alone();
    let to = TempDir::new().unwrap();
    let pid = std::process::id();
    let workload = Workload::For(Duration::from_millis(100));
    let request = Request { pid: Some(pid), workload, ..request(Kind::Vma, "") };
    let over = AtomicBool::new(false);
    let recorded = thread::scope(|scope| {
        // A thread that is there before maps and unmaps meanwhile.
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                drop(Reservation::new(1 << 16).unwrap());
                thread::sleep(Duration::from_micros(200));
            }
        });
        let recorded = recorded(&request, to.path());
        over.store(true, Ordering::Relaxed);
        recorded
    });
    if let Some(recorded) = recorded {
        assert_eq!(recorded.meta.command, format!("process {pid}, for 0.1 s"));
        for when in ["start", "end"] {
            assert!(to.path().join(format!("maps.{pid}.{when}")).exists());
        }
        let imported = imported(to.path());
        assert_eq!((imported.lost, imported.unknown, imported.differences), (0, 0, Some(0)), "{imported:?}");
    }
}
