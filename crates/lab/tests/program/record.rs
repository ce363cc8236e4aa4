//! `freehold record` as a user meets it: whoever it is, and whatever ends it.

use super::{freehold, text};
use std::fs::{self, Permissions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A user without rights.
const NOBODY: u32 = 65_534;

/// Whether this is root.
fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// A folder for all users, with a copy of the program, since not all may go where it was built.
fn shared_folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
    // `fs::copy` would leave the copy open for writing in what other tests start meanwhile, and the
    // kernel runs no such file.
    let (program, copy) = (env!("CARGO_BIN_EXE_freehold"), folder.path().join("freehold"));
    assert!(Command::new("cp").arg(program).arg(copy).status().unwrap().success());
    folder
}

/// The program in such a folder, for nobody if this is root.
fn as_nobody(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(folder.join("freehold"));
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command.current_dir(folder).args(args).output().unwrap()
}

#[test]
fn mappings_of_a_command_are_recorded_without_rights() {
    let folder = shared_folder();
    let script = "cat /proc/self/maps | sort > /dev/null; exec cat /proc/self/maps";
    let args = ["record", "vma", "-o", "cat.vma.csv.zst", "--", "sh", "-c", script];
    let output = as_nobody(folder.path(), &args);
    let (told, failed) = (text(&output.stdout), text(&output.stderr));
    if output.status.code() == Some(4) {
        return eprintln!("not run: {failed}");
    }
    assert_eq!(output.status.code(), Some(0), "{failed}");
    for words in
        ["by ptrace", " 0 lost while recording", " 0 differences: the last snapshot agrees", "[stack]"]
    {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(told.ends_with("next: freehold replay cat.vma.csv.zst\n"), "{told}");
    // Nothing is left but the trace.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    let inspected = as_nobody(folder.path(), &["inspect", "cat.vma.csv.zst"]);
    assert!(inspected.status.success() && text(&inspected.stdout).contains("mapping"));
    let replayed = as_nobody(folder.path(), &["replay", "cat.vma.csv.zst", "--rounds", "1"]);
    assert!(replayed.status.success(), "{}", text(&replayed.stderr));
}

/// The commands of the book's page, word for word, from the root of the repository.
#[test]
fn the_page_of_the_book_does_what_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/record.md")).unwrap();
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let built = Path::new(env!("CARGO_BIN_EXE_freehold")).parent().unwrap();
    let path = format!("{}:{}", built.display(), std::env::var("PATH").unwrap());
    let (mut ran, mut left) = (0, 0);
    for line in blocks.flat_map(str::lines) {
        let lacks_cc = line.contains("cc ") && Command::new("cc").arg("--version").output().is_err();
        let needs_root = line.starts_with("sudo ") && !is_root();
        // This test is of a program that is built already.
        if line.starts_with("cargo ") || lacks_cc || needs_root {
            eprintln!("not run: {line}");
            left += 1;
            continue;
        }
        let line = line.strip_prefix("sudo ").unwrap_or(line);
        let output =
            Command::new("sh").args(["-c", line]).env("PATH", &path).current_dir(&root).output().unwrap();
        let failed = text(&output.stderr);
        // A machine whose kernel or container lacks something says so.
        if output.status.code() == Some(4) {
            eprintln!("not run: {line}: {failed}");
            left += 1;
            continue;
        }
        assert!(output.status.success(), "{line}: {}{failed}", text(&output.stdout));
        ran += 1;
    }
    assert!(ran >= 1 && ran + left == 11, "{ran} commands ran and {left} did not");
}

