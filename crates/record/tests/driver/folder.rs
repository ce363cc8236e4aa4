//! tracefs as a folder of plain files and pipes.

use crate::alone;
use freehold_harness::filter;
use freehold_harness::signals::Signals;
use freehold_record::driver::tracefs::{Request, plan, record as record_until};
use freehold_record::driver::{Failure, Machine, Recorded, Workload};
use freehold_record::folder::{Meta, Pools};
use freehold_sys::topology::online_cpus;
use freehold_trace::Kind;
use std::fs;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const HEADER_PAGE: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;
";
const STATS: &str = "entries: 0\noverrun: 0\ncommit overrun: 0\ndropped events: 3\nread events: 9\n";
const EVENTS: [&str; 5] = [
    "vmalloc/alloc_vmap_area",
    "vmalloc/free_vmap_area_noflush",
    "vmalloc/purge_vmap_area_lazy",
    "percpu/percpu_create_chunk",
    "percpu/percpu_destroy_chunk",
];

/// Files that are written to, with one pipe for all of them.
struct Fake {
    dir: TempDir,
    written: fs::File,
}

impl Fake {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let at = dir.path();
        let pipe = at.join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        // Open for both, so that neither side waits for the other; what is not there is not waited for.
        let written =
            fs::File::options().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(&pipe).unwrap();
        let put = |name: &str, text: &str| {
            let file = at.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        let link = |name: &str| {
            let file = at.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::hard_link(&pipe, file).unwrap();
        };
        fs::create_dir(at.join("instances")).unwrap();
        for file in ["tracing_on", "trace_clock", "options/overwrite", "buffer_size_kb"] {
            link(&format!("instance/{file}"));
        }
        link("proc/sys/vm/drop_caches");
        put("instance/events/header_page", HEADER_PAGE);
        for event in EVENTS {
            link(&format!("instance/events/{event}/enable"));
            put(&format!("events/{event}/format"), &format!("name: {event}\n"));
        }
        for cpu in online_cpus().unwrap_or_else(|| vec![0]) {
            put(&format!("instance/per_cpu/cpu{cpu}/stats"), STATS);
            put(&format!("instance/per_cpu/cpu{cpu}/trace_pipe_raw"), &"x".repeat(4096 * 3));
        }
        put("saved_cmdlines", "1 init\n");
        put("proc/sys/kernel/kptr_restrict", "0\n");
        put("proc/sys/kernel/osrelease", "6.2.0\n");
        put("proc/vmallocinfo", "0xffffc90000000000-0xffffc90000005000   20480 fork pages=4 vmalloc\n");
        put("proc/meminfo", "MemTotal:       1048576 kB\n");
        Self { dir, written }
    }

