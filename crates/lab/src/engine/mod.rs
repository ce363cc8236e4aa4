//! The engines: ours and every rival's, behind one trait and in one list.

mod driven;
mod features;
mod floor;
mod kernel;
mod list;
mod listed;
pub mod maple;
mod one_tree;
pub mod percpu;
mod session;
mod space;
pub mod vma;

pub use driven::Driven;
pub use features::{FEATURES, Features};
pub use floor::FLOOR;
pub use kernel::{BySizeEngine, KernelEngine};
pub use list::{ENGINES, EngineEntry, KvaFacts, Make, Takes, VARIANTS};
pub use listed::{Compared, Facts, Listed};
pub use one_tree::OneTree;
pub use session::{Session, Space};
pub use space::SpaceEngine;
