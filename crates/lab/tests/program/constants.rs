//! Sizes and limits in README and the book, against the constants behind them: public ones as they are, others as their sources
//! have them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use super::readme::{document, grouped, root_file};
use super::{freehold, text};
use freehold::kva::{AddressSpace, Placement, Request};
use freehold::percpu::{BIT_BYTES, BLOCK_BITS, Counter, Gauge, Histogram};
use freehold::units::Align;
use freehold_trace::percpu::{self, AllocFlags};
use freehold_trace::{Kind, Lines, vma};
use std::collections::BTreeSet;
use std::path::Path;

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
pub(super) fn constant(file: &str, pattern: &str) -> u64 {
    let text = document(file);
    let (before, after) = pattern.split_once("{}").unwrap();
    let numbers = text.split(before).skip(1).filter_map(|rest| evaluated(rest.split_once(after)?.0));
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.dedup();
    assert_eq!(numbers.len(), 1, "{file}: {pattern}: {numbers:?}");
    numbers[0]
}

/// A page says this, its lines broken anywhere.
pub(super) fn says(page: &str, sentence: &str) {
    assert!(document(page).contains(sentence), "{page} does not say: {sentence}");
}

fn kib(bytes: u64) -> String {
    assert_eq!(bytes % 1024, 0);
    if bytes.is_multiple_of(1 << 30) {
        format!("{} GiB", bytes >> 30)
    } else if bytes.is_multiple_of(1 << 20) {
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
const CONCEPTS: &str = "docs/concepts.md";

#[test]
fn of_an_address_space() {
    let bits = constant("crates/kva/src/lib.rs", "assert!(usize::BITS >= {},");
    says("README.md", &format!("spaces and maps need {bits} bits"));
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

/// The request that the chapter follows, and the free after it.
#[test]
fn the_first_request_of_the_chapter_gets_what_it_says() {
    says(LIFE, "A device asks for 0x5000 bytes at a multiple of 0x2000, with a guard of a page behind them.");
    let whole = (0..0x11_000).try_into().unwrap();
    let mut space = AddressSpace::new(whole, Align::PAGE, Placement::Lowest).unwrap();
    for (first, end, name) in [(0, 0x1000, "d"), (0x4000, 0x7000, "n"), (0x10_000, 0x11_000, "u")] {
        space.alloc_at((first..end).try_into().unwrap(), name).unwrap();
    }
    let gap = |space: &AddressSpace<&str>| {
        let behind = space.free_blocks().find(|block| block.first() == 0x7000).unwrap();
        behind.size_bytes() / 0x1000
    };
    let before = gap(&space);
    let aligned = Align::new(0x2000).unwrap();
    let region = space.alloc(&Request::new(0x5000).align(aligned).guard(0x1000), "x").unwrap();
    says(LIFE, &format!("the usable addresses, {:#x} to {:#x}.", region.first(), region.last()));
    says(LIFE, &format!("the gap behind n: {before} granules; 6 fit from {:x} on", region.first() / 0x1000));
    space.free(region.first()).unwrap();
    says(LIFE, &format!("the gap behind n is {} granules again", gap(&space)));
}

#[test]
fn of_pools_and_memory() {
    let class = "crates/kva/src/pooled/class.rs";
    assert!(document(class).contains("const MOST_SLOTS: u32 = u32::BITS;"));
    says(LIFE, &format!("A slab is up to {} slots of one size", u32::BITS));
    says(CONCEPTS, &format!("A **slab** is up to {} slots of one size", u32::BITS));
    let sizes = constant(class, "const CLASSES: usize = {};");
    let pages = constant(class, "const MAX_GRANULES: u64 = {};");
    assert_eq!(constant("crates/vmalloc/src/zone/sizes.rs", "const SLAB_PAGES: usize = {};"), pages);
    says(LIFE, &format!("then to one of {sizes} sizes. More than {pages} pages, a window,"));
    says(LIFE, &format!("A block of more than {pages} pages is, if possible,"));
    says(CONCEPTS, &format!("one of more than {pages} pages, or with a window"));
    assert!(document(class).contains("5 6 7 8 | 10 12 14 16"));
    says(LIFE, "nine pages that are zero. The smallest slot that holds them has ten.");
    // Slots of which a slab has the most, and slots of which it has fewer than two quarters.
    let (list_at, slab) =
        (constant(class, "const LIST_AT: u32 = {};"), constant(class, "const SLAB_GRANULES: u32 = {};"));
    assert!(document(class).contains("(self.slots() / 4).clamp(1, LIST_AT)"));
    let (many, few) = (slab / u64::from(u32::BITS), slab / 8 + 1);
    says(LIFE, &format!("at most one call in {list_at}, or more for slots of more than {many} pages,"));
    says(LIFE, &format!("and each call from {few} pages on;"));
    let scan = constant("crates/vmalloc/src/scrub/mod.rs", "const SCAN_FROM_BYTES: usize = {};");
    says(LIFE, &format!("clear it. From {} on, only the pages that have memory", kib(scan)));
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

/// What `VirtualMemory` does unless it is told otherwise.
#[test]
fn of_memory_by_default() {
    let start = "docs/start.md";
    let reserve = kib(constant("crates/vmalloc/src/builder.rs", "reserve_bytes: {},"));
    says(start, &format!("without `.reserve(..)` it takes {reserve}, or less"));
    says("README.md", &format!("memory over reserved addresses, {reserve} unless you say"));
    says("crates/freehold/README.md", &format!("memory over reserved addresses, {reserve} unless you say"));
    let modes = "\"0\" => Some(Overcommit::Heuristic), \"1\" => Some(Overcommit::Always), \"{}\" => Some(Overcommit::Never)";
    let strict = constant("crates/sys/src/machine.rs", modes);
    says(start, &format!("Under `vm.overcommit_memory` {strict} memory is charged as it is handed out"));
    let second = "Self::bytes(256 << 20).decay(Duration::from_secs(1))";
    assert!(document("crates/vmalloc/src/retain.rs").contains(second), "another time than a second");
    says(start, "whole pages; dropped, they stay resident for a second");
    says(start, "gives back memory that was idle for a second");
    let part = constant("crates/vmalloc/src/slots/mod.rs", "mapping().len() as u64 / {} / shape.stride");
    assert_eq!(part, 8);
    says(start, "as many as an eighth of the reserve has room for");
    let off = constant("crates/vmalloc/src/slots/layout.rs", "const OFF_TABLE_BYTES: usize = {};");
    says("docs/mutants.md", &format!("the first is {} off it", kib(off)));
    let coroutines = constant("crates/vmalloc/examples/coroutines.rs", "const COROUTINES: u64 = {};");
    assert_eq!(coroutines, 10_000);
    says("docs/recipes.md", "With `corosensei`, ten thousand at once");
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
    says(CONCEPTS, &format!("It is filled with {refill} at once"));
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
    says(CONCEPTS, &format!("bits of {BIT_BYTES} bytes, blocks of a page"));
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
    assert_eq!(size_of::<Gauge>(), 2 * counter);
    says("docs/start.md", "A gauge takes twice as much");
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
    assert!(document("crates/lab/tests/parts/shrink.rs").contains("assert!(trials <= n * n + 3 * n,"));
    says(page, "For n lifetimes at most n² + 3n trials, mostly far fewer than n,");
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
    let frees = constant(page, "frees >= {} \\&\\&");
    let long = constant(page, "op->size > {} \\&\\&") / 4096;
    says(
        page,
        &format!("after {} frees, an allocation of more than {} pages is put", word(frees), word(long)),
    );
    let own = "docs/own_engine.md";
    let example = root_file("crates/lab/examples/first_fit.c");
    let table = example.lines().rev().nth(2).unwrap();
    assert!(table.starts_with("const struct freehold_engine freehold_engine = {"), "{table}");
    says(own, "Its table is its last three lines.");
    let timeout = freehold_lab::engine::outside::TIMEOUT_S;
    says(own, &format!("within `--engine-timeout` seconds, {timeout} unless you say,"));
    assert!(text(&freehold(&["--help"]).stdout).contains(&format!("[default: {timeout}]")));
    let bits = constant("crates/lab/src/engine/outside/ranges.rs", "const ADDRESS_BITS: u32 = {};");
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
    let processes = constant("docs/record.md", "for i in $(seq {}); do");
    says("docs/record.md", &format!("The command makes {processes} processes"));
    assert!(document(".ci/record").contains("events < bursts * 600_000"));
    says("docs/record.md", "`.ci/record` makes bursts of 600,000 events");
    assert!(document(".ci/record").contains(r#"("maps", 99), ("threads", 99)"#));
    says(
        "docs/record.md",
        "On new storms of BPF maps and of threads 99 % and more are predicted: `.ci/record` makes both",
    );
}

/// What the headers have, and how many programs there are to copy.
#[test]
fn of_c() {
    let (page, header) = ("docs/c.md", "crates/capi/include/freehold.h");
    let init = "#define FH_REQUEST_INIT(bytes) { sizeof(fh_request), (bytes), ";
    let align = constant(header, &format!("{init}{{}},"));
    let guard = constant(header, &format!("{init}{align}, {{}},"));
    let window = format!("{init}{align}, {guard}, {{ 0, UINT64_MAX }} }}");
    assert!(document(header).contains(&window), "another window");
    for row in [
        "| `size_bytes` | `n` |".to_owned(),
        format!("| `align_bytes` | {align} |"),
        format!("| `guard_bytes` | {guard} |"),
        "| `window` | `{0, UINT64_MAX}` |".to_owned(),
        "| `size` | `sizeof(fh_request)` |".to_owned(),
    ] {
        says(page, &row);
    }
    says(page, &format!("returns `FH_OK` ({}) or a negative `fh_error`", constant(header, "FH_OK = {},")));
    let percpu = "crates/capi/include/freehold/percpu.h";
    let most = constant(percpu, "copy of a number of 1, 2, 4 or {} bytes");
    says(page, &format!("Numbers of 1 to {most} bytes, no pointers"));
    let files = |folder: &str, extension: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|file| file.extension().is_some_and(|found| found == extension)).count() as u64
    };
    let programs = word(files("crates/capi/examples", "c"));
    says(page, &format!("`crates/capi/examples` has {programs}."));
    says("README.md", &format!("[{programs} programs to copy](crates/capi/examples)"));
    // `kernel.h` is what the others share, and `counter.h` is of our own names.
    let headers = word(files("crates/capi/include/freehold", "h") - 2);
    says(page, &format!("The {headers} headers define `s32`, `s64`, `gfp_t` and `spinlock_t`"));
}

/// What traces have in numbers, and what the recorder writes into files of the kernel.
#[test]
fn of_traces() {
    let page = "docs/formats.md";
    let flags = |bits: u64| {
        let text = format!(
            "{} kind=pcpu kernel=6.18 ncpu=1 pagesize=4096 clock=mono\n#workload w: d\n#lost_records=0\n#{}\n\
             0,0,1,A,1,0,0,4,4,{bits},16,f\n",
            freehold_trace::TITLE,
            Kind::Pcpu.columns()
        );
        let events = percpu::Events::new(Lines::from_text("flags", &text)).unwrap();
        events.map(|event| event.unwrap().flags.unwrap()).next().unwrap()
    };
    let bit = |is: fn(AllocFlags) -> bool| [1, 2, 4].into_iter().find(|&bit| is(flags(bit))).unwrap();
    says(
        page,
        &format!(
            "{} from the reserved part of the first chunk, {} atomic, {} charged to a control group; added",
            bit(|flags| flags.reserved),
            bit(|flags| flags.atomic),
            bit(|flags| flags.accounted)
        ),
    );
    let row = |op: &str, flags: &str, found: &str| {
        let text = format!(
            "{} kind=vma kernel=6.18 ncpu=1 pagesize=4096 clock=mono\n#workload w: d\n#lost_records=0\n#{}\n\
             0,0,7,{op},0,{flags},{found}\n",
            freehold_trace::TITLE,
            Kind::Vma.columns()
        );
        let events = vma::Events::new(Lines::from_text("row", &text)).unwrap();
        events.map(|event| event.unwrap().action).next().unwrap()
    };
    says(page, "| 1 from above, 0 from below |");
    says(page, "| 1 if it was the last of its process, else 0 |");
    for (bit, is) in [("1", true), ("0", false)] {
        let search = row("g", &format!("1000-7fd503796000,8192,0,{bit},,0"), "7fd503500000");
        assert!(matches!(search, vma::Action::GapSearch { top_down, .. } if top_down == is), "{search:?}");
        let end = row("e", ",,,,,", bit);
        assert!(matches!(end, vma::Action::Exit { last } if last == is), "{end:?}");
    }
    assert_eq!(Kind::ALL.len(), 4);
    says(page, "There are four kinds:");
    says("docs/python.md", "Traces are of four kinds.");
    let tracefs = "crates/record/src/driver/tracefs.rs";
    let caches = constant(tracefs, "machine.proc(\"sys/vm/drop_caches\"), \"{}\")?");
    says("docs/record.md", &format!("`kva` first writes {caches} to `drop_caches`"));
    let pointers = constant(tracefs, "self.hands.write_during(&restrict, \"{}\",");
    says(page, &format!("read while `kptr_restrict` is {pointers} (kva)"));
}

/// In the traces that come with the program, each thing is numbered as the page says, without holes.
#[test]
fn of_numbered_things() {
    let page = "docs/formats.md";
    says(page, "Four lines of header, then one event a line");
    for (file, column, first, sentence) in [
        ("netns.pcpu", "obj", 1, "Objects (`obj`) are numbered from 1 without holes"),
        ("bpfvm.kva", "obj", 1, "Objects (`obj`) are numbered from 1 without holes"),
        ("netns.pcpu", "chunk", 0, "number of the chunk, from 0 in the order in which chunks appear"),
        ("pynumpy.vma", "mm", 0, "`mm` is the number of the address space, from 0 without holes;"),
        (
            "mt_all_stress.mt",
            "node",
            0,
            "number of the tree's node, from 0 in the order in which nodes appear",
        ),
    ] {
        says(page, sentence);
        let file = freehold_lab::data_folder().unwrap().join(format!("traces/{file}.csv.zst"));
        let mut lines = Lines::open(&file).unwrap();
        let kind = freehold_trace::TraceHeader::read(&mut lines).unwrap().kind;
        assert_eq!(lines.number(), 4);
        let at = kind.columns().split(',').position(|name| name == column).unwrap();
        let mut numbers = BTreeSet::new();
        while let Some(line) = lines.advance().unwrap() {
            numbers.extend(line.split(',').nth(at).and_then(|number| number.parse::<u64>().ok()));
        }
        let last = first + numbers.len() as u64 - 1;
        assert_eq!((numbers.first(), numbers.last()), (Some(&first), Some(&last)), "{column} of {file:?}");
    }
}

/// The loads that the page of comparisons names, of `clients/run`.
#[test]
fn of_clients() {
    let page = "docs/compare.md";
    let of = |file: &str, pattern: &str| constant(&format!("clients/src/{file}"), pattern);
    let many = |file, pattern| grouped(of(file, pattern) as usize);
    let engines = "wasmtime/engines.rs";
    let [small, large] = ["1 MiB", "4 GiB"].map(|name| {
        let bytes = of(engines, &format!("name: \"{name}\", memory_bytes: {{}},"));
        assert_eq!(kib(bytes), name);
        name
    });
    says(page, &format!("`wasmtime`, memories of {small} and of {large}: bare instances"));
    let at_once = of("wasmtime/mod.rs", "const AT_ONCE: usize = {};");
    for what in [
        format!("instances that grow, write and trap; {at_once} of these at once"),
        format!("calls that wait on fibers, {at_once} at once"),
        format!("mappings of {at_once} at once"),
        format!(
            "guards of {}; {} at once",
            kib(of("bin/wasmer/main.rs", ".guard({})")),
            of("bin/wasmer/main.rs", "const AT_ONCE: usize = {};")
        ),
        format!("`cranelift-jit`, {} modules;", many("cranelift.rs", "const MODULES: usize = {};")),
        format!(
            "a coroutine; {} at once; how many of {} |",
            many("corosensei.rs", "const SOME: usize = {};"),
            many("corosensei.rs", "const MOST: usize = {};")
        ),
        format!("`vm-device`, {} devices:", of("vm_device.rs", "const DEVICES: u64 = {};")),
    ] {
        says(page, &what);
    }
    let times = constant("crates/lab/src/concurrent/counters/mod.rs", "vec![1, 2, cpus(), {} * cpus()]");
    says(
        page,
        &format!(
            "by one thread, two, as many as CPUs, and {} times as many; times are CPU time",
            word(times)
        ),
    );
    assert_eq!(of("hashbrown.rs", "let pairs = effort.of({});"), 1_000_000);
    says(page, "`hashbrown`, a map of a million");
    says("README.md", &format!("look-ups of {} devices", of("vm_device.rs", "const DEVICES: u64 = {};")));
}

/// What the page of claims counts.
#[test]
fn of_claims() {
    let page = "docs/claims.md";
    assert!(document("crates/lab/bench/published.tsv").contains(" time:total 52 min 14 s engine=area-map"));
    says(page, "the posting's tables, 52 minutes and 14 seconds,");
    let lock = root_file("Cargo.lock");
    let is_crate = |name: &&str| lock.contains(&format!("name = \"{name}\"\n"));
    let engines = root_file("crates/lab/bench/features.tsv");
    let names =
        engines.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split('\t').next());
    let crates: Vec<&str> = names.filter(is_crate).collect();
    says(page, &format!("the same against {} other crates,", word(crates.len() as u64)));
}
