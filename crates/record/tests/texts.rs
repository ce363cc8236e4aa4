//! Texts and files of other tools become the traces that they should, and damaged ones errors with their line.
//!
//! `data/NAME.KIND.csv` is what `data/NAME` becomes. Files that are whole, not cut, are tried where they are: the folder is in
//! `FREEHOLD_NATIVE`, or beside the repository.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use freehold_record::Error;
use freehold_record::convert::Summary;
use freehold_record::import::{Options, import};
use freehold_trace::{Kind, Lines, kva, mt, percpu, vma};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn imported(files: &[PathBuf], kind: Kind) -> Result<(String, Summary), Error> {
    let (mut out, options) = (Vec::new(), Options { kind: Some(kind), ..Options::default() });
    let summary = import(files, &options, &mut out)?;
    Ok((String::from_utf8(out).unwrap(), summary))
}

/// What the trace's own reader makes of it: the number of rows.
fn read(text: &str, kind: Kind) -> usize {
    let lines = Lines::from_text("trace", text);
    match kind {
        Kind::Kva => kva::Events::new(lines).unwrap().map(Result::unwrap).count(),
        Kind::Pcpu => percpu::Events::new(lines).unwrap().map(Result::unwrap).count(),
        Kind::Vma => vma::Events::new(lines).unwrap().map(Result::unwrap).count(),
        Kind::Mt => mt::Events::new(lines).unwrap().map(Result::unwrap).count(),
    }
}

/// The files, the kinds that they have, and how many lines have a word that stands for a row of its own.
const TEXTS: &[(&str, Kind)] = &[
    ("ftrace.txt", Kind::Kva),
    ("ftrace.txt", Kind::Pcpu),
    ("ftrace.txt", Kind::Vma),
    ("perf_script.vma.txt", Kind::Vma),
    ("perf_script.mt.txt", Kind::Mt),
    ("trace-cmd.txt", Kind::Kva),
    ("trace-cmd.txt", Kind::Pcpu),
    ("strace.txt", Kind::Vma),
    ("bpftrace.txt", Kind::Kva),
    ("perf.data.txt", Kind::Pcpu),
];

#[test]
fn texts_become_the_traces_that_they_should() {
    for (name, kind) in TEXTS {
        let (trace, summary) = imported(&[data(name)], *kind).unwrap();
        assert_eq!(read(&trace, *kind) as u64, summary.rows, "{name}");
        let expected = data(&format!("{name}.{}.csv", kind.name()));
        if std::env::var_os("FREEHOLD_ACCEPT").is_some() {
            fs::write(&expected, &trace).unwrap();
        }
        assert_eq!(trace, fs::read_to_string(&expected).unwrap(), "{name}");
    }
}

/// The rows are as many as the lines that tell of them: counted by words alone.
#[test]
fn no_line_is_lost() {
    let words: &[(&str, Kind, &[&str], &str)] = &[
        ("ftrace.txt", Kind::Kva, &[" alloc_vmap_area:"], "A"),
        ("ftrace.txt", Kind::Kva, &[" free_vmap_area_noflush:"], "FU"),
        ("ftrace.txt", Kind::Kva, &[" purge_vmap_area_lazy:"], "P"),
        ("ftrace.txt", Kind::Pcpu, &[" percpu_alloc_percpu:"], "A"),
        ("ftrace.txt", Kind::Pcpu, &[" percpu_free_percpu:"], "FU"),
        ("perf_script.mt.txt", Kind::Mt, &["ma_write:"], "w"),
        ("perf_script.mt.txt", Kind::Mt, &["ma_read:"], "r"),
        ("perf_script.vma.txt", Kind::Vma, &["sys_exit_mmap:"], "m"),
        ("perf_script.vma.txt", Kind::Vma, &["PERF_RECORD_EXIT"], "e"),
        ("trace-cmd.txt", Kind::Pcpu, &[" percpu_alloc_percpu:"], "A"),
        ("strace.txt", Kind::Vma, &["+++ exited"], "e"),
        ("strace.txt", Kind::Vma, &["mmap(NULL", "mmap(0x"], "m"),
    ];
    for (name, kind, words, ops) in words {
        let (trace, _) = imported(&[data(name)], *kind).unwrap();
        let ended = |line: &&str| !line.contains("PERF_RECORD") || !line.contains("unfinished");
        let text = fs::read_to_string(data(name)).unwrap();
        let lines = text.lines().filter(ended).filter(|line| words.iter().any(|word| line.contains(word)));
        let is_row =
            |line: &&str| !line.starts_with('#') && line.split(',').nth(3).is_some_and(|op| ops.contains(op));
        let rows = trace.lines().filter(is_row);
        assert_eq!(rows.count(), lines.count(), "{name} {words:?}");
    }
}

