//! Versions in README and the book: of kernels, languages, libraries and formats, against the manifest, the source or the recording
//! that each comes from.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use super::constants::{constant, says};
use super::readme::{document, one_line, root_file};
use super::{freehold, text};
use freehold::units::Align;
use freehold_harness::systems::System;
use freehold_lab::data_folder;
use freehold_linux::kva::lazy::{Choices, Decay, Pools};
use freehold_trace::{Lines, TraceHeader};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The version that stands for `{}` in the pattern, in a file that has the pattern; wherever it has it, it is the same.
fn version(file: &str, pattern: &str) -> String {
    let text = document(file);
    let (before, after) = pattern.split_once("{}").unwrap();
    let is_version = |text: &&str| {
        text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    let found = text.split(before).skip(1).filter_map(|rest| Some(rest.split_once(after)?.0));
    let found: BTreeSet<&str> = found.filter(is_version).collect();
    assert_eq!(found.len(), 1, "{file}: {pattern}: {found:?}");
    (*found.first().unwrap()).to_owned()
}

/// The first two numbers of a version.
fn minor(version: &str) -> String {
    version.splitn(3, '.').take(2).collect::<Vec<_>>().join(".")
}

/// The page has a row of a table that begins with this, and says that in it.
fn row_says(page: &str, start: &str, text: &str) {
    let table = root_file(page);
    let row = table.lines().find(|line| line.starts_with(&format!("| {start}")));
    let row = row.unwrap_or_else(|| panic!("{page} has no row {start}"));
    assert!(row.contains(text), "{page} does not say {text}: {row}");
}

#[test]
fn of_rust() {
    let of = |file| constant(file, "rust-version = \"1.{}\"");
    let library = of("Cargo.toml");
    says("README.md", &format!("The library crates need Rust 1.{library},"));
    says("docs/c.md", &format!("You need Linux, Rust 1.{library} or newer"));
    let lab = of("crates/lab/Cargo.toml");
    says("README.md", &format!("On a machine with Rust 1.{lab} or newer"));
    for page in ["docs/lab.md", "docs/record.md"] {
        says(page, &format!("Rust 1.{lab} or newer"));
    }
    says("docs/python.md", &format!("and Rust 1.{} or newer", of("python/Cargo.toml")));
    says(
        "CONTRIBUTING.md",
        &format!("The library crates build with Rust 1.{library}, the lab with 1.{lab}."),
    );
}

#[test]
fn of_other_languages_and_crates() {
    let project = "python/pyproject.toml";
    let python = version(project, "requires-python = \">={}\"");
    says("docs/python.md", &format!("Python {python} or newer"));
    let abi = format!("\"abi3-py{}\"", python.replace('.', ""));
    assert!(document("python/Cargo.toml").contains(&abi), "the wheel is of another Python than {abi}");
    let java = version("python/requirements-fleet.txt", "Spark needs Java {},");
    says("docs/python.md", &format!("`pip install './python[spark]'` and Java {java} |"));

    let ours = minor(&version("Cargo.toml", "[workspace.package] version = \"{}\""));
    says("README.md", &format!("freehold = \"{ours}"));
    says("README.md", &format!("- Version {ours}"));
    says("docs/start.md", &format!("freehold = {{ version = \"{ours}"));
    let metrics = minor(&version("Cargo.toml", " metrics = \"{}\""));
    says("docs/start.md", &format!("beside `metrics = \"{metrics}\"`"));
    let cargo_c = minor(&version(".ci/tools", "cargo-c {} an installation of the C library"));
    says("docs/c.md", &format!("With cargo-c {cargo_c}, `cargo cinstall"));
    let allocator = version("Cargo.lock", "name = \"vm-allocator\" version = \"{}\"");
    row_says("docs/compare.md", "`vm-allocator`", &format!("{allocator} gives out live addresses again"));
}

/// The least kernel is the oldest one whose answers every type is tried under, by `freehold doctor --systems` and the tests of systems.
#[test]
fn of_the_least_system() {
    let kernels = System::ALL.into_iter().filter_map(|system| match system {
        System::Linux(major, minor) => Some((major, minor)),
        _ => None,
    });
    let (major, minor) = kernels.min().unwrap();
    let oldest = format!("Linux {major}.{minor} and newer, x86-64 and aarch64");
    says("README.md", &format!("With `std`: {oldest}, glibc and musl"));
    says("crates/freehold/README.md", &format!("what threads share, and memory: {oldest}"));
    says("CHANGELOG.md", &format!("Linux {major}.{minor} or newer for `std`"));
    let table = root_file("crates/sys/README.md");
    let row = format!("linux-{major}.{minor} ");
    assert!(table.lines().any(|line| line.starts_with(&row)), "the table of `sys` has no row {row}");
    // What the library itself asks of a kernel: barriers of a process, and a page that children have cleared.
    for (file, since) in [
        ("crates/sys/src/abilities.rs", "Barriers on all threads of the process (Linux {})."),
        ("crates/sys/src/mark.rs", "(`MADV_WIPEONFORK`, Linux {})"),
    ] {
        assert_eq!(version(file, since), format!("{major}.{minor}"), "{file}");
    }
}

/// What a kernel or a C library has from some version on, as the module says that uses it.
#[test]
fn of_abilities() {
    let kernel = version("crates/sys/src/rseq/mod.rs", "\"Restartable sequences\", Linux {};");
    let library = version("crates/sys/src/rseq/x86_64.rs", "or before {}, leaves");
    assert_eq!(library, version("crates/sys/src/rseq/aarch64.rs", "or before {}, leaves"));
    says("docs/start.md", &format!("Linux {kernel} and glibc {library} or later offer it"));
    assert_eq!(library, version("crates/capi/include/freehold/counter.h", "(glibc {} and later)"));
    says("docs/c.md", &format!("that glibc {library} and later make for each thread"));
    let guards = version("crates/sys/src/abilities.rs", "marks in the page table (Linux {}).");
    says("docs/concepts.md", &format!("take no mapping each where the kernel offers that ({guards})"));
}

/// The least kernels for recordings, as the recorder has them.
#[test]
fn of_recorders() {
    let event = |name: &str| {
        let (system, name) = name.split_once(':').unwrap();
        version("crates/record/src/recording.rs", &format!("\"{system}\", \"{name}\", Some(\"{{}}\")"))
    };
    let kva = event("vmalloc:alloc_vmap_area");
    assert_eq!(kva, event("vmalloc:free_vmap_area_noflush"));
    let percpu = event("percpu:percpu_alloc_percpu");
    assert_eq!(percpu, event("percpu:percpu_free_percpu"));
    let mt = event("maple_tree:ma_write");
    let ptrace = version("crates/harness/src/ptrace.rs", "`PTRACE_GET_SYSCALL_INFO` (Linux {}),");
    let page = "docs/record.md";
    row_says(page, "`kva` | areas", &format!("| root, Linux {kva} |"));
    row_says(page, "`percpu` | per-CPU", &format!("| root, Linux {percpu} |"));
    row_says(page, "`mt` | what", &format!("| root, Linux {mt} |"));
    row_says(page, "`vma` | mappings", &format!("| ptrace of own children; Linux {ptrace} |"));
    let help = one_line(&text(&freehold(&["record", "--help"]).stdout));
    for least in [&kva, &mt] {
        assert!(help.contains(&format!("Needs root and Linux {least}")), "{least}: {help}");
    }
    let page = "docs/formats.md";
    row_says(page, &format!("before {kva} |"), "`vmalloc:*`");
    row_says(page, &format!("before {mt} |"), "`maple_tree:*`");
    let charges = version("crates/record/src/event.rs", "nothing before Linux {}. ");
    row_says(page, &format!("before {charges} |"), "callers, charges and flags of per-CPU allocations");
    row_says(page, "`bytes_alloc` |", &format!("`A`, from Linux {charges} on"));
    let trace_dat = "6 and 7";
    assert!(document("crates/record/src/trace_dat.rs").contains(&format!("; {trace_dat} are read")));
    says(page, &format!("trace.dat of version {trace_dat},"));
}

/// The kernels that the model of lazy frees tells apart.
#[test]
fn of_rules_of_the_kernel() {
    let of = |minor| Choices::linux((6, minor), 8, 8, Align::PAGE);
    let first = |is: &dyn Fn(Choices) -> bool| (0..30).find(|&minor| is(of(minor))).unwrap();
    let pools = first(&|choices| choices.pools == Pools::PerNode);
    let decay = first(&|choices| choices.decay == Decay::Quarter);
    let (last, page) = (decay - 1, "docs/lab.md");
    says(
        page,
        &format!(
            "no pools before 6.{pools}, the decay (see below) of 6.{pools} to 6.{last}, or that of 6.{decay} and later"
        ),
    );
    says(
        page,
        &format!(
            "`--set decay=6.{pools}` has the rules of Linux 6.{pools} to 6.{last}, `--set pools=off --set nodes=1` those \
             before 6.{pools}"
        ),
    );
    assert_eq!((of(pools - 1).pools, of(pools - 1).nodes), (Pools::Off, 1));
    row_says(page, "`decay`", &format!("| `6.{decay}`, `6.{pools}`, `off`, `tail` |"));
    says("docs/record.md", &format!("| bpfvm | decay of 6.{pools} to 6.{last} | `--set decay=6.{pools}` |"));
    row_says("docs/differences.md", "Freed areas stay taken", &format!("Since 6.{pools} a purge puts"));
    says("docs/claims.md", &format!("since 6.{pools} keeps small areas in pools"));
}

/// The kernels whose answers are recorded in `data/`, by the recordings themselves or, for what does not say, by its README.
#[test]
fn of_recorded_kernels() {
    let data = data_folder().unwrap();
    let files = |folder: &str| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(data.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        entries.collect()
    };
    let traces = ["traces", "drained"].into_iter().flat_map(files);
    let traces = traces.filter(|file| file.to_string_lossy().ends_with(".csv.zst"));
    let release = |file: PathBuf| TraceHeader::read(&mut Lines::open(&file).unwrap()).unwrap().kernel;
    let releases: BTreeSet<String> = traces.map(|file| minor(&release(file))).collect();
    let recorded = releases.first().unwrap();
    assert_eq!(releases.len(), 1, "{releases:?}");
    says("docs/lab.md", &format!("Only recordings of Linux {recorded} were held against it"));
    says("docs/record.md", &format!("a storm of BPF maps on Linux {recorded} with"));
    says("docs/record.md", &format!("All these recordings are of Linux {recorded};"));
    says("docs/claims.md", &format!("where Linux {recorded} puts each area, with its lazy frees"));
    says("docs/claims.md", &format!("Of a storm of BPF maps on Linux {recorded},"));

    let streams =
        files("vectors/maple").into_iter().filter(|file| file.to_string_lossy().contains(".mstream"));
    let of_stream = |file: PathBuf| {
        let mut lines = Lines::open(&file).unwrap();
        lines.advance().unwrap();
        lines.advance().unwrap().unwrap().strip_prefix("version ").unwrap().to_owned()
    };
    let streams: BTreeSet<String> = streams.map(of_stream).collect();
    let streams = streams.into_iter().collect::<Vec<_>>().join(" and ");
    says("data/README.md", &format!("the maple tree's own test suite in {streams}:"));
    says("docs/claims.md", &format!("that its test suite made in Linux {streams}"));

    let told = |pattern: &str| version("data/README.md", pattern);
    let free_tree = told("`k` the Linux {} free tree");
    says("docs/claims.md", &format!("the address that the free tree of Linux {free_tree} takes"));
    says("docs/formats.md", &format!("`k` Linux {free_tree}, `l` lowest"));
    let percpu = told("placements of the Linux {} percpu allocator");
    says("docs/claims.md", &format!("where Linux {percpu} places it"));
    let maple = told("operations on the Linux {} maple tree");
    says("docs/claims.md", &format!("the model of it answer as Linux {maple} does"));
    says("docs/c.md", &format!("The answers are those recorded from Linux {maple},"));
    let after_list = constant("data/README.md", "`g` the gap allocator of Linux <= 5.{} |") + 1;
    says("README.md", &format!("the list before Linux 5.{after_list}:"));
    says("docs/claims.md", &format!("the very steps of the list before Linux 5.{after_list} |"));
    says("docs/formats.md", &format!("`g` the gap list before 5.{after_list}."));
}

/// The versions of files that the program writes.
#[test]
fn of_formats() {
    let page = "docs/formats.md";
    let [written, read] = [freehold_trace::TITLE, freehold_trace::TITLE_V1].map(|title| {
        let number = title.strip_prefix("#vml-trace v").unwrap();
        number.parse::<u32>().unwrap()
    });
    says(page, &format!("**Version {written}** is what is written; version {read} is read as well"));
    says(page, &format!("| New in version {written} | |"));
    for (file, title) in [
        ("crates/trace/src/kva/vectors.rs", "kva-vectors"),
        ("crates/trace/src/kva/talk.rs", "kva-talk"),
        ("crates/trace/src/maple/vectors.rs", "maple-vectors"),
    ] {
        let number = version(file, &format!("\"# {title} {{}}\""));
        says(page, &format!("**`# {title} {number}`**:"));
    }
    let stream = version("crates/trace/src/maple/stream.rs", "(\"maple-stream {}\"");
    says(page, &format!("`maple-stream {stream}`, a header in text"));
    says(page, &format!("`--json` gives one document of schema `{}`", freehold_lab::record::SCHEMA));
    let doctor: serde_json::Value = serde_json::from_slice(&freehold(&["doctor", "--json"]).stdout).unwrap();
    let import = version("crates/lab/src/commands/import.rs", "\"freehold-import/{}\"");
    says(
        page,
        &format!(
            "have documents of their own, `{}` and `freehold-import/{import}`",
            doctor["schema"].as_str().unwrap()
        ),
    );
}
