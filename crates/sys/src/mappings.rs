//! The mappings of this process.

use crate::SysError;
use std::collections::TryReserveError;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::ops::Range;

/// Calls `found` for each mapping in ascending order, with its addresses and its name: that of a file, one in brackets
/// such as `[stack]`, or none.
///
/// # Errors
/// As `open(2)` and `read(2)`; `ENOMEM`. `found` may have been called.
#[doc(alias = "/proc/self/maps")]
pub fn each(mut found: impl FnMut(Range<u64>, &str)) -> Result<(), SysError> {
    lines("/proc/self/maps", |line| {
        let (range, name) = parse(line).ok_or(UNREADABLE)?;
        found(range, name);
        Ok(())
    })
}

/// Bytes with huge pages of the mappings that overlap `part`; a mapping across an end of `part` counts whole.
pub(crate) fn huge_page_bytes(part: &Range<u64>) -> Result<u64, SysError> {
    let (mut is_within, mut kib) = (false, 0);
    lines("/proc/self/smaps", |line| {
        // A figure has a colon after its name; the first line of a mapping has addresses there.
        match line.split_once(':').and_then(|(name, value)| Some((name, value.trim().strip_suffix(" kB")?))) {
            Some(("AnonHugePages", value)) if is_within => {
                kib += value.parse::<u64>().map_err(|_| UNREADABLE)?;
            }
            Some(_) => {}
            None => {
                if let Some((range, _)) = parse(line) {
                    is_within = range.start < part.end && part.start < range.end;
                }
            }
        }
        Ok(())
    })?;
    Ok(kib << 10)
}

/// The file does not have the kernel's format.
const UNREADABLE: SysError = SysError { call: "read", errno: libc::EIO };

/// Bytes that are read at a time.
const READ_BYTES: usize = 8 << 10;

/// Calls `found` with each line of a file, until it fails. A line that is not UTF-8, as file names may be, has
/// replacement characters.
fn lines(path: &str, mut found: impl FnMut(&str) -> Result<(), SysError>) -> Result<(), SysError> {
    let failed = |call| {
        move |error: std::io::Error| SysError { call, errno: error.raw_os_error().unwrap_or(libc::EIO) }
    };
    let no_memory = |_: TryReserveError| SysError { call: "malloc", errno: libc::ENOMEM };
    let mut file = File::open(path).map_err(failed("open"))?;
    // What was read, from the start of a line on.
    let mut bytes = Vec::new();
    let mut text = String::new();
    loop {
        let held = bytes.len();
        // The standard library's readers abort where this is refused.
        bytes.try_reserve(READ_BYTES).map_err(no_memory)?;
        bytes.resize(held + READ_BYTES, 0);
        let count = loop {
            match file.read(&mut bytes[held..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read.map_err(failed("read"))?,
            }
        };
        bytes.truncate(held + count);
        let mut whole = 0;
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            if count > 0 && !line.ends_with(b"\n") {
                break;
            }
            whole += line.len();
            text.clear();
            for chunk in line.utf8_chunks() {
                text.try_reserve(chunk.valid().len() + char::REPLACEMENT_CHARACTER.len_utf8())
                    .map_err(no_memory)?;
                text.push_str(chunk.valid());
                text.extend((!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER));
            }
            found(text.trim_end())?;
        }
        if count == 0 {
            return Ok(());
        }
        bytes.drain(..whole);
    }
}

/// The addresses and the name of a line.
fn parse(line: &str) -> Option<(Range<u64>, &str)> {
    let (addresses, mut rest) = line.split_once(' ')?;
    let (start, end) = addresses.split_once('-')?;
    // Access, offset, device and inode come first; the name follows after blanks.
    for _ in 0..4 {
        rest = rest.split_once(' ').map_or("", |(_, rest)| rest);
    }
    let address = |hex| u64::from_str_radix(hex, 16).ok();
    Some((address(start)?..address(end)?, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let line = "7ffd2a1e4000-7ffd2a205000 rw-p 00000000 00:00 0                          [stack]";
        assert_eq!(parse(line), Some((0x7ffd_2a1e_4000..0x7ffd_2a20_5000, "[stack]")));
        let line = "00400000-00452000 r-xp 00000000 08:02 173521 /usr/bin/a b (deleted)";
        assert_eq!(parse(line), Some((0x40_0000..0x45_2000, "/usr/bin/a b (deleted)")));
        assert_eq!(parse("1000-3000 ---p 00000000 00:00 0"), Some((0x1000..0x3000, "")));
        assert_eq!(parse("1000 rw-p"), None);
        assert_eq!(parse(""), None);
    }

    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn this_function_is_in_a_mapping() {
        let code = this_function_is_in_a_mapping as *const () as u64;
        let (mut found, mut last) = (0, 0);
        each(|range, name| {
            assert!(range.start >= last && range.end > range.start);
            last = range.end;
            found += usize::from(range.contains(&code) && name.starts_with('/'));
        })
        .unwrap();
        assert_eq!(found, 1);
    }
}