#[test]
fn snapshots_of_areas_stand_beside_a_recording() {
    let (trace, summary) = imported(&[data("trace-cmd.txt"), data("vmallocinfo.txt")], Kind::Kva).unwrap();
    assert!(trace.contains("0,0,0,I,1,ffffc90000000000,20480,,,,irq_init_percpu_irqstack\n"), "{trace}");
    assert!(trace.contains(",L,,ffffc90000064000,20480,,,,0\n"));
    assert!(!summary.warnings.iter().any(|what| what.contains("snapshot")), "{:?}", summary.warnings);
    let hidden = imported(&[data("trace-cmd.txt"), data("vmallocinfo.hashed.txt")], Kind::Kva);
    let error = hidden.unwrap_err().to_string();
    assert!(error.contains("vmallocinfo.hashed.txt:1: ") && error.contains("kptr_restrict is 1"), "{error}");
    let several = imported(&[data("trace-cmd.txt"), data("ftrace.txt")], Kind::Kva).unwrap_err().to_string();
    assert!(several.contains("one recording at a time"), "{several}");
    let alone = imported(&[data("vmallocinfo.txt")], Kind::Kva).unwrap_err().to_string();
    assert!(alone.contains("no recording"), "{alone}");
}

/// perf's own text of the file: the same rows, but for the names of callers and what the file's header adds.
#[test]
fn perf_data_is_what_perf_script_says() {
    for kind in [Kind::Kva, Kind::Pcpu, Kind::Vma] {
        let (of_file, _) = imported(&[data("perf.data.zst")], kind).unwrap();
        let (of_text, _) = imported(&[data("perf.data.txt")], kind).unwrap();
        let rows = |trace: &str| -> Vec<String> {
            let rows = trace.lines().skip(4).filter(|line| !line.starts_with('#'));
            // The last column of objects is the caller: an address in one, a name in the other.
            let cut = |row: &str| match kind {
                Kind::Pcpu => row.rsplit_once(',').unwrap().0.to_owned(),
                _ => row.to_owned(),
            };
            rows.map(cut).collect()
        };
        assert!(!rows(&of_text).is_empty() && read(&of_file, kind) > 0, "{kind:?}");
        assert_eq!(rows(&of_file), rows(&of_text), "{kind:?}");
        assert!(of_file.starts_with("#vml-trace v2") && of_file.contains(" source=perf arch=x86_64 "));
    }
}

