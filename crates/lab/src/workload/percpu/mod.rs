//! The workloads of the percpu family: what the posting of 2017 measured, what its followers did, and churn.

mod cases;
mod files;

pub use cases::{
    ALIGNED, Churn, Deletion, FIRST, Kind, LIVE, Order, SECOND_HALF, SEED, SEED_V2, Size, StaleHint, Work,
    frees,
};
pub use files::{config, from_file};
