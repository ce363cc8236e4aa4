//! `/proc/vmallocinfo`: one area a line, `0xSTART-0xEND SIZE CALLER+OFFSET/LENGTH ...`, or `unpurged vm_area`.

use crate::Error;
use crate::snapshot::Area;
use freehold_trace::Lines;

/// Reads all lines, in their order, which tells the nodes of lazily freed areas. Cost: linear in the file.
///
/// # Errors
/// A line is not as it should be, or the addresses are hidden.
pub(crate) fn read(mut lines: Lines) -> Result<Vec<Area>, Error> {
    let mut areas = Vec::new();
    while let Some(text) = lines.advance()? {
        let area = line(text);
        areas.push(area.map_err(|what| lines.error(what))?);
    }
    Ok(areas)
}

/// Whether a line looks like one of this file.
pub(crate) fn looks_like(text: &str) -> bool {
    text.starts_with("0x") && text.split_once('-').is_some_and(|(_, end)| end.starts_with("0x"))
}

fn line(text: &str) -> Result<Area, String> {
    let mut words = text.split_ascii_whitespace();
    let hex = |text: &str| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok();
    let range = words.next().and_then(|range| range.split_once('-'));
    let range = range.and_then(|(start, end)| Some((hex(start)?, hex(end)?)));
    let size = words.next().and_then(|size| size.parse::<u64>().ok());
    let (Some((start, end)), Some(size)) = (range, size) else {
        return Err("the line must be `0xSTART-0xEND SIZE CALLER ...`".to_owned());
    };
    if size == 0 || start.checked_add(size) != Some(end) {
        let how = "read it as root while /proc/sys/kernel/kptr_restrict is 1";
        return Err(format!(
            "{size} bytes from {start:x} do not end at {end:x}: addresses are hidden; {how}"
        ));
    }
    let rest: Vec<&str> = words.collect();
    let lazy = rest.starts_with(&["unpurged"]);
    let caller = if lazy { "" } else { rest.first().copied().unwrap_or_default() };
    let caller = caller.split('+').next().unwrap_or_default().to_owned();
    Ok(Area { start, size, caller, lazy })
}
