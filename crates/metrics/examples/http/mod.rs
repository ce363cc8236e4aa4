//! A small HTTP server: hyper on tokio, one handler for all paths of a connection.

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::error::Error;
use std::io::Write;
use std::time::Duration;
use tokio::net::TcpListener;

/// What the server does for its clients.
pub(crate) const PATHS: [&str; 3] = ["/", "/square", "/primes"];

/// That of Prometheus's text, `registry::Format::Text.content_type()`. All pages are text. Prometheus 3 refuses one without a type.
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// The answer to a path; `None` if there is no such page.
pub(crate) fn page(path: &str) -> Option<String> {
    match path {
        "/" => Some("hello\n".to_owned()),
        "/square" => Some(format!("{}\n", 12 * 12)),
        "/primes" => {
            let is_prime = |n: &u32| (2..*n).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
            Some(format!("{}\n", (2..500).filter(is_prime).count()))
        }
        _ => None,
    }
}

/// A client's connection, which is dropped when the client goes away.
pub(crate) trait Peer: Send + Sync + 'static {
    fn connected(address: &str) -> Self;

    /// The answer to a path; `None` if there is no such page.
    fn handle(&self, path: &str) -> Option<String>;
}

/// Answers requests at the address that the program was given, on a thread for each CPU. Says where it listens.
pub(crate) fn serve<P: Peer>() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(&address).await?;
        // Not by macros, which panic if nobody reads or the disk is full.
        writeln!(std::io::stdout(), "listening on {}", listener.local_addr()?)?;
        loop {
            let (stream, address) = match listener.accept().await {
                Ok(accepted) => accepted,
                // Too many clients for its files, or one that went away: the others are served on.
                Err(error) => {
                    let _ = writeln!(std::io::stderr(), "a client was not accepted: {error}");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            tokio::spawn(async move {
                let peer = &P::connected(&address.to_string());
                let service = service_fn(move |request: Request<Incoming>| async move {
                    Ok::<_, Infallible>(response(peer.handle(request.uri().path())))
                });
                let connection = hyper::server::conn::http1::Builder::new()
                    .timer(TokioTimer::new())
                    .serve_connection(TokioIo::new(stream), service);
                // A client that goes away is no concern of the server's.
                let _ = connection.await;
            });
        }
    })
}

fn response(page: Option<String>) -> Response<Full<Bytes>> {
    let status = if page.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let mut response = Response::new(Full::new(Bytes::from(page.unwrap_or_default())));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, TEXT);
    response
}
