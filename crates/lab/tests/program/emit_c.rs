//! `emit-c`: its text, and that its rows make the same tree of ours as the recording did.

use super::outside::has_cc;
use super::{data, freehold, text};
use freehold::maple::MapleTree;
use freehold::units::Span;
use freehold_harness::outside::words;
use freehold_lab::workload::vma::from_file;
use freehold_rivals::maple::ListRanges;
use freehold_trace::Drive;
use freehold_trace::vma::Spaces;
use std::path::{Path, PathBuf};
use std::process::Command;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Every call that a log has.
const LOG: &str = "\
# maple-vectors 1
# name every call
# seed 1
# universe tiny
# alloc_tree 1
# rcu_flag 0
# profile 0
s a 1f 12 = 0
i 15 16 3 = -17
i 8000000000000000 ffffffffffffffff 4 = 0
l c = 12
f 0 ff = 12 20
n 0 ff = 12
ar 10 0 ff 5 = 0 f0
ac 0 ff fe 3 = 1 0 1
ef 0 ff 10 = 0 20 2f
eg 6 = 0 20 2f
ms 21
mw = 6 20 2f a
mn ff = 5 f0 ff a
mS 24 25 - = 6 24 25
mP 24 24 7 = 24 24
mE 24 = 7 24 25
s 12 13 - = 0
e a = 12
er 0 ff 8 = 0 e8 ef
# ops 19
";

#[test]
fn both_texts_are_as_they_were() {
    let log = file("every.txt");
    std::fs::write(&log, LOG).unwrap();
    for (form, golden) in
        [("--erase2", include_str!("emitted/erase2.c")), ("--calls", include_str!("emitted/calls.c"))]
    {
        let output = freehold(&["emit-c", log.to_str().unwrap(), form]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        // Where the log lies differs from machine to machine, and versions go up.
        let written = text(&output.stdout).replace(log.parent().unwrap().to_str().unwrap(), "FOLDER");
        let written = written.replace(concat!("emit-c ", env!("CARGO_PKG_VERSION")), "emit-c VERSION");
        assert_eq!(written, golden, "{form}:\n{written}");
    }
}

#[test]
fn names_neither_begin_nor_end_a_comment() {
    let log = file("glob.txt");
    std::fs::write(&log, LOG.replace("every call", "ls /usr/*/x */ /*/")).unwrap();
    let written = text(&freehold(&["emit-c", log.to_str().unwrap()]).stdout);
    assert!(written.contains("op log ls /usr/ * /x"), "{written}");
    assert_eq!([written.matches("/*").count(), written.matches("*/").count()], [1, 1], "{written}");
}

#[test]
fn rows_make_the_tree_of_the_recording() {
    if !has_cc("rows_make_the_tree_of_the_recording") {
        return;
    }
    let trace = data("traces/pynumpy.vma.csv.zst");
    let (rows, source, object) = (file("rows.c"), file("rows_of.c"), file("rows.so"));
    let output = freehold(&["emit-c", &trace, "--mm", "0", "-o", rows.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    // The function is not ours to call here.
    let set = std::fs::read_to_string(&rows).unwrap();
    let set = set.split("static void").next().unwrap();
    let exported = "const unsigned long *const rows = set_pynumpy_0;\n\
                    const unsigned long row_words = sizeof(set_pynumpy_0) / sizeof(set_pynumpy_0[0]);\n";
    std::fs::write(&source, format!("enum {{ STORE, SNULL, ERASE }};\n{set}\n{exported}")).unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-Wall", "-Werror"]).arg(&source).arg("-o").arg(&object);
    let ran = cc.output().unwrap();
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let tree = MapleTree::<u64>::new();
    for row in words(&object, c"rows", c"row_words").unwrap().chunks(3) {
        let &[what, first, last] = row else { panic!("{row:?} is no row") };
        match what {
            0 => tree.store(first..=last, first).unwrap(),
            1 => tree.remove_range(first..=last).unwrap(),
            _ => assert_eq!(tree.erase(first).unwrap(), Span::new(first, last)),
        }
    }
    tree.validate().unwrap();
    let workload = from_file(Path::new(&trace)).unwrap();
    let mut spaces = Spaces::<ListRanges<u64>>::new(workload.scene.clone());
    let mut last = Vec::new();
    for op in &workload.ops {
        // Its content before the end of the process, which empties it.
        if let Some(space) = spaces.space(0) {
            last = space.areas().iter().map(|(first, last, _)| (first, last)).collect();
        }
        spaces.run(op, &mut ());
    }
    let guard = tree.read();
    let got: Vec<(u64, u64)> = guard.iter().map(|(span, _)| (span.first(), span.last())).collect();
    assert!(got.len() > 30, "{got:?}");
    assert_eq!(got, last);
}

#[test]
fn what_cannot_be_emitted_is_said() {
    for (args, code, words) in [
        (
            vec![data("traces/pynumpy.vma.csv.zst"), "--mm".into(), "77".into()],
            2,
            "there is no mm 77; numbers in the file: 0",
        ),
        (vec![data("vectors/kva/talk.txt")], 1, "no trace of address spaces, stream"),
        (
            vec![data("vectors/maple/pub12-4k-alloc-dup-reserved.txt.zst"), "--mm".into(), "900000".into()],
            2,
            "no mm",
        ),
    ] {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = freehold(&[&["emit-c"], &args[..]].concat());
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        assert!(text(&output.stderr).contains(words), "{args:?}: {}", text(&output.stderr));
    }
}