#[test]
fn the_kernels_events_are_for_root() {
    let folder = shared_folder();
    for kind in ["kva", "percpu"] {
        let args = ["record", kind, "--for", "1ms", "-o", "x.csv", "--raw", "raw"];
        let output = as_nobody(folder.path(), &args);
        assert_eq!(output.status.code(), Some(4));
        assert!(text(&output.stderr).trim_end().ends_with("run as root"), "{}", text(&output.stderr));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left");
}

#[test]
fn an_older_recording_is_replaced_only_where_it_is_named() {
    let folder = shared_folder();
    let older = folder.path().join("recorded.vma.csv.zst");
    fs::write(&older, "older").unwrap();
    fs::set_permissions(&older, Permissions::from_mode(0o666)).unwrap();
    let output = as_nobody(folder.path(), &["record", "vma", "--", "true"]);
    assert_eq!(output.status.code(), Some(2));
    let failed = text(&output.stderr);
    assert!(failed.contains("recorded.vma.csv.zst is an older recording; -o FILE"), "{failed}");
    assert_eq!(fs::read(&older).unwrap(), b"older");
    let output = as_nobody(folder.path(), &["record", "vma", "-o", "recorded.vma.csv.zst", "--", "true"]);
    if output.status.code() == Some(4) {
        return eprintln!("not run: {}", text(&output.stderr));
    }
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_ne!(fs::read(&older).unwrap(), b"older");
}

#[test]
fn beside_a_device_no_recording_is_kept() {
    let folder = shared_folder();
    let output = as_nobody(folder.path(), &["record", "vma", "-o", "/dev/full", "--", "true"]);
    let failed = text(&output.stderr);
    if output.status.code() == Some(4) {
        return eprintln!("not run: {failed}");
    }
    assert_eq!(output.status.code(), Some(1), "{failed}");
    let (_, kept) = failed.split_once("the raw recording is kept in ").unwrap_or_else(|| panic!("{failed}"));
    let kept = folder.path().join(kept.split(':').next().unwrap());
    assert!(kept.starts_with(folder.path()) && kept.join("recording").is_file(), "{failed}");
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let wrong: [&[&str]; 7] = [
        &["record"],
        &["record", "vma"],
        &["record", "percpu", "--keep-pools", "--for", "1ms"],
        &["record", "kva", "--for", "1ms", "--", "true"],
        &["record", "kva", "--for", "1"],
        &["record", "vma", "--pid", "1", "--", "true"],
        &["record", "kva", "--plan", "--json"],
    ];
    for args in wrong {
        assert_eq!(freehold(args).status.code(), Some(2), "{args:?}");
    }
    let output = freehold(&["record", "vma", "-o", "/proc/no/x.csv", "--", "true"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("nothing was recorded"), "{}", text(&output.stderr));
}

#[test]
fn mappings_that_cannot_be_read_are_said_to_be_missing() {
    let folder = shared_folder();
    let without_proc = |script: &str| {
        let script = format!("mount -t tmpfs none /proc && {script}");
        let mut unshare = Command::new("unshare");
        unshare
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
            .current_dir(folder.path());
        unshare.output().ok()
    };
    if !without_proc("true").is_some_and(|ran| ran.status.success()) {
        eprintln!(
            "mappings_that_cannot_be_read_are_said_to_be_missing: skipped: /proc cannot be hidden here"
        );
        return;
    }
    let told = text(&without_proc("./freehold record vma -o mine.csv -- true").unwrap().stdout);
    assert!(
        told.contains("warning: /proc/PID/maps could not be read, times: 1; first mappings are missing"),
        "{told}"
    );
}

#[test]
fn a_plan_of_ptrace_changes_nothing() {
    let output = freehold(&["record", "vma", "--plan", "--", "true"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).ends_with("nothing of the machine is changed\n"));
}

/// A folder that stands for tracefs, with as little as a recording of kva needs.
fn fake_tracefs() -> TempDir {
    let folder = TempDir::new().unwrap();
    let put = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    let events = ["alloc_vmap_area", "free_vmap_area_noflush", "purge_vmap_area_lazy"];
    for (id, name) in (1..).zip(events) {
        let field = "field:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;";
        let format = format!("name: {name}\nID: {id}\nformat:\n\t{field}\n\nprint fmt: \"\"\n");
        put(&format!("events/vmalloc/{name}/format"), &format);
        put(&format!("instance/events/vmalloc/{name}/enable"), "0\n");
    }
    for name in ["tracing_on", "trace_clock", "options/overwrite", "buffer_size_kb"] {
        put(&format!("instance/{name}"), "\n");
    }
    let fields = [
        "u64 timestamp;\toffset:0;\tsize:8",
        "local_t commit;\toffset:8;\tsize:8",
        "char data;\toffset:16;\tsize:4080",
    ];
    let page: String = fields.iter().map(|field| format!("\tfield: {field};\tsigned:0;\n")).collect();
    put("instance/events/header_page", &page);
    for cpu in freehold_sys::topology::online_cpus().unwrap_or_else(|| vec![0]) {
        put(&format!("instance/per_cpu/cpu{cpu}/trace_pipe_raw"), "");
        put(
            &format!("instance/per_cpu/cpu{cpu}/stats"),
            "overrun: 0\ncommit overrun: 0\ndropped events: 5\n",
        );
    }
    put("saved_cmdlines", "");
    put("proc/sys/vm/drop_caches", "");
    put("proc/sys/kernel/kptr_restrict", "0\n");
    put("proc/vmallocinfo", "0xffffc90000000000-0xffffc90000005000   20480 fork+0x1/0x2 pages=4 vmalloc\n");
    fs::create_dir(folder.path().join("instances")).unwrap();
    folder
}

#[test]
fn ctrl_c_ends_a_recording_and_puts_all_back() {
    freehold_harness::signals::set_default();
    for signal in ["INT", "TERM", "HUP", "XCPU"] {
        let (tracefs, to) = (fake_tracefs(), TempDir::new().unwrap());
        let option = format!("--tracefs={}", tracefs.path().display());
        let instances = tracefs.path().join("instances");
        let entries = || fs::read_dir(&instances).unwrap().count();
        let raw = to.path().join("raw");
        let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
        command.args(["record", "kva", &option, "-o", "x.csv", "--raw", "raw"]).current_dir(to.path());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let started = Instant::now();
        // The last file that is made before the signal is waited for.
        while !raw.join("vmallocinfo.start").exists() {
            assert!(started.elapsed() < Duration::from_secs(60), "it does not begin");
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(entries(), 1);
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains(&format!("SIG{signal} ended the recording")));
        assert_eq!(entries(), 0);
        assert_eq!(fs::read_to_string(tracefs.path().join("instance/tracing_on")).unwrap(), "0\n");
        assert_eq!(fs::read_to_string(tracefs.path().join("proc/sys/kernel/kptr_restrict")).unwrap(), "0\n");
        for name in ["vmallocinfo.end", "recording"] {
            assert!(raw.join(name).exists(), "{name}: {}", text(&output.stderr));
        }
    }
}

/// The limit's signal would end the program while a setting of the machine is changed.
#[test]
fn a_limit_of_file_sizes_is_an_error_and_all_is_put_back() {
    let (tracefs, to) = (fake_tracefs(), TempDir::new().unwrap());
    let area = |at: u64| format!("{:#x}-{:#x} 4096 f\n", at << 12, (at + 1) << 12);
    fs::write(tracefs.path().join("proc/vmallocinfo"), (1..4000).map(area).collect::<String>()).unwrap();
    let script = format!(
        "ulimit -f 64; exec \"$0\" record kva --for 1ms --tracefs={} -o x.csv",
        tracefs.path().display()
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_freehold")]).current_dir(to.path());
    let output = command.output().unwrap();
    let failed = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{failed}");
    assert!(failed.contains("vmallocinfo.start cannot be written: File too large"), "{failed}");
    assert_eq!(fs::read_to_string(tracefs.path().join("proc/sys/kernel/kptr_restrict")).unwrap(), "0\n");
    assert_eq!(fs::read_dir(tracefs.path().join("instances")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(to.path()).unwrap().count(), 0);
}

/// Nor of the trace, nor of the folder of the raw recording.
#[test]
fn a_signal_while_the_trace_is_written_leaves_no_half() {
    freehold_harness::signals::set_default();
    let (tracefs, to) = (fake_tracefs(), TempDir::new().unwrap());
    // More rows than a pipe holds, which is written to until it is read.
    let area = |at: u64| format!("{:#x}-{:#x} 4096 f\n", at << 12, (at + 1) << 12);
    fs::write(tracefs.path().join("proc/vmallocinfo"), (1..4000).map(area).collect::<String>()).unwrap();
    let pipe = to.path().join("x.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut held = fs::File::options().read(true).write(true).open(&pipe).unwrap();
    let option = format!("--tracefs={}", tracefs.path().display());
    let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
    command.args(["record", "kva", &option, "--for", "1ms", "-o", "x.csv"]).current_dir(to.path());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    held.read_exact(&mut [0]).unwrap();
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "TERM", &pid]).status().unwrap().success());
    let mut rest = fs::File::open(&pipe).unwrap();
    drop(held);
    let mut trace = String::new();
    rest.read_to_string(&mut trace).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(trace.ends_with(&format!(",{:x},4096,,,,f\n", 3999 << 12)));
    assert_eq!(fs::read_dir(to.path()).unwrap().count(), 1);
}

#[test]
fn a_command_of_any_length_is_recorded() {
    let folder = shared_folder();
    let script = format!("true {}", "\u{e9}".repeat(60_000));
    let output = as_nobody(folder.path(), &["record", "vma", "-o", "x.csv", "--", "sh", "-c", &script]);
    if output.status.code() == Some(4) {
        return eprintln!("not run: {}", text(&output.stderr));
    }
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(output.stdout.len() < 10_000);
    assert_eq!(as_nobody(folder.path(), &["inspect", "x.csv"]).status.code(), Some(0));
}

#[test]
fn lost_events_are_the_last_word_and_a_failure_if_strict() {
    let (tracefs, to) = (fake_tracefs(), TempDir::new().unwrap());
    let option = format!("--tracefs={}", tracefs.path().display());
    let run = |more: &[&str]| {
        let args = [&["record", "kva", "--for", "1ms", &option, "-o", "x.csv"], more].concat();
        Command::new(env!("CARGO_BIN_EXE_freehold")).args(args).current_dir(to.path()).output().unwrap()
    };
    let lost = 5 * freehold_sys::topology::online_cpus().map_or(1, |cpus| cpus.len());
    for (more, code, left) in [(&[][..], 0, 1), (&["--strict"], 1, 2)] {
        let output = run(more);
        assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
        let told = text(&output.stdout);
        let last = told.lines().last().unwrap();
        assert!(last.starts_with(&format!("warning: {lost} events are lost")), "{told}");
        assert_eq!(fs::read_dir(to.path()).unwrap().count(), left, "the raw recording is kept if it fails");
    }
}
