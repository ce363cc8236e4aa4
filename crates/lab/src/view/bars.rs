//! Bars on a logarithmic scale, in groups: what each engine takes for the same thing, and what was published of it.
//!
//! ```text
//!   4 B   bitmap     ======= 21             a rule for every power of ten; a bar that is one
//!         area-map   ================ 3834  rule longer is ten times as much
//!         published  ::::::::::::::::: 4960
//! ```

use super::definition::{BarsView, Scope};
use super::escape::{self, html};
use super::palette::Palette;
use super::words::shown;
use crate::record::{Field, Origin, Record, count, figure, largest, parts};
use std::fmt::Write;

/// From one power of ten to another.
#[derive(Clone, Copy)]
struct Scale {
    first: i32,
    decades: i32,
}

impl Scale {
    /// A scale on which every value has some length; `None` of no values.
    fn of(records: &[&Record]) -> Option<Self> {
        let values = records.iter().map(|record| record.value);
        let values = values.filter(|value| *value > 0.0 && value.is_finite());
        let first = (values.clone().reduce(f64::min)? * 0.8).log10().floor() as i32;
        let last = values.reduce(f64::max)?.log10().ceil() as i32;
        Some(Self { first, decades: (last - first).max(1) })
    }

    /// How long a value is, in hundredths of the whole.
    fn percent(self, value: f64) -> f64 {
        let share = (value.log10() - f64::from(self.first)) / f64::from(self.decades);
        if share.is_finite() { 100.0 * share.clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// The bars as HTML; nothing of none.
pub(super) fn render(view: &BarsView, scope: &Scope, palette: &Palette) -> String {
    let mut records = scope.records(&view.of, std::slice::from_ref(&view.cell));
    records.retain(|record| record.key.engine != "floor");
    let Some(scale) = Scale::of(&records) else { return String::new() };
    let mut body = format!("<p class=\"scale\">{}, logarithmic</p>", html(&view.scale));
    for (names, of_group) in parts(&records, &view.groups) {
        let name: Vec<String> =
            view.groups.iter().zip(&names).map(|(field, value)| shown(*field, value)).collect();
        let _ = write!(body, "<div class=\"group\"><h5>{}</h5>", html(&name.join(" ")));
        for (name, same) in parts(&of_group, &[Field::Engine]) {
            if let Some(record) = largest(&same) {
                body.push_str(&rod(&name.concat(), record, scale, palette));
            }
        }
        body.push_str("</div>");
    }
    body.push_str("<div class=\"rod\"><span></span><span class=\"marks\">");
    let every = if scale.decades > 4 { 2 } else { 1 };
    for decade in (0..=scale.decades).step_by(every) {
        let tick = power_of_ten(scale.first + decade);
        let at = 100.0 * f64::from(decade) / f64::from(scale.decades);
        let _ = write!(body, "<i style=\"left:{at:.2}%\">{tick}</i>");
    }
    body.push_str("</span></div>");
    let attributes = format!("class=\"bars\" style=\"--decades:{}\"", scale.decades);
    escape::figure(&attributes, &scope.text(&view.title), &view.reading, &body)
}

fn rod(name: &str, record: &Record, scale: Scale, palette: &Palette) -> String {
    let class = match record.origin {
        Origin::Measured => palette.class(name),
        Origin::Extrapolated(_) | Origin::Estimated => palette.class(name) + " extrapolated",
        Origin::Published(_) => "published".to_owned(),
    };
    let figure = figure(record.metric.unit(), record.value) + record.origin.mark();
    bar(name, &class, scale.percent(record.value), &figure)
}

/// A bar of so many hundredths with its name before it and its figure behind it.
pub(super) fn bar(name: &str, class: &str, percent: f64, figure: &str) -> String {
    format!(
        "<div class=\"rod\"><span class=\"who\">{}</span><span class=\"track\"><i class=\"{class}\" \
         style=\"width:{percent:.2}%\"></i><b>{figure}</b></span></div>",
        html(name)
    )
}

/// A power of ten without more digits than it needs.
fn power_of_ten(power: i32) -> String {
    match u32::try_from(power) {
        Ok(power) if power < 7 => count(10u64.pow(power)),
        Ok(power) => format!("1e{power}"),
        Err(_) => format!("{}", 10f64.powi(power)),
    }
}
