//! Engines from outside: the C example as a user builds it, and what becomes of one that is wrong, dies, hangs or is none.

use super::{Results, data, freehold, text};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// The example's text.
const EXAMPLE: &str = include_str!("../../examples/first_fit.c");
/// Where its engine frees.
const FREES: &str = "struct area *area = *link;\n\n";

/// Whether this machine has a compiler of C; said once if not.
pub(super) fn has_cc(test: &str) -> bool {
    static FOUND: LazyLock<bool> = LazyLock::new(|| Command::new("cc").arg("--version").output().is_ok());
    if !*FOUND {
        eprintln!("{test}: skipped: there is no `cc` here");
    }
    *FOUND
}

/// Builds a text in C as a shared object.
pub(super) fn built(name: &str, source: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (file, object) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.so")));
    std::fs::write(&file, source).unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I"]).arg(include);
    let ran = cc.arg(&file).arg("-o").arg(&object).output().unwrap();
    assert!(ran.status.success(), "{name}: {}", text(&ran.stderr));
    object
}

/// The example with a change.
pub(super) fn changed(name: &str, from: &str, to: &str) -> String {
    assert!(EXAMPLE.contains(from), "the example has no {from:?}");
    format!("so:{}", built(name, &format!("#include <signal.h>\n{}", EXAMPLE.replace(from, to))).display())
}

/// The example.
fn example() -> String {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| built("first_fit", EXAMPLE));
    format!("so:{}", BUILT.display())
}

const CHURN: &str = "vectors/kva/churn_n100.txt.zst";

#[test]
fn the_example_is_verified_and_stands_beside_the_others() {
    if !has_cc("the_example_is_verified_and_stands_beside_the_others") {
        return;
    }
    let (engine, churn) = (example(), data(CHURN));
    let verified = Results::of(&["verify", &churn, "--engine", &engine]);
    verified.is(&format!("metric=mismatches|engine={engine}|workload=column l"), 0.0);
    verified.is(&format!("metric=checked|engine={engine}|workload=column l"), 6200.0);
    let both = ["replay", &churn, "--rounds", "1", "--engine", "btree:lowest", "--engine", &engine];
    let replayed = Results::of(&both);
    for engine in ["btree", &engine] {
        assert!(replayed.value(&format!("metric=time|engine={engine}")).is_some(), "{engine}");
    }
    assert!(replayed.notes().contains("engines are from outside"), "{}", replayed.notes());
    let stressed =
        Results::of(&["stress", "kva", "--loops", "64", "--repeat", "1", "--n", "100", "--engine", &engine]);
    stressed.is(&format!("metric=failed|engine={engine}|workload=churn"), 0.0);
    let benched = ["bench", "kva", "--quick", "--n", "100", "--workload", "churn", "--engine", &engine];
    assert!(Results::of(&benched).value(&format!("metric=time|engine={engine}")).is_some());
}

#[test]
fn an_engine_that_is_off_by_one_fails_with_the_line() {
    if !has_cc("an_engine_that_is_off_by_one_fails_with_the_line") {
        return;
    }
    let engine = changed("off_by_one", "low = (*link)->last + 1;", "low = (*link)->last + 2;");
    let output = freehold(&["verify", &data(CHURN), "--engine", &engine]);
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stdout).replace('\n', " ");
    assert!(told.contains("churn_n100.txt.zst:") && told.contains("expected 0x"), "{told}");
    // Where every second object is told one page too high it overlaps the one behind it, which any judge sees.
    let engine =
        changed("overlaps", "answer->first = at;", "answer->first = op->object % 2 ? at : at + 4096;");
    let output = freehold(&["replay", &data(CHURN), "--engine", &engine]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("operation"), "{}", text(&output.stderr));
}

