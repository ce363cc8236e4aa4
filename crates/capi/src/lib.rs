//! The C library of freehold: `libfreehold`, whose interface is `include/freehold.h`.
//!
//! Each function is a safe `extern "C" fn` over the Rust call of the same name. Pointers of C are `Option<&T>`,
//! `Option<&mut T>` and `Option<Box<T>>`, so NULL is `None`; enums of C are plain numbers, which are checked. A panic
//! does not leave an `extern "C" fn`: Rust prints it and aborts.
//!
//! | Module | What it has |
//! |---|---|
//! | `error` | `fh_error`, `fh_conflict`, and how each Rust error becomes one |
//! | `memory` | malloc as the library's memory, and memory that is set aside for calls that cannot return an error |
//! | `handle` | boxes that may be refused, checks of pointers and enums |
//! | `plain`, `types` | spans, values; requests, regions, entries |
//! | `threads` | read sections |
//! | `kva`, `maple`, `percpu`, `vmalloc` | the engines, one file for each kind of handle |
//! | `kernel` | the kernel's names, `fhk_*`, for `include/freehold/maple_tree.h` |

#![allow(unsafe_code)]
#![allow(unreachable_pub, reason = "what is exported is reached from C")]
#![allow(non_camel_case_types, reason = "types have the names that they have in C")]

#[macro_use]
mod handle;
mod error;
/// cbindgen:ignore
mod kernel;
mod kva;
mod maple;
mod memory;
mod percpu;
mod plain;
mod threads;
mod types;
mod vmalloc;
