//! A server that counts: requests and their latency for each page, requests of each peer, and open requests, all in per-CPU
//! memory.
//!
//!     cargo run --release -p freehold-metrics --example server -- 127.0.0.1:8080
//!     curl http://127.0.0.1:8080/metrics
//!
//! To copy it: `http/mod.rs`, which is the server, with what it uses of hyper and tokio; and `freehold-percpu` with the feature `std`,
//! or `freehold` with that feature, where the crate is `freehold::percpu`.

mod http;

use freehold_percpu::registry::{Buckets, Registry};
use freehold_percpu::{Counter, Gauge, Histogram};
use std::error::Error;
use std::sync::Arc;

/// What is counted of a page.
struct Endpoint {
    requests: Counter,
    latency_ns: Histogram,
}

static ENDPOINTS: [Endpoint; http::PATHS.len()] =
    [const { Endpoint { requests: Counter::new(), latency_ns: Histogram::new() } }; http::PATHS.len()];
static OPEN: Gauge = Gauge::new();
static REGISTRY: Registry = Registry::new();

/// Upper bounds of the buckets of latencies, in seconds. The pages take microseconds.
const BOUNDS: [f64; 9] = [1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 1e-3, 1e-2];
const PEER_REQUESTS: &str = "http_peer_requests_total";
/// Peers with a series of their own: clients choose how many there are.
const MOST_PEERS: usize = 100;

/// Gives what is counted its names. Who counts needs none of them.
fn register() -> Result<(), Box<dyn Error>> {
    // Nanoseconds are recorded, seconds are shown.
    let buckets = Buckets::new(1e9, &BOUNDS)?;
    for (path, endpoint) in http::PATHS.iter().zip(&ENDPOINTS) {
        let labels = [("path", *path)];
        REGISTRY.add_counter("http_requests_total", &labels, &endpoint.requests)?;
        REGISTRY.add_histogram_with("http_request_seconds", &labels, &buckets, &endpoint.latency_ns)?;
    }
    REGISTRY.add_gauge("http_requests_open", &[], &OPEN)?;
    REGISTRY.limit_series_of(PEER_REQUESTS, MOST_PEERS)?;
    REGISTRY.describe("http_requests_total", "Requests answered.")?;
    REGISTRY.describe("http_request_seconds", "Time to answer a request.")?;
    REGISTRY.describe(PEER_REQUESTS, "Requests of each client that is connected.")?;
    Ok(())
}

/// An open request. The gauge goes down by a drop, which also happens if the handler panics, or is `async` and cancelled.
struct Open;

impl Open {
    fn new() -> Self {
        OPEN.add(1);
        Self
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        OPEN.add(-1);
    }
}

/// A client that is connected. Its series goes away with it.
struct Peer {
    address: String,
    /// Looked up once.
    requests: Option<Arc<Counter>>,
}

impl http::Peer for Peer {
    fn connected(address: &str) -> Self {
        let requests = REGISTRY.counter(PEER_REQUESTS, &[("peer", address)]).ok();
        Self { address: address.to_owned(), requests }
    }

    fn handle(&self, path: &str) -> Option<String> {
        if let Some(requests) = &self.requests {
            requests.inc();
        }
        if path == "/metrics" {
            return Some(REGISTRY.render());
        }
        let at = http::PATHS.iter().position(|known| *known == path)?;
        let endpoint = &ENDPOINTS[at];
        let _timer = endpoint.latency_ns.timer();
        let _open = Open::new();
        let page = http::page(path);
        endpoint.requests.inc();
        page
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        REGISTRY.remove(PEER_REQUESTS, &[("peer", &self.address)]);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    register()?;
    http::serve::<Peer>()
}
