//! Files, folders and terminals that are not as one would wish: results are neither hidden nor lost, and what is wrong is said.

use super::{Results, data, freehold, text};
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A trace of address ranges: so many areas, of which three are live.
fn trace(areas: u64) -> String {
    let mut text = "#vml-trace v1 kind=kva kernel=6 ncpu=2 pagesize=4096\n#workload w: d\n#lost_records=0\n\
                    #dt_ns,cpu,tid,op,obj,addr,size,align,vstart,vend,aux\n"
        .to_owned();
    for area in 1..=areas {
        text += &format!("5,0,1,A,{area},{:x},8192,1,100000,fffff000,c\n", 0x10_0000 + area * 0x2000);
        if area > 3 {
            text += &format!("5,0,1,F,{},,,,,,\n", area - 3);
        }
    }
    text
}

/// A folder with a file.
fn folder_with(name: impl AsRef<OsStr>, content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join(name.as_ref());
    fs::write(&file, content).unwrap();
    (folder, file)
}

fn program<S: AsRef<OsStr>>(args: &[S]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
    command.args(args);
    command
}

/// Replays on one engine, in a folder.
fn replay(file: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = program(&["replay", "--rounds", "1", "--engine", "rbtree:linux"]);
    command.arg(file).current_dir(folder);
    command
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap()
}

/// What a command that fails says.
fn fails(command: &mut Command) -> String {
    let output = run(command);
    assert_eq!(output.status.code(), Some(1), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout) + &text(&output.stderr)
}

/// What a command says whose input is these bytes.
fn fed(command: &mut Command, input: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn two_recordings_of_one_name_are_told_apart_and_compared_by_what_is_in_them() {
    let folder = TempDir::new().unwrap();
    let document = |first: &str, second: &str| {
        for (name, areas) in [(first, 50), (second, 60)] {
            fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
            fs::write(folder.path().join(name), trace(areas)).unwrap();
        }
        let both = text(&run(replay(first, folder.path()).arg(second)).stdout);
        for file in [first, second] {
            assert!(both.contains(&format!("w.kva ({file}): time of an operation, whole run")), "{both}");
        }
        let json = run(replay(first, folder.path()).args([second, "--json"])).stdout;
        let file = folder.path().join(format!("{}.json", first.replace('/', "-")));
        fs::write(&file, &json).unwrap();
        Results::read(&json);
        file
    };
    let (before, after) = (document("a.csv", "b.csv"), document("new/c.csv", "new/a.csv"));
    let compared = text(&run(program(&["compare"]).args([&before, &after])).stdout);
    let exact = |query: &'static str| {
        let document = Results::read(&fs::read(&before).unwrap());
        document.find(query).count()
    };
    assert!(
        exact("op=alloc|metric=work|stat=mean") == 2
            && compared.contains(" different. Figures of the first document alone: 0;"),
        "{compared}"
    );
    assert!(compared.contains(" 0 differ"), "{compared}");

    let other = folder.path().join("churn.json");
    fs::write(&other, run(replay("churn:10", folder.path()).arg("--json")).stdout).unwrap();
    assert!(fails(program(&["compare"]).args([&before, &other])).contains("nothing was compared"));
}

#[test]
fn files_of_one_name_in_two_folders_are_rows_of_their_own() {
    let folder = TempDir::new().unwrap();
    for name in ["a", "b"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::copy(data("vectors/kva/talk.txt"), folder.path().join(name).join("talk.txt")).unwrap();
    }
    let shown = text(&run(program(&["verify", "a/talk.txt", "b/talk.txt"]).current_dir(&folder)).stdout);
    assert!(shown.contains("a/talk.txt  full fit") && shown.contains("b/talk.txt  full fit"), "{shown}");
}

