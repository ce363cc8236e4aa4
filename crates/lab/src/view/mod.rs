//! Views of results: what a command prints and what its page shows, defined in TOML, rendered by a few kinds of view.
//!
//! ```text
//!   definition (bench/*.toml, studies/*.toml)      what is shown of which records, under which words
//!     table      records by rows and columns         findings   who is ahead, who behind
//!     bars, plot, histogram, frame                        what a page draws
//!     text       100 or 72 columns                   page       one HTML file that needs nothing else
//! ```

mod bars;
mod changes;
mod definition;
mod escape;
mod findings;
mod frame;
mod histogram;
mod image;
mod page;
mod palette;
mod plot;
mod published;
mod side_by_side;
mod table;
pub(crate) mod text;
mod words;

pub use definition::Definition;
pub use escape::{ascii, plain};
pub use findings::{Finding, Verdict, findings};
pub use page::page;
pub(crate) use side_by_side::{DOCUMENTS, RECORDINGS};
pub use table::Table;
pub use text::{SCREEN, lkml, screen};
