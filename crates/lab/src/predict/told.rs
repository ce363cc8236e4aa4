//! What is said of a prediction: a line, and records by setting.

use super::{Kind, Predicted, Settings, Way, predict};
use crate::kind::{Kind as FileKind, Suite};
use crate::record::{Field, Key, Metric, Results, Stat, count};
use crate::workload::{kind_of, title_of};
use std::path::Path;

/// The engine's name.
const ENGINE: &str = "linux-lazy";
/// What the recorded kernel does.
const RECORDED: &str = "as recorded";

/// Whether the workload is a recording of kernel areas, whose addresses can be predicted.
///
/// # Errors
/// The file cannot be read, or is of no kind that is known.
pub fn is_predictable(name: &Path) -> anyhow::Result<bool> {
    Ok(kind_of(name)? == FileKind::Trace(Suite::Kva))
}

/// Predicts a recording, under the rules of its kernel and beside them under `settings`, and adds what came of it.
///
/// # Errors
/// The file cannot be read, or is no recording of kernel areas that can be.
pub fn add_predicted(
    file: &Path,
    label: Option<&str>,
    settings: &Settings,
    way: Way,
    results: &mut Results,
) -> anyhow::Result<()> {
    let title = label.map_or_else(|| title_of(file), |label| Ok(label.to_owned()))?;
    let recorded = predict(file, &Settings::default(), way)?;
    // The other counts stand in the table.
    results.fact(&format!("predicted:{title}"), head(&recorded, way));
    results.note(format!("{title}: {ENGINE} {}", line(&recorded, way)));
    add(&title, RECORDED, &recorded, results);
    if !settings.is_empty() {
        let predicted = predict(file, settings, way)?;
        results.note(format!("{title}: {ENGINE} with {}: {}", settings.text(), line(&predicted, way)));
        add(&title, &settings.text(), &predicted, results);
    }
    Ok(())
}

/// How many addresses were predicted.
fn head(predicted: &Predicted, way: Way) -> String {
    if predicted.lost > 0 {
        let lost = count(predicted.lost);
        return format!("says nothing of agreement: {lost} events were lost while it was recorded");
    }
    let share = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    let (right, all) = (predicted.right(), predicted.allocations());
    let head = format!("predicts {} of {} addresses ({:.2} %", count(right), count(all), share(right, all));
    if way.free_running {
        return format!("{head}), running free: it keeps its own places");
    }
    let known = all - predicted.kinds[Kind::Unknown as usize];
    let known = if known < all {
        format!(", {:.2} % of what can be known)", share(right, known))
    } else {
        ")".to_owned()
    };
    let strict = if way.strict { ", strictly" } else { "" };
    format!("{head}{known}{strict}")
}

/// The prediction in a sentence: how many, and what decided the others.
fn line(predicted: &Predicted, way: Way) -> String {
    let head = head(predicted, way);
    if predicted.lost > 0 || way.free_running {
        return head;
    }
    let number = |kind: Kind| predicted.kinds[kind as usize];
    let of = |kind: Kind| count(number(kind));
    let races = count([Kind::InPurge, Kind::BeforePurge, Kind::AfterAnother].map(number).iter().sum());
    format!(
        "{head}; not predicted: {} by the shape of the kernel's tree, {} in space whose state before the recording is unknown, \
         {} elsewhere; predicted although a purge or another task ran at that moment: {races}; known to be of a pool by their own row \
         alone: {}",
        of(Kind::Shape),
        of(Kind::Unknown),
        of(Kind::Elsewhere),
        of(Kind::Origin),
    )
}

fn add(title: &str, way: &str, predicted: &Predicted, results: &mut Results) {
    let key = Key::new(Suite::Kva.name(), title).engine(ENGINE).param(Field::Way, way);
    if predicted.lost == 0 {
        let mut put = |at: &str, number| {
            results.of(key.clone().op("predicted").param(Field::Where, at)).total(Metric::Count, number);
        };
        put("predicted", predicted.right());
        for (kind, &number) in Kind::ALL.iter().zip(&predicted.kinds) {
            put(kind.name(), number);
        }
    }
    let counts = predicted.counts;
    results
        .of(key.op("lazy"))
        .total(Metric::LazyPages, counts.lazy_pages_most)
        .total(Metric::HeldPages, counts.held_pages_most)
        .total(Metric::Purges, counts.purges)
        .total(Metric::PoolHits, counts.pool_hits)
        .total(Metric::FreeBlocks, predicted.free_blocks)
        .put(Metric::SpanRatio, Stat::Total, predicted.span_ratio, 1);
}