/// Every command that measures or checks keeps what it found, whole, if several run at once, too.
#[test]
fn show_shows_what_was_found_last() {
    let folder = TempDir::new().unwrap();
    assert!(fails(program(&["show"]).current_dir(&folder)).contains("if the folder `target` is there"));
    fs::create_dir(folder.path().join("target")).unwrap();
    let mut verify = program(&["verify", &data("vectors/kva/talk.txt")]);
    assert!(run(verify.current_dir(&folder)).status.success());
    let shown = || text(&run(program(&["show"]).current_dir(&folder)).stdout);
    assert!(shown().contains("Recorded answers against engines"), "{}", shown());
    let started: Vec<_> = (0..4)
        .map(|at| replay(format!("churn:{}", 10 + at), folder.path()).stdout(Stdio::null()).spawn().unwrap())
        .collect();
    for mut child in started {
        assert!(child.wait().unwrap().success());
    }
    assert!(shown().contains("churn at 1"), "{}", shown());
    let kept = fs::read_dir(folder.path().join("target/freehold")).unwrap();
    assert_eq!(kept.map(|file| file.unwrap().file_name()).collect::<Vec<_>>(), ["last.json"]);
}

#[test]
fn a_set_up_alone_is_nothing_to_replay() {
    let header: String = trace(0);
    let (folder, file) = folder_with("set-up.csv", header + "0,0,0,I,1,100000,8192,,,,\n");
    let said = fails(&mut replay(&file, folder.path()));
    assert!(said.contains("set-up.csv") && said.contains("nothing to replay"), "{said}");
}

#[test]
fn one_of_several_files_that_is_damaged_does_not_take_the_others_with_it() {
    let (folder, _) = folder_with("good.csv", trace(20));
    fs::write(folder.path().join("bad.csv"), trace(20) + "5,0,1,Q").unwrap();
    let said = fails(replay("good.csv", folder.path()).arg("bad.csv"));
    assert!(
        said.contains("good.csv): time of an operation") && said.contains("FAILED: bad.csv:42: "),
        "{said}"
    );
}

/// Before the first is measured.
#[test]
fn what_is_asked_wrongly_of_the_last_file_is_refused_first() {
    let [percpu, kva] = ["vectors/percpu/x-min-stale-stock.txt.zst", "traces/bpfvm.kva.csv.zst"].map(data);
    for last in [&kva, "churn:0", &percpu] {
        let output = freehold(&["replay", &percpu, last, "--engine", "bitmap"]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{last}");
    }
}

#[test]
fn pages_are_tried_first_and_tables_are_printed_in_any_case() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("file"), "no folder").unwrap();
    let commands =
        [&["--report"][..], &["replay", "churn:10", "--report"], &["reproduce", "percpu-2017", "--report"]];
    for (args, page) in
        commands.into_iter().zip(["/proc/no/page.html", "file/page.html", "/proc/no/page.html"])
    {
        let output = run(program(args).arg(page).current_dir(&folder));
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), String::new()), "{args:?}");
        let said = text(&output.stderr);
        assert!(
            said.contains(&format!("{page} cannot be written")) && said.contains("nothing was run"),
            "{said}"
        );
    }
    let refused = run(program(&["reproduce", "percpu-2017", "--unit", "5"]).current_dir(&folder));
    assert_eq!(refused.status.code(), Some(2));
    assert!(!folder.path().join("target").exists(), "what is tried is not made");
    let full = fails(replay("churn:10", folder.path()).args(["--report", "/dev/full"]));
    assert!(full.contains("time of an operation") && full.contains("/dev/full cannot be written"), "{full}");
    // What was there stays until the whole of the new page is, whoever has it open.
    let page = folder.path().join("page.html");
    fs::write(&page, "old").unwrap();
    let mut old = fs::File::open(&page).unwrap();
    assert!(run(replay("churn:10", folder.path()).arg("--report").arg(&page)).status.success());
    let mut kept = String::new();
    std::io::Read::read_to_string(&mut old, &mut kept).unwrap();
    assert!(kept == "old" && fs::read_to_string(&page).unwrap().starts_with("<!doctype html>"));
}

#[test]
fn a_document_without_end_is_refused_under_a_limit() {
    let limited = "ulimit -v 1000000; exec \"$0\" show /dev/zero";
    let said = fails(Command::new("sh").args(["-c", limited, env!("CARGO_BIN_EXE_freehold")]));
    assert!(said.contains("/dev/zero: more than 64 MiB"), "{said}");
}

