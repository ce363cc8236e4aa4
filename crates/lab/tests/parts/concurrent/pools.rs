use super::TINY;
use freehold::kva::Request;
use freehold::units::Span;
use freehold_lab::concurrent::place::cpus;
use freehold_lab::concurrent::pools::cases;
use freehold_lab::concurrent::pools::engines::{ENTRIES, FINDS, ONE_LOCK};
use freehold_lab::concurrent::pools::pool::{Held, Pool, whole};
use freehold_lab::concurrent::{Options, POOLS, Who};
use freehold_lab::record::{Field, Metric, Record};
use freehold_lab::{Progress, promises};

#[test]
fn every_workload_has_figures_of_every_engine_and_all_promises_a_row() {
    let results = POOLS.bench_of(TINY, &Options::default(), &mut Progress::default()).unwrap();
    for (who, _) in ENTRIES.iter().chain([&FINDS]) {
        let allocates = *who != FINDS.0;
        for case in POOLS.cases {
            let has = |metric| {
                results.records.iter().any(|record| {
                    record.key.label() == who.label()
                        && record.key.workload == case.name
                        && record.metric == metric
                })
            };
            let expected = allocates || case.name == "locate";
            assert_eq!(has(Metric::Rate), expected, "{} of {}", case.name, who.label());
            assert_eq!(has(Metric::LockWaits), allocates && case.name != "locate");
        }
    }
    // The slowest round has the lowest rate.
    for time in results.records.iter().filter(|record| record.metric == Metric::Time) {
        let is_rate = |record: &&Record| record.key == time.key && record.metric == Metric::Rate;
        let rate = results.records.iter().find(is_rate).unwrap();
        let threads: f64 = time.field(Field::Threads).unwrap().parse().unwrap();
        let seen = rate.range()[0] * time.range()[1] / 1e9;
        assert!((seen / threads - 1.0).abs() < 1e-6, "{seen} of {threads} threads: {time:?}");
    }
    // One lock is taken for a block, and for giving it back.
    let is_pair = |record: &&Record| record.key.workload == "pair" && record.key.engine == ONE_LOCK;
    let pairs = results.records.iter().filter(is_pair);
    let locks: Vec<f64> =
        pairs.filter(|record| record.metric == Metric::Locks).map(|record| record.value).collect();
    assert!(!locks.is_empty() && locks.iter().all(|&locks| locks == 2.0), "{locks:?}");
    let rows =
        |workload: &str| results.records.iter().filter(|record| record.key.workload == workload).count();
    assert!(rows("promise") == promises::of("pools").count() || cpus() == 1);
    assert!(rows("recorded rates") > 0);
}

#[test]
fn what_is_not_there_is_refused() {
    let refused = |options: Options| POOLS.bench(&options, &mut Progress::default()).unwrap_err().to_string();
    let case = refused(Options { workloads: vec!["pears".to_owned()], ..Options::default() });
    assert!(
        case.contains("no workload \"pears\"; did you mean \"pair\"? there are pair, replace, locate"),
        "{case}"
    );
    let sizes = refused(Options { sizes: vec![5], ..Options::default() });
    assert!(sizes.contains("pools has sizes of its own"), "{sizes}");
}

/// Ranges of all kinds, on one thread: every space answers as a space does, and ends as it began.
#[test]
fn spaces_hand_out_what_is_asked_for() {
    for (who, make) in &ENTRIES {
        let (pool, label) = (make().unwrap(), who.label());
        let aligned = pool.alloc_request(&Request::new(0x3000).align_bytes(1 << 20)).unwrap();
        assert!(aligned.first() % (1 << 20) == 0 && aligned.size_saturating() >= 0x3000, "{label}");
        let window = Span::from_size(whole().first() + (1 << 30), 1 << 20).unwrap();
        let within = pool.alloc_request(&Request::new(0x5000).window(window)).unwrap();
        assert!(window.covers(within), "{label}: {within}");
        // More than 64 MiB goes through what waits.
        for _ in 0..400 {
            let first = pool.alloc(100).unwrap();
            let span = pool.locate(first + 99 * 4096).unwrap();
            assert!(span.first() == first && !span.overlaps(aligned) && !span.overlaps(within), "{label}");
            assert!(pool.free(first) && !pool.free(first) && !pool.free(first + 4096), "{label}");
            assert_eq!(pool.locate(first), None, "{label}");
        }
        assert!(pool.free(aligned.first()) && pool.free(within.first()), "{label}");
        assert_eq!(pool.settle(), 1, "{label}");
    }
}

/// A space that hands out what is taken.
#[derive(Default)]
struct Liar(std::sync::atomic::AtomicU64);

impl Pool for Liar {
    fn alloc(&self, _: u64) -> Option<u64> {
        // Every third block is where the second was.
        let count = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Some((count / 3 * 3 + (count % 3).min(1)) << 20)
    }

    fn alloc_request(&self, _: &Request) -> Option<Span> {
        None
    }

    fn free(&self, _: u64) -> bool {
        true
    }

    fn locate(&self, _: u64) -> Option<Span> {
        None
    }

    fn settle(&self) -> usize {
        2
    }
}

#[test]
fn blocks_that_overlap_are_found() {
    let liar = Liar::default();
    let held = [parking_lot::Mutex::new(Held::new(&liar, 30, 1).unwrap())];
    let who = Who::other("liar");
    let wrong = cases::apart(&liar, &held, &who).unwrap_err().to_string();
    assert!(wrong.starts_with("liar: blocks overlap at 0x"), "{wrong}");
    assert!(cases::settled(&liar, &who).is_err());
}
