use super::TINY;
use freehold_lab::concurrent::place::cpus;
use freehold_lab::concurrent::readers::engines::{ENTRIES, Entry, Filled, Guarded, MAPLE, OWNED, Subject};
use freehold_lab::concurrent::readers::ranges;
use freehold_lab::concurrent::{Options, READERS, Who, look_ups};
use freehold_lab::record::Metric;
use freehold_lab::{Progress, promises};

#[test]
fn every_workload_has_figures_of_every_engine_and_all_promises_a_row() {
    let results = READERS
        .bench_of(TINY, &Options { sizes: vec![100, 10_000], ..Options::default() }, &mut Progress::default())
        .unwrap();
    let looked_up: Vec<String> = look_ups::READERS.iter().map(|(who, _)| who.label()).collect();
    for entry in &ENTRIES {
        for case in READERS.cases.iter().filter(|case| case.name != "guard") {
            let expected = match case.name {
                "beside" => entry.shared && cpus() > 1,
                "transaction" => [MAPLE, OWNED].contains(&entry.who.engine),
                "snapshot" => entry.who.engine == MAPLE,
                "lookup-random" | "lookup-hot" => looked_up.contains(&entry.who.label()),
                _ => true,
            };
            let has = results.records.iter().any(|record| {
                record.key.label() == entry.who.label()
                    && record.key.workload == case.name
                    && record.metric == Metric::Time
                    && record.value > 0.0
            });
            assert_eq!(has, expected, "{} of {}", case.name, entry.who.label());
        }
    }
    for who in (READERS.whos)().iter().skip(ENTRIES.len()) {
        let is = |record: &&freehold_lab::record::Record| record.key.label() == who.label();
        let case = if looked_up.contains(&who.label()) { "lookup-hot" } else { "guard" };
        assert!(results.records.iter().filter(is).any(|record| record.key.workload == case));
    }
    let promised = results.records.iter().filter(|record| record.metric == Metric::Ratio).count();
    assert!(promised == promises::of("readers").count() || cpus() == 1, "{promised} rows");
}

#[test]
fn what_is_not_there_is_refused() {
    let refused =
        |options: Options| READERS.bench(&options, &mut Progress::default()).unwrap_err().to_string();
    let case = refused(Options { workloads: vec!["reed".to_owned()], ..Options::default() });
    assert!(case.contains("no workload \"reed\"; did you mean \"read\"? there are guard, read"), "{case}");
    let engine = refused(Options { engines: vec!["tree-index:9".to_owned()], ..Options::default() });
    assert!(engine.contains("there are maple-tree, range-map"), "{engine}");
    let size = refused(Options { sizes: vec![1], ..Options::default() });
    assert!(size.contains("--n 1: readers has sizes from 2 to 1000000"), "{size}");
}

/// Loses a store, and keeps one that was removed.
#[derive(Default)]
struct Liar(std::sync::Mutex<std::collections::BTreeMap<u64, u64>>);

impl Subject for Liar {
    fn read(&self, indexes: &[u64], _: Guarded) -> Option<ranges::Seen> {
        let mut seen = ranges::Seen::default();
        indexes.iter().for_each(|&index| seen.note(index, self.value_at(index)));
        Some(seen)
    }

    fn value_at(&self, index: u64) -> Option<u64> {
        self.0.lock().unwrap().get(&ranges::number_of(index)).copied().filter(|_| index % 16 < 12)
    }

    fn store(&self, numbers: &[u32], version: u16) -> anyhow::Result<u64> {
        let stored = numbers.iter().filter(|&&number| (number, version) != (7, 1));
        stored.for_each(|&number| {
            self.0.lock().unwrap().insert(number.into(), ranges::value(number, version));
        });
        Ok(0)
    }

    fn erase(&self, _: &[u32]) -> anyhow::Result<u64> {
        Ok(0)
    }
}

/// It, with 20 ranges.
fn liar() -> Filled {
    static ENTRY: Entry =
        Entry { who: Who::other("liar"), exact: false, shared: true, make: || Box::<Liar>::default() };
    Filled::new(&ENTRY, 20).unwrap()
}

#[test]
fn a_lost_store_is_found() {
    let mut map = liar();
    map.check().unwrap();
    map.store(&[3, 7], 1).unwrap();
    let wrong = map.check().unwrap_err().to_string();
    assert!(wrong.contains("at 112, not Some(4294967303)"), "{wrong}");
}

#[test]
fn a_read_of_another_range_is_found() {
    let mut seen = ranges::Seen::default();
    seen.note(16 * 5 + 3, Some(ranges::value(5, 9)));
    assert_eq!(seen, ranges::Seen::default());
    seen.note(16 * 5 + 3, None);
    assert_eq!((seen.wrong, seen.missed), (0, 1));
    seen.note(16 * 5 + 3, Some(ranges::value(6, 9)));
    assert_ne!(seen.wrong, 0);
}

#[test]
fn what_is_still_there_after_an_erase_is_found() {
    let map = liar();
    map.check_erased(&[20, 30]).unwrap();
    map.map.erase(&[3, 7]).unwrap();
    assert_eq!(map.check_erased(&[3, 7]).unwrap_err().to_string(), "liar: range Some(3) is still there");
}

#[test]
fn a_store_that_is_lost_beside_a_reader_is_found() {
    let map = liar();
    // In version 1 as far as the second, which is lost.
    map.map.store(&[3, 7], 1).unwrap();
    map.check_stored(&[3, 7, 9], (1, 1)).unwrap();
    let wrong = map.check_stored(&[3, 7, 9], (1, 2)).unwrap_err().to_string();
    assert!(wrong.contains("Some(7) in range 7, not 4294967303"), "{wrong}");
    map.map.store(&[3], 2).unwrap();
    assert!(map.check_stored(&[3, 7, 9], (2, 1)).is_err(), "it has not had version 1");
    map.check_stored(&[3, 7, 9], (0, 0)).unwrap();
}
