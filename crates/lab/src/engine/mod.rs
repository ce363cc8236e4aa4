//! The engines: ours and every rival's, behind one trait and in one list.

mod list;
mod session;
mod space;

pub use list::{ENGINES, EngineEntry, Takes, find_engines};
pub use session::Session;
pub use space::SpaceEngine;