#[test]
fn no_file_commands_the_terminal() {
    let evil = trace(9).replace("#workload w: d", "#workload w\u{1b}[31m\u{7}: \u{1b}]0;title\u{7}");
    let (folder, file) = folder_with("e\u{1b}[2J\n.csv", evil);
    for command in [&["replay", "--rounds", "1", "--engine", "btree:lowest"][..], &["inspect"], &["verify"]] {
        let output = run(program(command).arg(&file).current_dir(&folder));
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(said.contains("\\u{1b}["), "{said}");
        assert!(!said.contains(|letter: char| letter.is_control() && letter != '\n'), "{said:?}");
    }
    let missing = text(&run(program(&["inspect", "\u{1b}c"]).current_dir(&folder)).stderr);
    assert!(missing.contains("\\u{1b}c: No such file"), "{missing}");
}

#[test]
fn pipes_are_read_once_and_compressed_or_not() {
    let folder = TempDir::new().unwrap();
    let packed = fs::read(data("traces/bpfvm.kva.csv.zst")).unwrap();
    for name in ["-", "/dev/stdin"] {
        let output = fed(program(&["inspect", name]).current_dir(&folder), &packed);
        assert!(text(&output.stdout).contains("lazily freed before the start (not replayed)"), "{name}");
    }
    let output = fed(&mut replay("-", folder.path()), trace(30).as_bytes());
    assert!(text(&output.stdout).contains("rbtree:linux puts "), "{}", text(&output.stdout));
    let talk = fs::read(data("vectors/kva/talk.txt")).unwrap();
    assert!(text(&fed(&mut program(&["verify", "-"]), &talk).stdout).contains("passed: 1 file, "));
    let document = run(replay("churn:10", folder.path()).arg("--json")).stdout;
    assert!(text(&fed(&mut program(&["show", "-"]), &document).stdout).contains("churn at 10"));
}

#[test]
fn names_of_files_are_bytes() {
    let (folder, file) = folder_with(OsStr::from_bytes(b"n\xff.csv"), trace(9));
    for command in [replay(&file, folder.path()), program(&[OsStr::new("inspect"), file.as_os_str()])] {
        let mut command = command;
        assert!(run(&mut command).status.success());
    }
    let json = text(&run(replay(&file, folder.path()).arg("--json")).stdout);
    assert!(json.contains(r"n\\xff.csv"), "{json}");
}

/// Once, with the file and the line, without a word of Rust.
#[test]
fn errors_say_what_is_wrong() {
    let folder = TempDir::new().unwrap();
    let said = |name: &str, content: &[u8], command: &str| {
        fs::write(folder.path().join(name), content).unwrap();
        fails(program(&[command, name]).current_dir(&folder))
    };
    let missing = fails(program(&["replay", "no-such-file"]).current_dir(&folder));
    assert_eq!(missing.matches("os error 2").count(), 1, "{missing}");
    for command in ["replay", "verify", "inspect"] {
        let newer = said("new.csv", trace(9).replace(" v1 ", " v3 ").as_bytes(), command);
        assert!(newer.contains("new.csv:1: `#vml-trace` of version \"v3\""), "{newer}");
        let marked = said("bom.csv", &[b"\xef\xbb\xbf", trace(9).as_bytes()].concat(), command);
        assert!(marked.contains("bom.csv:1: begins with a byte order mark"), "{marked}");
        let wide: Vec<u8> = trace(9).encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(said("wide.csv", &wide, command).contains("wide.csv:1: the text is UTF-16"));
        assert!(
            said("else.txt", b"else\n", command).contains("else.txt:1: neither a trace nor a vector file")
        );
    }
    assert!(said("trace.csv", trace(9).as_bytes(), "verify").contains("trace.csv:1: a trace of requests"));
    assert!(said("bom.json", b"\xef\xbb\xbf{}", "show").contains("byte order mark"));
    fs::write(folder.path().join("crlf.csv"), trace(9).replace('\n', "\r\n")).unwrap();
    assert!(run(&mut replay("crlf.csv", folder.path())).status.success());
}

