//! Names, labels, pages.

use super::*;
use crate::heap::PerCpuHeap;
use std::string::ToString;
use std::vec::Vec;

#[test]
fn a_name_and_its_labels_give_one_handle() {
    let registry = Registry::new();
    let first = registry.counter("hits", &[("b", "2"), ("a", "1")]).unwrap();
    let again = registry.counter("hits", &[("a", "1"), ("b", "2")]).unwrap();
    assert!(Arc::ptr_eq(&first, &again));
    let other = registry.counter("hits", &[("a", "1")]).unwrap();
    first.add(1);
    other.add(5);
    registry.gauge("open", &[]).unwrap().add(-2);
    assert_eq!(
        registry.render(),
        "# TYPE hits counter\nhits{a=\"1\"} 5\nhits{a=\"1\",b=\"2\"} 1\n# TYPE open gauge\nopen -2\n"
    );
}

#[test]
fn bad_names_are_refused() {
    static HITS: Counter = Counter::new();
    static SIZES: Histogram = Histogram::new();
    let registry = Registry::new();
    for name in ["", "0a", "a b", "ä", "a-b"] {
        assert_eq!(registry.counter(name, &[]).unwrap_err(), RegistryError::Name { name: name.into() });
    }
    for labels in [&[("", "")][..], &[("__a", "")], &[("a:", "")], &[("a", "1"), ("a", "2")], &[("0", "")]] {
        assert!(matches!(registry.counter("a", labels), Err(RegistryError::Label { .. })), "{labels:?}");
    }
    assert!(matches!(registry.histogram("h", &[("le", "1")], 1.0), Err(RegistryError::Label { .. })));
    assert_eq!(registry.render(), "");
    registry.gauge("a:b", &[]).unwrap();
    let kind = RegistryError::Kind { name: "a:b".into(), kind: "gauge" };
    assert_eq!(registry.counter("a:b", &[]).unwrap_err(), kind);
    assert_eq!(registry.histogram("a:b", &[], 1.0).unwrap_err(), kind);
    registry.add_counter("hits", &[], &HITS).unwrap();
    let taken = RegistryError::Taken { name: "hits".into() };
    assert_eq!(registry.add_counter("hits", &[], &HITS), Err(taken.clone()));
    assert_eq!(registry.counter("hits", &[]).unwrap_err(), taken);
    registry.add_histogram("sizes", &[], 1.0, &SIZES).unwrap();
    assert!(matches!(registry.histogram("sizes", &[], 1.0), Err(RegistryError::Taken { .. })));
    assert!(matches!(registry.add_histogram("sizes", &[], 1.0, &SIZES), Err(RegistryError::Taken { .. })));
}

#[test]
fn text_is_escaped() {
    let registry = Registry::new();
    registry.counter("a", &[("path", "C:\\\"x\"\n")]).unwrap();
    registry.describe("a", "one\ntwo\\").unwrap();
    assert_eq!(
        registry.render(),
        "# HELP a one\\ntwo\\\\\n# TYPE a counter\na{path=\"C:\\\\\\\"x\\\"\\n\"} 0\n"
    );
}

#[test]
fn buckets_are_cumulative() {
    let registry = Registry::new();
    let sizes = registry.histogram("seconds", &[("of", "x")], 4.0).unwrap();
    assert_eq!(
        registry.render(),
        "# TYPE seconds histogram\nseconds_bucket{of=\"x\",le=\"+Inf\"} 0\n\
         seconds_sum{of=\"x\"} 0\nseconds_count{of=\"x\"} 0\n"
    );
    [5, 6, 7, 8, 9, 40].iter().for_each(|&value| sizes.record(value));
    let text = registry.render();
    let lines: Vec<&str> = text.lines().collect();
    // From the last bucket that is empty to the first that has all.
    let buckets = [("0.75", 0), ("1.75", 3), ("3.75", 5), ("7.75", 5), ("15.75", 6), ("+Inf", 6)];
    for (line, (bound, count)) in lines[1..].iter().zip(buckets) {
        assert_eq!(*line, std::format!("seconds_bucket{{of=\"x\",le=\"{bound}\"}} {count}"));
    }
    assert_eq!(lines[7..], ["seconds_sum{of=\"x\"} 18.75", "seconds_count{of=\"x\"} 6"]);
    // The sum has more than 64 bits.
    [u64::MAX, u64::MAX].iter().for_each(|&value| sizes.record(value));
    let sum = (2 * u128::from(u64::MAX) + 75) as f64 / 4.0;
    assert!(registry.render().contains(&std::format!("seconds_sum{{of=\"x\"}} {sum}\n")));
}

