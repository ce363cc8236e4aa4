//! Sizes and limits in README and the book, against the constants behind them: public ones as they are, others as their sources
//! have them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use super::readme::{document, grouped, one_line};
use super::{freehold, text};
use freehold::percpu::{BIT_BYTES, BLOCK_BITS, Counter, Histogram};

/// A product, quotient or shift of numbers, as sources write them.
fn evaluated(expression: &str) -> Option<u64> {
    let of = |sign, apply: fn(u64, u64) -> u64| {
        let (left, right) = expression.rsplit_once(sign)?;
        Some(apply(evaluated(left)?, evaluated(right)?))
    };
    let number = || expression.trim().replace('_', "").parse().ok();
    of("<<", |a, b| a << b).or_else(|| of("*", |a, b| a * b)).or_else(number)
}

/// The number that stands for `{}` in the pattern, in a file that has the pattern; wherever it has it, it is the same.
fn constant(file: &str, pattern: &str) -> u64 {
    let text = document(file);
    let (before, after) = pattern.split_once("{}").unwrap();
    let numbers = text.split(before).skip(1).filter_map(|rest| evaluated(rest.split_once(after)?.0));
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.dedup();
    assert_eq!(numbers.len(), 1, "{file}: {pattern}: {numbers:?}");
    numbers[0]
}

/// A page says this, its lines broken anywhere.
fn says(page: &str, sentence: &str) {
    assert!(document(page).contains(sentence), "{page} does not say: {sentence}");
}

fn kib(bytes: u64) -> String {
    assert_eq!(bytes % 1024, 0);
    if bytes.is_multiple_of(1 << 20) {
        format!("{} MiB", bytes >> 20)
    } else {
        format!("{} KiB", bytes >> 10)
    }
}

/// Small numbers, as prose has them.
fn word(number: u64) -> &'static str {
    let words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    words[usize::try_from(number).unwrap()]
}

const LIFE: &str = "docs/life.md";

#[test]
fn of_an_address_space() {
    let width = constant("crates/kva/src/regions/leaf/mod.rs", "const WIDTH: usize = {};");
    says(LIFE, &format!("A full leaf, of {width} entries, is split"));
    let merge = "crates/kva/src/regions/remove.rs";
    let few = width / constant(merge, "const FEW: usize = WIDTH / {};");
    assert!(document(merge).contains("const JOINED: usize = WIDTH * 3 / 4;"));
    let joined = width * 3 / 4;
    says(
        LIFE,
        &format!(
            "Merge a leaf of fewer than {few} entries with a neighbour, if both together have at most {joined}."
        ),
    );
}

#[test]
fn of_pools_and_memory() {
    let class = "crates/kva/src/pooled/class.rs";
    assert!(document(class).contains("const MOST_SLOTS: u32 = u32::BITS;"));
    says(LIFE, &format!("A slab is up to {} slots of one size", u32::BITS));
    let sizes = constant(class, "const CLASSES: usize = {};");
    let pages = constant(class, "const MAX_GRANULES: u64 = {};");
    assert_eq!(constant("crates/vmalloc/src/zone/sizes.rs", "const SLAB_PAGES: usize = {};"), pages);
    says(LIFE, &format!("then to one of {sizes} sizes. More than {pages} pages, a window,"));
    says(LIFE, &format!("A block of more than {pages} pages is, if possible,"));
    assert!(document(class).contains("5 6 7 8 | 10 12 14 16"));
    says(LIFE, "nine pages that are zero. The smallest slot that holds them has ten.");
    says(LIFE, &format!("at most one call in {};", constant(class, "const LIST_AT: u32 = {};")));
    let scan = constant("crates/vmalloc/src/scrub/mod.rs", "const SCAN_FROM_BYTES: usize = {};");
    says(LIFE, &format!("clear it; from {} on, only the pages that have memory", kib(scan)));
    let retain = "crates/vmalloc/src/retain.rs";
    let (part, most) = (constant(retain, "(self.bytes / {})"), constant(retain, "/ 16).min({})"));
    let least = constant("crates/vmalloc/src/residency/purge.rs", "const LEAST_BATCH_BYTES: u64 = {};");
    says(LIFE, &format!("A batch is a {part}th of the threshold, from {} to {}.", kib(least), kib(most)));
    let looks = word(constant("crates/vmalloc/src/decay.rs", "const LOOKS: u32 = {};"));
    says(
        LIFE,
        &format!(
            "a thread looks {looks} times in a window, and decommits as much as was free at all {looks} looks"
        ),
    );
}

