//! The parts of the lab, each by what it offers the others.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod commands;
mod promises;
mod published;
mod record;
mod study;
mod view;
