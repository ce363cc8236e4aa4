//! The lab's parts, each by itself, through what they show to each other: a file for each, in folders as in `src`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod adversary;
mod commands;
mod concurrent;
mod costs;
mod engine;
mod family;
mod predict;
mod promises;
mod published;
mod record;
mod run;
mod shrink;
mod stop;
mod study;
mod verify;
mod view;
mod workload;
