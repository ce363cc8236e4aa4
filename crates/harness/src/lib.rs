//! What only tests and measurements need. No library depends on it.
//!
//! | What | Where |
//! |---|---|
//! | CPU time, page faults, signals and moves of threads | [`threads`] |
//! | memory to compare with: of any allocator, of `mmap`, slots that system calls make zero again | [`memory`] |
//! | filters that allow some system calls and no others | [`filter`] |
//! | answers of another system to system calls of this process | [`supervisor`] |
//! | what these answers are: older kernels, gVisor, emulators, filters | [`systems`] |
//! | a child that waits before it executes its program | [`child`] |
//! | stops of a child and of what it makes, at some system calls | [`ptrace`] |
//! | memory of the kernel that a program asks for | [`bpf`] |
//! | signals that a program waits for rather than dies of | [`signals`] |
//! | file systems of the kernel that are mounted nowhere | [`mounts`] |
//! | engines from outside, called in a process of their own | [`outside`] |

#![cfg(target_os = "linux")]
// The crate exists to hold what cannot be written otherwise; each block says why it is sound.
#![allow(unsafe_code)]

pub mod bpf;
pub mod child;
pub mod filter;
pub mod memory;
pub mod mounts;
pub mod outside;
pub mod ptrace;
pub mod signals;
pub mod supervisor;
pub mod systems;
pub mod threads;
#[cfg(doctest)]
mod type_rules;

use freehold_sys::SysError;

/// The reason why `call` failed just now, on this thread.
fn last(call: &'static str) -> SysError {
    SysError { call, errno: std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO) }
}
