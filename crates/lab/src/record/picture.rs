//! What is looked at beside figures: address spaces that fill up over time.

use super::Grid;
use super::time::Tick;

/// Pictures on one scale.
#[derive(Clone, Debug, Default)]
pub struct Strips {
    /// Where along y, from 0 at the bottom to 1, and what is there.
    pub heights: Vec<Tick>,
    /// Where along x, from 0 to 1, and what is there.
    pub ticks: Vec<Tick>,
    /// The pictures.
    pub strips: Vec<Strip>,
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