/// An allocation that the engine with the kernel's placement refuses is one of those that it puts elsewhere.
#[test]
fn what_has_no_place_is_counted() {
    let twice = "1,0,1,A,1,100000,8192,1,100000,102000,c\n1,0,1,A,2,100000,8192,1,100000,102000,c\n";
    let (folder, file) = folder_with("full.csv", trace(0) + twice);
    let output = run(&mut replay(&file, folder.path()));
    let said = text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(output.status.success() && said.contains("puts 1 of 2 allocations"), "{said}");
    assert!(said.contains("of the others 1 nowhere, for want of room"), "{said}");
}

#[test]
fn what_may_have_been_meant_is_said() {
    for (args, says) in [
        (
            &["replay", "churn:10", "--engine", "btre"][..],
            "no kva engine \"btre\"; did you mean \"btree:lowest\"?",
        ),
        (&["bench", "kva", "--workload", "chrun"], "no workload \"chrun\"; did you mean \"churn\"?"),
        (&["stress", "kva", "--case", "hole"], "no case \"hole\"; did you mean \"holes\"?"),
        (&["stress", "percpu", "--case", "fix_size"], "no case \"fix_size\"; there are in-order, "),
        (&["bench", "readers", "--engine", "skip"], "did you mean \"skiplist:"),
        (&["stress", "kva", "--adversary", "--sequence", "one-shor"], "did you mean \"one-short\"?"),
    ] {
        let output = freehold(args);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(says), "{said}");
    }
}

/// What a newcomer gets wrong, and what the program says: what is at fault, and what to write instead.
#[test]
fn slips_of_a_newcomer_are_answered() {
    let (_folder, empty) = folder_with("empty.csv", "");
    let (empty, netns) = (empty.display().to_string(), data("traces/netns.pcpu.csv.zst"));
    for (args, code, says) in [
        (&["replay", "churn"][..], 2, "churn: write churn:N for 1 to"),
        (
            &["replay", &netns, "--engine", "btree:lowest"],
            2,
            "no percpu engine \"btree:lowest\"; there are bitmap",
        ),
        (
            &["replay", &netns, "--set", "pools=off"],
            2,
            "netns.pcpu.csv.zst: --set, --strict and --free-running take recordings of kernel areas (kva)",
        ),
        (&["replay", &empty], 1, "empty.csv:1: the file is empty"),
        (&["inspect", &empty], 1, "empty.csv:1: the file is empty"),
        (&["compare", &netns, "nowhere.csv"], 2, "nowhere.csv: No such file"),
    ] {
        let output = freehold(args);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(code) && said.contains(says), "{args:?}: {said}");
    }
}

#[test]
fn output_that_cannot_be_written_fails() {
    for args in
        [&["--help"][..], &["man"], &["completions", "bash"], &["verify", &data("vectors/kva/talk.txt")]]
    {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = run(program(args).stdout(full));
        let said = text(&output.stderr);
        assert!(
            output.status.code() == Some(1) && said.contains("the output cannot be written"),
            "{args:?}: {said}"
        );
    }
    assert!(text(&freehold(&["--help"]).stdout).contains("Usage: "));
}

#[test]
fn no_input_is_written_over() {
    let (folder, file) = folder_with("kept.csv", trace(9));
    let vma = folder.path().join("vma.csv.zst");
    fs::copy(data("traces/pynumpy.vma.csv.zst"), &vma).unwrap();
    let document = folder.path().join("kept.json");
    fs::write(&document, run(replay(&file, folder.path()).arg("--json")).stdout).unwrap();
    let (file, vma, document) = (file.to_str().unwrap(), vma.to_str().unwrap(), document.to_str().unwrap());
    for (args, kept) in [
        (&["replay", file, "--report", file][..], file),
        (&["replay", file, "--strict", "--report", file], file),
        (&["show", document, "--report", document], document),
        (&["emit-c", vma, "-o", vma], vma),
        (&["shrink", file, "--engine", "rbtree:linux", "--while", "differs", "-o", file], file),
    ] {
        let before = fs::read(kept).unwrap();
        let output = freehold(args);
        let said = text(&output.stderr);
        assert!(
            output.status.code() == Some(2) && said.contains("is read: write to another"),
            "{args:?}: {said}"
        );
        assert_eq!(fs::read(kept).unwrap(), before, "{args:?}");
    }
}

