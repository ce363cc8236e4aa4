//! `shrink`: engines with planted bugs, of which a few lines are left that `verify` fails with them, and passes with ours.

use super::outside::{built, changed, has_cc};
use super::{data, freehold, text};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const CHURN: &str = "vectors/kva/churn_n100.txt.zst";
const FEW: &str = "vectors/kva/kt_fix_size.txt.zst";
const HALF: &str = "vectors/percpu/u-r1024-al-fixed.txt.zst";
const FIRST_FIT: &str = include_str!("../../examples/first_fit.c");
const SORTED: &str = include_str!("engines/sorted.c");

fn out(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Shrinks a file; what is said, and the operations of the result.
fn shrunk(name: &str, file: &str, engine: &str, more: &[&str]) -> (String, PathBuf, Vec<String>) {
    let out = out(name);
    let to = out.display().to_string();
    let args = [&["shrink", file, "--engine", engine, "-o", &to], more].concat();
    let output = freehold(&args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}{}", text(&output.stdout), text(&output.stderr));
    let written = std::fs::read_to_string(&out).unwrap();
    let words = ["a", "A", "f", "m", "s", "i", "e", "l", "ef", "er", "mS", "mG", "mP", "mE"];
    let is_op = |line: &&str| words.contains(&line.split(' ').next().unwrap());
    (text(&output.stdout), out, written.lines().filter(is_op).map(str::to_owned).collect())
}

/// `verify` fails with the engine, and passes with those of the library.
#[track_caller]
fn tells(file: &Path, engine: &str) {
    let file = file.display().to_string();
    for (more, code) in [(&["--engine", engine][..], 1), (&[], 0)] {
        let output = freehold(&[&["verify", &file], more].concat());
        assert_eq!(output.status.code(), Some(code), "{more:?}: {}", text(&output.stdout));
    }
}

const DIFFERS: [&str; 2] = ["--while", "differs"];

#[test]
fn an_allocator_that_goes_wrong_after_frees_is_told_in_ten_lines() {
    if !has_cc("an_allocator_that_goes_wrong_after_frees_is_told_in_ten_lines") {
        return;
    }
    let counts = FIRST_FIT.replace("it->area_count--;", "it->area_count--;\n\t\t\tfrees++;");
    let wrong = counts.replace(
        "answer->first = at;",
        "answer->first = frees >= 3 && op->size > 8 * 4096 && it->areas->next ? it->areas->first : at;",
    );
    assert!(counts != FIRST_FIT && wrong != counts);
    let wrong = format!("#include <stdint.h>\nstatic int frees;\n{wrong}");
    let engine = format!("so:{}", built("shrink_frees", &wrong).display());
    let (said, file, ops) = shrunk("frees.shrunk.txt", &data(CHURN), &engine, &["--while", "differs"]);
    assert!(ops.len() <= 10, "{ops:#?}");
    assert!(
        said.contains("6,200 operations became") && said.contains("read again, the condition holds"),
        "{said}"
    );
    // Sizes are as small as the bug lets them be: nine pages.
    assert!(ops.last().unwrap().starts_with("a 9 1 "), "{ops:#?}");
    tells(&file, &engine);
    // Shrunk once more, nothing is left to leave out.
    let again = shrunk("frees2.shrunk.txt", &file.display().to_string(), &engine, &DIFFERS).2;
    assert_eq!(again, ops);
}

#[test]
fn an_engine_that_dies_differs() {
    if !has_cc("an_engine_that_dies_differs") {
        return;
    }
    let frees = "struct area *area = *link;\n\n";
    let crash =
        changed("shrink_crash", frees, &format!("{frees}\t\tif (area->next)\n\t\t\traise(SIGABRT);\n"));
    let recording = data("traces/bpfvm.kva.csv.zst");
    let (said, file, ops) = shrunk("crash.shrunk.txt", &recording, &crash, &DIFFERS);
    assert!(ops.len() == 3 && said.contains("died of SIGABRT"), "{ops:#?} {said}");
    tells(&file, &crash);
}

#[test]
fn a_map_that_forgets_is_told_from_programs_streams_and_logs() {
    if !has_cc("a_map_that_forgets_is_told_from_programs_streams_and_logs") {
        return;
    }
    // What is left above a store begins too low.
    let wrong = SORTED.replace("it->at[i].first = last + 1;", "it->at[i].first = last;");
    assert_ne!(wrong, SORTED);
    let engine = format!("so:{}", built("shrink_sorted", &wrong).display());
    for (name, file) in [
        ("vma", "traces/pynumpy.vma.csv.zst"),
        ("stream", "vectors/maple/seed_stream_6.12.mstream.zst"),
        ("log", "vectors/maple/pub01-tiny-plain-mix.txt.zst"),
    ] {
        let (said, file, ops) = shrunk(&format!("{name}.shrunk.txt"), &data(file), &engine, &DIFFERS);
        assert!(ops.len() <= 3, "{name}: {ops:#?} {said}");
        tells(&file, &engine);
    }
}

#[test]
fn pages_and_instructions_are_conditions_too() {
    let half = data(HALF);
    let more = ["--while", "more pages than bitmap", "--trials", "400"];
    let (said, file, ops) = shrunk("pages.shrunk.txt", &half, "bitmap-linux", &more);
    assert!(ops.len() < 2000 && said.contains("pages with memory: "), "{} {said}", ops.len());
    // Those that are listed are all verified.
    assert!(said.ends_with("pages.shrunk.txt\n"), "{said}");
    assert_eq!(freehold(&["verify", &file.display().to_string()]).status.code(), Some(0));
    if !freehold_lab::run::instructions::can_count() {
        eprintln!("pages_and_instructions_are_conditions_too: instructions: skipped: there is no valgrind");
        return;
    }
    let few = data(FEW);
    let slower = ["--while", "slower than gap-list by 1", "--trials", "2"];
    let (said, ..) = shrunk("slower.shrunk.txt", &few, "btree:lowest", &slower);
    assert!(said.contains("instructions: ") && said.contains("the last of the trials"), "{said}");
}

#[test]
fn what_cannot_be_shrunk_is_said() {
    let to = out("none.shrunk.txt").display().to_string();
    let [churn, few, half] = [CHURN, FEW, HALF].map(data);
    for (args, code, words) in [
        (
            vec![churn.as_str(), "--engine", "btree:lowest", "--while", "differs"],
            1,
            "nothing to shrink: on this file it is not true",
        ),
        (vec![&churn, "--engine", "rbtree", "--while", "differs"], 2, "several placements"),
        (vec![&churn, "--engine", "btree:lowest", "--while", "is slow"], 2, "write 'differs'"),
        (
            vec![&churn, "--engine", "btree:lowest", "--while", "more pages than rbtree:linux"],
            2,
            "per-CPU objects",
        ),
        // It takes more than that other, and not so many times as much; and it has no more pages than itself.
        (
            vec![&few, "--engine", "btree:lowest", "--while", "slower than gap-list by 1000"],
            1,
            "nothing to shrink: on this file it is not true",
        ),
        (
            vec![&half, "--engine", "bitmap", "--while", "more pages than bitmap"],
            1,
            "nothing to shrink: on this file it is not true",
        ),
        (vec![&churn, "--engine", "none", "--while", "differs"], 2, "no kva engine \"none\""),
        (vec!["/nowhere.txt", "--engine", "btree:lowest", "--while", "differs"], 1, "/nowhere.txt"),
    ] {
        let output = freehold(&[&["shrink", "-o", &to], &args[..]].concat());
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(words), "{args:?}: {}", text(&output.stderr));
    }
    let anchors = data("vectors/kva/anchors.tsv");
    let output = freehold(&["shrink", &anchors, "--engine", "btree:lowest", "--while", "differs"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!Path::new(&to).exists());
}

#[test]
fn ctrl_c_leaves_the_best_so_far() {
    if !has_cc("ctrl_c_leaves_the_best_so_far") {
        return;
    }
    freehold_harness::signals::set_default();
    // It takes a while for every free, so that trials take long, and is wrong from the fourth on.
    let slow = FIRST_FIT
        .replace("it->area_count--;", "it->area_count--;\n\t\t\tusleep(1000);\n\t\t\tfrees++;")
        .replace("answer->first = at;", "answer->first = frees > 40 ? it->areas->first : at;");
    let slow = format!("#define _DEFAULT_SOURCE\n#include <unistd.h>\nstatic int frees;\n{slow}");
    let (engine, to) = (format!("so:{}", built("shrink_slow", &slow).display()), out("slow.shrunk.txt"));
    let _ = std::fs::remove_file(&to);
    let args =
        ["shrink", &data(CHURN), "--engine", &engine, "--while", "differs", "-o", to.to_str().unwrap()];
    let mut shrink = Command::new(env!("CARGO_BIN_EXE_freehold"));
    let child = shrink.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    std::thread::sleep(Duration::from_millis(1500));
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    assert!(started.elapsed() < Duration::from_secs(30));
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}{}", text(&output.stderr));
    assert!(said.contains("SIGINT ended it") && said.contains("the condition holds"), "{said}");
    tells(&to, &engine);
}

