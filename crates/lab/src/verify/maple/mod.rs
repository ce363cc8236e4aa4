//! The maple family's recorded answers: op logs, streams of stores, and what stores ask for.

pub(super) mod examples;
pub(super) mod logs;
mod requests;
pub(super) mod streams;
