//! What cuts, merges and partial frees cost in instructions, counted by valgrind's callgrind, and held against frees of
//! whole regions in the same space: a cut, a merge and a range within one region take at most two, a range over `k` regions
//! takes at most `k + 2`, and `k + 4` with a list of what was freed. What a look-up costs where regions lie in several places
//! far apart: at most half more than in one. And what it costs, in look-ups, to go through the regions of a range.
//!
//! The test runs this program again under callgrind. Only what is inside [`measured`], [`look_up`] or [`go_through`] counts.
//!
//!     cargo test -p freehold-kva --release --test instructions

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[path = "../../units/tests/callgrind/mod.rs"]
mod callgrind;

use callgrind::total;
use freehold_kva::{AddressSpace, Placement, Request};
use freehold_units::{Align, Span};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::{env, fs};

type Space = AddressSpace<u64>;

const PAGE: u64 = 4096;
/// Pages of a region, and of the free block behind every fourth.
const REGION: u64 = 8;
const BLOCK: u64 = 4;
/// Operations of each kind.
const SITES: u64 = 100;
/// Regions of a range.
const SEVERAL: [u64; 3] = [2, 8, 40];
/// Look-ups that are counted.
const LOOK_UPS: u64 = 1000;
/// How the program that is counted is told what to do.
const TASK: &str = "FREEHOLD_KVA_INSTRUCTIONS";

/// The first page of a region: four side by side, then a free block.
fn page_of(region: u64) -> u64 {
    region * REGION + region / 4 * BLOCK
}

fn pages(first: u64, count: u64) -> Span {
    Span::from_size(first * PAGE, count * PAGE).unwrap()
}

fn filled(placement: Placement, regions: u64) -> Space {
    let mut space = Space::new(pages(0, page_of(regions) + 64), Align::PAGE, placement).unwrap();
    let stride = if regions.is_multiple_of(67) { 71 } else { 67 };
    for at in 0..regions {
        let region = at * stride % regions;
        let place = pages(page_of(region), REGION);
        // Under best fit, there are blocks by size from the first on.
        space.alloc(&Request::new(REGION * PAGE).window(place), 7).unwrap();
    }
    assert_eq!(space.len() as u64, regions);
    space
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Free,
    Split,
    Merge,
    /// Pages of a region that are freed: first and count.
    Part(u64, u64),
    /// A range over so many regions, of which it cuts the first and the last.
    Several(u64),
    /// The same with a list of what was freed.
    Listed(u64),
}

fn kinds() -> Vec<Kind> {
    let parts = [(0, 3), (3, 2), (5, 3), (0, REGION)].map(|(first, count)| Kind::Part(first, count));
    let several =
        SEVERAL.map(Kind::Several).into_iter().chain([1].map(Kind::Listed)).chain(SEVERAL.map(Kind::Listed));
    [Kind::Free, Kind::Split, Kind::Merge].into_iter().chain(parts).chain(several).collect()
}

impl Kind {
    /// The most that it may cost, in frees.
    fn most(self) -> f64 {
        match self {
            Self::Free => 1.0,
            Self::Split | Self::Merge | Self::Part(..) => 2.0,
            Self::Listed(1) => 2.0,
            Self::Several(regions) => regions as f64 + 2.0,
            // A list of whole regions has memory of its own.
            Self::Listed(regions) => regions as f64 + 4.0,
        }
    }

    fn run(self, space: &mut Space, region: u64) {
        let first = page_of(region);
        match self {
            Self::Free => _ = black_box(space.free(first * PAGE).unwrap()),
            Self::Split => _ = black_box(space.split_at((first + 3) * PAGE).unwrap()),
            Self::Merge => _ = black_box(space.merge(first * PAGE).unwrap()),
            Self::Part(from, count) => free(space, pages(first + from, count)),
            Self::Several(regions) => free(space, cut(region, regions)),
            Self::Listed(regions) => _ = black_box(space.free_range(cut(region, regions)).unwrap().count()),
        }
    }
}

