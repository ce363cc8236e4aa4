//! Tests of the kernel's calls on a maple tree, as one program.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod calls;
mod cursor;
mod defects;