#[track_caller]
fn text_fails(text: &str, words: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text");
    fs::write(&file, text).unwrap();
    let error = import(&[file], &Options::default(), &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains(words), "{error}");
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    let good = "a-1 [0] 1.5: free_vmap_area_noflush: va_start=0x1000 nr_lazy=1 nr_lazy_max=2\n";
    text_fails(
        &format!("{good}{}", good.replace("nr_lazy=1", "nr=1")),
        "text:2: free_vmap_area_noflush has no field nr_lazy",
    );
    text_fails(&format!("{good}words\n"), "text:2: neither an event");
    text_fails("words\n", "text:1: of no known kind");
    text_fails("", "no event in the first lines");
    text_fails(good.trim_end(), "text:1: the file ends within this line");
    text_fails("23365 0 2456588706156 type: 645\n", "text:1: recorded with ftrace's option raw");
    text_fails("#vml-trace v2 kind=kva\n", "a trace already");
    text_fails("#freehold-recording v1\n", "import the folder");
    text_fails("00010000-100100000 ---p 00000000 00:00 0 \n", "mappings of a process, without events");
    text_fails(
        "1 2.0 mmap(NULL, 4096, PROT_ODD, MAP_PRIVATE, -1, 0) = 0x1000\n",
        "text:1: prot is unreadable",
    );
    text_fails("1 2.0 mmap(NULL, 4096) = 0x1000\n", "text:1: mmap has no argument prot");
    text_fails("1 2.0 munmap(0x1000, 4096) = -1 EODD (odd)\n", "text:1: unknown error \"EODD\"");
    let alloc =
        "a-1 [0] 1.5: alloc_vmap_area: va_start: 4096 size=4096 align=3 vstart=0x0 vend=0xffff failed=0\n";
    text_fails(alloc, "text:1: an alignment of 3 is not a power of two");
    for (start, said) in [("0x9", "9"), ("0xffffffffffffffff", "ffffffffffffffff")] {
        let window = format!("align=1 vstart={start} vend={start}");
        text_fails(
            &alloc.replace("align=3 vstart=0x0 vend=0xffff", &window),
            &format!("text:1: the window from {said} to {said} is empty"),
        );
    }
    text_fails(&alloc.replace("size=4096 align=3", "size=0 align=1"), "text:1: 0 bytes at 1000 are no area");
    text_fails(
        &alloc.replace("size=4096 align=3", "size=4097 align=1"),
        "text:1: an area of 4097 bytes is not made of pages",
    );
    text_fails("a-1 [0] 1.5: sched_switch: a=b\n", "none of the events that are of use");
    text_fails(
        &format!("{good}{}", good.replace("a-1", &format!("a{}-1", " [".repeat(8)))),
        "text:2: neither an event",
    );
    text_fails("brk(NULL) = 0x1000\nvfork(strace: Process 7 attached\n", "text:2: strace says something");
    text_fails("\u{17}\u{8}\u{44}tracing9\0", "trace.dat: ");
    text_fails("PERFILE2words", "perf.data: ");
}

#[test]
fn names_of_tasks_may_have_anything() {
    let names = ["Web Content", "kworker/u8:1-ev", "a [b]", "a [1] b", "c-5 [0]", "1 2", "<idle>", "x-y z"];
    let line = |name: &str, number: usize| {
        format!(
            "{name}-{number}   (  12) [001] d..1. 7.{number:06}: free_vmap_area_noflush: va_start=0x1000 nr_lazy=1 nr_lazy_max=2\n"
        )
    };
    let text: String = names.iter().enumerate().map(|(at, name)| line(name, at + 10)).collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text");
    fs::write(&file, text).unwrap();
    let (trace, _) = imported(&[file], Kind::Kva).unwrap();
    for (at, name) in names.iter().enumerate() {
        assert!(
            trace.contains(&format!(",1,{},U,", at + 10))
                && trace.contains(&format!("#task {} {name}\n", at + 10)),
            "{trace}"
        );
    }
}

/// The rows of a text, without those that name tasks.
#[track_caller]
fn rows_of(text: &str, kind: Kind) -> (Vec<String>, Summary) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text");
    fs::write(&file, text).unwrap();
    let (trace, summary) = imported(&[file], kind).unwrap_or_else(|error| panic!("{error}"));
    let rows = trace.lines().skip(4).filter(|row| !row.starts_with("#task"));
    (rows.map(str::to_owned).collect(), summary)
}

/// Between the two lines of a call other lines of ftrace, which tell nothing here.
#[test]
fn calls_and_call_chains_beside_the_calls_of_ftrace_are_left_out() {
    let head = "           sh-7   [000] ..... 1.000001: ";
    let begin = format!("{head}sys_munmap(addr: 1000, len: 2000)\n");
    let end = format!("{head}sys_munmap -> 0x0\n");
    let between = format!(
        "{head}sys_execve(filename: 1, argv: 2, envp: 3)\n{head}sys_execve -> 0x0\n{head}sys_epoll_wait -> 0x1\n\
         {head}sys_exit_group(error_code: 0)\n{head}sys_exit: NR 3 = 0\n{head}<stack trace>\n => do_one\n => do_two+0x1/0x2\n\
         {head}do_one <-do_two\n"
    );
    let (alone, _) = rows_of(&format!("{begin}{end}"), Kind::Vma);
    let (among, _) = rows_of(&format!("{begin}{between}{end}"), Kind::Vma);
    assert_eq!(alone, among);
    assert!(alone.iter().any(|row| row.contains(",u,0,1000,8192,")), "{alone:?}");
}