    fn machine(&self) -> Machine {
        Machine::folder(self.dir.path())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// What was written to the pipe, a word each.
    fn written(&mut self) -> Vec<String> {
        let mut bytes = Vec::new();
        // What is there is read before the error that nothing is.
        let _ = self.written.read_to_end(&mut bytes);
        String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
    }

    /// That nothing is left of a recording.
    fn assert_clean(&self) {
        assert_eq!(fs::read_dir(self.path("instances")).unwrap().count(), 0);
        assert_eq!(fs::read_to_string(self.path("proc/sys/kernel/kptr_restrict")).unwrap(), "0\n");
    }
}

fn record(request: &Request, machine: &Machine, folder: &Path) -> Result<Recorded, Failure> {
    record_until(request, machine, folder, &Signals::catch().unwrap())
}

fn request(workload: Workload) -> Request {
    Request { kind: Kind::Kva, workload, pid: None, keep_pools: false, purge_times: false }
}

fn short() -> Request {
    request(Workload::For(Duration::from_millis(1)))
}

/// KiB that a CPU's buffer may have of the memory above.
fn buffer_kib() -> u64 {
    let cpus = online_cpus().map_or(1, |cpus| cpus.len() as u64);
    (1_048_576 / 16 / cpus).clamp(1024, 65_536)
}

#[test]
fn settings_come_before_events_and_these_before_tracing() {
    let _alone = alone();
    let (mut fake, to) = (Fake::new(), TempDir::new().unwrap());
    let recorded = record(&short(), &fake.machine(), to.path()).unwrap();
    let size = buffer_kib().to_string();
    // Off, clock, newest dropped, size; five events; pools emptied, on; off.
    let expected = ["0", "mono", "0", &size, "1", "1", "1", "1", "1", "2", "1", "0"];
    assert_eq!(fake.written(), expected);
    fake.assert_clean();
    let meta = Meta::read(to.path()).unwrap();
    assert_eq!(meta, recorded.meta);
    assert_eq!((meta.pools, meta.release.as_str()), (Pools::Drained, "6.2.0"));
    let cpus = online_cpus().unwrap_or_else(|| vec![0]);
    assert_eq!(meta.lost(), 3 * cpus.len() as u64);
    for cpu in cpus {
        assert_eq!(
            fs::read(to.path().join(format!("cpu{cpu}.raw"))).unwrap(),
            "x".repeat(4096 * 3).as_bytes()
        );
        assert_eq!(fs::read_to_string(to.path().join(format!("cpu{cpu}.stats"))).unwrap(), STATS);
    }
    for name in ["vmallocinfo.start", "vmallocinfo.end", "saved_cmdlines", "events/header_page"] {
        assert!(to.path().join(name).exists(), "{name}");
    }
    for event in EVENTS {
        let format = fs::read_to_string(to.path().join(format!("events/{event}/format"))).unwrap();
        assert_eq!(format, format!("name: {event}\n"));
    }
    let (start, end) = (meta.snapshot_start.unwrap(), meta.snapshot_end.unwrap());
    assert!(meta.start_ns <= start.0 && start.0 <= start.1 && start.1 <= end.0 && end.1 <= meta.end_ns);
}

#[test]
fn pools_are_kept_and_a_command_runs() {
    let _alone = alone();
    let (mut fake, to) = (Fake::new(), TempDir::new().unwrap());
    let command = Workload::Command(["sh", "-c", "exit 3"].map(Into::into).into());
    let recorded =
        record(&Request { keep_pools: true, ..request(command) }, &fake.machine(), to.path()).unwrap();
    assert!(!fake.written().contains(&"2".to_owned()));
    assert_eq!(recorded.meta.pools, Pools::Unknown);
    assert_eq!(recorded.meta.command, "sh -c exit 3");
    assert_eq!(recorded.ended, Some(freehold_record::driver::Ended::Code(3)));
    let wrong = Workload::Command(vec!["/no such program".into()]);
    let failure = record(&request(wrong), &fake.machine(), to.path()).unwrap_err();
    assert!(matches!(failure, Failure::Command { .. }), "{failure}");
    fake.assert_clean();
}

#[test]
fn a_plan_says_all_of_it_and_does_nothing() {
    let _alone = alone();
    let mut fake = Fake::new();
    fs::create_dir(fake.path("instances/freehold.4194305")).unwrap();
    let plan = plan(&short(), &fake.machine()).unwrap();
    assert!(fake.written().is_empty());
    assert_eq!(fs::read_dir(fake.path("instances")).unwrap().count(), 1);
    let at = |words: &str| {
        plan.iter().position(|line| line.contains(words)).unwrap_or_else(|| panic!("{words} in {plan:#?}"))
    };
    let order = [
        "freehold.4194305: its process is gone",
        "make    ",
        "write   mono to ",
        "write   1 to ",
        "write   2 to ",
        "/proc/vmallocinfo",
        "write   0 to ",
        "run     the machine, for 0.001 s",
        "undo    remove ",
    ];
    for word in order {
        at(word);
    }
    assert!(at("make") < at("mono") && at("write   2") < at("vmallocinfo") && at("vmallocinfo") < at("run"));
    assert!(at("run") < at("undo"));
}

#[test]
fn instances_of_dead_processes_are_removed_and_others_stay() {
    let _alone = alone();
    let (fake, to) = (Fake::new(), TempDir::new().unwrap());
    let names = ["freehold.4194305", "freehold.7", "freehold.x", "other"];
    for name in names {
        fs::create_dir(fake.path("instances").join(name)).unwrap();
    }
    // One left by a process that had our number.
    fs::create_dir(fake.path(&format!("instances/freehold.{}", std::process::id()))).unwrap();
    fs::create_dir(fake.path("proc/7")).unwrap();
    record(&short(), &fake.machine(), to.path()).unwrap();
    let mut left: Vec<_> =
        fs::read_dir(fake.path("instances")).unwrap().map(|it| it.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["freehold.7", "freehold.x", "other"]);
}

#[test]
fn a_signal_ends_a_recording_which_is_kept() {
    let _alone = alone();
    for signal in ["INT", "TERM", "HUP"] {
        let (mut fake, to) = (Fake::new(), TempDir::new().unwrap());
        let machine = fake.machine();
        let recorded = thread::scope(|scope| {
            let recording = scope.spawn(|| record(&request(Workload::UntilSignal), &machine, to.path()));
            // The last file that is made before the workload is waited for.
            wait_for(&to.path().join("vmallocinfo.start"));
            let pid = std::process::id().to_string();
            assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
            recording.join().unwrap().unwrap()
        });
        assert_eq!(recorded.signal, Some(format!("SIG{signal}").as_str()));
        assert_eq!(fake.written().last().map(String::as_str), Some("0"), "tracing is off");
        fake.assert_clean();
        assert!(to.path().join("vmallocinfo.end").exists() && Meta::read(to.path()).is_ok());
    }
}

#[test]
fn a_snapshot_waits_for_that_of_another_recording() {
    let _alone = alone();
    let (mut fake, to) = (Fake::new(), TempDir::new().unwrap());
    let (machine, restrict) = (fake.machine(), fake.path("proc/sys/kernel/kptr_restrict"));
    // The other one has written 1 there, and has not put 0 back.
    let other = fs::File::open(fake.path("instances")).unwrap();
    other.lock().unwrap();
    fs::write(&restrict, "1\n").unwrap();
    thread::scope(|scope| {
        let recording = scope.spawn(|| record(&short(), &machine, to.path()));
        // Up to that tracing is on, which is right before the snapshot.
        let mut before = 11;
        while before > 0 {
            before -= fake.written().len();
            thread::sleep(Duration::from_millis(10));
        }
        assert!(!to.path().join("vmallocinfo.start").exists());
        fs::write(&restrict, "0\n").unwrap();
        other.unlock().unwrap();
        recording.join().unwrap().unwrap();
    });
    fake.assert_clean();
}

#[test]
fn a_command_gets_the_signal_first() {
    let _alone = alone();
    let (fake, to) = (Fake::new(), TempDir::new().unwrap());
    let machine = fake.machine();
    let ready = to.path().join("ready");
    let script = format!("trap 'exit 7' TERM; : > {}; while :; do sleep 0.01; done", ready.display());
    let command = Workload::Command(["sh", "-c", &script].map(Into::into).into());
    let recorded = thread::scope(|scope| {
        let recording = scope.spawn(|| record(&request(command), &machine, to.path()));
        wait_for(&ready);
        let pid = std::process::id().to_string();
        assert!(Command::new("kill").args(["-s", "TERM", &pid]).status().unwrap().success());
        recording.join().unwrap().unwrap()
    });
    assert_eq!(recorded.ended, Some(freehold_record::driver::Ended::Code(7)));
    fake.assert_clean();
}

#[test]
fn a_missing_file_is_named_and_all_is_put_back() {
    let _alone = alone();
    let missing = [
        "instance/trace_clock",
        "instance/events/vmalloc/purge_vmap_area_lazy/enable",
        "instance/events/header_page",
        "instance/per_cpu/cpu0/trace_pipe_raw",
        "instance/per_cpu/cpu0/stats",
        "proc/vmallocinfo",
        "proc/sys/kernel/kptr_restrict",
        "saved_cmdlines",
    ];
    for name in missing {
        let (fake, to) = (Fake::new(), TempDir::new().unwrap());
        fs::remove_file(fake.path(name)).unwrap();
        let failure = record(&short(), &fake.machine(), to.path()).unwrap_err().to_string();
        let file = name.strip_prefix("instance/").unwrap_or(name);
        assert!(failure.contains(file) && failure.contains("No such file"), "{name}: {failure}");
        assert_eq!(fs::read_dir(fake.path("instances")).unwrap().count(), 0, "{name}");
        assert!(!to.path().join("recording").exists(), "{name}");
    }
}

#[test]
fn a_missing_event_names_the_kernel_that_has_it() {
    let _alone = alone();
    let (fake, to) = (Fake::new(), TempDir::new().unwrap());
    fs::remove_dir_all(fake.path("events/vmalloc/alloc_vmap_area")).unwrap();
    let failure = record(&short(), &fake.machine(), to.path()).unwrap_err();
    assert!(matches!(failure, Failure::Lacking(_)));
    assert_eq!(
        failure.to_string(),
        "the event vmalloc:alloc_vmap_area is missing: Linux has it from 6.2 on, this is 6.2.0"
    );
    let fake = Fake::new();
    fs::remove_dir_all(fake.path("events/percpu/percpu_create_chunk")).unwrap();
    let recorded = record(&short(), &fake.machine(), to.path()).unwrap();
    assert!(recorded.warnings.contains(&"the event percpu:percpu_create_chunk is missing".to_owned()));
}

#[test]
fn who_may_not_is_told_what_to_do() {
    let _alone = alone();
    let told = [
        (libc::EPERM, "run as root"),
        (libc::EROFS, "mount it for writing, or run outside of the container"),
    ];
    for (errno, what) in told {
        let (fake, to) = (Fake::new(), TempDir::new().unwrap());
        let machine = fake.machine();
        // The filter stays with the thread.
        let failure = thread::scope(|scope| {
            let refused = scope.spawn(|| {
                #[cfg(target_arch = "x86_64")]
                let calls = [libc::SYS_mkdir, libc::SYS_mkdirat];
                #[cfg(not(target_arch = "x86_64"))]
                let calls = [libc::SYS_mkdirat];
                filter::refuse(&calls, errno as u16).unwrap();
                record(&short(), &machine, to.path()).unwrap_err()
            });
            refused.join().unwrap()
        });
        assert!(matches!(failure, Failure::Lacking(_)));
        assert!(failure.to_string().ends_with(what), "{failure}");
        fake.assert_clean();
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let _alone = alone();
    let (fake, to) = (Fake::new(), TempDir::new().unwrap());
    for (kind, pid) in [(Kind::Kva, Some(1)), (Kind::Vma, None), (Kind::Mt, None)] {
        let failure = record(&Request { kind, pid, ..short() }, &fake.machine(), to.path()).unwrap_err();
        assert!(matches!(failure, Failure::Usage(_)), "{failure}");
    }
    fake.assert_clean();
}

/// Tasks have other numbers there, so the events of others would be recorded.
#[test]
fn a_pid_namespace_is_refused_where_tasks_are_followed() {
    let _alone = alone();
    let (fake, to) = (Fake::new(), TempDir::new().unwrap());
    fs::create_dir_all(fake.path("proc/self/ns")).unwrap();
    std::os::unix::fs::symlink("pid:[4026532999]", fake.path("proc/self/ns/pid")).unwrap();
    for kind in [Kind::Vma, Kind::Mt] {
        let failure =
            record(&Request { kind, pid: Some(1), ..short() }, &fake.machine(), to.path()).unwrap_err();
        assert!(
            matches!(&failure, Failure::Lacking(what) if what.ends_with("run outside of the container")),
            "{failure}"
        );
    }
    record(&short(), &fake.machine(), to.path()).unwrap();
    fake.assert_clean();
}

fn wait_for(file: &Path) {
    let started = Instant::now();
    while !file.exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "{} does not come", file.display());
        thread::sleep(Duration::from_millis(1));
    }
}