/// From the third page of a region to the third last of the last of `regions`.
fn cut(region: u64, regions: u64) -> Span {
    let (first, last) = (page_of(region) + 2, page_of(region + regions - 1) + REGION - 3);
    pages(first, last - first + 1)
}

fn free(space: &mut Space, span: Span) {
    let freed = |span: Span, value: u64| _ = black_box((span, value));
    space.free_range_with(span, |_, _, &value| value, freed).unwrap();
}

/// What is inside counts. After the last operation, callgrind writes out how much it was.
#[inline(never)]
fn measured(space: &mut Space, kind: Kind, region: u64, is_last: bool) {
    if is_last {
        last(space, kind, region);
    } else {
        kind.run(black_box(space), region);
    }
    // What follows a call keeps the caller on the stack, where callgrind sees it return.
    black_box(());
}

/// Beside [`measured`], because callgrind writes only after functions that were entered while it counted.
#[inline(never)]
fn last(space: &mut Space, kind: Kind, region: u64) {
    kind.run(black_box(space), region);
    black_box(());
}

/// Runs the operations of each kind in a fresh space.
fn count(placement: Placement, regions: u64) {
    let whole: Space = filled(placement, regions);
    for kind in kinds() {
        let mut space = whole.clone();
        let step = (regions - 50) / SITES;
        for site in 0..SITES {
            // Each in another place of its four.
            let region = site * step / 4 * 4 + site % 3;
            // There are spare nodes, as in a space that was in use for a while.
            operate(&mut space, kind, region, site == SITES - 1);
        }
        space.validate().unwrap();
    }
}

/// One operation, and what brings the space back to where it was.
fn operate(space: &mut Space, kind: Kind, region: u64, is_last: bool) {
    measured(space, kind, region, is_last);
    let reach = match kind {
        Kind::Several(regions) | Kind::Listed(regions) => regions,
        _ => 2,
    };
    let end = page_of(region + reach - 1) + REGION;
    let span = pages(page_of(region), end - page_of(region));
    space.free_range(span).unwrap();
    (region..region + reach).for_each(|at| _ = space.alloc_at(pages(page_of(at), REGION), 7).unwrap());
}

#[inline(never)]
fn look_up(space: &Space, address: u64) {
    black_box(space.region_at(black_box(address)).map(|region| *region.value()));
    black_box(());
}

#[inline(never)]
fn go_through(space: &Space, range: Span) {
    let mut all = 0;
    for region in space.regions_in(black_box(range)) {
        all ^= region.span().first() ^ region.value();
    }
    black_box(all);
}

/// Goes through ranges with `each` regions in a space with so many, which were allocated in no order.
fn go_through_ranges(each: u64, regions: u64) {
    let mut space = Space::new(Span::ALL, Align::PAGE, Placement::Lowest).unwrap();
    let pages_of = |at: u64, count: u64| Span::from_size(2 * at * PAGE, 2 * count * PAGE).unwrap();
    for at in (0..regions).map(|at| at * 1237 % regions) {
        space.alloc_at(Span::from_size(pages_of(at, 1).first(), PAGE).unwrap(), at).unwrap();
    }
    for at in 0..LOOK_UPS {
        go_through(&space, pages_of(at * 67 % (regions - each), each));
    }
}

/// Looks regions up of a space with so many in each of some places, as a machine has devices low and high.
fn look_regions_up(places: u64, each: u64) {
    let mut space = Space::new(Span::ALL, Align::PAGE, Placement::Lowest).unwrap();
    let first_of = |region: u64| ((region % places) << 46) + region / places * 16 * PAGE;
    for region in 0..places * each {
        space.alloc_at(Span::from_size(first_of(region), 8 * PAGE).unwrap(), region).unwrap();
    }
    for at in 0..LOOK_UPS {
        look_up(&space, first_of(at * 67 % (places * each)) + at % 16 * PAGE);
    }
}

