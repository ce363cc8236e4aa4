//! Every system call and every line of assembly of freehold.
//!
//! | For | Use |
//! |---|---|
//! | reserve, commit, decommit, release address space; guards; names; which pages are resident | [`Reservation`], [`PageScan`] |
//! | the abilities of the system, each tried once | [`Ability`] |
//! | the mappings of the process | [`mappings`] |
//! | restartable sequences: the CPU's index, an add that needs no lock prefix | [`rseq`] |
//! | an index that stays with a thread | [`thread_slot`] |
//! | a thread of the library's own | [`thread`] |
//! | barriers on all threads of the process | [`membarrier`] |
//! | CPUs and nodes | [`topology`] |
//! | sections that exclude `fork`; the rules for a child | [`fork`] |
//! | waiting for another thread | [`backoff`] |
//! | other properties of the machine | [`machine`] |
//!
//! Nothing here makes decisions: a call that the kernel lacks or refuses is an error with the call's name and the
//! reason. Under Miri, and on systems other than Linux, memory comes from the global allocator and restartable
//! sequences are absent.

// The crate exists to hold what cannot be written otherwise; each block says why it is sound.
#![allow(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod abilities;
pub mod backoff;
mod error;
#[cfg(feature = "failing")]
pub mod failing;
pub mod fork;
pub mod machine;
pub mod mappings;
mod mark;
pub mod membarrier;
mod memory;
pub mod rseq;
pub mod thread;
pub mod thread_slot;
pub mod topology;
#[cfg(doctest)]
mod type_rules;

pub use abilities::{Ability, Lacking};
pub use error::SysError;
pub use memory::{Guard, PageScan, Reservation, page_bytes};