/// The commands of the book's page, word for word, from the root of the repository.
#[test]
fn the_page_of_the_book_does_what_it_says() {
    if !has_cc("the_page_of_the_book_does_what_it_says") {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::create_dir_all(root.join("target")).unwrap();
    let page = std::fs::read_to_string(root.join("docs/shrink.md")).unwrap();
    let blocks: Vec<&str> =
        page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let path =
        format!("{}:{}", Path::new(env!("CARGO_BIN_EXE_freehold")).parent().unwrap().display(), env!("PATH"));
    let lines: Vec<&str> = blocks.iter().flat_map(|block| block.lines()).collect();
    assert_eq!(lines.len(), 6);
    for line in lines {
        let ran =
            Command::new("sh").args(["-c", line]).env("PATH", &path).current_dir(&root).output().unwrap();
        assert!(ran.status.success(), "{line}: {}{}", text(&ran.stdout), text(&ran.stderr));
    }
    let shrunk = freehold(&["verify", &root.join("target/broken.txt").display().to_string()]);
    assert!(page.contains("`target/broken.txt` has eight operations."));
    let row = ["broken.txt", "l", "btree:lowest", "8", "0"];
    let told = text(&shrunk.stdout);
    assert!(told.lines().any(|line| line.split_whitespace().eq(row)), "{told}");
}
