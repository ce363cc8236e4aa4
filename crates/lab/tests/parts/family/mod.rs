//! Judges.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod kva_checker;
mod rooms;
mod tree;
