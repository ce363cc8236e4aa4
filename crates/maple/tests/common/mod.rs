//! What the tests and the fuzz target share: a model and the operations that map and model both do.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(dead_code, reason = "not every test uses all of it")]

pub(crate) mod model;
pub(crate) mod ops;
pub(crate) mod world;
