//! Loads one of the example servers from a process of its own, and checks that its page of metrics has every request, and
//! no client that is gone.
//!
//!     cargo run --release -p freehold-metrics --example load -- 127.0.0.1:8080 20000

use freehold_percpu::registry::Format;
use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const PATHS: [&str; 3] = ["/", "/square", "/primes"];
const CONNECTIONS: usize = 8;

/// A connection that is kept for many requests.
struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    fn new(address: &str) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// The body of a page that must be there.
    fn get(&mut self, path: &str) -> Result<String, Box<dyn Error + Send + Sync>> {
        write!(self.stream.get_mut(), "GET {path} HTTP/1.1\r\nhost: example\r\n\r\n")?;
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        if !line.starts_with("HTTP/1.1 200") {
            return Err(format!("{path}: {line:?}").into());
        }
        let (mut length, mut is_text) = (0, false);
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-type:") {
                is_text = value.trim() == Format::Text.content_type();
            }
        }
        if !is_text {
            return Err(format!("{path}: no content type of Prometheus's text").into());
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(String::from_utf8(body)?)
    }
}

/// The value of a metric of a page.
fn value(metrics: &str, name: &str) -> Option<u64> {
    metrics.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut args = std::env::args().skip(1);
    let address = args.next().ok_or("load ADDRESS [REQUESTS]")?;
    let requests: usize = args.next().map_or(Ok(20_000), |requests| requests.parse())?;
    let each = requests.div_ceil(CONNECTIONS);
    let mut client = Client::new(&address)?;
    let before = client.get("/metrics")?;
    let begin = Instant::now();
    let loaded: Vec<Result<(), String>> = std::thread::scope(|scope| {
        let load = |connection: usize| {
            let mut client = Client::new(&address).map_err(|error| error.to_string())?;
            for request in 0..each {
                let path = PATHS[(connection + request) % PATHS.len()];
                client.get(path).map_err(|error| error.to_string())?;
            }
            Ok(())
        };
        let workers: Vec<_> =
            (0..CONNECTIONS).map(|connection| scope.spawn(move || load(connection))).collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined.map(|done| done.unwrap_or_else(|_| Err("a client panicked".to_owned()))).collect()
    });
    loaded.into_iter().collect::<Result<Vec<()>, String>>()?;
    let seconds = begin.elapsed().as_secs_f64();
    let after = client.get("/metrics")?;
    for (at, path) in PATHS.iter().enumerate() {
        let sent = (0..CONNECTIONS).flat_map(|connection| (0..each).map(move |request| connection + request));
        let sent = sent.filter(|number| number % PATHS.len() == at).count() as u64;
        for name in ["http_requests_total", "http_request_seconds_count"] {
            let name = format!("{name}{{path=\"{path}\"}}");
            let count = |page| value(page, &name).ok_or_else(|| format!("no {name}"));
            let counted = count(&after)? - count(&before)?;
            if counted != sent {
                return Err(format!("{name}: {counted} counted, {sent} sent").into());
            }
        }
    }
    if value(&after, "http_requests_open") != Some(0) {
        return Err("requests are open".into());
    }
    // The server notices a closed connection soon.
    let deadline = Instant::now() + Duration::from_secs(10);
    let peers =
        |page: &str| page.lines().filter(|line| line.starts_with("http_peer_requests_total{")).count();
    while peers(&client.get("/metrics")?) != 1 {
        if Instant::now() > deadline {
            return Err("the page has clients that are gone".into());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    println!(
        "{} requests, {:.0} a second; the page of metrics has every one",
        CONNECTIONS * each,
        (CONNECTIONS * each) as f64 / seconds
    );
    Ok(())
}
