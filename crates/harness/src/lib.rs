//! Tools for tests and measurements only. No library depends on them.
//!
//! | What | Where |
//! |---|---|
//! | CPU time, page faults, signals and migrations of threads | [`threads`] |
//! | memory to compare with: of any allocator, of `mmap`, and slots that system calls zero | [`memory`] |
//! | seccomp filters that allow a list of system calls | [`filter`] |
//! | a supervisor that answers system calls of this process as another system would | [`supervisor`] |
//! | the answers of older kernels, gVisor, emulators and filters | [`systems`] |
//! | a child that waits before it executes its program | [`child`] |
//! | ptrace: a child and its descendants stop at chosen system calls | [`ptrace`] |
//! | BPF maps: virtual and per-CPU memory that a program takes from the kernel | [`bpf`] |
//! | signals that a program waits for instead of dying of them | [`signals`] |
//! | kernel file systems, mounted without a path | [`mounts`] |
//! | engines in shared objects, called in a process of their own | [`outside`] |

#![cfg(target_os = "linux")]
// The tests' system calls are made here, so that other crates can forbid `unsafe`. Each block says why it is sound.
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

/// The error of `call`, which has just failed on this thread.
fn last(call: &'static str) -> SysError {
    SysError { call, errno: std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO) }
}