/// The kernel looks for room for a program before the program has its space.
#[test]
fn a_gap_that_no_call_looks_for_is_left_out() {
    let search = "sh-7 [0] 1.5: vm_unmapped_area: addr=0x7000 err=0 total_vm=0x1 flags=0x1 len=0x1000 lo=0x1000 hi=0x8000 mask=0x0 ofs=0x0\n";
    let call = |call: &str| format!("sh-7 [0] 1.5: sys_{call}\n");
    let begin = call("mmap(addr: 0, len: 1000, prot: 3, flags: 22, fd: ffffffff, off: 0)");
    let text = format!("{begin}{search}{}{search}", call("mmap -> 0x7000"));
    let (rows, _) = rows_of(&text, Kind::Vma);
    assert_eq!(rows.iter().filter(|row| row.contains(",g,")).count(), 1, "{rows:?}");
    let (rows, _) = rows_of(&search.repeat(2), Kind::Vma);
    assert_eq!(rows.iter().filter(|row| row.contains(",g,")).count(), 2, "of calls nothing is told");
}

/// Rows of bpftrace are of numbers as they are printed.
#[test]
fn numbers_of_bpftrace_are_decimal_without_0x() {
    let calls = |len: &str, flags: &str| {
        let call = format!("addr=0x0 len={len} prot=3 flags={flags} fd=-1 off=0");
        let text = format!("a-1 [0] 5: sys_enter_mmap: {call}\na-1 [0] 6: sys_exit_mmap: ret=0x7000\n");
        rows_of(&text, Kind::Vma).0
    };
    assert_eq!(calls("4096", "34"), calls("0x1000", "0x22"));
    let writes = |number: &str| {
        let fields = format!("fn=mas_store node={number} min=0 max=9 index=1 last=2 piv=3 val={number}");
        rows_of(&format!("a-1 [0] 5: ma_write: {fields}\n"), Kind::Mt).0
    };
    assert_eq!(writes("255"), writes("0xff"));
    assert!(writes("255").concat().ends_with(",w,mas_store,0,0,9,1,2,3,ff"), "{:?}", writes("255"));
}

#[test]
fn what_strace_does_not_know_by_name_is_a_number() {
    let map = |flags: &str| {
        rows_of(&format!("1 2.0 mmap(NULL, 4096, PROT_READ, {flags}, -1, 0) = 0x1000\n"), Kind::Vma).0
    };
    assert_eq!(map("MAP_PRIVATE|MAP_ANONYMOUS|MAP_HUGETLB|21<<MAP_HUGE_SHIFT"), map("0x54040022"));
    assert_eq!(map("MAP_PRIVATE|0x20000000"), map("0x20000002"));
    let (rows, _) = rows_of(
        "1 2.0 madvise(0x1000, 4096, 0x66 /* MADV_??? */) = 0\n > /lib/libc.so.6(madvise+0xb) [0x11]\n1 2.0 mmap(NULL, 1, PROT_READ, MAP_SHARED_VALIDATE|MAP_SYNC, 3</a>, 0) = -1 EOPNOTSUPP (Operation not supported)\n\
         1 2.0 wait4(-1,  <detached ...>\n1 2.0 <... munmap resumed> <detached ...>\n1 2.0 munmap(0x1000, 4096 <detached ...>\n",
        Kind::Vma,
    );
    assert!(rows.last().unwrap().ends_with(",m,0,0,1,1,80003,-1,0,-95") && rows.len() == 2, "{rows:?}");
}

