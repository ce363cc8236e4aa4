//! The maple family's recorded answers: op logs, streams of stores, and what stores ask for.

pub mod logs;
pub mod requests;
pub mod streams;
