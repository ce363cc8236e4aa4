//! What the clients have in common: a table of what is measured, what a process has, and a module of WebAssembly.

pub mod client;
mod lines;
pub mod process;
pub mod table;
pub mod wasm;

/// What may fail for any reason, which is printed.
pub type Answer<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