/// strace says so under the thread's own number, and goes on under that of the process.
#[test]
fn a_thread_that_executes_a_program_is_its_process_from_then_on() {
    let (rows, summary) = rows_of(
        "7 1.0 execve(\"/x\", [\"x\"], 0x7f /* 3 vars */) = 0\n\
         7 1.1 clone3({flags=CLONE_VM|CLONE_THREAD}, 88) = 8\n\
         8 1.2 execve(\"/y\", [\"y\"], 0x7f /* 3 vars */ <pid changed to 7 ...>\n\
         7 1.3 +++ superseded by execve in pid 8 +++\n\
         7 1.4 <... execve resumed>) = 0\n\
         7 1.5 munmap(0x1000, 4096) = 0\n\
         7 1.6 +++ exited with 0 +++\n",
        Kind::Vma,
    );
    let rows: Vec<_> = rows.iter().filter_map(|row| row.split_once(",0,")).map(|(_, row)| row).collect();
    let expected = [
        "7,x,,,,,,,,0",
        "7,t,0,,,8,100,,,0",
        "8,e,0,,,,,,,0",
        "7,z,0,,,,,,,",
        "7,x,0,,,,,,,1",
        "7,u,1,1000,4096,,,,,0",
        "7,e,1,,,,,,,1",
        "7,z,1,,,,,,,",
    ];
    assert_eq!((rows.as_slice(), summary.unknown), (&expected[..], 0));
}

#[test]
fn threads_that_end_within_a_call_are_within_none() {
    let end = |tid| format!("{tid} 1.0 exit(0 <unfinished ...>\n{tid} 1.0 +++ exited with 0 +++\n");
    let text: String = (1..5000).map(end).collect();
    assert_eq!(rows_of(&format!("{text}1 2.0 munmap(0x1000, 4096) = 0\n"), Kind::Vma).0.len(), 2);
    // One that begins anew is not within two calls either: the second new task is not its child.
    let clone = "1 1.0 clone(flags=SIGCHLD <unfinished ...>\n".repeat(2);
    let (rows, summary) =
        rows_of(&format!("{clone}2 1.0 brk(NULL) = 0x1000\n3 1.0 brk(NULL) = 0x1000\n"), Kind::Vma);
    assert_eq!((rows.iter().filter(|row| row.contains(",f,")).count(), summary.unknown), (1, 2));
}

#[test]
fn a_call_of_any_length_may_be_interrupted() {
    let args = format!("\"{}\u{e9}\"", "a".repeat(4084)).repeat(2);
    let (rows, _) = rows_of(
        &format!(
            "1 2.0 execve(\"/x\", [{args}] <unfinished ...>\n1 2.0 <... execve resumed>) = 0\n1 2.0 munmap(0x1000, 1) = 0\n"
        ),
        Kind::Vma,
    );
    assert_eq!(rows, ["0,0,1,x,,,,,,,,0", "0,0,1,u,0,1000,1,,,,,0"]);
}

/// perf counts in the end what it has lost; newer ones tell of a part where it was lost, too.
#[test]
fn what_perf_has_lost_is_counted_once() {
    let record = |what: &str| format!("a 1 [000] 1.5: PERF_RECORD_{what}\n");
    let free = "a 1 [000] 1.5: vmalloc:free_vmap_area_noflush: va_start=0x1000 nr_lazy=1 nr_lazy_max=2\n";
    let lost = |records: &[&str]| {
        let records: String = records.iter().map(|what| record(what)).collect();
        rows_of(&format!("{free}{records}"), Kind::Kva).1.lost
    };
    assert_eq!(lost(&["LOST lost 5"]), 5);
    assert_eq!(lost(&["LOST_SAMPLES lost 7"]), 7);
    assert_eq!(lost(&["LOST lost 5", "LOST lost 1", "LOST_SAMPLES lost 7"]), 7);
    assert_eq!(lost(&["LOST lost 5", "LOST_SAMPLES lost 3", "LOST_SAMPLES lost 4"]), 7);
    assert_eq!(lost(&["LOST_SAMPLES lost 7 (BPF)"]), 0);
}

