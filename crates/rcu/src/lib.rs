//! Read-copy-update: readers hold a guard and never wait; a writer unlinks, retires, and reuses after a grace period.
//!
//! ```text
//!   reader    guard: stamp = epoch   | loads of links ...            | stamp = 0
//!   writer    unlink ... retire      | epoch + 1 | heavy barrier | look at all stamps | reclaim what is older
//! ```
//!
//! A reader publishes the epoch in which it began. Its stamp must be stored before its loads. Other schemes pay for
//! that order with a fence in each guard. Here the writer makes it: one barrier on all threads of the process
//! ([`Mode::Membarrier`]), for some hundred records. Where the kernel has no such barrier, both sides use fences
//! ([`Mode::Fences`]).
//!
//! A program that installs a seccomp filter without `membarrier` calls [`use_fences`] before it starts threads. If a
//! filter comes unannounced, each reader starts to fence with its next guard. Records are reclaimed again once all
//! readers do: see [`Domain::use_fences`].
//!
//! | For | Use |
//! |---|---|
//! | a guard of this thread, nestable | [`read`] |
//! | a guard that may move to another thread | [`read_owned`], [`OwnedGuard`] |
//! | a bounded queue of what one writer retired | [`Backlog`] |
//! | a wait until all present readers have left | [`synchronize`] |
//! | a set of readers of its own, by threads or by values | [`Domain::read`], [`Reader`] |
//!
//! Guards are not for signal handlers: a handler may run between the steps of its thread's own guard.
//!
//! The crate protects nothing by itself: it says *when* what was retired may be reused. It hands out no pointers, and
//! so needs no `unsafe`. A reader that follows links without a lock holds its guard for as long as it uses what it
//! found.
//!
//! ```
//! use freehold_rcu::{Backlog, Domain};
//!
//! let mut backlog = Backlog::new(Domain::global(), 1024);
//! // A writer makes sure of room before it changes anything; what may be reused by now comes back.
//! backlog.reserve(1, |node: u32| println!("node {node} is free again"))?;
//! // ... unlink node 7 ...
//! backlog.retire(7).expect("one was reserved");
//!
//! let guard = freehold_rcu::read();
//! let mut free = Vec::new();
//! assert_eq!(backlog.poll(|node| free.push(node))?, 0, "for all that is known the guard has reached node 7");
//! drop(guard);
//! assert_eq!(backlog.poll(|node| free.push(node))?, 1);
//! assert_eq!(free, [7]);
//! # Ok::<(), freehold_rcu::BacklogError>(())
//! ```
//!
//! # What comes back when, and what a guard holds back
//! | | |
//! |---|---|
//! | A guard holds back | what is retired in its domain from its begin on, and what was before and no poll has seen: up to 512 records, or as many as the last request asked for |
//! | It does not hold back | anything in another domain, nor what came back before |
//! | A record comes back | by the first `poll` or `barrier` after all guards of its time have left, oldest first |
//! | `reserve` polls | once 512 records have been retired since the last poll, and while the limit is reached |
//! | Nothing comes back | by itself: there is no timer and no thread. Between two calls all is as it was |
//! | A poll costs | a barrier on all threads (some microseconds; none in a fenced domain) and a look at each slot |
//! | Behind a reader that stays | at most the limit, and what one request asks for beyond it; then `reserve` refuses, and says who it is |
//! | Batches | up to 8 are kept apart. What is retired later joins the last, and waits for the readers of its end |
//!
//! A domain owns nothing, so it has no `reclaim`: who retires polls its own backlog. Maps that retire values have two
//! ways to do so, at the end of each change that removes a value (prompt), or by `reserve` alone (batched). When a value is
//! dropped under each, and at which price, is a table of `Reclaim` in `freehold-maple`, whose maps have `reclaim`. With
//! either, a map that is idle keeps what waits until it is asked; a prompt one without a reader keeps no value, and a few
//! hundred nodes, or as many as its last change replaced.
//!
//! # Fork
//! A child made by `fork` has only the thread that forked.
//!
//! - Guards of the other threads protect nothing in the child, so it must not use references that such a guard
//!   protected.
//! - [Owned](OwnedGuard) guards and [`Reader`]s are values that the child has, too. They protect as before, even if
//!   nothing in the child can drop them.
//!
//! [`fork`] says what else a child may do.
//!
//! Source: McKenney and Slingwine, "Read-copy update" (1998); Desnoyers and others, "User-level implementations of
//! read-copy update" (2012); the manual of membarrier(2).

#![forbid(unsafe_code)]
#![allow(clippy::expect_used, reason = "only a broken invariant stops there, and is named")]

#[macro_use]
mod atomic;
mod backlog;
mod barrier;
mod domain;
mod error;
mod fallback;
mod grace;
mod guard;
#[cfg(not(all(test, loom)))]
mod owned;
mod slot;
mod stats;
#[cfg(not(all(test, loom)))]
mod thread;
#[cfg(not(all(test, loom)))]
mod thread_index;
#[cfg(doctest)]
mod type_rules;

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at once")]
mod tests;

pub use backlog::Backlog;
pub use barrier::Mode;
pub use domain::{Domain, DomainRef};
pub use error::{BacklogError, OutOfMemory, Stalled, SynchronizeError};
pub use freehold_sys::SysError;
/// For crates that write what readers see: sections that exclude `fork`, and thread numbers.
pub use freehold_sys::{fork, thread_slot};
pub use grace::wait_while;
pub use guard::{Guard, Reader};
#[cfg(not(all(test, loom)))]
pub use owned::OwnedGuard;
pub use stats::{BacklogStats, DomainStats};
#[cfg(not(all(test, loom)))]
pub use thread::{read, read_owned, register, synchronize, use_fences};
