//! Prints a page in OpenMetrics with every kind of metric, for other readers to check: `.ci/openmetrics`.
//!
//!     cargo run -p freehold-metrics --example openmetrics

use freehold_percpu::registry::{Buckets, Format, Registry};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::new();
    for (name, help) in [
        ("requests_total", "Requests \"answered\",\nwith a backslash: \\."),
        ("request_seconds", "Time to answer."),
        ("pages", "A counter without a suffix."),
    ] {
        registry.describe(name, help)?;
    }
    registry.counter("requests_total", &[("path", "/a \"b\" \\ \n"), ("code", "200")])?.add(41);
    registry.counter("requests_total", &[("path", "/"), ("code", "404")])?.inc();
    registry.counter("pages", &[])?.add(u64::MAX);
    let buckets = Buckets::new(1e9, &[0.0, 1e-7, 0.001, 0.5, 1.0, 10.0, 1e6])?;
    for path in ["/", "/a"] {
        let latency = registry.histogram_with("request_seconds", &[("path", path)], &buckets)?;
        [50, 2_000_000, 700_000_000, u64::MAX].iter().for_each(|&value| latency.record(value));
    }
    registry.describe_unit("request_seconds", "seconds")?;
    registry.histogram("sizes_bytes", &[], 1.0)?.record(4096);
    registry.describe_unit("sizes_bytes", "bytes")?;
    registry.histogram("empty", &[], 1.0)?;
    registry.gauge("open", &[])?.set(-3);
    for (of, value) in [("a", 0.1), ("b", f64::NAN), ("c", f64::INFINITY), ("d", f64::NEG_INFINITY)] {
        registry.value("level", &[("of", of)])?.set(value);
    }
    registry.observe("cpus", &[], || {
        std::thread::available_parallelism().map_or(1.0, |cpus| cpus.get() as f64)
    })?;
    registry.write_io(Format::OpenMetrics, &mut std::io::stdout().lock())?;
    Ok(())
}