/// The first mapping of the file becomes a count of lost samples: its number and its first eight bytes are others.
#[test]
fn what_perf_counts_in_the_end_is_read_of_its_file() {
    const MMAP2: u8 = 10;
    const LOST_SAMPLES: u8 = 13;
    let mut bytes = zstd::decode_all(fs::read(data("perf.data.zst")).unwrap().as_slice()).unwrap();
    let mut at = u64::from_le_bytes(*bytes[40..].first_chunk().unwrap()) as usize;
    while bytes[at] != MMAP2 {
        at += usize::from(u16::from_le_bytes(*bytes[at + 6..].first_chunk().unwrap()));
    }
    bytes[at] = LOST_SAMPLES;
    bytes[at + 8..at + 16].copy_from_slice(&77u64.to_le_bytes());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("perf.data");
    fs::write(&file, bytes).unwrap();
    assert_eq!(imported(&[file], Kind::Pcpu).unwrap().1.lost, 77);
}

/// A part of the file, which is of no use here, becomes what says that records are compressed.
#[test]
fn a_compressed_file_of_perf_is_not_read() {
    let mut bytes = zstd::decode_all(fs::read(data("perf.data.zst")).unwrap().as_slice()).unwrap();
    let [had, compressed] = [1 << 26, 1 << 27];
    let parts = u64::from_le_bytes(*bytes[72..].first_chunk().unwrap());
    assert_eq!(parts & (had | compressed), had);
    bytes[72..80].copy_from_slice(&(parts ^ had ^ compressed).to_le_bytes());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("perf.data");
    fs::write(&file, bytes).unwrap();
    let error = imported(&[file], Kind::Pcpu).unwrap_err().to_string();
    assert!(error.contains("record without -z"), "{error}");
}

#[test]
fn a_task_that_is_gone_is_no_task() {
    let free = "vmalloc:free_vmap_area_noflush: va_start=0x1000 nr_lazy=1 nr_lazy_max=2\n";
    let (rows, _) = rows_of(&format!(":-1    -1 [003] 1.5: {free}"), Kind::Kva);
    assert_eq!(rows, ["0,3,0,U,,1000,,,,,1/2"]);
}

/// The kernel cuts names off after 15 bytes, wherever a letter ends.
#[test]
fn names_that_are_not_utf8_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text");
    let free = "-7 [001] 1.5: free_vmap_area_noflush: va_start=0x1000 nr_lazy=1 nr_lazy_max=2\n";
    fs::write(&file, [b"caf\xc3", free.as_bytes()].concat()).unwrap();
    let (trace, _) = imported(&[file], Kind::Kva).unwrap();
    assert!(trace.ends_with("0,1,7,U,,1000,,,,,1/2\n#task 7 caf\u{fffd}\n"), "{trace}");
}

