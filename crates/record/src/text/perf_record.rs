//! The records of perf that are no samples: mappings, tasks, lost events, as `perf script --show-mmap-events` and its like print.

use super::maps;
use crate::decode::Decoder;
use crate::event::{Mapping, What};

/// What a record says: nothing of samples that a filter has dropped. `tid` is the task that it is about.
pub(super) fn parse(text: &str, tid: &mut u32, decoder: &mut Decoder) -> Result<Option<What>, String> {
    let end = text.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    match name {
        "PERF_RECORD_COMM" if rest.starts_with(" exec") => Ok(Some(What::Exec)),
        "PERF_RECORD_MMAP2" => {
            let mapping = mapping(rest).ok_or("a mapping that cannot be read")?;
            let what = What::KernelMapping(mapping);
            what.check()?;
            Ok(decoder.mapping(*tid, mapping.file).then_some(what))
        }
        "PERF_RECORD_FORK" | "PERF_RECORD_EXIT" => {
            let numbers = numbers(rest);
            let &[pid, child, parent, _] = numbers.as_slice() else {
                return Err(format!("{name} needs four numbers"));
            };
            if name == "PERF_RECORD_EXIT" {
                *tid = child;
                return Ok(Some(What::Exit));
            }
            Ok(Some(What::made_in(child, pid == parent)))
        }
        "PERF_RECORD_LOST_SAMPLES" if rest.ends_with("(BPF)") => Ok(None),
        "PERF_RECORD_LOST" | "PERF_RECORD_LOST_SAMPLES" => {
            let count = numbers(rest).last().copied().map(u64::from);
            Ok(decoder.lost(count, name.ends_with("SAMPLES")))
        }
        _ => Ok(None),
    }
}

fn numbers(text: &str) -> Vec<u32> {
    text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect()
}

/// Reads ` PID/TID: [0xSTART(0xLEN) @ OFFSET MAJOR:MINOR INODE GENERATION]: rwxp NAME`.
fn mapping(text: &str) -> Option<Mapping> {
    let (_, text) = text.split_once('[')?;
    let (place, after) = text.split_once("]: ")?;
    let (range, file) = place.split_once(" @ ")?;
    let (start, len) = range.strip_suffix(')')?.split_once('(')?;
    let hex = |text: &str| u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok();
    let start = hex(start)?;
    let mut words = file.split(' ');
    let (offset, device) = (hex(words.next()?)?, maps::device(words.next()?)?);
    let inode = words.next()?.parse().ok()?;
    let (flags, name) = after.split_once(' ').unwrap_or((after, ""));
    let (prot, shared) = maps::flags(flags)?;
    let (file, source) = maps::shown(device, inode, name.trim());
    let offset = if inode == 0 { 0 } else { offset };
    Some(Mapping { start, end: start.checked_add(hex(len)?)?, prot, shared, source, file, offset })
}
