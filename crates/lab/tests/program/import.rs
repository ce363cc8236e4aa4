//! `freehold import`: what it says, where the trace goes, and what is an error.

use super::{freehold, text};
use freehold_lab::record::read;
use std::fs;
use std::path::Path;
use std::process::Command;

const TEXT: &str = "\
            bash-23365   [000] .....  2456.588706: alloc_vmap_area: va_start: 18446683600584790016 size=16384 align=1 \
                     vstart=0xffffc90000000000 vend=0xffffe8ffffffffff failed=0
     kworker/0:1-12      [001] d..1.  2456.588990: free_vmap_area_noflush: va_start=0xffffc90000e15000 nr_lazy=1987 \
                     nr_lazy_max=16384
";

#[test]
fn a_recording_of_another_tool_is_imported_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::write(at("storm.txt"), TEXT).unwrap();
    for name in ["storm.csv.zst", "storm.csv"] {
        let output = freehold(&["import", &at("storm.txt"), "-o", &at(name)]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let said = text(&output.stdout);
        let next = format!("next: freehold replay {}", at(name));
        for part in ["2 events of kind kva, 2 rows", "0 lost", "0 unknown", "vmallocinfo", &next] {
            assert!(said.contains(part), "{part} is missing in {said}");
        }
        let replayed = freehold(&["replay", &at(name), "--rounds", "1"]);
        assert_eq!(replayed.status.code(), Some(0), "{}", text(&replayed.stderr));
    }
    let packed = fs::read(at("storm.csv.zst")).unwrap();
    assert!(packed.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]));
    let json = freehold(&["import", &at("storm.txt"), "-o", &at("again.csv"), "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((&json["schema"], &json["import"]["rows"]), (&"freehold-import/1".into(), &2.into()));
}

#[test]
fn a_temporary_file_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("storm.txt"), TEXT).unwrap();
    let mut import = Command::new(env!("CARGO_BIN_EXE_freehold"));
    let output = import.args(["import", "storm.txt"]).current_dir(&folder).env("TMPDIR", "/proc/no").output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("/proc/no: a temporary file cannot be written: "), "{said}");
    assert!(!folder.path().join("storm.csv.zst").exists());
}

#[test]
fn standard_input_becomes_a_trace_with_a_name_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("-x.txt"), TEXT).unwrap();
    for file in ["-", "./-x.txt"] {
        let input = fs::File::open(folder.path().join("-x.txt")).unwrap();
        let mut import = Command::new(env!("CARGO_BIN_EXE_freehold"));
        let output = import.args(["import", file]).current_dir(folder.path()).stdin(input).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stdout).ends_with("next: freehold replay imported.csv.zst\n"), "{file}");
        fs::remove_file(folder.path().join("imported.csv.zst")).unwrap();
    }
}

#[test]
fn losses_are_said_and_strict_fails() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::write(at("lossy.txt"), format!("{TEXT}CPU:1 [LOST 7 EVENTS]\n")).unwrap();
    let loose = freehold(&["import", &at("lossy.txt"), "-o", &at("lossy.csv")]);
    assert_eq!(loose.status.code(), Some(0));
    assert!(text(&loose.stdout).contains("7 events are lost: what a replay says of agreement means nothing"));
    assert!(fs::read_to_string(at("lossy.csv")).unwrap().contains("#lost_records=7\n"));
    let strict = freehold(&["import", &at("lossy.txt"), "-o", &at("lossy.csv"), "--strict"]);
    assert_eq!(strict.status.code(), Some(1));
}

#[test]
fn what_cannot_be_read_leaves_no_trace_and_says_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::write(at("odd.txt"), format!("{TEXT}words\n")).unwrap();
    let output = freehold(&["import", &at("odd.txt"), "-o", &at("odd.csv")]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("odd.txt:3: neither an event"), "{said}");
    assert!(!Path::new(&at("odd.csv")).exists());
    let kind = freehold(&["import", &at("odd.txt"), "--kind", "odd"]);
    assert_eq!(kind.status.code(), Some(2));
    assert!(text(&kind.stderr).contains("the kinds are kva, pcpu, vma and mt"));
}

#[test]
fn what_is_read_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::write(at("storm.txt"), TEXT).unwrap();
    fs::write(at("areas.txt"), "").unwrap();
    std::os::unix::fs::symlink(at("storm.txt"), at("link.txt")).unwrap();
    let (read, areas) = (at("storm.txt"), at("areas.txt"));
    for (into, more) in [("storm.txt", &[][..]), ("link.txt", &[]), ("areas.txt", &["--vmallocinfo", &areas])]
    {
        let output = freehold(&[&["import", &read, "-o", &at(into)], more].concat());
        assert_eq!(output.status.code(), Some(2), "{into}");
        let said = text(&output.stderr);
        assert!(said.contains(&format!("{into} is read: write to another file")), "{said}");
        assert_eq!(fs::read_to_string(at("storm.txt")).unwrap(), TEXT);
    }
    let full = freehold(&["import", &at("storm.txt"), "-o", "/dev/full"]);
    assert_eq!(full.status.code(), Some(1));
    let said = text(&full.stderr);
    assert_eq!(said, "freehold: /dev/full cannot be written: No space left on device (os error 28)\n");
}

#[test]
fn one_is_no_several_and_names_are_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().join(OsStr::from_bytes(b"odd\xff\n.csv"));
    let from = folder.path().join("one.txt");
    fs::write(&from, TEXT.lines().next().unwrap().to_owned() + "\n").unwrap();
    let import = |from: &Path, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
        command.arg("import").arg(from).arg("-o").arg(&into).args(more).output().unwrap()
    };
    let said = text(&import(&from, &[]).stdout);
    assert!(said.contains("1 event of kind kva, 1 row\n"), "{said}");
    assert!(said.lines().last().unwrap().ends_with("odd\\xff\\n.csv"), "{said}");
    let json: serde_json::Value = serde_json::from_slice(&import(&from, &["--json"]).stdout).unwrap();
    assert!(json["import"]["file"].as_str().unwrap().ends_with("odd\\xff\\n.csv"), "{json}");
    // A trace is written as it is, whatever else is asked for.
    for more in [&["--json"][..], &["--strict"], &["--kind", "kva"]] {
        assert_eq!(import(&into, more).status.code(), Some(2), "{more:?}");
    }
    assert_eq!(import(&into, &[]).status.code(), Some(0));
}

/// The documents in `docs/formats.md` are read as such; those of traces and recordings have a test of their own.
#[test]
fn documented_json_is_what_the_program_reads_and_writes() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let formats = fs::read_to_string(file).unwrap();
    let example = |name: &str| {
        let (_, rest) = formats.split_once(&format!("```json {name}\n")).unwrap();
        rest.split_once("```").unwrap().0.to_owned()
    };
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("document.json");
    fs::write(&document, example("document")).unwrap();
    let (command, results, _) = read(Some(&document)).unwrap();
    assert_eq!((command.as_str(), results.records.len()), ("inspect", 1));
    let shown = freehold(&["show", &document.display().to_string()]);
    assert_eq!(shown.status.code(), Some(0), "{}", text(&shown.stderr));
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::write(at("storm.txt"), TEXT).unwrap();
    let written = freehold(&["import", &at("storm.txt"), "-o", &at("storm.csv"), "--json"]);
    let written: serde_json::Value = serde_json::from_slice(&written.stdout).unwrap();
    let documented: serde_json::Value = serde_json::from_str(&example("import")).unwrap();
    let fields = |json: &serde_json::Value| -> Vec<String> {
        json["import"].as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!((fields(&written), &written["schema"]), (fields(&documented), &documented["schema"]));
}