#[test]
fn all_series_of_a_name_have_the_same_buckets() {
    let registry = Registry::new();
    let fast = registry.histogram("ns", &[("of", "fast")], 1.0).unwrap();
    let slow = registry.histogram("ns", &[("of", "slow")], 1.0).unwrap();
    fast.record(100);
    slow.record(100_000);
    let text = registry.render();
    let bounds = |of: &str| {
        let of = std::format!("ns_bucket{{of=\"{of}\",");
        text.lines()
            .filter_map(|line| line.strip_prefix(&of))
            .map(|line| line.split_once('}').unwrap().0)
            .collect()
    };
    let (fast, slow): (Vec<&str>, Vec<&str>) = (bounds("fast"), bounds("slow"));
    assert_eq!(fast, slow);
    assert_eq!((fast[0], fast[fast.len() - 2], fast.len()), ("le=\"63\"", "le=\"131071\"", 13));
}

/// The count in each bucket of a page, by bound.
fn shown(text: &str, name: &str) -> Vec<(f64, u64)> {
    let prefix = std::format!("{name}_bucket{{le=\"");
    let bucket = |line: &str| {
        let (bound, count) = line.strip_prefix(&prefix)?.split_once("\"} ")?;
        Some((bound.parse().unwrap(), count.parse().unwrap()))
    };
    text.lines().filter_map(bucket).collect()
}

#[test]
fn chosen_buckets_count_what_is_up_to_their_bounds() {
    let registry = Registry::new();
    let bounds = [0.0, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 1e15, 1e20];
    let buckets = Buckets::new(1000.0, &bounds).unwrap();
    let histogram = registry.histogram_with("seconds", &[], &buckets).unwrap();
    assert_eq!(registry.buckets_of("seconds"), Some(buckets));
    let values: Vec<u64> = (0..20_000).chain([u64::MAX]).collect();
    values.iter().for_each(|&value| histogram.record(value));
    let seen = shown(&registry.render(), "seconds");
    assert_eq!(seen.len(), bounds.len() + 1);
    for ((bound, count), chosen) in seen.iter().zip(bounds) {
        assert_eq!(*bound, chosen);
        let up_to = |most: f64| values.iter().filter(|value| **value as f64 <= most).count() as u64;
        // Every value up to the bound, and none that is more than an eighth larger.
        let (least, most) = (up_to(bound * 1000.0), up_to(bound * 1000.0 * 1.125));
        assert!((least..=most).contains(count), "{bound}: {count}, not {least} to {most}");
    }
    assert_eq!(seen.last(), Some(&(f64::INFINITY, values.len() as u64)));
}

