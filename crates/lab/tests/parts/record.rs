//! Records, and the time that a run lies on.

use freehold_lab::record::{Field, Key, Metric, Results, SCHEMA, byte_ticks, read, round_step};

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
fn rounds_have_the_deviation_of_a_sample() {
    let mut results = Results::default();
    let rounds = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
    results.of(Key::new("kva", "w")).rounds(Metric::Time, &rounds, 8).rounds(Metric::Time, &[3.0], 1);
    // The mean is 5, the squares of the differences add up to 32, and there are seven more than one.
    let deviation = results.records[0].stddev.unwrap();
    assert!((deviation * deviation - 32.0 / 7.0).abs() < 1e-12, "{deviation}");
    assert_eq!((results.records[0].value, results.records[1].stddev), (5.0, None));
}