const DAMAGED: [&str; 9] = [
    "ftrace.txt",
    "perf_script.vma.txt",
    "perf_script.mt.txt",
    "trace-cmd.txt",
    "strace.txt",
    "bpftrace.txt",
    "vmallocinfo.txt",
    "maps.txt",
    "perf.data.zst",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn damaged_files_are_errors_that_name_the_file(
        name in prop::sample::select(&DAMAGED[..]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
        moved in prop::option::weighted(0.5, (any::<prop::sample::Index>(), any::<prop::sample::Index>())),
        kind in prop::sample::select(&[Kind::Kva, Kind::Pcpu, Kind::Vma, Kind::Mt]),
    ) {
        let packed = name.ends_with(".zst");
        let mut bytes = fs::read(data(name)).unwrap();
        if packed {
            bytes = zstd::decode_all(bytes.as_slice()).unwrap();
        }
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some((from, to)) = moved {
            let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
            let part: Vec<u8> = bytes[from..bytes.len().min(from + 40)].to_vec();
            let end = (to + part.len()).min(bytes.len());
            bytes.splice(to..end, part);
        }
        if let Some(at) = cut {
            bytes.truncate(at.index(bytes.len()));
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("damaged");
        fs::write(&file, &bytes).unwrap();
        match imported(&[file], kind) {
            Ok((trace, summary)) => prop_assert_eq!(read(&trace, kind) as u64, summary.rows),
            Err(error) => {
                let error = error.to_string();
                prop_assert!(error.contains("damaged") || error.starts_with("the event at "), "{}", error);
            }
        }
    }
}

/// The whole files that the cut ones are of: as many events as their tools count.
#[test]
fn whole_files_are_imported() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces/native");
    let native = std::env::var_os("FREEHOLD_NATIVE").map_or(beside, PathBuf::from);
    if !native.is_dir() {
        println!("skipped: no folder of whole recordings; FREEHOLD_NATIVE names one");
        return;
    }
    let rows = |name: &str, kind| {
        let (trace, summary) = imported(&[native.join(name)], kind).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(read(&trace, kind) as u64, summary.rows, "{name}");
        // The machines differ in what they say of themselves, the rows do not.
        let rows: Vec<String> = trace.lines().skip(4).map(str::to_owned).collect();
        (rows, summary)
    };
    let dat = "trace-cmd_restored.forkshell_small.trace.dat.zst";
    for kind in [Kind::Kva, Kind::Pcpu] {
        // The same events, once raw with nanoseconds, once as text with microseconds.
        let untimed = |rows: Vec<String>| -> Vec<String> {
            rows.iter()
                .map(|row| row.split_once(',').map_or(row.as_str(), |(_, rest)| rest).to_owned())
                .collect()
        };
        let (raw, text) = (rows(dat, kind).0, rows("trace-cmd_report.forkshell_small.txt.zst", kind).0);
        assert_eq!(untimed(raw), untimed(text), "{kind:?}");
    }
    assert_eq!(rows("ftrace_trace.maple_stress.txt.zst", Kind::Mt).1.rows, 19_988);
    assert_eq!(rows("perf_script.percpu_vmalloc.txt.zst", Kind::Pcpu).1.events, 7_883);
    for (name, kind) in [
        ("perf_script.node_vma.txt.zst", Kind::Vma),
        ("perf_script.maple_true.txt.zst", Kind::Mt),
        ("strace.gcc.txt.zst", Kind::Vma),
        ("strace.java_hello.txt.zst", Kind::Vma),
        ("strace.python_numpy.txt.zst", Kind::Vma),
        ("trace-cmd_report_raw.forkshell_small.txt.zst", Kind::Pcpu),
        ("ftrace_trace.mixed.txt.zst", Kind::Vma),
        ("ftrace_trace.nohashptr.txt.zst", Kind::Kva),
    ] {
        assert!(rows(name, kind).1.rows > 50, "{name}");
    }
}

/// Raw sub-buffers and format files of a running kernel, as a folder: the pages are read to their end.
#[test]
fn whole_pages_are_imported() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces/native");
    let native = std::env::var_os("FREEHOLD_NATIVE").map_or(beside, PathBuf::from);
    if !native.is_dir() {
        println!("skipped: no folder of whole recordings; FREEHOLD_NATIVE names one");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let unpacked = |name: &str| zstd::decode_all(fs::read(native.join(name)).unwrap().as_slice()).unwrap();
    let formats = String::from_utf8(unpacked("formats.txt.zst")).unwrap();
    for part in format!("\n{formats}").split("\n# ").skip(1) {
        let Some((event, text)) = part.split_once('\n').filter(|(_, text)| text.starts_with("name: ")) else {
            continue;
        };
        let at = folder.path().join("events").join(event);
        fs::create_dir_all(&at).unwrap();
        fs::write(at.join("format"), format!("{text}\n")).unwrap();
    }
    let header = formats.split_once("\tfield: u64 timestamp").unwrap().1;
    let header: String =
        format!("\tfield: u64 timestamp{header}").lines().take(4).map(|line| format!("{line}\n")).collect();
    fs::write(folder.path().join("events/header_page"), header).unwrap();
    fs::write(folder.path().join("cpu0.raw"), unpacked("ftrace_cpu0.trace_pipe_raw.zst")).unwrap();
    let recording = "#freehold-recording v1\nkind=pcpu\nrelease=6.18.44\npagesize=4096\npossible=2\nstart_ns=0\nend_ns=0\nsource=tracefs\n";
    fs::write(folder.path().join("recording"), recording).unwrap();
    let (trace, summary) = imported(&[folder.path().to_owned()], Kind::Pcpu).unwrap();
    assert_eq!(read(&trace, Kind::Pcpu) as u64, summary.rows);
    assert!(summary.rows > 50 && summary.lost == 0, "{summary:?}");
    println!("{summary:?}");
}
