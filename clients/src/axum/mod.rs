//! axum: a server that counts by the macros of `metrics`, scraped under load, with our recorder and with
//! metrics-exporter-prometheus. Both show the same buckets.

mod process;
mod server;
mod shown;

pub use server::serve;

use clients::Answer;
use clients::table::{Effort, Row, Unit, count, measure};
use process::{Connection, Server};
use shown::Numbers;
use std::time::Instant;

/// Paths of the server, each with series of its own.
const PATHS: usize = 200;
/// Scrapes of each side.
const SCRAPES: usize = 1_000;
/// Threads that ask for pages while the server is scraped, and the pages that each asks for between two scrapes.
const LOADERS: usize = 2;
const PAGES: usize = 10;
/// Every so many pages one is parsed, which takes ten times as long as to make it.
const PARSED: usize = 10;
/// Upper bounds of buckets of seconds, those of most client libraries, and of bytes.
const SECONDS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
const BYTES: [f64; 4] = [128.0, 256.0, 1024.0, 4096.0];

/// Bytes of a path's page: none is less than an eighth above a bound, so that our buckets have them as the exporter's.
fn body_bytes(number: usize) -> usize {
    [100, 200, 256, 300, 500, 800, 1024, 2000, 3000, 4096][number % 10]
}

fn path(number: usize) -> String {
    format!("/page/{}", number % PATHS)
}

pub fn run(effort: Effort) -> Answer<Vec<Row>> {
    let (ours, its) = (Side::start("ours")?, Side::start("its")?);
    let scrapes = SCRAPES.div_ceil(effort.rounds);
    let requests = effort.of(4_000);
    let mut rows = vec![
        measure(
            effort,
            "a request",
            Unit::Nanoseconds,
            || ours.request_ns(requests),
            || its.request_ns(requests),
        )?
        .at_most(1.0),
        measure(
            effort,
            "server's CPU time of a request",
            Unit::Nanoseconds,
            || ours.request_cpu_ns(requests),
            || its.request_cpu_ns(requests),
        )?,
        measure(
            effort,
            "server's CPU time of a scrape",
            Unit::Nanoseconds,
            || ours.scraped_ns(scrapes),
            || its.scraped_ns(scrapes),
        )?
        .at_most(0.8),
    ];
    // Both have answered the same requests.
    let all = (effort.rounds + 1) * (2 * requests + scrapes * LOADERS * PAGES) + PATHS;
    let (our_page, its_page) = (ours.page()?, its.page()?);
    let (our_numbers, its_numbers) = (shown::read(&our_page)?, shown::read(&its_page)?);
    check(&our_numbers, all)?;
    // On a busy machine it can lose a value that is recorded while a page is made. Then it is no judge of ours.
    match has_all(&its_numbers, all) {
        Ok(()) => shown::compare(&our_numbers, &its_numbers)?,
        Err(lost) => println!("axum: our page was not compared with the exporter's, which is wrong: {lost}"),
    }
    let pages = count("page of metrics", Unit::Bytes, our_page.len() as u64, its_page.len() as u64);
    rows.push(pages.must_be_at_most(1.2)?);
    Ok(rows)
}

/// Checks that a page has every request, each in the buckets that its bytes belong to, that none is open and that nothing was refused.
fn check(numbers: &Numbers, requests: usize) -> Answer<()> {
    has_all(numbers, requests)?;
    let of = |name: String| numbers.get(&name).copied().ok_or_else(|| format!("the page has no {name}"));
    for number in 0..PATHS {
        let requests = of(format!("http_requests_total{{path={},status=200}}", path(number)))?;
        for bound in BYTES.into_iter().chain([f64::INFINITY]) {
            let name = format!("http_response_bytes_bucket{{path={}}} {bound}", path(number));
            let expected = if body_bytes(number) as f64 <= bound { requests } else { 0.0 };
            if of(name.clone())? != expected {
                return Err(format!("{name}: {:?}, not {expected}", numbers.get(&name)).into());
            }
        }
    }
    for name in ["http_requests_open{}", "freehold_metrics_rejected_total{}"] {
        if numbers.get(name) != Some(&0.0) {
            return Err(format!("{name}: {:?}, not 0", numbers.get(name)).into());
        }
    }
    Ok(())
}

/// Checks that a page has every request in each of its metrics.
fn has_all(numbers: &Numbers, requests: usize) -> Answer<()> {
    let sum = |prefix: &str| -> f64 {
        numbers.iter().filter(|(name, _)| name.starts_with(prefix)).map(|(_, value)| value).sum()
    };
    for name in ["http_requests_total{", "http_request_seconds_count{", "http_response_bytes_count{"] {
        if sum(name) != requests as f64 {
            return Err(format!("{name}..}}: {} of {requests} requests", sum(name)).into());
        }
    }
    Ok(())
}

/// A server and a connection that is kept.
struct Side {
    server: Server,
}

impl Side {
    /// Starts a server and asks for each path once.
    fn start(side: &str) -> Answer<Self> {
        let side = Self { server: Server::start(side)? };
        load(&mut side.server.connect()?, 0, PATHS)?;
        Ok(side)
    }

    fn page(&self) -> Answer<String> {
        self.server.connect()?.get("/metrics")
    }

    /// The median time of a request, as its client sees it: what else runs on the machine makes some wait for milliseconds.
    fn request_ns(&self, requests: usize) -> Answer<f64> {
        let mut connection = self.server.connect()?;
        let mut times = Vec::new();
        for number in 0..requests {
            let started = Instant::now();
            load(&mut connection, number, 1)?;
            times.push(started.elapsed());
        }
        times.sort();
        Ok(times[times.len() / 2].as_nanos() as f64)
    }

    /// The server's CPU time of a request.
    fn request_cpu_ns(&self, requests: usize) -> Answer<f64> {
        let before = self.server.cpu_ns()?;
        load(&mut self.server.connect()?, 0, requests)?;
        Ok((self.server.cpu_ns()? - before) / requests as f64)
    }

    /// The server's CPU time for each scrape, and the requests of the load in between.
    fn scraped_ns(&self, scrapes: usize) -> Answer<f64> {
        let before = self.server.cpu_ns()?;
        let pages = std::thread::scope(|scope| -> Answer<Vec<String>> {
            let loaders: Vec<_> = (0..LOADERS)
                .map(|loader| {
                    scope.spawn(move || load(&mut self.server.connect()?, loader * 7, scrapes * PAGES))
                })
                .collect();
            let mut scraper = self.server.connect()?;
            let pages = (0..scrapes).map(|_| scraper.get("/metrics")).collect::<Answer<Vec<String>>>()?;
            for loader in loaders {
                loader.join().map_err(|_| "a loader panicked")??;
            }
            Ok(pages)
        })?;
        let after = self.server.cpu_ns()?;
        pages.iter().step_by(PARSED).try_for_each(|page| shown::read(page).map(drop))?;
        Ok((after - before) / scrapes as f64)
    }
}

/// Asks for pages one after the other, and checks what is answered.
fn load(connection: &mut Connection, first: usize, requests: usize) -> Answer<()> {
    for number in first..first + requests {
        let bytes = connection.get(&path(number))?.len();
        if bytes != body_bytes(number % PATHS) {
            return Err(format!("{}: {bytes} bytes", path(number)).into());
        }
    }
    Ok(())
}