/// Refuses what fits, or has no requests at all.
#[test]
fn an_engine_that_serves_nothing_is_neither_right_nor_fast() {
    if !has_cc("an_engine_that_serves_nothing_is_neither_right_nor_fast") {
        return;
    }
    let any = EXAMPLE.replace("FREEHOLD_LOWEST", "FREEHOLD_ANY");
    let alloc = "\tanswer->status = FREEHOLD_NO_ROOM;\n\tfor (size_t i = 0; i <";
    let with = |name: &str, status: &str| {
        let wrong = any.replace(
            alloc,
            &format!("\tanswer->status = {status};\n\tif (it)\n\t\treturn;\n\tfor (size_t i = 0; i <"),
        );
        assert_ne!(wrong, any);
        format!("so:{}", built(name, &wrong).display())
    };
    let (refuses, lacks) = (with("refuses", "FREEHOLD_NO_ROOM"), with("lacks", "FREEHOLD_UNSUPPORTED"));
    let bump = include_str!("engines/bump.c").replace("size > it->unit", "size");
    let refuses_percpu = format!("so:{}", built("refuses_percpu", &bump).display());
    let half = data("vectors/percpu/u-min-stale-stock.txt.zst");
    for (args, told) in [
        (["verify", &data(CHURN), "--engine", &refuses], "was refused, though it fits at"),
        (["verify", &data(CHURN), "--engine", &lacks], "nothing could be compared"),
        (["verify", &half, "--engine", &refuses_percpu], "was refused, though a chunk could be made"),
        (["replay", &data(CHURN), "--engine", &refuses], "requests were refused, though there was a place"),
    ] {
        let output = freehold(&args);
        let said = (text(&output.stdout) + &text(&output.stderr)).replace('\n', " ");
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains(told), "{args:?}: {said}");
    }
    // Areas at a common base are no request of the header.
    let loose = Results::of(&["verify", &data("vectors/kva/pcpu_loose.txt.zst"), "--engine", &example()]);
    assert!(loose.notes().contains("1,337 requests that it does not have, not checked"), "{}", loose.notes());
}

