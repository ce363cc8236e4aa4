//! axum with the macros of `metrics`: a recorder, its buckets, and the page.

use clients::Answer;

/// Installs the recorder, whose histograms are shown up to each of `bounds`, or of those of their name, and returns what makes
/// the page.
pub fn install(
    bounds: &[f64],
    (name, of_name): (&str, &[f64]),
) -> Answer<impl Fn() -> String + Clone + Send + Sync + 'static> {
    let registry = freehold_metrics::Recorder::new().buckets(bounds)?.buckets_of(name, of_name)?.install()?;
    Ok(move || registry.render())
}
