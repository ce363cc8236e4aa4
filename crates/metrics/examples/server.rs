//! A server that counts: requests and their latency for each page, and open requests, all in per-CPU memory.
//!
//!     cargo run --release -p freehold-metrics --example server -- 127.0.0.1:8080
//!     curl http://127.0.0.1:8080/metrics

mod http;

use freehold_percpu::registry::{Registry, RegistryError};
use freehold_percpu::{Counter, Gauge, Histogram};
use std::error::Error;
use std::time::Instant;

/// What is counted of a page.
struct Endpoint {
    requests: Counter,
    latency_ns: Histogram,
}

static ENDPOINTS: [Endpoint; http::PATHS.len()] =
    [const { Endpoint { requests: Counter::new(), latency_ns: Histogram::new() } }; http::PATHS.len()];
static OPEN: Gauge = Gauge::new();
static REGISTRY: Registry = Registry::new();

/// Gives what is counted its names. Who counts needs none of them.
fn register() -> Result<(), RegistryError> {
    for (path, endpoint) in http::PATHS.iter().zip(&ENDPOINTS) {
        let labels = [("path", *path)];
        REGISTRY.add_counter("http_requests_total", &labels, &endpoint.requests)?;
        REGISTRY.add_histogram("http_request_seconds", &labels, 1e9, &endpoint.latency_ns)?;
    }
    REGISTRY.add_gauge("http_requests_open", &[], &OPEN)?;
    REGISTRY.describe("http_requests_total", "Requests answered.")?;
    REGISTRY.describe("http_request_seconds", "Time to answer a request.")
}

fn handle(path: &str) -> Option<String> {
    if path == "/metrics" {
        return Some(REGISTRY.render());
    }
    let at = http::PATHS.iter().position(|known| *known == path)?;
    let endpoint = &ENDPOINTS[at];
    let begin = Instant::now();
    OPEN.add(1);
    let page = http::page(path);
    OPEN.add(-1);
    endpoint.requests.add(1);
    endpoint.latency_ns.record(begin.elapsed().as_nanos() as u64);
    page
}

fn main() -> Result<(), Box<dyn Error>> {
    register()?;
    http::serve(handle)
}
