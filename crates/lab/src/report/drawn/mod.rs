//! What is drawn of the state of a family's engines, beside what every family has: a file for each family.

mod kva;
mod maple;
mod percpu;
mod space;

pub(super) use space::{css, legend};

use super::palette::Palette;
use super::plot::Axis;
use crate::family::{Replayable, State};
use crate::measure::Replay;

/// A family with a page.
pub(crate) trait Drawn: Replayable {
    /// What its engines are, in a sentence or two of HTML.
    const LEAD: &'static str;
    /// What its work is counted in.
    const WORK: &'static str;

    /// Pictures above the plots; nothing if there are none.
    fn pictures(replay: &Replay<Self>, palette: &Palette) -> anyhow::Result<String> {
        let _ = (replay, palette);
        Ok(String::new())
    }

    /// What is plotted of the state over time.
    fn plots() -> Vec<StatePlot<State<Self>>>;
}

/// A figure of the state over time.
pub(crate) struct StatePlot<S> {
    /// Its heading.
    pub(super) heading: &'static str,
    /// How to read it.
    pub(super) reading: &'static str,
    /// Its axis.
    pub(super) y: Axis,
    /// Whether the reader can switch between scales.
    pub(super) switch: bool,
    /// The figure.
    pub(super) figure: fn(&S) -> f64,
}