#[test]
fn bad_buckets_are_refused() {
    let bad = |unit, bounds: &[f64]| Buckets::new(unit, bounds).unwrap_err();
    assert_eq!(bad(0.0, &[1.0]), BucketsError::Divisor { unit: 0.0 });
    assert!(matches!(bad(f64::NAN, &[]), BucketsError::Divisor { .. }));
    assert_eq!(bad(1.0, &[-1.0]), BucketsError::Bound { bound: -1.0 });
    assert_eq!(bad(1.0, &[1.0, f64::INFINITY]), BucketsError::Bound { bound: f64::INFINITY });
    assert_eq!(bad(1.0, &[1.0, 2.0, 2.0]), BucketsError::Order { bound: 2.0, before: 2.0 });
    assert!(matches!(Buckets::exponential(1.0, 1.0, 1.0, 3), Err(BucketsError::Order { .. })));
    assert!(matches!(Buckets::exponential(1.0, 1.0, 1e200, usize::MAX), Err(BucketsError::Bound { .. })));
    assert!(Buckets::powers_of_two(-1.0).is_err());
    let four: Vec<f64> = Buckets::exponential(1.0, 0.5, 4.0, 4).unwrap().bounds().collect();
    assert_eq!(four, [0.5, 2.0, 8.0, 32.0]);
    let registry = Registry::new();
    assert_eq!(registry.histogram("x", &[], 0.0).unwrap_err(), RegistryError::Divisor { name: "x".into() });
    registry.histogram_with("x", &[], &Buckets::new(1e9, &[1.0]).unwrap()).unwrap();
    registry.histogram("x", &[("a", "")], 1e9).unwrap();
    let other = RegistryError::Buckets { name: "x".into() };
    assert_eq!(registry.histogram("x", &[], 1.0).unwrap_err(), other);
    let buckets = Buckets::new(1e9, &[2.0]).unwrap();
    assert_eq!(registry.histogram_with("x", &[("b", "")], &buckets).unwrap_err(), other);
    assert_eq!(registry.describe_buckets("x", &buckets), Err(other));
    registry.describe_buckets("y", &buckets).unwrap();
    registry.histogram("y", &[], 1e9).unwrap();
    assert_eq!(registry.buckets_of("y"), Some(buckets));
    assert!(registry.describe_buckets("y z", &Buckets::powers_of_two(1.0).unwrap()).is_err());
}

#[test]
fn quantiles_of_a_log_normal_load_lie_in_the_chosen_bucket() {
    // Two for each power of two, from 16 us to 1 s: bounds at which buckets of the histogram end, so counts are exact.
    let bounds: Vec<f64> =
        (14..30).flat_map(|bits| [1_u64 << bits, 3 << (bits - 1)]).map(|end| (end - 1) as f64).collect();
    // Bounds that people choose.
    let chosen: Vec<f64> =
        [1e-5, 1e-4, 1e-3, 0.01, 0.1].iter().flat_map(|one| [1.0, 2.5, 5.0].map(|of| of * one)).collect();
    let registry = Registry::new();
    let exact = registry.histogram_with("exact", &[], &Buckets::new(1.0, &bounds).unwrap()).unwrap();
    let usual = registry.histogram_with("usual", &[], &Buckets::new(1e9, &chosen).unwrap()).unwrap();
    // Median 1 ms, sigma 1.5, by the sum of twelve uniform numbers of a generator with a fixed seed.
    let mut state = 1_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let records = if cfg!(miri) { 1000 } else { 1_000_000 };
    let mut values: Vec<u64> = Vec::new();
    for _ in 0..records {
        let normal: f64 = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        values.push((1e6 * (1.5 * normal).exp()) as u64);
    }
    for &value in &values {
        exact.record(value);
        usual.record(value);
    }
    values.sort_unstable();
    let text = registry.render();
    // The bucket of a quantile: what is above the bound before, and up to its own.
    let bucket = |seen: &[(f64, u64)], rank: u64| {
        let at = seen.iter().position(|(_, count)| *count >= rank).unwrap();
        (if at == 0 { 0.0 } else { seen[at - 1].0 }, seen[at].0)
    };
    for quantile in [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999] {
        let rank = (quantile * records as f64).ceil() as u64;
        let right = values[rank as usize - 1] as f64;
        let (above, most) = bucket(&shown(&text, "exact"), rank);
        assert!(above < right && right <= most, "{quantile}: {right} ns, scraped {above} to {most}");
        let (above, most) = bucket(&shown(&text, "usual"), rank);
        // A value counts in a bucket up to a lower bound only if it is less than an eighth larger.
        assert!(
            above * 1e9 < right && right < most * 1e9 * 1.125,
            "{quantile}: {right} ns, scraped {above} to {most} s"
        );
    }
}

#[test]
fn a_count_is_that_of_all_buckets_and_the_sum_fits_it() {
    let registry = Registry::new();
    let histogram = registry.histogram_with("x", &[], &Buckets::new(1.0, &[10.0, 1000.0]).unwrap()).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    histogram.record(1000);
                }
            });
        }
        let mut before = (0.0, 0);
        for _ in 0..if cfg!(miri) { 20 } else { 5000 } {
            let text = registry.render();
            let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            let count: u64 = value("x_count ").parse().unwrap();
            let sum: f64 = value("x_sum ").parse().unwrap();
            assert_eq!(value("x_bucket{le=\"+Inf\"} "), value("x_count "));
            // 960 to 1023 are one bucket of the histogram.
            assert!(
                count * 960 <= sum as u64 && sum as u64 <= count * 1023,
                "{sum} of {count} values of 1000"
            );
            assert!(before <= (sum, count), "neither falls");
            before = (sum, count);
        }
        done.store(true, Ordering::Relaxed);
    });
    let text = registry.render();
    assert!(text.contains(&std::format!("x_sum {}\n", histogram.snapshot().count() * 1000)), "{text}");
}