#[test]
fn of_per_cpu_memory() {
    let magazine = "crates/percpu/src/heap/magazine.rs";
    let full = constant(magazine, "const FULL: usize = if cfg!(loom) { 2 } else { {} };");
    let refill = full / constant(magazine, "const REFILL: usize = FULL / {};");
    let sizes = constant(magazine, "const CLASSES: usize = if cfg!(loom) { 1 } else { {} };");
    let step = constant(magazine, "const CLASS_BYTES: u64 = {};");
    says(LIFE, &format!("Up to {} bytes, aligned to at most {step}: the magazine", sizes * step));
    says(LIFE, &format!("both empty: fetch {refill}"));
    says(LIFE, &format!("A magazine fetches {refill} as one run"));
    says(LIFE, &format!("steps 3 to 6, once for {refill} |"));
    says(LIFE, &format!("the dirty ones, {full} of which are cleared at once"));
    says(
        LIFE,
        &format!(
            "a bit for {BIT_BYTES} bytes, so an object of 8 bytes has {}",
            word(8 / u64::from(BIT_BYTES))
        ),
    );
    says(LIFE, &format!("constant, a step for every {} bytes", u64::BITS * BIT_BYTES));
    says("docs/concepts.md", &format!("bits of {BIT_BYTES} bytes, blocks of a page"));
    let unit = constant("crates/percpu/src/heap/units.rs", "const UNIT_BYTES: u32 = {};");
    says(LIFE, &format!("The heap commits its {} in every unit", kib(unit)));
    // A counter's slot is a word for each CPU, a histogram's has a word for each bucket and one for the sum.
    let (counter, slot) = (size_of::<Counter>(), size_of::<u64>());
    says(
        "docs/start.md",
        &format!(
            "A counter takes {counter} bytes, and {slot} for each CPU that adds to it: {} on two CPUs",
            counter + 2 * slot
        ),
    );
    let histogram = slot * (freehold::percpu::BUCKETS + 1);
    says("docs/start.md", &format!("a histogram {} bytes for each CPU that records", grouped(histogram)));
    assert!(size_of::<Histogram>() < histogram);
    says("docs/compare.md", &format!("ours {} on two CPUs", counter + 2 * slot));
    let least = kib(u64::from(freehold::percpu::MIN_UNIT_BYTES));
    says("docs/c.md", &format!("Up to {least}, aligned to at most {};", BIT_BYTES * BLOCK_BITS));
}

#[test]
fn of_a_tree_that_threads_share() {
    let poll =
        constant("crates/rcu/src/backlog.rs", "const POLL: usize = if cfg!(shuttle) { 6 } else { {} };");
    says(LIFE, &format!("once {poll} records were retired since the last poll"));
}

#[test]
fn of_the_lab() {
    let page = "docs/shrink.md";
    let condition = "crates/lab/src/shrink/condition.rs";
    let trials = ["Differs | What::MorePages(_)", "Time(..)", "Instructions(..)"]
        .map(|what| constant(condition, &format!("What::{what} => {{}},")));
    says(
        page,
        &format!("`--trials`: {}, or {} for times, or {} under valgrind", trials[0], trials[1], trials[2]),
    );
    let look = constant(condition, "const LOOK: usize = {};");
    says(
        page,
        &format!("the state of the engine after {look} operations, {}, {} and so on", 2 * look, 4 * look),
    );
    let rounds = word(constant(condition, "const ROUNDS: usize = {};"));
    says(page, &format!("the median of {rounds} rounds"));
    let stream = constant("crates/lab/src/shrink/tree.rs", "const MOST: usize = {};");
    says(page, &format!("Only the first {} operations of a stream are used", grouped(stream as usize)));
    let emitted = constant("crates/lab/src/commands/emit_c.rs", "const MOST: usize = {};");
    says(page, &format!("It may have at most {} operations", grouped(emitted as usize)));
    let own = "docs/own_engine.md";
    let timeout = freehold_lab::engine::outside::TIMEOUT_S;
    says(own, &format!("within `--engine-timeout` seconds, {timeout} unless you say,"));
    assert!(text(&freehold(&["--help"]).stdout).contains(&format!("[default: {timeout}]")));
    let bits = constant("crates/lab/src/engine/outside/spaces.rs", "const ADDRESS_BITS: u32 = {};");
    says(own, &format!("an index has {bits} bits for the address"));
    let lines = "crates/trace/src/lines.rs";
    let bytes = kib(constant(lines, "const MOST_BYTES: u64 = {};"));
    let most = grouped(freehold_trace::MOST_LINES as usize);
    says("docs/formats.md", &format!("Limits: {most} lines and {bytes} of text."));
    let pooled = constant("crates/lab/src/predict/mod.rs", "const POOLED_PAGES: u128 = {};");
    says("docs/lab.md", &format!("| `nodes` | 1 to {} |", freehold_linux::kva::lazy::MOST_NODES));
    says("docs/differences.md", &format!("puts those of up to {pooled} pages into pools"));
    says("docs/lab.md", &format!("a purge keeps areas of up to {pooled} pages in pools"));
}

#[test]
fn of_recording() {
    let tracefs = "crates/record/src/driver/tracefs.rs";
    let (buffer, part) =
        (constant(tracefs, "const BUFFER_KIB: u64 = {};"), constant(tracefs, "const MEMORY_PART: u64 = {};"));
    says(
        "docs/record.md",
        &format!("a buffer of {}, or less where that is more than a {part}th of memory", kib(buffer << 10)),
    );
    assert!(document(".ci/record").contains("events < bursts * 600_000"));
    says("docs/record.md", "`.ci/record` makes bursts of 600,000 events");
    assert!(document(".ci/record").contains(r#"("maps", 99), ("threads", 99)"#));
    says(
        "docs/record.md",
        "On new storms of BPF maps and of threads 99 % and more are predicted: `.ci/record` makes both",
    );
    // The least kernels are what `--help` says of each kind.
    let help = one_line(&text(&freehold(&["record", "--help"]).stdout));
    for (kind, least) in [("kva", "6.2"), ("mt", "6.1")] {
        assert!(help.contains(&format!("root and Linux {least}")), "{kind}: {help}");
    }
}

/// Versions of Rust that README and the book name.
#[test]
fn of_rust() {
    let of = |file| constant(file, "rust-version = \"1.{}\"");
    says("README.md", &format!("The library crates need Rust 1.{},", of("Cargo.toml")));
    let lab = of("crates/lab/Cargo.toml");
    says("README.md", &format!("On a machine with Rust 1.{lab} or newer"));
    for page in ["docs/lab.md", "docs/record.md"] {
        says(page, &format!("Rust 1.{lab} or newer"));
    }
}
