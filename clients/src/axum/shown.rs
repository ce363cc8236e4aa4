//! Pages of metrics, as the crate prometheus-parse reads them.

use clients::Answer;
use prometheus_parse::{Scrape, Value};
use std::collections::BTreeMap;

/// What a page shows: numbers by the name of their series; buckets by the name of theirs and their bound.
pub type Numbers = BTreeMap<String, f64>;

/// Reads a page, and checks that each histogram's count is that of its bucket of all values, and that buckets rise.
pub fn read(page: &str) -> Answer<Numbers> {
    let scrape = Scrape::parse(page.lines().map(|line| Ok(line.to_owned())))?;
    let mut numbers = Numbers::new();
    let mut counts = Vec::new();
    for sample in scrape.samples {
        let mut labels: Vec<String> =
            sample.labels.iter().map(|(label, value)| format!("{label}={value}")).collect();
        labels.sort();
        let labels = labels.join(",");
        match sample.value {
            Value::Counter(value) | Value::Gauge(value) | Value::Untyped(value) => {
                numbers.insert(format!("{}{{{labels}}}", sample.metric), value);
            }
            Value::Histogram(buckets) => {
                let rises = buckets
                    .is_sorted_by(|one, next| one.less_than < next.less_than && one.count <= next.count);
                let last = buckets.last().filter(|last| rises && last.less_than == f64::INFINITY);
                let last = last.ok_or_else(|| {
                    format!("the buckets of {}{{{labels}}} do not rise to +Inf", sample.metric)
                })?;
                counts.push((format!("{}_count{{{labels}}}", sample.metric), last.count));
                for bucket in &buckets {
                    let name = format!("{}_bucket{{{labels}}} {}", sample.metric, bucket.less_than);
                    numbers.insert(name, bucket.count);
                }
            }
            Value::Summary(_) => return Err(format!("{} is a summary", sample.metric).into()),
        }
    }
    for (name, count) in counts {
        if numbers.get(&name) != Some(&count) {
            return Err(format!("{name}: {:?}, but its buckets have {count}", numbers.get(&name)).into());
        }
    }
    Ok(numbers)
}

/// Checks that two pages show the same series, and the same numbers but for those of times.
pub fn compare(ours: &Numbers, its: &Numbers) -> Answer<()> {
    let names = |numbers: &Numbers| -> Vec<String> {
        numbers.keys().filter(|name| !name.starts_with("freehold_metrics_")).cloned().collect()
    };
    if names(ours) != names(its) {
        let only = names(ours).into_iter().find(|name| !its.contains_key(name));
        return Err(format!("the pages show other series; one that is ours alone: {only:?}").into());
    }
    let is_time = |name: &str| {
        name.starts_with("http_request_seconds_sum")
            || name.starts_with("http_request_seconds_bucket") && !name.ends_with(" inf")
    };
    match its.iter().find(|(name, value)| !is_time(name) && ours.get(*name) != Some(value)) {
        Some((name, value)) => {
            Err(format!("{name}: {:?}, and {value} of the exporter", ours.get(name)).into())
        }
        None => Ok(()),
    }
}