#[test]
fn an_engine_that_dies_or_hangs_is_reported_as_its_own() {
    if !has_cc("an_engine_that_dies_or_hangs_is_reported_as_its_own") {
        return;
    }
    // A store to no address would be seen by the compiler.
    let crash = changed("crash", FREES, "struct area *area = *link;\n\n\t\traise(SIGSEGV);\n");
    let died = format!("engine {crash} died of SIGSEGV in batch ");
    for args in [
        &["replay", &data(CHURN)][..],
        &["verify", &data(CHURN)],
        &["stress", "kva", "--loops", "64", "--repeat", "1", "--n", "100"],
        &["bench", "kva", "--quick", "--n", "100", "--workload", "churn"],
    ] {
        let output = freehold(&[args, &["--engine", &crash, "--json"]].concat());
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let told = text(&output.stdout) + &text(&output.stderr);
        assert!(told.contains(&died), "{args:?}: {told}");
    }
    // It is ended after a second, and who waits for it is told so.
    let hang =
        changed("hang", FREES, "struct area *area = *link;\n\n\t\tfor (volatile int on = 1; on;)\n\t\t\t;\n");
    let output = freehold(&["replay", &data(CHURN), "--engine", &hang, "--engine-timeout", "1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("did not answer within 1s in batch "), "{}", text(&output.stderr));
}

#[test]
fn an_engine_that_answers_nonsense_is_not_left_out() {
    if !has_cc("an_engine_that_answers_nonsense_is_not_left_out") {
        return;
    }
    let engine = changed("nonsense", "DONE;\n\tanswer->first", "EXISTS + 1;\n\tanswer->first");
    for what in ["churn:10", &data(CHURN)] {
        let output = freehold(&["replay", what, "--engine", &engine]);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
        let said = text(&output.stderr);
        assert!(
            said.contains(&format!("engine {engine} answered with status 5, which is none, in batch 1")),
            "{said}"
        );
    }
}

#[test]
fn an_engine_that_hangs_ends_with_the_lab() {
    if !has_cc("an_engine_that_hangs_ends_with_the_lab") {
        return;
    }
    let hang = "struct area *area = *link;\n\n\t\tfputs(\"hangs\\n\", stderr);\n\t\tsleep(20);\n\
                \t\tfputs(\"still there\\n\", stderr);\n";
    let source = format!("#include <stdio.h>\n#include <unistd.h>\n{}", EXAMPLE.replacen(FREES, hang, 1));
    let engine = format!("so:{}", built("outlives", &source).display());
    let mut lab = Command::new(env!("CARGO_BIN_EXE_freehold"));
    lab.args(["verify", &data(CHURN), "--engine", &engine, "--engine-timeout", "60"]);
    let mut lab = lab.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(lab.stderr.take().unwrap());
    let mut line = String::new();
    while line != "hangs\n" {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0);
    }
    lab.kill().unwrap();
    lab.wait().unwrap();
    // The pipe ends with the last process that has it.
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}

#[test]
fn an_engine_that_dies_in_create_is_reported_as_its_own() {
    if !has_cc("an_engine_that_dies_in_create_is_reported_as_its_own") {
        return;
    }
    let kva = "bench kva --quick --n 100 --workload churn";
    let maple = "bench maple --quick --n 100 --workload lookup";
    let (vma, log) = (data("traces/pynumpy.vma.csv.zst"), data("vectors/maple/pub01-tiny-plain-mix.txt.zst"));
    let (example, bump, sorted) = (EXAMPLE, include_str!("engines/bump.c"), include_str!("engines/sorted.c"));
    for (name, source, how, told, commands) in [
        (
            "kva",
            example,
            "__builtin_trap()",
            "died of SIGILL",
            vec![
                format!("verify {}", data(CHURN)),
                format!("replay {}", data(CHURN)),
                kva.to_owned(),
                "stress kva --loops 64 --repeat 1 --n 100".to_owned(),
                "bench kva --cold --n 100".to_owned(),
            ],
        ),
        (
            "percpu",
            bump,
            "abort()",
            "died of SIGABRT",
            vec![
                format!("replay {}", data("traces/netns.pcpu.csv.zst")),
                "stress percpu --loops 64 --repeat 1 --n 100".to_owned(),
                "bench percpu --quick --n 100".to_owned(),
            ],
        ),
        (
            "maple",
            sorted,
            "exit(0)",
            "ended with code 0",
            vec![
                format!("verify {vma}"),
                format!("verify {log}"),
                format!("replay {vma}"),
                maple.to_owned(),
                "stress maple --loops 64 --repeat 1 --n 100".to_owned(),
            ],
        ),
    ] {
        let source = source.replacen("scene)\n{\n", &format!("scene)\n{{\n\tif (scene)\n\t\t{how};\n"), 1);
        let source = format!("#include <signal.h>\n#include <stdlib.h>\n{source}");
        let engine = format!("so:{}", built(&format!("dies_in_create_{name}"), &source).display());
        for command in commands {
            let args: Vec<&str> = command.split(' ').chain(["--engine", &engine, "--json"]).collect();
            let output = freehold(&args);
            assert_eq!(
                output.status.code(),
                Some(1),
                "{args:?}: {}{}",
                text(&output.stdout),
                text(&output.stderr)
            );
            let all = text(&output.stdout) + &text(&output.stderr);
            assert!(all.contains(&format!("engine {engine} {told} in create")), "{args:?}: {all}");
        }
    }
}

#[test]
fn an_engine_that_cannot_manage_a_space_is_left_out_and_not_destroyed() {
    if !has_cc("an_engine_that_cannot_manage_a_space_is_left_out_and_not_destroyed") {
        return;
    }
    // The example's `destroy` would read through NULL.
    let engine = changed("no_space", "if (!it)\n", "if (it || scene)\n");
    let replayed = Results::of(&["replay", &data(CHURN), "--engine", &engine]);
    let notes = replayed.notes();
    assert!(notes.contains("left out: ") && notes.contains("it cannot manage that space"), "{notes}");
}

#[test]
fn what_is_no_engine_is_wrong_usage() {
    for (engine, reason) in [
        ("so:/nowhere/at/all.so", "cannot open shared object file"),
        ("so:--help", "cannot open shared object file"),
        ("so:", "engine so:: the path of a shared object is missing"),
        ("btree:lowest", "one from outside is wanted"),
    ] {
        let output = freehold(&["verify", &data(CHURN), "--engine", engine]);
        assert_eq!(output.status.code(), Some(2), "{engine}");
        assert!(text(&output.stderr).contains(reason), "{}", text(&output.stderr));
    }
    if !has_cc("what_is_no_engine_is_wrong_usage") {
        return;
    }
    let later = changed("later", "FREEHOLD_VERSION, ", "FREEHOLD_VERSION + 1, ");
    let empty = format!("so:{}", built("empty", "int nothing;\n").display());
    for (engine, reason) in [(later, "is of version 2"), (empty, "freehold_engine")] {
        let output = freehold(&["replay", &data(CHURN), "--engine", &engine]);
        assert_eq!(output.status.code(), Some(2), "{engine}");
        assert!(text(&output.stderr).contains(reason), "{}", text(&output.stderr));
    }
    // One of address ranges has no chunks.
    let output = freehold(&["stress", "percpu", "--engine", &example()]);
    assert_eq!(output.status.code(), Some(2));
}

/// The commands of the book's page, word for word, from the root of the repository.
#[test]
fn the_page_of_the_book_does_what_it_says() {
    if !has_cc("the_page_of_the_book_does_what_it_says") {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/own_engine.md")).unwrap();
    let block = page.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert_eq!(block.lines().count(), 5);
    for line in block.lines() {
        let mut words = line.split(' ');
        let program = match words.next().unwrap() {
            "freehold" => env!("CARGO_BIN_EXE_freehold"),
            other => other,
        };
        let ran = Command::new(program).args(words).current_dir(&root).output().unwrap();
        assert!(ran.status.success(), "{line}: {}{}", text(&ran.stdout), text(&ran.stderr));
    }
}

#[test]
fn engines_of_all_families_are_judged() {
    if !has_cc("engines_of_all_families_are_judged") {
        return;
    }
    let tiny = ["--loops", "64", "--repeat", "1", "--n", "100", "--engine"];
    let bump = include_str!("engines/bump.c");
    let engine = format!("so:{}", built("bump", bump).display());
    let stressed = Results::of(&[&["stress", "percpu"], &tiny[..], &[engine.as_str()]].concat());
    stressed.is(&format!("metric=passed|engine={engine}|workload=mixed"), 1.0);
    let half = data("vectors/percpu/u-half64-stock.txt.zst");
    let verified = Results::of(&["verify", &half, "--engine", &engine]);
    // 56,652 allocations and 29,076 frees.
    verified.is(&format!("metric=checked|engine={engine}"), 85_728.0);
    let netns = data("traces/netns.pcpu.csv.zst");
    Results::of(&["replay", &netns, "--rounds", "1", "--engine", &engine]);
    // Without a place of its own every object overlaps the one before.
    let wrong = built("bump_wrong", &bump.replace("it->next = at + size;", "it->next = at;"));
    let engine = format!("so:{}", wrong.display());
    for args in [["verify", &half], ["replay", &netns]] {
        let output = freehold(&[&args[..], &["--engine", &engine]].concat());
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let told = text(&output.stdout) + &text(&output.stderr);
        let told = told.split_whitespace().collect::<Vec<_>>().join(" "); // lines are wrapped
        assert!(told.contains("is not free"), "{args:?}: {told}");
    }
    let sorted = include_str!("engines/sorted.c");
    let engine = format!("so:{}", built("sorted", sorted).display());
    let stressed = Results::of(&[&["stress", "maple"], &tiny[..], &[engine.as_str()]].concat());
    for case in ["spanning", "erase", "check_alloc_rev_range"] {
        stressed.is(&format!("metric=passed|engine={engine}|workload={case}"), 1.0);
    }
    let vma = data("traces/pynumpy.vma.csv.zst");
    let verified = Results::of(&["verify", &vma, "--engine", &engine]);
    verified.is(&format!("metric=mismatches|engine={engine}"), 0.0);
    assert!(verified.value(&format!("metric=checked|engine={engine}")) > Some(1000.0));
    let replayed =
        Results::of(&["replay", &vma, "--rounds", "1", "--engine", "range-map", "--engine", &engine]);
    assert!(
        replayed.value(&format!("metric=time|engine={engine}|op=mmap")).is_some(),
        "{}",
        replayed.notes()
    );
    let bench = "bench maple --quick --n 100 --workload lookup --workload iterate --workload iterate-two --workload erase";
    let bench: Vec<&str> = bench.split(' ').collect();
    let benched = Results::of(&[&bench[..], &["--engine", "range-map", "--engine", &engine]].concat());
    for op in ["lookup", "iterate", "erase"] {
        assert!(benched.value(&format!("metric=time|engine={engine}|op={op}")).is_some(), "{op}");
    }
    assert!(
        benched.notes().contains(" left out: an engine from outside has no copies"),
        "{}",
        benched.notes()
    );
    let wrong =
        built("sorted_wrong", &sorted.replace("it->at[i].first = last + 1;", "it->at[i].first = last;"));
    let engine = format!("so:{}", wrong.display());
    let output = freehold(&[&["stress", "maple"], &tiny[..], &[engine.as_str()]].concat());
    assert_eq!(output.status.code(), Some(1));
    let stores = ["bench", "maple", "--quick", "--n", "100", "--workload", "range-store"];
    for args in [&["verify", &vma][..], &["replay", &vma], &stores] {
        let output = freehold(&[args, &["--engine", &engine]].concat());
        assert_eq!(output.status.code(), Some(1), "{args:?}");
    }
    // A log has cursors, which the header has not.
    let log = data("vectors/maple/pub01-tiny-plain-mix.txt.zst");
    let output = freehold(&["verify", &log, "--engine", &engine]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).replace('\n', " ").contains("have no cursors"), "{}", text(&output.stdout));
}
