//! What the facade's macros do to the registry.

use super::*;
use freehold_percpu::registry::{Format, Reading};
use metrics::with_local_recorder;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

#[test]
fn what_is_recorded_is_shown() {
    let recorder = Recorder::new();
    let registry = recorder.registry();
    with_local_recorder(&recorder, || {
        let hits = metrics::counter!("http.requests", "path" => "/a", "0 code" => "200");
        hits.increment(3);
        metrics::counter!("http.requests", "0 code" => "200", "path" => "/a").increment(1);
        hits.absolute(10);
        hits.absolute(5);
        metrics::describe_counter!("http.requests", "Requests.");
        let depth = metrics::gauge!("depth");
        depth.set(2.5);
        depth.increment(1.0);
        depth.decrement(0.25);
        let seconds = metrics::histogram!("seconds");
        seconds.record(0.5);
        seconds.record(1.0);
    });
    let text = registry.render();
    for line in [
        "# HELP http_requests Requests.",
        "# TYPE http_requests counter",
        "http_requests{_code=\"200\",path=\"/a\"} 10",
        "# TYPE depth gauge",
        "depth 3.25",
        "# TYPE seconds histogram",
        "seconds_sum 1.5",
        "seconds_count 2",
        "freehold_metrics_rejected_total 0",
    ] {
        assert!(text.lines().any(|other| other == line), "{line} in\n{text}");
    }
}

/// Prometheus accepts colons in the name of a metric, and not in that of a label.
#[test]
fn colons_stay_in_names_of_metrics() {
    let recorder = Recorder::new().buckets_of("pool:sizes", &[4.0]).unwrap();
    let registry = recorder.registry();
    with_local_recorder(&recorder, || {
        metrics::counter!("pool:hits", "a:b" => ":").increment(1);
        metrics::histogram!("pool:sizes").record(1.0);
    });
    let text = registry.render();
    assert!(text.contains("pool:hits{a_b=\":\"} 1\n"), "{text}");
    assert!(text.contains("pool:sizes_bucket{le=\"4\"} 1\n"), "{text}");
}

#[test]
fn what_cannot_be_recorded_is_counted() {
    let recorder = Recorder::new().unit(1.0).unwrap();
    let registry = recorder.registry();
    with_local_recorder(&recorder, || {
        let bytes = metrics::histogram!("bytes");
        [-1.0, -1e-9, f64::NAN, f64::INFINITY, 2e19, 7.0].into_iter().for_each(|value| bytes.record(value));
        metrics::gauge!("bytes").set(1.0);
        metrics::counter!("a", "x-y" => "", "x_y" => "").increment(1);
        metrics::counter!("a", "" => "").increment(1);
        metrics::counter!("").increment(1);
        metrics::histogram!("a", "le" => "").record(1.0);
    });
    let text = registry.render();
    assert!(text.contains("freehold_metrics_rejected_total 10\n"), "{text}");
    assert!(text.contains("bytes_count 1\n") && text.contains("bytes_sum 7\n"), "{text}");
}

/// Several threads copy numbers of another program into counters, each through handles of its own.
#[test]
fn counters_are_raised_once_to_a_value() {
    let recorder = Recorder::new();
    let registry = recorder.registry();
    let handles = |name: &'static str| -> Vec<metrics::Counter> {
        let handle = |at: u32| metrics::counter!(name, "at" => at.to_string());
        with_local_recorder(&recorder, || (0..200).map(handle).collect())
    };
    for round in 1..=3 {
        let here = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for counters in [handles("packets.seen"), handles("packets_seen")] {
                let here = &here;
                scope.spawn(move || {
                    for (counter, both) in counters.iter().zip(1..) {
                        // Both threads raise the same counter at the same time.
                        here.fetch_add(1, Relaxed);
                        while here.load(Relaxed) < 2 * both {
                            std::thread::yield_now();
                        }
                        counter.absolute(round);
                    }
                });
            }
        });
        for sample in registry.iter().filter(|sample| sample.name == "packets_seen") {
            assert_eq!(sample.reading, Reading::Counter(round), "{}", sample.labels);
        }
    }
}

#[test]
fn sums_of_bytes_do_not_wrap() {
    let recorder = Recorder::new();
    let registry = recorder.registry();
    with_local_recorder(&recorder, || {
        let bodies = metrics::histogram!("body_bytes");
        let sizes = metrics::histogram!("sizes");
        for _ in 0..40_000 {
            bodies.record(1_048_576.0);
            sizes.record(1_048_576.0);
        }
        bodies.record(32e9);
        // Too large in billionths: counted.
        sizes.record(32e9);
        // Larger sums than 64 bits hold, a second ago.
        for _ in 0..20 {
            bodies.record(1e18);
        }
    });
    let text = registry.render();
    let sum = 40_000_u128 * 1_048_576 + 32_000_000_000 + 20 * 1_000_000_000_000_000_000;
    for line in [
        format!("body_bytes_sum {}", sum as f64),
        "body_bytes_count 40021".to_owned(),
        "sizes_sum 41943040000".to_owned(),
        "freehold_metrics_rejected_total 1".to_owned(),
        "# HELP freehold_metrics_rejected_total Values and metrics that could not be kept.".to_owned(),
    ] {
        assert!(text.lines().any(|other| other == line), "{line} in\n{text}");
    }
}

