//! Records, and the time that a run lies on.

use freehold_lab::record::{
    Counts, Field, Key, Load, Metric, Record, Results, SCHEMA, Stat, byte_ticks, read, round_step,
};

#[test]
fn steps_are_round() {
    assert_eq!([(4_000.0, 4.0), (9.0, 4.0), (0.7, 4.0)].map(|(a, b)| round_step(a, b)), [1000.0, 5.0, 0.2]);
}

#[test]
fn byte_ticks_stay_within() {
    let ticks = byte_ticks(13 << 30);
    assert_eq!(ticks.first().map(|tick| tick.1.as_str()), Some("0 B"));
    assert_eq!(ticks.get(1).map(|tick| tick.1.as_str()), Some("4 GiB"));
    assert!(ticks.iter().all(|(at, _)| (0.0..=1.0).contains(at)), "{ticks:?}");
    assert!(byte_ticks(0).is_empty() && byte_ticks(u64::MAX).len() > 2);
}

#[test]
fn a_record_that_is_none_is_named() {
    let file = std::env::temp_dir().join(format!("freehold-record-{}.json", std::process::id()));
    let environment = serde_json::to_value(freehold_lab::record::Environment::here()).unwrap();
    let record = |metric: &str, unit: &str| {
        serde_json::json!({
            "workload": "here", "metric": metric, "stat": "total", "value": 1.0, "unit": unit, "samples": 1,
            "origin": "measured", "size": 4,
        })
    };
    let read_one = |record: serde_json::Value| {
        let document = serde_json::json!({
            "schema": SCHEMA, "command": "verify", "environment": environment, "records": [record],
            "notes": [], "facts": {},
        });
        std::fs::write(&file, document.to_string()).unwrap();
        read(Some(&file)).map(|(_, results, _)| results.records).map_err(|error| format!("{error:#}"))
    };
    let records = read_one(record("checked", "count")).unwrap();
    assert_eq!(records[0].field(Field::Size).as_deref(), Some("4"));
    for (metric, unit, says) in
        [("checked", "ns", "checked is not in ns"), ("height of trees", "count", "height of trees")]
    {
        let error = read_one(record(metric, unit)).unwrap_err();
        assert!(error.contains(says) && error.contains("\"workload\":\"here\""), "{error}");
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn what_has_failed_within_has_failed() {
    let mut whole = Results::default();
    for failed in [false, true, false] {
        whole.absorb(Results { failed, ..Results::default() });
    }
    assert!(whole.failed);
}

#[test]
fn percentiles_are_values_at_their_rank() {
    let mut results = Results::default();
    let mut counts: Counts = (1..=2000).rev().collect();
    results.of(Key::new("kva", "counts")).counts(Metric::Work, &mut counts);
    results.of(Key::new("kva", "singles")).singles(&mut counts, &[[900, 1, 16], [1100, 8, 2]]);
    let of = |workload: &str, stat| {
        let is = |record: &&Record| record.key.workload == workload && record.stat == stat;
        results.records.iter().find(is).map(|record| (record.value, record.spread)).unwrap()
    };
    let counted = [Stat::Mean, Stat::P99, Stat::P999, Stat::Max].map(|stat| of("counts", stat).0);
    assert_eq!(counted, [1000.5, 1980.0, 1998.0, 2000.0]);
    assert_eq!(of("singles", Stat::Median), (1000.0, Some([900.0, 1100.0])));
    assert_eq!(of("singles", Stat::P99), (1980.0, Some([1.0, 8.0])));
    assert_eq!(of("singles", Stat::P999), (1998.0, Some([2.0, 16.0])));
}

#[test]
fn rounds_have_the_deviation_of_a_sample() {
    let mut results = Results::default();
    let rounds = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
    results.of(Key::new("kva", "w")).rounds(Metric::Time, &rounds, 8).rounds(Metric::Time, &[3.0], 1);
    // The mean is 5, the squares of the differences add up to 32, and there are seven more than one.
    let deviation = results.records[0].stddev.unwrap();
    assert!((deviation * deviation - 32.0 / 7.0).abs() < 1e-12, "{deviation}");
    assert_eq!((results.records[0].value, results.records[1].stddev), (5.0, None));
}

#[test]
fn what_other_programs_did_meanwhile_is_said() {
    let load = |busy: u64, idle: u64, own: u64| {
        let stat = format!("cpu  {} 1 2 {idle} 3 0 0 4 5 6\ncpu0 1 2 3 4\nctxt 9\n", busy - 7);
        let fields = format!("7 (a (name)) R 1 1 1 0 -1 0 1 2 3 4 {} 1 1 1 20 0", own - 3);
        Load::told(&stat, &fields).unwrap()
    };
    let start = load(100, 1_000, 10);
    // Of 400 ticks of all CPUs this program had 150, and others 210.
    let note = start.note(load(460, 1_040, 160)).unwrap();
    assert!(note.starts_with("BUSY: other programs had 52 % of the CPUs meanwhile"), "{note}");
    assert_eq!(start.note(load(150 + 39, 1_311, 60)), None, "9 %");
    assert_eq!((start.note(start), Load::told("", "")), (None, None));
    assert!(Load::now().is_some_and(|now| now.note(now).is_none()));
}