#[test]
fn names_on_the_page_are_taken_once() {
    let of_histogram = ["x_bucket", "x_sum", "x_count", "x_created"];
    for name in of_histogram.into_iter().chain(["x"]) {
        let registry = Registry::new();
        registry.histogram("x", &[], 1.0).unwrap();
        assert!(registry.counter(name, &[]).is_err(), "{name}");
        assert!(registry.observe(name, &[], || 0.0).is_err(), "{name}");
        let registry = Registry::new();
        registry.gauge(name, &[]).unwrap();
        assert!(registry.histogram("x", &[], 1.0).is_err(), "{name} first");
    }
    for (first, second) in [("x", "x_total"), ("x_total", "x"), ("x", "x_created"), ("x_total", "x_created")]
    {
        let registry = Registry::new();
        registry.counter(first, &[]).unwrap();
        assert!(
            registry.gauge(second, &[]).is_err() && registry.counter(second, &[]).is_err(),
            "{first}, {second}"
        );
        let registry = Registry::new();
        registry.gauge(second, &[]).unwrap();
        assert!(registry.counter(first, &[]).is_err(), "{second}, {first}");
    }
    let registry = Registry::new();
    registry.histogram("x", &[], 1.0).unwrap();
    let clash = RegistryError::Clash { name: "x_sum".into(), with: "x".into(), series: "x_sum".into() };
    assert_eq!(registry.gauge("x_sum", &[]).unwrap_err(), clash);
    assert_eq!(clash.to_string(), "x_sum and x, which exists, would both have a series x_sum");
    // What nobody has any more is free.
    assert!(registry.remove_all("x"));
    registry.gauge("x_sum", &[]).unwrap();
}

#[test]
fn what_is_removed_is_gone_and_frees_its_memory() {
    let heap = PerCpuHeap::global().unwrap();
    let registry = Registry::new();
    registry.counter("kept", &[]).unwrap().add(3);
    let labels: Vec<String> = (0..64).map(|number| number.to_string()).collect();
    let live = || {
        heap.trim();
        let stats = heap.stats();
        stats.placed - stats.kept
    };
    let before = live();
    for label in &labels {
        registry.histogram("sizes", &[("of", label)], 1.0).unwrap().record(7);
        registry.counter("hits", &[("of", label)]).unwrap().inc();
    }
    // Other tests allocate from this heap, too, but not as much.
    assert!(live() >= before + 100, "{before}, {}", live());
    assert_eq!((registry.len(), registry.epoch()), (129, 0));
    let hits = registry.counter("hits", &[("of", "1")]).unwrap();
    assert!(registry.remove("hits", &[("of", "1")]) && !registry.remove("hits", &[("of", "1")]));
    assert!(!registry.remove("hits", &[("", "")]) && !registry.remove("none", &[]));
    hits.add(5);
    assert!(!registry.render().contains("hits{of=\"1\"}"));
    assert_eq!(registry.counter("hits", &[("of", "1")]).unwrap().get(), 0);
    assert!(registry.remove_all("hits") && registry.remove_all("sizes") && !registry.remove_all("sizes"));
    assert_eq!((registry.len(), registry.epoch(), registry.is_empty()), (1, 3, false));
    assert!(live() <= before + 28, "{before}, {}", live());
    assert_eq!(registry.render(), "# TYPE kept counter\nkept 3\n");
}

