//! The engines: ours and every rival's, behind one trait and in one list.

mod features;
mod kernel;
mod list;
mod listed;
pub mod maple;
mod one_tree;
pub mod outside;
pub mod percpu;
mod space;
pub mod vma;

pub use features::{FEATURES, Features};
pub use kernel::{BySizeEngine, KernelEngine};
pub use list::{ENGINES, EngineEntry, FLOOR, KvaFacts, Make, Takes, VARIANTS};
pub use listed::{Compared, Facts, Listed};
pub use one_tree::OneTree;
pub use space::SpaceEngine;
