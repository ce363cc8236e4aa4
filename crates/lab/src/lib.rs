//! The lab: drives every engine by the same operations, checks what they answer, counts and times what they
//! do, and shows it.
//!
//! The program `freehold` is [`program`], a thin shell around [`commands`].

#![forbid(unsafe_code)]

#[cfg(feature = "program")]
pub mod adversary;
#[cfg(feature = "program")]
pub mod choices;
#[cfg(feature = "program")]
pub mod commands;
#[cfg(feature = "program")]
pub mod concurrent;
#[cfg(feature = "program")]
mod data;
#[cfg(feature = "program")]
pub mod emit_c;
pub mod engine;
pub mod failure;
pub mod family;
pub mod itself;
pub mod kind;
mod named;
#[cfg(feature = "program")]
pub mod output;
#[cfg(feature = "program")]
pub mod predict;
#[cfg(feature = "program")]
pub mod program;
#[cfg(feature = "program")]
mod progress;
#[cfg(feature = "program")]
pub mod promises;
#[cfg(feature = "program")]
pub mod published;
pub mod record;
#[cfg(feature = "program")]
pub mod run;
#[cfg(feature = "program")]
pub mod shrink;
#[cfg(feature = "program")]
pub mod stop;
pub mod strings;
#[cfg(feature = "program")]
pub mod study;
#[cfg(feature = "program")]
pub mod systems;
#[cfg(feature = "program")]
pub mod verify;
#[cfg(feature = "program")]
pub mod view;
#[cfg(feature = "program")]
pub mod workload;

#[cfg(feature = "program")]
pub use data::{data_folder, traces};
#[cfg(feature = "program")]
pub use progress::Progress;