#[test]
fn labels_beyond_the_limit_share_a_series() {
    let registry = Registry::new();
    registry.limit_series(2);
    registry.limit_series_of("all", 5).unwrap();
    assert_eq!(registry.epoch(), 2, "caches of handles learn of limits");
    for user in ["a", "b", "c", "d", "a"] {
        registry.counter("logins", &[("user", user)]).unwrap().inc();
        registry.histogram("sizes", &[("user", user)], 1.0).unwrap().record(1);
        registry.gauge("all", &[("user", user)]).unwrap().add(1);
    }
    registry.counter("logins", &[]).unwrap().add(9);
    let text = registry.render();
    assert!(
        text.contains("logins 9\nlogins{overflow=\"true\"} 2\nlogins{user=\"a\"} 2\nlogins{user=\"b\"} 1\n"),
        "{text}"
    );
    assert!(text.contains("sizes_count{overflow=\"true\"} 2\n"), "{text}");
    assert!(!text.contains("all{overflow") && text.contains("all{user=\"d\"} 1\n"), "{text}");
    assert_eq!(registry.len(), 4 + 3 + 4);
    // A place that becomes free is taken.
    registry.remove("logins", &[("user", "a")]);
    registry.remove("logins", &[("user", "b")]);
    registry.counter("logins", &[("user", "e")]).unwrap();
    assert!(registry.render().contains("logins{user=\"e\"} 0\n"));
}

#[test]
fn observed_figures_are_read_once_a_page_under_no_lock() {
    static REGISTRY: Registry = Registry::new();
    static READS: Counter = Counter::new();
    REGISTRY.observe("names", &[], || REGISTRY.len() as f64).unwrap();
    let read = |values: &mut [f64]| {
        READS.inc();
        values[..2].copy_from_slice(&[f64::INFINITY, READS.get() as f64]);
    };
    REGISTRY.observe_all("vm", &[("of", "x")], &["limit", "reads", "unknown"], read).unwrap();
    let page = |reads: u32| {
        std::format!(
            "# TYPE names gauge\nnames 4\n# TYPE vm_limit gauge\nvm_limit{{of=\"x\"}} +Inf\n\
             # TYPE vm_reads gauge\nvm_reads{{of=\"x\"}} {reads}\n\
             # TYPE vm_unknown gauge\nvm_unknown{{of=\"x\"}} NaN\n"
        )
    };
    assert_eq!(REGISTRY.render(), page(1));
    assert_eq!(REGISTRY.to_string(), page(2));
    // All or none.
    let taken = REGISTRY.observe_all("vm", &[("of", "x")], &["a", "reads"], |_| {});
    assert_eq!(taken, Err(RegistryError::Taken { name: "vm_reads".into() }));
    assert!(REGISTRY.observe_all("vm", &[("of", "y")], &["b", "b c"], |_| {}).is_err());
    assert_eq!(REGISTRY.len(), 4);
    let values: Vec<(String, Reading)> =
        REGISTRY.iter().map(|sample| (sample.name, sample.reading)).collect();
    assert_eq!(
        values[..2],
        [("names".into(), Reading::Value(4.0)), ("vm_limit".into(), Reading::Value(f64::INFINITY))]
    );
}

#[test]
fn open_metrics() {
    let registry = Registry::new();
    registry.counter("hits", &[("a", "1")]).unwrap().add(2);
    registry.counter("busy_seconds_total", &[]).unwrap().add(1);
    registry.value("temperature_celsius", &[]).unwrap().set(-0.5);
    registry.histogram_with("sizes_bytes", &[], &Buckets::new(1.0, &[1.0, 1e16]).unwrap()).unwrap().record(1);
    registry.describe("sizes_bytes", "Of \"all\".").unwrap();
    for (name, unit) in
        [("busy_seconds_total", "seconds"), ("sizes_bytes", "bytes"), ("temperature_celsius", "celsius")]
    {
        registry.describe_unit(name, unit).unwrap();
    }
    for (name, unit) in [("hits", "seconds"), ("hits", ""), ("bytes", "bytes"), ("x_megabytes", "bytes")] {
        assert!(
            matches!(registry.describe_unit(name, unit), Err(RegistryError::Unit { .. })),
            "{name} {unit}"
        );
    }
    let text = registry.render_as(Format::OpenMetrics);
    let is_created = |line: &&str| line.contains("_created");
    let created: Vec<&str> =
        text.lines().filter(is_created).map(|line| line.split_once(' ').unwrap().0).collect();
    assert_eq!(created, ["busy_seconds_created", "hits_created{a=\"1\"}", "sizes_bytes_created"]);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    for line in text.lines().filter(is_created) {
        let since: f64 = line.split_once(' ').unwrap().1.parse().unwrap();
        assert!((now - since).abs() < 600.0, "{line}");
    }
    let rest: Vec<&str> = text.lines().filter(|line| !is_created(line)).collect();
    assert_eq!(
        rest,
        [
            "# TYPE busy_seconds counter",
            "# UNIT busy_seconds seconds",
            "busy_seconds_total 1",
            "# TYPE hits counter",
            "hits_total{a=\"1\"} 2",
            "# HELP sizes_bytes Of \\\"all\\\".",
            "# TYPE sizes_bytes histogram",
            "# UNIT sizes_bytes bytes",
            "sizes_bytes_bucket{le=\"1.0\"} 1",
            "sizes_bytes_bucket{le=\"1e16\"} 1",
            "sizes_bytes_bucket{le=\"+Inf\"} 1",
            "sizes_bytes_sum 1",
            "sizes_bytes_count 1",
            "# TYPE temperature_celsius gauge",
            "# UNIT temperature_celsius celsius",
            "temperature_celsius -0.5",
            "# EOF",
        ]
    );
}

