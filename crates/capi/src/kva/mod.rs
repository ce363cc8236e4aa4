//! Address spaces.

mod moves;
mod pooled;
mod saved;
mod shared;
mod space;
mod stats;