#[test]
fn no_command_writes_a_file_that_others_read_as_standard_input() {
    let (folder, file) = folder_with("dash.csv", trace(9));
    let (file, vma) = (file.to_str().unwrap(), data("traces/pynumpy.vma.csv.zst"));
    let ran = |args: &[&str]| run(program(args).current_dir(&folder));
    for args in [
        &["import", file, "-o", "-"][..],
        &["shrink", file, "--engine", "rbtree:linux", "--while", "differs", "-o", "-"],
        &["record", "vma", "-o", "-", "--", "true"],
        &["replay", file, "--report", "-"],
    ] {
        let output = ran(args);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains("./- is a file"), "{args:?}: {said}");
    }
    assert_eq!(text(&ran(&["emit-c", &vma, "-o", "-"]).stdout), text(&ran(&["emit-c", &vma]).stdout));
    assert!(!folder.path().join("-").exists());
}

#[test]
fn every_command_has_a_manual_page_and_values_are_completed() {
    for (command, option) in
        [("replay", "\\-\\-rounds"), ("stress", "\\-\\-largest"), ("bench", "\\-\\-growth")]
    {
        let page = text(&freehold(&["man", command]).stdout);
        assert!(page.contains(&format!(".TH freehold-{command}")) && page.contains(option), "{page}");
    }
    for shell in ["bash", "fish", "zsh"] {
        let completions = text(&freehold(&["completions", shell]).stdout).replace('\\', "");
        for value in ["rbtree:linux", "area-map", "churn-4-64", "random_size_align", "one-short"] {
            assert!(completions.contains(value), "{shell}: {value}");
        }
    }
    assert!(text(&freehold(&["stress", "--help"]).stdout).contains("random_size_align"));
}

#[test]
fn narrow_terminals_and_those_without_unicode_are_respected() {
    let folder = TempDir::new().unwrap();
    let shown = |name: &str, value: &str, more: &[&str]| {
        let mut command = program(&["replay", "churn:100", "--rounds", "3", "--engine", "btree:lowest"]);
        let output = run(command.args(more).current_dir(&folder).env(name, value));
        assert!(output.status.success());
        text(&output.stdout)
    };
    let narrow = shown("COLUMNS", "60", &[]);
    assert!(narrow.lines().all(|line| line.chars().count() <= 60), "{narrow}");
    assert!(shown("LC_ALL", "C", &[]).is_ascii() && !shown("LC_ALL", "C.UTF-8", &[]).is_ascii());
    assert!(shown("LC_ALL", "C.UTF-8", &["--format", "lkml"]).is_ascii());
}

#[test]
fn figures_that_cannot_be_are_refused() {
    let folder = TempDir::new().unwrap();
    let good = text(&run(replay("churn:10", folder.path()).arg("--json")).stdout);
    let file = folder.path().join("bad.json");
    let work = good.lines().find(|line| line.contains("\"value\"")).unwrap();
    for bad in [
        "\"value\": -1.0,",
        "\"value\": 1.0, \"lo\": 2.0, \"hi\": 1.0,",
        "\"value\": 1.0, \"lo\": -2.0, \"hi\": 1.0,",
    ] {
        fs::write(&file, good.replacen(work, bad, 1)).unwrap();
        let said = fails(program(&["show"]).arg(&file));
        assert!(said.contains("bad.json") && said.contains("metric"), "{said}");
    }
}

#[test]
fn files_are_opened_one_by_one() {
    let folder = TempDir::new().unwrap();
    let talk = data("vectors/kva/talk.txt");
    for name in 0..100 {
        fs::copy(&talk, folder.path().join(format!("{name}.txt"))).unwrap();
    }
    let limited = "ulimit -n 32; exec \"$0\" verify *.txt";
    let output =
        run(Command::new("sh").args(["-c", limited, env!("CARGO_BIN_EXE_freehold")]).current_dir(&folder));
    assert!(text(&output.stdout).contains("passed: 100 files"), "{}", text(&output.stdout));
}
