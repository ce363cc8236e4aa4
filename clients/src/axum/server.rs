//! The server: 200 paths, each counted by the macros of `metrics`, and the page of these metrics.

use super::{BYTES, PATHS, SECONDS, body_bytes};
use crate::glue;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use clients::Answer;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

const RESPONSE_BYTES: &str = "http_response_bytes";

/// Makes the page.
type Render = Arc<dyn Fn() -> String + Send + Sync>;

/// Serves until it is killed, with the recorder of one side. Prints its address.
pub fn serve(side: &str) -> Answer<()> {
    let render: Render = match side {
        "ours" => Arc::new(glue::axum::install(&SECONDS, (RESPONSE_BYTES, &BYTES))?),
        "its" => {
            let handle = PrometheusBuilder::new()
                .set_buckets(&SECONDS)?
                .set_buckets_for_metric(Matcher::Full(RESPONSE_BYTES.to_owned()), &BYTES)?
                .install_recorder()?;
            Arc::new(move || handle.render())
        }
        other => return Err(format!("no side {other}").into()),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let router =
            Router::new().route("/page/{number}", get(page)).route("/metrics", get(shown)).with_state(render);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?);
        std::io::stdout().flush()?;
        axum::serve(listener, router).await?;
        Ok(())
    })
}

async fn shown(State(render): State<Render>) -> String {
    render()
}

/// Answers a path and counts the request.
async fn page(Path(number): Path<usize>) -> Result<String, StatusCode> {
    let begin = Instant::now();
    if number >= PATHS {
        return Err(StatusCode::NOT_FOUND);
    }
    metrics::gauge!("http_requests_open").increment(1.0);
    let path = format!("/page/{number}");
    let body = "x".repeat(body_bytes(number));
    metrics::counter!("http_requests_total", "path" => path.clone(), "status" => "200").increment(1);
    metrics::histogram!(RESPONSE_BYTES, "path" => path.clone()).record(body.len() as f64);
    metrics::gauge!("http_requests_open").decrement(1.0);
    metrics::histogram!("http_request_seconds", "path" => path).record(begin.elapsed());
    Ok(body)
}
