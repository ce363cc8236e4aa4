//! Commands in README and the book: the program parses each of them, and CI runs each claim's, in full or shorter.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use super::readme::{document, one_line, pages, root_file};
use super::{freehold, text};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

/// What a command of `docs/claims.md` has in CI: a text in one of its files, with what is run there, or what this test runs.
enum RunBy {
    File(&'static str, &'static str),
    This(&'static str),
}
use RunBy::{File, This};

const LAB: &str = ".ci/stage/lab.sh";
const TESTS: &str = ".ci/stage/tests.sh";
const WORKSPACE: RunBy = File(TESTS, "cargo test --locked --workspace --lib --bins --tests --examples");
const VECTORS: RunBy = File(".ci/readme", "target/release/freehold verify data/vectors/*/*");
const MAIN: &str = "crates/lab/tests/program/main.rs";

const CLAIMS: [(&str, RunBy); 38] = [
    ("cargo run --release", File(LAB, "cargo run --locked --release")),
    ("cargo test -p freehold-maple --features std --test shared", WORKSPACE),
    ("cargo test -p freehold-percpu --features std --test storm", WORKSPACE),
    ("cargo test -p freehold-vmalloc --test failures", WORKSPACE),
    ("cargo test -p freehold-vmalloc --test processes -- --nocapture", WORKSPACE),
    ("cargo test -p freehold-vmalloc --test refusals", WORKSPACE),
    ("clients/run", File(TESTS, "clients/run --check")),
    (
        "freehold bench counters",
        File(LAB, "for suite in counters readers pools memory; do promised $suite --quick"),
    ),
    ("freehold bench kva", File(LAB, "promised kva --workload churn --n 1000 --n 100000 --engine btree")),
    ("freehold bench kva --wishes", File(MAIN, r#"["bench", "kva", "--wishes", "--workload", "fix_size"]"#)),
    ("freehold bench kva --workload aligned", This("bench kva --quick --workload aligned --n 300")),
    ("freehold bench maple", File(MAIN, r#"["bench", "maple", "--quick", "--n", "100", "--n", "300"]"#)),
    (
        "freehold bench memory",
        File(LAB, "for suite in counters readers pools memory; do promised $suite --quick"),
    ),
    ("freehold bench percpu", File(LAB, "promised percpu --workload churn-4-64 --engine bitmap")),
    (
        "freehold bench pools",
        File(LAB, "for suite in counters readers pools memory; do promised $suite --quick"),
    ),
    (
        "freehold bench readers",
        File(LAB, "for suite in counters readers pools memory; do promised $suite --quick"),
    ),
    (
        "freehold replay data/drained/bpfstorm.kva.csv.zst",
        This("replay data/drained/bpfstorm.kva.csv.zst --rounds 1"),
    ),
    (
        "freehold replay data/drained/bpfstorm.kva.csv.zst --set pools=off",
        This("replay data/drained/bpfstorm.kva.csv.zst --set pools=off"),
    ),
    (
        "freehold replay data/traces/bpfvm.kva.csv.zst",
        This("replay data/traces/bpfvm.kva.csv.zst --rounds 1"),
    ),
    (
        "freehold replay data/traces/bpfvm.kva.csv.zst --engine rbtree --engine range-map",
        This("replay data/traces/bpfvm.kva.csv.zst --engine rbtree --engine range-map --rounds 1"),
    ),
    (
        "freehold replay data/traces/bpfvm.kva.csv.zst --instructions",
        File(MAIN, r#"["replay", "churn:100", "--engine", "rbtree:linux", "--instructions"]"#),
    ),
    (
        "freehold replay data/traces/netns.pcpu.csv.zst",
        This("replay data/traces/netns.pcpu.csv.zst --rounds 1"),
    ),
    ("freehold reproduce kva-2019", File(LAB, "studies=(kva-2019 percpu-2017 maple-2025)")),
    ("freehold reproduce maple-2025", File(LAB, "studies=(kva-2019 percpu-2017 maple-2025)")),
    ("freehold reproduce percpu-2017", File(LAB, "studies=(kva-2019 percpu-2017 maple-2025)")),
    ("freehold show --all", File(LAB, "show --json")),
    ("freehold stress FAMILY --adversary", File(LAB, "for family in maple pools rcu memory; do")),
    ("freehold stress counters", File(LAB, "stress counters")),
    ("freehold stress kva --mode performance", File(LAB, "stress kva --mode smoke")),
    ("freehold stress kva --mode stress", File(LAB, "stress kva --mode stress")),
    ("freehold stress maple --mode performance", File(LAB, "stress maple --mode smoke")),
    ("freehold stress maple --threads 3", File(LAB, "stress maple --threads 3")),
    ("freehold stress percpu --mode performance", File(LAB, "stress percpu --mode smoke")),
    ("freehold verify data/vectors/kva/*", VECTORS),
    ("freehold verify data/vectors/maple/*", VECTORS),
    ("freehold verify data/vectors/percpu/[ux]*", VECTORS),
    ("freehold verify data/vectors/percpu/area*", VECTORS),
    ("freehold bench percpu --workload seed", This("bench percpu --quick --workload seed --n 1000")),
];

/// A line of the shell from the root of the repository, with the program in its path.
fn shell(line: &str) -> Output {
    let built = Path::new(env!("CARGO_BIN_EXE_freehold")).parent().unwrap();
    let path = format!("{}:{}", built.display(), std::env::var("PATH").unwrap());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new("sh").args(["-c", line]).env("PATH", path).current_dir(root).output().unwrap()
}

/// The texts between backticks, outside of blocks of code, each as one line.
fn spans(page: &str) -> Vec<String> {
    let outside: Vec<&str> = page.split("```").step_by(2).collect();
    let spans = outside.iter().flat_map(|prose| prose.split('`').skip(1).step_by(2));
    spans.map(one_line).collect()
}

/// The lines of the blocks for a shell.
fn lines(page: &str) -> Vec<&str> {
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.flat_map(str::lines).collect()
}

/// Each claim's commands are listed above, and nothing else is; CI has what stands there; what is this test's to run succeeds.
#[test]
fn ci_runs_each_claim() {
    let page = root_file("docs/claims.md");
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| Claim |"));
    let mut claimed: BTreeSet<String> =
        rows.flat_map(|row| spans(row.rsplit_once(" | ").unwrap().1)).collect();
    // What is said under the table, too.
    let all: Vec<String> = spans(&page);
    claimed.extend(all.into_iter().filter(|span| span.starts_with("freehold ")));
    // Columns of a table that a command prints.
    claimed.retain(|span| span.len() > 1);
    let listed: BTreeSet<String> = CLAIMS.iter().map(|&(command, _)| command.to_owned()).collect();
    assert_eq!(claimed, listed);
    for (command, by) in &CLAIMS {
        match by {
            File(file, has) => assert!(root_file(file).contains(has), "{command}: {file} has no {has}"),
            This(shorter) => {
                let output = shell(&format!("freehold {shorter}"));
                assert!(output.status.success(), "{shorter}: {}", text(&output.stderr));
            }
        }
    }
    let adversary = root_file(LAB);
    assert!(
        adversary.contains("for family in kva percpu; do")
            && adversary.contains("stress $family --adversary")
    );
    for test in [
        "maple/tests/shared",
        "percpu/tests/storm",
        "vmalloc/tests/failures",
        "vmalloc/tests/processes",
        "vmalloc/tests/refusals",
    ] {
        let there = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(test);
        assert!(there.is_dir() || there.with_extension("rs").is_file(), "{test}");
    }
}

/// The command as the program is asked for its help: it reads all that stands before, and does nothing.
fn asked_for_help(command: &str) -> String {
    let command = command.split(" -- ").next().unwrap().split(" #").next().unwrap();
    let command = command.trim().strip_prefix("sudo ").unwrap_or(command).replace("FAMILY", "kva");
    format!("{command} --help")
}

#[test]
fn the_program_parses_every_command() {
    let mut tried = 0;
    for page in pages() {
        let text_of_page = root_file(&page);
        let spans = spans(&text_of_page).into_iter().filter(|span| span.starts_with("freehold "));
        let lines = lines(&text_of_page).into_iter().filter(|line| {
            line.starts_with("freehold ") || line.starts_with(r#"sudo "$(command -v freehold)""#)
        });
        for command in spans.chain(lines.map(String::from)) {
            // An operand, and an option's value, that the page leaves open.
            let whole = command.replace("help COMMAND", "help replay");
            let whole = if whole.ends_with(" --set") { format!("{whole} KEY=VALUE") } else { whole };
            // Help has no help of its own.
            let asked = if whole.starts_with("freehold help") { whole } else { asked_for_help(&whole) };
            let output = shell(&asked);
            let is_help = text(&output.stdout).contains("Usage: freehold");
            assert!(output.status.success() && is_help, "{page}: {command}: {}", text(&output.stderr));
            tried += 1;
        }
    }
    assert!(tried > 100, "{tried}");
    for wrong in ["freehold bench kva --qick", "freehold bench kvaa", "freehold fly"] {
        assert_eq!(shell(&asked_for_help(wrong)).status.code(), Some(2), "{wrong}");
    }
}

/// Of the lab's page, what takes a second or less and needs nothing but the repository.
#[test]
fn the_labs_page_does_what_it_says() {
    let page = root_file("docs/lab.md");
    let quick = [
        "freehold inspect ",
        "freehold doctor ",
        "freehold help ",
        "freehold replay churn:",
        "freehold emit-c ",
    ];
    let quick = lines(&page).into_iter().filter(|line| {
        quick.iter().any(|start| line.starts_with(start)) && !line.contains("--systems")
            || line.contains("bpfstorm")
    });
    let quick: Vec<&str> = quick.collect();
    assert_eq!(quick.len(), 7, "{quick:?}");
    for line in quick {
        let output = shell(line);
        assert!(output.status.success() && !output.stdout.is_empty(), "{line}: {}", text(&output.stderr));
    }
}

/// What is promised stands in `bench/promises.tsv`, and `docs/claims.md` says the same.
#[test]
fn the_page_of_claims_says_what_is_promised() {
    let promises = root_file("crates/lab/bench/promises.tsv");
    let bound = |suite: &str, what: &str, begins: &str| -> f64 {
        let of = format!("{suite}\t{what}\t");
        let bounds: BTreeSet<&str> = promises
            .lines()
            .filter(|line| line.starts_with(&of))
            .filter_map(|line| line.rsplit('\t').next())
            .collect();
        assert_eq!(bounds.len(), 1, "{what}: {bounds:?}");
        bounds.first().unwrap().strip_prefix(begins).unwrap().parse().unwrap()
    };
    let most = |suite, what| bound(suite, what, "at most ");
    let locks = most("counters", "locks taken for a counter that is made");
    assert_eq!(locks, most("counters", "locks taken for a counter that is dropped"));
    assert_eq!(
        most("counters", "an add, by one of rung 2"),
        most("counters", "an add by mm_cid, by one of rung 2")
    );
    let stacks = bound("memory", "guarded stacks alive at once", "at least ") as usize;
    let sentences = [
        format!(
            "an add takes at most {} of an atomic add to the CPU's own slot, a record at most {} adds, a snapshot at most {} copies; \
             a further CPU adds at most {} bytes to a counter; of counters that are made or dropped at most one in {} takes a lock",
            most("counters", "an add, by one of rung 2"),
            most("counters", "a record of a histogram, by an add"),
            most("counters", "a snapshot, by a copy of the same bytes"),
            most("counters", "bytes of a counter for a further CPU that ran"),
            1.0 / locks,
        ),
        format!(
            "{} guarded stacks are alive in at most {} mappings",
            super::readme::grouped(stacks),
            most("memory", "mappings that they add")
        ),
    ];
    for sentence in sentences {
        assert!(document("docs/claims.md").contains(&sentence), "docs/claims.md does not say: {sentence}");
    }
}

/// The table of what each rule of the kernel is worth, word for word, and what the page says of the storm.
#[test]
fn the_rules_of_the_kernel_are_worth_what_the_page_says() {
    let (page, prose) = (root_file("docs/record.md"), document("docs/record.md"));
    let storm =
        freehold(&["replay", &super::data("drained/bpfstorm.kva.csv.zst"), "--set", "pools=off", "--json"]);
    let found: serde_json::Value = serde_json::from_slice(&storm.stdout).unwrap();
    let records = found["records"].as_array().unwrap();
    let figure = |way: &str, is: &dyn Fn(&serde_json::Value) -> bool| {
        let record = records.iter().find(|record| record["way"] == way && is(record)).unwrap();
        super::readme::grouped(
            record["value"].as_u64().or_else(|| record["value"].as_f64().map(|value| value as u64)).unwrap()
                as usize,
        )
    };
    let right = |record: &serde_json::Value| record["op"] == "predicted" && record["where"] == "predicted";
    let [with, without] = ["as recorded", "pools=off"].map(|way| figure(way, &right));
    let purges = figure("as recorded", &|record| record["metric"] == "purges" || record["op"] == "purges");
    for sentence in [
        format!(
            "With the kernel's rules {with} of its 5,918 addresses are predicted, without pools {without}."
        ),
        format!("a storm of BPF maps on Linux 6.18 with {purges} purges"),
    ] {
        assert!(prose.contains(&sentence), "docs/record.md does not say: {sentence}");
    }
    if Command::new("python3").arg("--version").output().is_err() {
        return eprintln!("not run: the table: there is no python3");
    }
    let output = shell(&format!(".ci/rules {}", env!("CARGO_BIN_EXE_freehold")));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    assert!(table.lines().count() > 10);
    for row in table.lines() {
        assert!(page.contains(row), "docs/record.md has no row: {row}");
    }
}

/// The table of an engine in C is that of the header.
#[test]
fn the_page_has_the_struct_of_the_header() {
    let page = root_file("docs/own_engine.md");
    let of_page = page.split("```c\n").nth(1).unwrap().split("```").next().unwrap();
    // Comments differ: the page has those of a reader who has not seen the rest.
    let code = |text: &str| {
        let parts = text.split("/*").map(|part| part.split_once("*/").map_or(part, |(_, code)| code));
        one_line(&parts.collect::<String>())
    };
    let header = code(&root_file("crates/lab/include/freehold_engine.h"));
    assert!(
        of_page.contains("struct freehold_engine {") && header.contains(&code(of_page)),
        "{}",
        code(of_page)
    );
}
