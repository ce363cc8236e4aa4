//! Bars on a logarithmic scale, in groups: what each engine takes for the same thing, and what was published of it.
//!
//! ```text
//!   4 B   bitmap     ======= 21             a rule for every power of ten; a bar that is one
//!         area-map   ================ 3834  rule longer is ten times as much
//!         published  ::::::::::::::::: 4960
//! ```

use super::definition::{BarsView, Scope};
use super::escape::html;
use super::palette::Palette;
use super::table::{figure, groups, shown, values};
use crate::record::{Origin, Record, Results};
use std::fmt::Write;

/// Groups of bars on one scale.
struct Group<'a> {
    name: String,
    bars: Vec<(String, &'a Record)>,
}

/// From one power of ten to another.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scale {
    first: i32,
    decades: i32,
}

impl Scale {
    /// A scale on which every value has some length; `None` of no values.
    fn of(values: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let values = values.filter(|value| *value > 0.0 && value.is_finite());
        let least = values.clone().reduce(f64::min)?;
        let most = values.reduce(f64::max)?;
        let first = (least * 0.8).log10().floor() as i32;
        let last = most.log10().ceil() as i32;
        Some(Self { first, decades: (last - first).max(1) })
    }

    /// How long a value is, in hundredths of the whole.
    fn percent(self, value: f64) -> f64 {
        let share = (value.log10() - f64::from(self.first)) / f64::from(self.decades);
        if share.is_finite() { 100.0 * share.clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// The bars as HTML; nothing of none.
pub(super) fn render(view: &BarsView, results: &Results, scope: &Scope, palette: &Palette) -> String {
    let of = scope.narrow(&view.of);
    let wanted = |record: &&Record| (record.metric, record.stat) == (view.cell.metric, view.cell.stat);
    let records: Vec<&Record> =
        results.records.iter().filter(wanted).filter(|record| of.takes(record)).collect();
    let bars = std::slice::from_ref(&view.bar);
    let group = |names: Vec<String>| {
        let of_group: Vec<&Record> =
            records.iter().filter(|record| values(record, &view.groups) == names).copied().collect();
        let bar = |name: Vec<String>| {
            let same = of_group.iter().filter(|record| values(record, bars) == name);
            let record = same.max_by(|a, b| a.value.total_cmp(&b.value))?;
            Some((name.concat(), *record))
        };
        let name = view.groups.iter().zip(&names).map(|(field, value)| shown(field, value));
        Group {
            name: name.collect::<Vec<_>>().join(" "),
            bars: groups(&of_group, bars).into_iter().filter_map(bar).collect(),
        }
    };
    let groups: Vec<Group<'_>> = groups(&records, &view.groups).into_iter().map(group).collect();
    let all = groups.iter().flat_map(|group| &group.bars).map(|(_, record)| record.value);
    let Some(scale) = Scale::of(all) else { return String::new() };
    let mut page = format!(
        "<figure class=\"bars\" style=\"--decades:{}\"><figcaption><h4>{}</h4><p>{}</p></figcaption>\
         <p class=\"scale\">{}, logarithmic</p>",
        scale.decades,
        html(&scope.fill(&view.title, results, &Default::default()).unwrap_or_default()),
        html(&view.reading),
        html(&view.scale)
    );
    for group in &groups {
        let _ = write!(page, "<div class=\"group\"><h5>{}</h5>", html(&group.name));
        for (name, record) in &group.bars {
            page.push_str(&rod(name, record, scale, palette));
        }
        page.push_str("</div>");
    }
    page.push_str("<div class=\"rod\"><span></span><span class=\"marks\">");
    let every = if scale.decades > 4 { 2 } else { 1 };
    for decade in (0..=scale.decades).step_by(every) {
        let tick = fixed_power(scale.first + decade);
        let at = 100.0 * f64::from(decade) / f64::from(scale.decades);
        let _ = write!(page, "<i style=\"left:{at:.2}%\">{tick}</i>");
    }
    page.push_str("</span></div></figure>\n");
    page
}

fn rod(name: &str, record: &Record, scale: Scale, palette: &Palette) -> String {
    let colour = palette.colour(name).map(|colour| format!("e{colour}")).unwrap_or_default();
    let class = match record.origin {
        Origin::Measured => colour,
        Origin::Extrapolated(_) | Origin::Estimated => format!("{colour} extrapolated"),
        Origin::Published(_) => "published".to_owned(),
    };
    format!(
        "<div class=\"rod\"><span class=\"who\">{}</span><span class=\"track\"><i class=\"{class}\" \
         style=\"width:{:.2}%\"></i><b>{}{}</b></span></div>",
        html(name),
        scale.percent(record.value),
        figure(record.metric.unit(), record.value),
        record.origin.mark()
    )
}

/// A power of ten without more digits than it needs.
fn fixed_power(power: i32) -> String {
    match u32::try_from(power) {
        Ok(power) if power < 7 => super::count(10u64.pow(power)),
        Ok(power) => format!("1e{power}"),
        Err(_) => format!("{}", 10f64.powi(power)),
    }
}
