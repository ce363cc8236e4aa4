//! Counts with a slot for each CPU, and what hands such slots out.

mod chunk_set;
mod counter;
mod gauge;
mod histogram;
mod registry;
