//! The same server through the `metrics` facade. What counts is the facade's; freehold's are the recorder, which one line installs,
//! and the registry that this returns, which writes the page, limits series and removes them. With `metrics-exporter-prometheus` the
//! line is `let handle = PrometheusBuilder::new().set_buckets(&[..])?.install_recorder()?;`.
//!
//!     cargo run --release -p freehold-metrics --example server_facade -- 127.0.0.1:8080
//!     curl http://127.0.0.1:8080/metrics

mod http;

use freehold_metrics::Registry;
use metrics::{Counter, Gauge, Histogram};
use std::error::Error;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// What is counted of a page: handles, which are looked up once.
struct Endpoint {
    requests: Counter,
    latency: Histogram,
}

struct Metrics {
    endpoints: Vec<Endpoint>,
    open: Gauge,
    registry: Arc<Registry>,
}

static METRICS: OnceLock<Metrics> = OnceLock::new();

const PEER_REQUESTS: &str = "http_peer_requests_total";

/// An open request. The gauge goes down by a drop, as in `server`.
struct Open<'a>(&'a Gauge);

impl<'a> Open<'a> {
    fn new(gauge: &'a Gauge) -> Self {
        gauge.increment(1.0);
        Self(gauge)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

/// A client that is connected. Its series goes away with it.
struct Peer {
    address: String,
    requests: Counter,
}

impl http::Peer for Peer {
    fn connected(address: &str) -> Self {
        let address = address.to_owned();
        Self { requests: metrics::counter!(PEER_REQUESTS, "peer" => address.clone()), address }
    }

    fn handle(&self, path: &str) -> Option<String> {
        let metrics = METRICS.get()?;
        self.requests.increment(1);
        if path == "/metrics" {
            return Some(metrics.registry.render());
        }
        let at = http::PATHS.iter().position(|known| *known == path)?;
        let endpoint = &metrics.endpoints[at];
        let begin = Instant::now();
        let _open = Open::new(&metrics.open);
        let page = http::page(path);
        endpoint.requests.increment(1);
        endpoint.latency.record(begin.elapsed());
        page
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Some(metrics) = METRICS.get() {
            metrics.registry.remove(PEER_REQUESTS, &[("peer", &self.address)]);
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // The one line, and the buckets that are shown.
    let registry = freehold_metrics::Recorder::new().buckets(&[1e-6, 1e-5, 1e-4, 1e-3, 1e-2])?.install()?;
    registry.limit_series_of(PEER_REQUESTS, 100)?;
    metrics::describe_counter!("http_requests_total", "Requests answered.");
    metrics::describe_histogram!("http_request_seconds", "Time to answer a request.");
    let endpoint = |path: &&'static str| Endpoint {
        requests: metrics::counter!("http_requests_total", "path" => *path),
        latency: metrics::histogram!("http_request_seconds", "path" => *path),
    };
    let all = Metrics {
        endpoints: http::PATHS.iter().map(endpoint).collect(),
        open: metrics::gauge!("http_requests_open"),
        registry,
    };
    METRICS.get_or_init(|| all);
    http::serve::<Peer>()
}
