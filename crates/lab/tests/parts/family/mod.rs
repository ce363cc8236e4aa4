//! Judges.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod tree;
mod words;