#[test]
fn units_are_chosen_for_each_name() {
    let recorder = Recorder::new().unit(100.0).unwrap().unit_of("weights.of", 8.0).unwrap();
    let registry = recorder.registry();
    with_local_recorder(&recorder, || {
        metrics::describe_histogram!("packets", Unit::Kibibytes, "Of packets.");
        for name in ["weights.of", "packets", "wait_seconds", "body_bytes", "other"] {
            metrics::histogram!(name).record(1.3);
        }
        // Described too late: with the unit that it has, and with another.
        metrics::describe_histogram!("wait_seconds", Unit::Seconds, "Waits.");
        metrics::describe_histogram!("other", Unit::Bytes, "Others.");
        metrics::histogram!("other", "a" => "1").record(1.3);
    });
    let text = registry.render();
    for line in [
        "weights_of_sum 1.25",
        "packets_sum 1.2998046875",
        "wait_seconds_sum 1.3",
        "body_bytes_sum 1",
        "other_sum 1.3",
        "other_sum{a=\"1\"} 1.3",
        "# HELP packets Of packets.",
        "freehold_metrics_rejected_total 1",
    ] {
        assert!(text.lines().any(|other| other == line), "{line} in\n{text}");
    }
    let open = registry.render_as(Format::OpenMetrics);
    assert!(open.contains("# UNIT wait_seconds seconds\n") && !open.contains("# UNIT packets"), "{open}");
    assert!(Recorder::new().unit(1e-300).is_err(), "no buckets of powers of two");
    assert!(Recorder::new().unit(0.0).is_err() && Recorder::new().unit_of("x", f64::NAN).is_err());
}

#[test]
fn buckets_are_chosen_for_all_and_by_name() {
    let recorder = Recorder::new().buckets(&[0.1, 1.0]).unwrap().buckets_of("body.bytes", &[1024.0]).unwrap();
    let registry = recorder.registry();
    with_local_recorder(&recorder, || {
        metrics::histogram!("wait_seconds", "a" => "1").record(0.5);
        metrics::histogram!("wait_seconds", "a" => "2").record(0.05);
        metrics::histogram!("body.bytes").record(1024.0);
    });
    let text = registry.render();
    let buckets: Vec<&str> = text.lines().filter(|line| line.contains("_bucket")).collect();
    assert_eq!(
        buckets,
        [
            "body_bytes_bucket{le=\"1024\"} 1",
            "body_bytes_bucket{le=\"+Inf\"} 1",
            "wait_seconds_bucket{a=\"1\",le=\"0.1\"} 0",
            "wait_seconds_bucket{a=\"1\",le=\"1\"} 1",
            "wait_seconds_bucket{a=\"1\",le=\"+Inf\"} 1",
            "wait_seconds_bucket{a=\"2\",le=\"0.1\"} 1",
            "wait_seconds_bucket{a=\"2\",le=\"1\"} 1",
            "wait_seconds_bucket{a=\"2\",le=\"+Inf\"} 1",
        ]
    );
    assert!(Recorder::new().buckets(&[2.0, 1.0]).is_err());
    assert!(Recorder::new().buckets_of("x", &[f64::INFINITY]).is_err());
}

#[test]
fn clashes_are_counted_and_removed_series_begin_again() {
    let recorder = Recorder::new();
    let registry = recorder.registry();
    with_local_recorder(&recorder, || {
        metrics::histogram!("x").record(1.0);
        metrics::counter!("x_count").increment(1);
        metrics::gauge!("y_total").set(1.0);
        metrics::counter!("y").increment(1);
        for _ in 0..3 {
            metrics::counter!("hits", "peer" => "a").increment(1);
        }
        assert!(registry.remove("hits", &[("peer", "a")]));
        let weak = {
            let kept = metrics::counter!("hits", "peer" => "b");
            kept.increment(1);
            Arc::downgrade(&registry.counter("hits", &[("peer", "b")]).unwrap())
        };
        metrics::counter!("hits", "peer" => "a").increment(1);
        assert!(registry.remove("hits", &[("peer", "b")]));
        // The next look-up drops what the recorder kept.
        metrics::counter!("hits", "peer" => "a").increment(1);
        assert!(weak.upgrade().is_none(), "the memory of a removed series is kept");
    });
    let text = registry.render();
    assert!(text.contains("hits{peer=\"a\"} 2\n") && !text.contains("peer=\"b\""), "{text}");
    assert!(text.contains("freehold_metrics_rejected_total 2\n"), "{text}");
}

#[test]
fn a_raised_limit_gives_labels_a_series_of_their_own() {
    let recorder = Recorder::new();
    let registry = recorder.registry();
    let count = |user: &'static str| metrics::counter!("logins", "user" => user).increment(1);
    with_local_recorder(&recorder, || {
        registry.limit_series_of("logins", 1).unwrap();
        ["a", "b", "b"].into_iter().for_each(count);
        registry.limit_series_of("logins", 2).unwrap();
        ["a", "b", "c"].into_iter().for_each(count);
        registry.limit_series_of("logins", 3).unwrap();
        count("c");
        registry.limit_series(9);
        count("a");
    });
    let text = registry.render();
    for (labels, logins) in
        [("overflow=\"true\"", 3), ("user=\"a\"", 3), ("user=\"b\"", 1), ("user=\"c\"", 1)]
    {
        assert!(text.contains(&format!("logins{{{labels}}} {logins}\n")), "{text}");
    }
}

#[test]
fn each_name_through_the_facade_is_counted_once() {
    let recorder = Recorder::new();
    let before = recorder.registry().len();
    with_local_recorder(&recorder, || {
        for number in 0..40 {
            metrics::gauge!(format!("name_{}", number % 20)).set(1.0);
        }
    });
    assert_eq!(recorder.registry().len(), before + 20);
}
