//! What is looked at beside figures: models of pictures, which views draw.

use super::Grid;
use super::time::{Tick, byte_ticks};
use freehold::units::Span;

/// Something to look at that is no plot of records.
#[derive(Clone, Debug)]
pub enum Picture {
    /// Something that fills up over time: address spaces, chunks.
    Strips(Strips),
    /// A process's address space over time.
    Film(Film),
    /// A search tree before and after.
    Trees(Trees),
}

/// Pictures on one scale.
#[derive(Clone, Debug, Default)]
pub struct Strips {
    /// Where along y, from 0 at the bottom to 1, and what is there.
    pub heights: Vec<Tick>,
    /// Stretches of y that have a name.
    pub bands: Vec<Band>,
    /// Where along x, from 0 to 1, and what is there; nothing where the view says it.
    pub ticks: Vec<Tick>,
    /// The pictures.
    pub strips: Vec<Strip>,
}

/// A stretch of y.
#[derive(Clone, Debug)]
pub struct Band {
    /// Its name.
    pub name: String,
    /// Where it begins, from 0 at the bottom to 1.
    pub bottom: f64,
    /// How high it is.
    pub height: f64,
}

/// The zones of a space as bands, and ticks at round addresses.
pub fn zones(outer: Span, zones: &[(&str, Span)]) -> (Vec<Band>, Vec<Tick>) {
    let whole = outer.size_saturating();
    let share = |bytes: u64| bytes as f64 / whole as f64;
    let band = |(name, zone): &(&str, Span)| Band {
        name: (*name).to_owned(),
        bottom: share(zone.first().saturating_sub(outer.first())),
        height: share(zone.size_saturating()),
    };
    (zones.iter().map(band).collect(), byte_ticks(whole))
}

/// A picture.
#[derive(Clone, Debug)]
pub struct Strip {
    /// The engine, or several that do all alike.
    pub engines: Vec<String>,
    /// What they do here.
    pub text: String,
    /// The shades.
    pub picture: Grid,
    /// The column of the picture behind each column of pixels.
    pub columns: Vec<usize>,
    /// How high it is, as a part of the scale.
    pub height: f64,
}

/// Trees to compare.
#[derive(Clone, Debug)]
pub struct Trees {
    /// What is shown.
    pub heading: String,
    /// How to read it.
    pub reading: String,
    /// The trees; the others are held against the first.
    pub trees: Vec<Tree>,
}

/// A tree.
#[derive(Clone, Debug)]
pub struct Tree {
    /// What it is.
    pub caption: String,
    /// Its nodes, parents before children, left before right.
    pub nodes: Vec<TreeNode>,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeNode {
    /// Its name, the same in each tree.
    pub name: String,
    /// What orders the nodes.
    pub key: u64,
    /// Edges to the root.
    pub depth: u32,
    /// Its values, each with its name.
    pub values: Vec<(&'static str, String)>,
}

/// A film of the busiest address space.
#[derive(Clone, Debug, Default)]
pub struct Film {
    /// The space.
    pub space: u32,
    /// For each column when the last operation before it ran: in seconds since the recording started, where there was a clock.
    pub seconds: Vec<f64>,
    /// Rows of each column.
    pub rows: usize,
    /// Column by column, the lowest addresses first: 0 for nothing, otherwise one more than the place of the class in
    /// the list of classes.
    pub cells: Vec<u8>,
    /// Where from 0 at the bottom to 1 a stretch of addresses begins that is far from the one below it.
    pub begins: Vec<(f64, u64)>,
    /// Areas of each column.
    pub areas: Vec<u64>,
}
