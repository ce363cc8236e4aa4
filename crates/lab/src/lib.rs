//! The lab: drives every engine by the same operations, checks what they answer, counts and times what they
//! do, and shows it.
//!
//! The program `freehold` is a thin shell around [`commands`].

#![forbid(unsafe_code)]

pub mod commands;
pub mod concurrent;
mod data;
pub mod engine;
pub mod failure;
pub mod family;
pub mod hash;
pub mod kind;
mod named;
mod progress;
pub mod promises;
pub mod published;
pub mod record;
pub mod run;
pub mod study;
pub mod verify;
pub mod view;
pub mod workload;

pub use data::{data_folder, traces};
pub use progress::Progress;
