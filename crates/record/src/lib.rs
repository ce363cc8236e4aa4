//! Records live machines, and turns recordings, other tools' included, into traces.
//!
//! ```text
//!   driver      what drives a source into a folder of raw bytes, format files and snapshots
//!   folder      the layout of such a folder
//!   raw, text   readers of sources: each makes events
//!   convert     events and snapshots -> rows of a trace
//!   import      a file or folder of any kind -> a trace
//! ```

#![forbid(unsafe_code)]

pub mod convert;
mod decode;
pub mod driver;
mod error;
pub mod event;
pub mod folder;
pub mod import;
pub mod log;
mod perf_data;
mod raw;
mod recording;
pub mod snapshot;
mod source;
mod text;
mod trace_dat;

pub use error::Error;
