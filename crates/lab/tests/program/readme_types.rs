//! What README says of types and crates: as far as the compiler can tell by failing here, and by the sources and the manifests.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use super::readme::readme_has;
use freehold::kva::{AddressSpace, PooledSpace, SharedSpace};
use freehold::maple::{MapleTree, RangeMap, WordMap};
use freehold::percpu::{ChunkSet, Counter, Histogram};
use freehold::vmalloc::VirtualMemory;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn says(sentence: &str) {
    assert!(readme_has(sentence), "README does not say: {sentence}");
}

/// An operation that needs the only reference.
const fn has_one_owner<T, A, R>(_: fn(&mut T, A) -> R) {}

/// An operation that threads call on one value.
const fn is_shared<T: Send + Sync, A, R>(_: fn(&T, A) -> R) {}

#[test]
fn who_owns_what() {
    says("`WordMap`, `RangeMap`, `AddressSpace` and `ChunkSet` have one owner");
    has_one_owner(AddressSpace::<u8>::free);
    has_one_owner(RangeMap::<u8>::erase);
    has_one_owner(WordMap::<u8>::erase);
    has_one_owner(|set: &mut ChunkSet, object| set.free(object));

    says("a `MapleTree` is such a map for many threads");
    is_shared(MapleTree::<u8>::erase);
    is_shared(SharedSpace::<u8>::free);
    is_shared(|space: &PooledSpace, first: u64| space.free(first));
    is_shared(Counter::add);
    is_shared(Histogram::record);
    is_shared(|vm: &VirtualMemory, bytes: usize| vm.alloc(bytes, freehold::vmalloc::Zero::Yes).is_ok());
}

trait Device: Send + Sync {}

#[test]
fn a_device_is_any() {
    says("A device may be an `Arc<dyn Device>`");
    is_shared(SharedSpace::<dyn Device>::free);
}

/// The files of a folder and those below.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn sources(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src")
}

/// The files of a crate with `unsafe` outside of comments, strings and the names of lints.
fn with_unsafe(name: &str) -> BTreeSet<String> {
    let folder = sources(name);
    let has_unsafe = |path: &PathBuf| {
        let code = |line: &&str| !line.trim_start().starts_with("//");
        let is_word =
            |line: &str| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe");
        fs::read_to_string(path)
            .unwrap()
            .lines()
            .filter(code)
            .any(|line| is_word(line.split('"').next().unwrap()))
    };
    let of_crate = |path: PathBuf| path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
    // What must not compile is no code of the crate.
    let is_code = |path: &PathBuf| !path.ends_with("type_rules.rs");
    files(&folder).into_iter().filter(is_code).filter(has_unsafe).map(of_crate).collect()
}

#[test]
fn where_unsafe_is() {
    says("No library crate has `unsafe` but `maple`");
    says("(five files)");
    let right = ["entry.rs", "map/words.rs", "shared/arena.rs", "shared/view.rs", "shared/words.rs"];
    assert_eq!(with_unsafe("maple"), right.map(String::from).into());
    for without in ["units", "kva", "rcu", "metrics", "freehold", "linux"] {
        assert_eq!(with_unsafe(without), BTreeSet::new(), "{without}");
        let forbids = fs::read_to_string(sources(without).join("lib.rs")).unwrap();
        assert!(forbids.contains("#![forbid(unsafe_code)]"), "{without} does not forbid it");
    }
    says("the pointer layer of `percpu`");
    assert!(
        with_unsafe("percpu").iter().all(|file| file.starts_with("heap/")),
        "{:?}",
        with_unsafe("percpu")
    );
}

/// The crates of others that a user builds.
fn dependencies(features: &[&str]) -> BTreeSet<String> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--edges", "normal", "--prefix", "none", "--format", "{p}"])
        .args(["--package", "freehold", "--no-default-features"])
        .args(features.iter().flat_map(|feature| ["--features", feature]))
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let names = String::from_utf8(tree.stdout).unwrap();
    let names = names.lines().filter_map(|line| line.split_whitespace().next());
    names.filter(|name| !name.starts_with("freehold")).map(String::from).collect()
}

#[test]
fn what_they_depend_on() {
    says(
        "depend on `arrayvec` (with `std` also on `libc`; `freehold-metrics` on `metrics`; `serde` if its feature is on)",
    );
    assert_eq!(dependencies(&[]), ["arrayvec"].map(String::from).into());
    assert_eq!(dependencies(&["std"]), ["arrayvec", "libc"].map(String::from).into());
    assert!(dependencies(&["serde"]).contains("serde") && dependencies(&["metrics"]).contains("metrics"));
}
