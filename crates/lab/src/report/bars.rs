//! Bars on a logarithmic scale, in groups: what each engine takes for the same thing, and what was published of it.
//!
//! ```text
//!   4 B   bitmap     ======= 21             a rule for every power of ten; a bar that is one
//!         area-map   ================ 3834  rule longer is ten times as much
//!         published  ::::::::::::::::: 4960
//! ```

use super::escape::html;
use super::palette::Palette;
use crate::output::fixed;
use std::fmt::Write;

/// Groups of bars on one scale.
#[derive(Clone, Debug)]
pub(crate) struct Bars {
    /// What they show.
    pub(crate) heading: String,
    /// How to read them.
    pub(crate) reading: String,
    /// What is along the scale, with its unit.
    pub(crate) scale: String,
    /// The groups.
    pub(crate) groups: Vec<Group>,
}

/// Bars of one thing.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// What it is.
    pub(crate) name: String,
    /// The bars.
    pub(crate) bars: Vec<Bar>,
}

/// A bar.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    /// The engine, or who published it.
    pub(crate) name: String,
    /// How long it is.
    pub(crate) value: f64,
    /// Where the value is from.
    pub(crate) origin: Origin,
}

/// Where a value is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Measured in this run.
    Measured,
    /// Computed from what was measured of less.
    Extrapolated,
    /// Published by others.
    Published,
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
pub(super) fn render(bars: &Bars, palette: &Palette) -> String {
    let values = bars.groups.iter().flat_map(|group| &group.bars).map(|bar| bar.value);
    let Some(scale) = Scale::of(values) else { return String::new() };
    let mut page = format!(
        "<figure class=\"bars\" style=\"--decades:{}\"><figcaption><h4>{}</h4><p>{}</p></figcaption>\
         <p class=\"scale\">{}, logarithmic</p>",
        scale.decades,
        html(&bars.heading),
        html(&bars.reading),
        html(&bars.scale)
    );
    for group in &bars.groups {
        let _ = write!(page, "<div class=\"group\"><h5>{}</h5>", html(&group.name));
        for bar in &group.bars {
            page.push_str(&rod(bar, scale, palette));
        }
        page.push_str("</div>");
    }
    page.push_str("<div class=\"rod\"><span></span><span class=\"marks\">");
    for decade in 0..=scale.decades {
        let tick = fixed_power(scale.first + decade);
        let _ = write!(
            page,
            "<i style=\"left:{:.2}%\">{tick}</i>",
            100.0 * f64::from(decade) / f64::from(scale.decades)
        );
    }
    page.push_str("</span></div></figure>\n");
    page
}

fn rod(bar: &Bar, scale: Scale, palette: &Palette) -> String {
    let colour = palette.colour(&bar.name).map(|colour| format!("e{colour}"));
    let (class, mark) = match bar.origin {
        Origin::Measured => (colour.unwrap_or_default(), ""),
        Origin::Extrapolated => (format!("{} extrapolated", colour.unwrap_or_default()), " *"),
        Origin::Published => ("published".to_owned(), ""),
    };
    format!(
        "<div class=\"rod\"><span class=\"who\">{}</span><span class=\"track\"><i class=\"{class}\" \
         style=\"width:{:.2}%\"></i><b>{}{mark}</b></span></div>",
        html(&bar.name),
        scale.percent(bar.value),
        fixed(bar.value)
    )
}

/// A power of ten without more digits than it needs.
fn fixed_power(power: i32) -> String {
    match u32::try_from(power) {
        Ok(power) if power < 7 => crate::output::count(10u64.pow(power)),
        Ok(power) => format!("1e{power}"),
        Err(_) => format!("{}", 10f64.powi(power)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars(values: &[f64]) -> Bars {
        let origins = [Origin::Measured, Origin::Extrapolated, Origin::Published];
        let bars = values.iter().zip(origins).map(|(&value, origin)| Bar {
            name: "area-map".to_owned(),
            value,
            origin,
        });
        Bars {
            heading: "A <b>chart".to_owned(),
            reading: String::new(),
            scale: "ns".to_owned(),
            groups: vec![Group { name: "4 & more".to_owned(), bars: bars.collect() }],
        }
    }

    #[test]
    fn ten_times_as_much_is_a_decade_longer() {
        let scale = Scale::of([21.0, 3834.0].into_iter()).unwrap();
        assert_eq!(scale, Scale { first: 1, decades: 3 });
        let longer = scale.percent(1000.0) - scale.percent(100.0);
        assert!((longer - 100.0 / 3.0).abs() < 1e-9);
        assert_eq!((scale.percent(0.0), scale.percent(1e9)), (0.0, 100.0));
        assert!(Scale::of([10.0].into_iter()).unwrap().percent(10.0) > 0.0, "the least is seen, too");
        assert_eq!(Scale::of(std::iter::empty()), None);
    }

    #[test]
    fn origins_can_be_told_apart_and_nothing_breaks_out() {
        let page = render(&bars(&[20.0, 300.0, 4000.0]), &Palette::known());
        assert!(page.contains("A &lt;b&gt;chart") && page.contains("4 &amp; more"));
        assert_eq!(page.matches("class=\"track\"").count(), 3);
        for part in [" extrapolated\"", "class=\"published\"", "300 *</b>", ">1_000</i>"] {
            assert!(page.contains(part), "{part} is missing in {page}");
        }
        assert_eq!(render(&bars(&[]), &Palette::known()), "");
    }
}
