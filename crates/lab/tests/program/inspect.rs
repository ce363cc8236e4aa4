//! What `inspect` tells of traces.

use super::{Results, data, freehold, text};

#[test]
fn inspect_tells_the_shape_of_a_trace() {
    let output = freehold(&["inspect", &data("traces/bpfvm.kva.csv.zst")]);
    assert_eq!(output.status.code(), Some(0));
    let text = text(&output.stdout);
    for part in ["10,769", "10,791", "sizes of allocations", "lifetime", "live objects over time"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}

#[test]
fn inspect_tells_what_a_percpu_trace_asks_for() {
    let output = freehold(&["inspect", &data("traces/netns.pcpu.csv.zst")]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    let parts = ["124,050", "124,027", "free of an unknown object (not replayed)", "5,380", "100 ms"];
    for part in parts.into_iter().chain(["sizes and alignments", "lifetime", "live objects over time"]) {
        assert!(said.contains(part), "{part} is missing in {said}");
    }
    let results = Results::of(&["inspect", &data("traces/netns.pcpu.csv.zst")]);
    let asked = |op: &str| {
        let query = format!("op={op}|metric=count");
        results.find(&query).map(|record| record["value"].as_f64().unwrap()).sum::<f64>()
    };
    assert!(asked("cannot wait") > 0.0);
    assert_eq!(asked("can wait") + asked("cannot wait"), 124_050.0);
}

#[test]
fn the_peaks_of_objects_and_of_bytes_are_of_moments_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("peaks.csv").display().to_string();
    let rows = "\
        0,0,0,I,1,100000,8192,,,,c\n0,0,0,L,,400000,4096,,,,1\n1000,0,1,A,2,200000,8192,1,100000,fffff000,\n1000,0,1,F,1,,,,,,\n1000,0,1,F,2,,,,,,\n\
        1000,0,1,A,3,300000,65536,1,100000,fffff000,\n";
    let head = "#vml-trace v1 kind=kva kernel=6 ncpu=2 pagesize=4096\n#workload w: d\n#lost_records=0\n\
                #dt_ns,cpu,tid,op,obj,addr,size,align,vstart,vend,aux\n";
    std::fs::write(&file, format!("{head}{rows}")).unwrap();
    let results = Results::of(&["inspect", &file]);
    results.is("op=peak|metric=live", 2.0);
    results.is("op=peak|metric=bytes", 65536.0);
    // What was there at the start came at no rate.
    results.is("event=live at the start, placed where they were|metric=count", 1.0);
    assert_eq!(results.value("event=live at the start, placed where they were|metric=rate"), None);
    results.is("event=lazily freed before the start (not replayed)|metric=count", 1.0);
    assert_eq!(results.value("event=lazily freed before the start (not replayed)|metric=rate"), None);
    // All rates are of the time from the first operation to the last.
    let rates =
        ["event=allocation", "op=demand"].map(|of| results.value(&format!("{of}|metric=rate")).unwrap());
    assert_eq!(rates.map(f64::round), [2e9 / 3e3; 2].map(f64::round));
    let calls = text(&freehold(&["inspect", &data("traces/pynumpy.vma.csv.zst")]).stdout);
    let (_, calls) = calls.split_once("what calls meet").unwrap();
    let (calls, _) = calls.split_once("\n\n").unwrap();
    assert!(calls.contains("mprotect()") && !calls.contains("demand") && !calls.contains("sizes"), "{calls}");
}

/// Kernel areas and per-CPU objects.
#[test]
fn frees_alone_are_inspected_and_not_replayed() {
    let folder = tempfile::tempdir().unwrap();
    for (kind, columns, free) in [
        ("kva", "obj,addr,size,align,vstart,vend,aux", "U,,ffffc90000e14000,,,,,1/2"),
        ("pcpu", "obj,chunk,off,size,align,flags,bytes_alloc,site", "U,,0,16,,,,,"),
    ] {
        let file = folder.path().join(kind).display().to_string();
        let head = format!("#vml-trace v2 kind={kind} kernel=6.18 ncpu=2 pagesize=4096\n#workload w: d");
        let rows = format!("#dt_ns,cpu,tid,op,{columns}\n5,0,1,{free}\n5,0,1,{free}");
        std::fs::write(&file, format!("{head}\n#lost_records=0\n{rows}\n")).unwrap();
        let inspected = freehold(&["inspect", &file]);
        let said = text(&inspected.stdout) + &text(&inspected.stderr);
        assert!(
            inspected.status.success() && said.contains("free of an unknown object (not replayed)"),
            "{said}"
        );
        let replayed = text(&freehold(&["replay", &file]).stderr);
        assert!(replayed.contains("nothing to replay"), "{replayed}");
    }
}

#[test]
fn what_was_lost_is_said_before_any_figure() {
    let folder = tempfile::tempdir().unwrap();
    let file = |lost: u64| {
        let file = folder.path().join(format!("lost{lost}.csv")).display().to_string();
        let head = "#vml-trace v2 kind=pcpu kernel=6 ncpu=2 pagesize=4096\n#workload w: d";
        let columns = "#dt_ns,cpu,tid,op,obj,chunk,off,size,align,flags,bytes_alloc,site";
        let rows = "0,0,1,A,1,0,0,16,8,0,,\n9,0,1,F,1,0,0,,,,,";
        std::fs::write(&file, format!("{head}\n#lost_records={lost}\n{columns}\n{rows}\n")).unwrap();
        file
    };
    let (whole, lossy) = (file(0), file(7));
    let said = |args: &[&str]| {
        let output = freehold(args);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let begins = "LOST: w.pcpu: 7 events while it was recorded";
    for args in [&["inspect", &lossy][..], &["replay", "--rounds", "1", &lossy], &["compare", &whole, &lossy]]
    {
        for form in ["screen", "lkml"] {
            let all = said(&[args, &["--format", form]].concat());
            let (before, _) = all.split_once(begins).unwrap_or_else(|| panic!("{args:?}: {all}"));
            assert!(!before.contains("\n\n"), "{args:?}: {all}");
        }
    }
    assert!(!said(&["inspect", &whole]).contains("LOST"));
}