/// Runs this program's task under callgrind, which counts what is inside a function. Returns the file of its figures.
fn under_callgrind(task: &str, function: &str, folder: &Path) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    let out = folder.join("out");
    let inside = format!("--toggle-collect=instructions::{function}");
    callgrind::run(&["--collect-atstart=no", "--dump-after=instructions::last", &inside], &out, (TASK, task));
    out
}

/// The instructions of each kind.
fn counted(placement: Placement, regions: u64, folder: &Path) -> Vec<f64> {
    let out = under_callgrind(&format!("{placement:?} {regions}"), "measured", folder);
    (1..=kinds().len()).map(|nth| total(&out.with_extension(nth.to_string())) / SITES as f64).collect()
}

/// What look-ups cost more than a half more than in one place.
fn dear_look_ups(folder: &Path) -> Vec<String> {
    let looked_up = |places: u64, each: u64| {
        total(&under_callgrind(&format!("{places} {each}"), "look_up", folder)) / LOOK_UPS as f64
    };
    let mut dear = Vec::new();
    for each in [8, 16, 100] {
        let one = looked_up(1, 4 * each);
        for places in [2, 4] {
            let instructions = looked_up(places, 4 * each / places);
            let line = format!(
                "look-up of {} regions in {places} places: {instructions:.0} instructions, {one:.0} in one",
                4 * each
            );
            println!("{line}");
            if instructions > 1.5 * one {
                dear.push(line);
            }
        }
    }
    dear
}

/// What ranges cost more than so many look-ups among as many regions.
fn dear_ranges(folder: &Path) -> Vec<String> {
    let mut dear = Vec::new();
    for (each, most) in [(1, 5.0), (10, 14.0)] {
        for regions in [300, 6000] {
            let count =
                |task: String, function| total(&under_callgrind(&task, function, folder)) / LOOK_UPS as f64;
            let look_up = count(format!("1 {regions}"), "look_up");
            let range = count(format!("Range{each} {regions}"), "go_through");
            let look_ups = range / look_up;
            let line = format!(
                "range of {each} among {regions} regions: {range:.0} instructions, {look_ups:.1} look-ups of {most}"
            );
            println!("{line}");
            if look_ups > most {
                dear.push(line);
            }
        }
    }
    dear
}

fn hold_to_the_bounds() {
    if callgrind::is_missing() {
        return;
    }
    let folder = env::temp_dir().join(format!("freehold-kva-{}", std::process::id()));
    let mut broken = dear_look_ups(&folder);
    broken.extend(dear_ranges(&folder));
    for placement in [Placement::Lowest, Placement::Highest, Placement::BestFit] {
        for regions in [300, 6000] {
            let instructions = counted(placement, regions, &folder);
            let free = instructions[0];
            for (kind, instructions) in kinds().into_iter().zip(instructions) {
                let (frees, most) = (instructions / free, kind.most());
                let line = format!(
                    "{placement:?}, {regions} regions, {kind:?}: {instructions:.0} instructions, {frees:.2} frees of {most}"
                );
                println!("{line}");
                if frees > most {
                    broken.push(line);
                }
            }
        }
    }
    fs::remove_dir_all(&folder).unwrap();
    assert!(broken.is_empty(), "{broken:#?}");
}

/// What is counted.
fn run_task(task: &str) {
    let (placement, regions) = task.split_once(' ').unwrap();
    let regions = regions.parse().unwrap();
    let placement = match placement {
        "Lowest" => Placement::Lowest,
        "Highest" => Placement::Highest,
        "BestFit" => Placement::BestFit,
        "Range1" => return go_through_ranges(1, regions),
        "Range10" => return go_through_ranges(10, regions),
        places => return look_regions_up(places.parse().unwrap(), regions),
    };
    count(placement, regions);
}

/// Not a test of the usual harness, which runs tests in threads: callgrind counts the first thread's.
fn main() {
    match env::var(TASK) {
        Ok(task) => run_task(&task),
        Err(_) => hold_to_the_bounds(),
    }
}
