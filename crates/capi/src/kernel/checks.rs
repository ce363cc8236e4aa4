//! `mt_validate`, `mt_dump` and the counts of `MT_BUG_ON`.

use super::entry::pointer;
use super::tree::fhk_tree;
use freehold::rcu;
use freehold_linux::maple::Ranges;
use std::ffi::{c_char, c_int, c_ulong};
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

/// A function of C that gets lines, each without its end.
pub type put_line = extern "C" fn(*const c_char);

static RUN: AtomicU64 = AtomicU64::new(0);
static FAILED: AtomicU64 = AtomicU64::new(0);

/// A line for C, which needs no memory. It ends where it is full.
struct Line {
    bytes: [u8; 512],
    len: usize,
}

impl Write for Line {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        // The last byte stays 0.
        let room = self.bytes.len() - 1 - self.len;
        let part = &part.as_bytes()[..part.len().min(room)];
        self.bytes[self.len..self.len + part.len()].copy_from_slice(part);
        self.len += part.len();
        Ok(())
    }
}

fn say(put: put_line, text: fmt::Arguments<'_>) {
    let mut line = Line { bytes: [0; 512], len: 0 };
    // Writing to a line cannot fail.
    let _ = line.write_fmt(text);
    put(line.bytes.as_ptr().cast());
}

/// Checks every invariant of the tree. Returns 0, or -EUCLEAN after a line that names the one that is broken.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mt_validate(tree: &fhk_tree, put: put_line) -> c_int {
    let _guard = rcu::read();
    let Some(Err(broken)) = tree.kernel().map(|kernel| kernel.map.validate()) else { return 0 };
    say(put, format_args!("maple_tree({tree:p}): {broken}"));
    -libc::EUCLEAN
}

/// The tree's ranges, one a line, in decimal or hexadecimal.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_mt_dump(tree: &fhk_tree, hex: bool, put: put_line) {
    let _guard = rcu::read();
    let kernel = tree.kernel();
    let height = kernel.map_or(0, |kernel| kernel.map.height());
    let flags = tree.bits();
    say(put, format_args!("maple_tree({tree:p}) flags {flags:X}, height {height}"));
    let Some(kernel) = kernel else { return };
    let reading = kernel.map.read();
    let mut index = Some(0);
    while let Some(first) = index {
        let (span, item) = Ranges::slot_at(&reading, first);
        let (first, last, entry) = (span.first(), span.last(), pointer(item));
        match (entry.is_null(), hex) {
            (true, true) => say(put, format_args!("  {first:x}-{last:x}: (nil)")),
            (true, false) => say(put, format_args!("  {first}-{last}: (nil)")),
            (false, true) => say(put, format_args!("  {first:x}-{last:x}: {entry:p}")),
            (false, false) => say(put, format_args!("  {first}-{last}: {entry:p}")),
        }
        index = last.checked_add(1);
    }
}

/// Counts a test, and whether it failed. Returns how many have failed so far.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_count_test(failed: bool) -> c_ulong {
    // Relaxed: counts order nothing.
    RUN.fetch_add(1, Ordering::Relaxed);
    FAILED.fetch_add(failed.into(), Ordering::Relaxed) + u64::from(failed)
}

/// Tests so far.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_tests_run() -> c_ulong {
    RUN.load(Ordering::Relaxed)
}

/// Tests that have failed so far.
#[unsafe(no_mangle)]
pub extern "C" fn fhk_tests_failed() -> c_ulong {
    FAILED.load(Ordering::Relaxed)
}
