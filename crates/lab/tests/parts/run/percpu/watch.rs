use freehold::percpu::{Config, MIN_UNIT_BYTES};
use freehold_lab::engine::percpu::EngineEntry;
use freehold_lab::family::{Family, Percpu};
use freehold_lab::run::percpu::{LOOKS, Watched, longest, watch};
use freehold_lab::workload::SplitMix;
use freehold_lab::workload::percpu::{Churn, Deletion, StaleHint, Work};

fn engine(name: &str) -> EngineEntry {
    Percpu::engines(&[name.to_owned()]).unwrap()[0]
}

const WORKLOAD: Work = Work::StaleHint(StaleHint { objects: 32_768, refilled: 16_384 });

/// What the page is to show: the kernel's hints are stale; ours, which are bounds, miss no hole.
#[test]
fn stale_hints_are_seen_and_bounds_too() {
    let config = Config::new(32 << 10, 2);
    let seen = |name: &str| watch(&engine(name), &config, false, &WORKLOAD).unwrap();
    let (ours, stock, fixed) = (seen("bitmap"), seen("bitmap-linux"), seen("bitmap-linux-fixed"));
    assert_eq!(ours.looks.len(), 3 * LOOKS);
    let seen = ours.looks.iter().flat_map(|look| &look.chunks);
    assert!(seen.clone().all(|chunk| chunk.hint_bytes >= chunk.longest_bytes.min(MIN_UNIT_BYTES.into())));
    assert!(seen.clone().any(|chunk| chunk.hint_bytes > chunk.longest_bytes), "bounds, not the truth itself");
    let holes = |watched: &Watched| watched.looks[2 * LOOKS - 1].mean_known().unwrap();
    assert_eq!(holes(&stock), 0.0, "seven of eight objects are gone, and it knows of none");
    assert!(holes(&fixed) > 0.99);
    let chunks = |watched: &Watched| watched.looks.last().unwrap().chunks.len();
    assert!(chunks(&stock) > chunks(&fixed), "holes that are not known are not filled");
    assert_eq!(chunks(&ours), chunks(&fixed));
}

#[test]
fn pages_go_only_where_chunks_are_emptied() {
    let config = Config::new(64 << 10, 2);
    let work = Work::Deletion(Deletion { groups: 400, one_in: 11 }, false);
    let pages = |name: &str| {
        let looks = watch(&engine(name), &config, true, &work).unwrap().looks;
        (looks[LOOKS - 1].pages, looks.last().unwrap().pages)
    };
    let (before, after) = pages("bitmap");
    assert!(2 * after < before, "{before} pages, then {after}");
    let churn = Work::Churn(Churn::new(1024, 500, 2_000));
    let looks = watch(&engine("bitmap-2017"), &config, false, &churn).unwrap().looks;
    assert_eq!(looks.last().map(|look| look.ops), Some(4_500));
}

/// Objects of a few grains, some side by side and some at an edge, against a look at every grain.
#[test]
fn the_longest_run_is_what_grains_say() {
    let mut random = SplitMix::new(7);
    for layout in 0..200 {
        let grains = 1 + random.uniform(48);
        let (mut taken, mut is_used) = (Vec::new(), vec![false; grains as usize]);
        let mut first = random.uniform(3);
        while first < grains {
            let end = (first + 1 + random.uniform(5)).min(grains);
            taken.push((4 * first, 4 * end));
            is_used[first as usize..end as usize].fill(true);
            first = end + random.uniform(2) * random.uniform(9);
        }
        if layout == 0 {
            (taken, is_used) = (Vec::new(), vec![false; grains as usize]);
        }
        let free = is_used.split(|&is_used| is_used).map(<[bool]>::len).max().unwrap() as u64;
        assert_eq!(longest(4 * grains, taken.iter().copied()), 4 * free, "{grains}: {taken:?}");
    }
}
