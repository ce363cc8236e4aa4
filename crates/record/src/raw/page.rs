//! A sub-buffer of the kernel's trace ring, and the records in it.
//!
//! ```text
//!   | u64 time | commit: 20 bits used, 30 count follows, 31 lost before | record | record | ... | [u64 lost] |
//!
//!   record   u32: 5 bits type or length in words, 27 bits time since the one before
//!            0      the length in bytes, itself included, is in the next word
//!            1-28   as many words of data
//!            29     padding: as many bytes as the next word says, or all that is left if no time passed
//!            30     time passes: 27 bits, the next word above them
//!            31     the time itself: likewise, 59 bits
//! ```
//! Cost: linear in the bytes.

use super::format::Format;
use std::ops::{Range, RangeInclusive};

/// Bytes of a sub-buffer, at least and at most.
const SIZES: RangeInclusive<usize> = 64..=1 << 20;
const LOST: u64 = 1 << 31;
const COUNT_FOLLOWS: u64 = 1 << 30;
const USED: u64 = (1 << 20) - 1;
/// Bits of a time that a record of type 31 has.
const TIME_BITS: u64 = (1 << 59) - 1;

/// Where things are in a sub-buffer, as `events/header_page` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Bytes of it all.
    pub(crate) size: usize,
    /// Bytes of `commit`.
    commit_size: usize,
    /// Where the records start.
    data: usize,
}

impl Layout {
    /// Reads the file.
    ///
    /// # Errors
    /// It has not the fields that are needed, or sizes that no kernel has.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        // It has the fields of a format file, and neither name nor number.
        let text = format!("name: header_page\nID: 0\n{text}");
        let format = Format::parse(&text).map_err(|(_, what)| what)?;
        let place = |name: &str| format.place(name).ok_or_else(|| format!("header_page has no field {name}"));
        let ((time, 8), (8, commit_size), (data, room)) =
            (place("timestamp")?, place("commit")?, place("data")?)
        else {
            return Err("header_page: time and commit are not where they should be".to_owned());
        };
        let size = data.saturating_add(room);
        if time != 0 || ![4, 8].contains(&commit_size) || data < 8 + commit_size || !SIZES.contains(&size) {
            return Err(format!("header_page: a sub-buffer of {size} bytes, data at {data}"));
        }
        Ok(Self { size, commit_size, data })
    }
}

/// A place in a sub-buffer.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    /// Events were lost before it; how many, if that is known.
    pub(crate) lost: Option<Option<u64>>,
    time: u64,
    at: usize,
    end: usize,
}

impl Page {
    /// The start of the sub-buffer, of which there may be less than its size if no more was used.
    ///
    /// # Errors
    /// It is too short for what it says.
    pub(crate) fn new(bytes: &[u8], layout: Layout) -> Result<Self, String> {
        let short = || format!("a sub-buffer of {} bytes is cut off", bytes.len());
        let time = word64(bytes, 0).ok_or_else(short)?;
        let commit = match layout.commit_size {
            4 => word32(bytes, 8).map(u64::from),
            _ => word64(bytes, 8),
        };
        let commit = commit.ok_or_else(short)?;
        let end = layout.data + (commit & USED) as usize;
        if end > bytes.len().min(layout.size) {
            return Err(format!("{} bytes of records do not fit into a sub-buffer", commit & USED));
        }
        let count = || if commit & COUNT_FOLLOWS != 0 { word64(bytes, end) } else { None };
        let lost = (commit & LOST != 0).then(count);
        Ok(Self { lost, time, at: layout.data, end })
    }

    /// The time of the next record, and where its data is.
    ///
    /// # Errors
    /// It is longer than what is left.
    pub(crate) fn next(&mut self, bytes: &[u8]) -> Result<Option<(u64, Range<usize>)>, String> {
        while self.at < self.end {
            let cut_off = || "a record does not end within its sub-buffer".to_owned();
            let head = word32(bytes, self.at).ok_or_else(cut_off)?;
            let (kind, delta) = (head & 31, u64::from(head >> 5));
            self.at += 4;
            if kind == 29 && delta == 0 {
                self.at = self.end;
                break;
            }
            if (1..=28).contains(&kind) {
                self.time = self.time.wrapping_add(delta);
                return self.take(kind as usize * 4).map(|data| Some((self.time, data)));
            }
            let next = word32(bytes, self.at).ok_or_else(cut_off)?;
            let long = u64::from(next) << 27 | delta;
            self.at += 4;
            match kind {
                0 | 29 => {
                    self.time = self.time.wrapping_add(delta);
                    let len = (next as usize).checked_sub(4).ok_or_else(cut_off)?.next_multiple_of(4);
                    let data = self.take(len)?;
                    if kind == 0 {
                        return Ok(Some((self.time, data)));
                    }
                }
                30 => self.time = self.time.wrapping_add(long),
                _ => self.time = self.time & !TIME_BITS | long & TIME_BITS,
            }
        }
        Ok(None)
    }

    fn take(&mut self, len: usize) -> Result<Range<usize>, String> {
        let start = self.at;
        let end = start.checked_add(len).filter(|end| *end <= self.end);
        self.at = end.ok_or_else(|| "a record does not end within its sub-buffer".to_owned())?;
        Ok(start..self.at)
    }
}

/// The number that begins there, if the bytes go so far.
pub(crate) fn word32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The same of twice the size.
pub(crate) fn word64(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_sub_buffer_is_read() {
        let text = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:65520;\tsigned:0;\n";
        assert_eq!(Layout::parse(text).map(|layout| layout.size), Ok(64 << 10));
        assert!(Layout::parse(&text.replace("\tsize:65520;", "")).is_err());
        assert!(Layout::parse("").is_err());
    }
}
