//! `/proc/PID/maps`: one mapping a line, `START-END rwxp OFFSET MAJOR:MINOR INODE NAME`.

use crate::Error;
use crate::event::{File, Mapping, Source};
use freehold_trace::Lines;

/// Reads all lines. Cost: linear in the file.
///
/// # Errors
/// A line is not as it should be.
pub(crate) fn read(mut lines: Lines) -> Result<Vec<Mapping>, Error> {
    let mut mappings = Vec::new();
    while let Some(text) = lines.advance()? {
        let mapping = line(text);
        let wrong = "the line must be `START-END rwxp OFFSET MAJOR:MINOR INODE NAME`";
        mappings.push(mapping.ok_or_else(|| lines.error(wrong))?);
    }
    Ok(mappings)
}

/// Reads a line.
pub(crate) fn line(text: &str) -> Option<Mapping> {
    let mut words = text.splitn(6, ' ');
    let (start, end) = words.next()?.split_once('-')?;
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let (start, end) = (hex(start)?, hex(end)?);
    let (prot, shared) = flags(words.next()?)?;
    let (offset, device, inode) = (hex(words.next()?)?, device(words.next()?)?, words.next()?.parse().ok()?);
    let (file, source) = shown(device, inode, words.next().unwrap_or_default().trim());
    (start < end).then_some(Mapping { start, end, prot, shared, source, file, offset })
}

/// Reads `rwxp`: the protection, and whether it is shared.
pub(super) fn flags(text: &str) -> Option<(u32, bool)> {
    let [r, w, x, kind] = *text.as_bytes() else { return None };
    let bit = |letter: u8, set: u8, bit: u32| match letter {
        b'-' => Some(0),
        _ if letter == set => Some(bit),
        _ => None,
    };
    let shared = match kind {
        b's' => true,
        b'p' => false,
        _ => return None,
    };
    Some((bit(r, b'r', 1)? | bit(w, b'w', 2)? | bit(x, b'x', 4)?, shared))
}

/// Reads `MAJOR:MINOR` in hexadecimal digits.
pub(super) fn device(text: &str) -> Option<[u32; 2]> {
    let (major, minor) = text.split_once(':')?;
    Some([u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?])
}

/// What is mapped, by the device's major and minor number, inode and name.
pub(crate) fn shown(device: [u32; 2], inode: u64, name: &str) -> (File, Source) {
    let [major, minor] = device.map(u64::from);
    let source = match name {
        "[stack]" => Source::Stack,
        "[vdso]" => Source::Vdso,
        _ if name.starts_with("[vvar") => Source::Vvar,
        "[heap]" => Source::Heap,
        _ if inode != 0 => Source::File,
        _ => Source::Anon,
    };
    let file = if inode == 0 { File::Anonymous } else { File::Known { dev: major << 32 | minor, inode } };
    (file, source)
}