#[test]
fn a_page_of_open_metrics_names_every_family_and_only_units_that_a_name_ends_with() {
    let registry = Registry::new();
    registry.counter("_total", &[]).unwrap();
    registry.value("left_seconds_total", &[]).unwrap();
    registry.describe_unit("left_seconds_total", "seconds").unwrap();
    let text = registry.render_as(Format::OpenMetrics);
    assert!(text.starts_with("# TYPE _total counter\n_total_total 0\n_total_created "), "{text}");
    assert!(text.ends_with("# TYPE left_seconds_total gauge\nleft_seconds_total 0\n# EOF\n"), "{text}");
}

/// Takes a number of bytes, and no more.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let some = bytes.len().min(self.0);
        self.0 -= some;
        if some == 0 { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(some) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn pages_are_written_and_series_walked() {
    let registry = Registry::new();
    registry.counter("a", &[("x", "1")]).unwrap().add(1);
    registry.gauge("b", &[]).unwrap().set(-2);
    registry.histogram("c", &[], 1.0).unwrap().record(3);
    let mut bytes = Vec::new();
    registry.write_io(Format::Text, &mut bytes).unwrap();
    assert_eq!(bytes, registry.render().as_bytes());
    assert_eq!(registry.to_string(), registry.render());
    let full = registry.write_io(Format::Text, &mut Full(bytes.len() - 1)).unwrap_err();
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    let samples: Vec<Sample> = registry.iter().collect();
    assert_eq!(samples.len(), 3);
    assert_eq!(
        (&*samples[0].name, &*samples[0].labels, &samples[0].reading),
        ("a", "x=\"1\"", &Reading::Counter(1))
    );
    assert_eq!(samples[1].reading, Reading::Gauge(-2));
    assert!(matches!(&samples[2].reading, Reading::Histogram(seen) if seen.sum() == 3));
}

/// Figures of many groups stand where their values do, and as many series are counted as there are.
#[test]
fn observed_figures_stand_where_their_values_do_and_are_counted() {
    let (values, observed) = (Registry::new(), Registry::new());
    let labels: Vec<String> = (0..300).map(|number| number.to_string()).collect();
    for (number, label) in labels.iter().enumerate() {
        values.value("level", &[("of", label)]).unwrap().set(number as f64);
        observed.observe("level", &[("of", label)], move || number as f64).unwrap();
        // It is there already, and so not counted again.
        assert!(observed.observe("level", &[("of", label)], || 0.0).is_err());
        values.value("level", &[("of", label)]).unwrap();
    }
    assert_eq!(values.render(), observed.render());
    for registry in [&values, &observed] {
        assert_eq!(registry.len(), labels.len());
        assert!(registry.remove("level", &[("of", "7")]) && !registry.remove("level", &[("of", "7")]));
        assert_eq!(registry.len(), labels.len() - 1);
        registry.remove_all("level");
        assert_eq!((registry.is_empty(), registry.len()), (true, 0));
    }
}
