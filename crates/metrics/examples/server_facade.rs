//! The same server through the `metrics` facade: nothing in it is freehold's but the recorder, which one line installs.
//! With `metrics-exporter-prometheus` that line is `let handle = PrometheusBuilder::new().install_recorder()?;`.
//!
//!     cargo run --release -p freehold-metrics --example server_facade -- 127.0.0.1:8080
//!     curl http://127.0.0.1:8080/metrics

mod http;

use metrics::{Counter, Gauge, Histogram};
use std::error::Error;
use std::sync::OnceLock;
use std::time::Instant;

/// What is counted of a page: handles, which are looked up once.
struct Endpoint {
    requests: Counter,
    latency: Histogram,
}

struct Metrics {
    endpoints: Vec<Endpoint>,
    open: Gauge,
    render: Box<dyn Fn() -> String + Send + Sync>,
}

static METRICS: OnceLock<Metrics> = OnceLock::new();

fn handle(path: &str) -> Option<String> {
    let metrics = METRICS.get()?;
    if path == "/metrics" {
        return Some((metrics.render)());
    }
    let at = http::PATHS.iter().position(|known| *known == path)?;
    let endpoint = &metrics.endpoints[at];
    let begin = Instant::now();
    metrics.open.increment(1.0);
    let page = http::page(path);
    metrics.open.decrement(1.0);
    endpoint.requests.increment(1);
    endpoint.latency.record(begin.elapsed());
    page
}

fn main() -> Result<(), Box<dyn Error>> {
    // The one line.
    let handle_of_recorder = freehold_metrics::Recorder::new().install()?;
    metrics::describe_counter!("http_requests_total", "Requests answered.");
    metrics::describe_histogram!("http_request_seconds", "Time to answer a request.");
    let endpoint = |path: &&'static str| Endpoint {
        requests: metrics::counter!("http_requests_total", "path" => *path),
        latency: metrics::histogram!("http_request_seconds", "path" => *path),
    };
    let all = Metrics {
        endpoints: http::PATHS.iter().map(endpoint).collect(),
        open: metrics::gauge!("http_requests_open"),
        render: Box::new(move || handle_of_recorder.render()),
    };
    METRICS.get_or_init(|| all);
    http::serve(handle)
}
