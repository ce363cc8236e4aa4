//! Engines and what is said of them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod guest;
mod kind;
mod list;
mod one_tree;
