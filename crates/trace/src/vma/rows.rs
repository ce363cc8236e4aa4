//! Recorded events of process address spaces as the rows that they are read from.

use super::{Action, Backing, Event, Mapping, Outcome};
use crate::events::put;
use std::io::{self, Write};

impl Event {
    /// Writes what follows the stamp.
    pub(super) fn write_row(&self, out: &mut dyn Write) -> io::Result<()> {
        let op = op(&self.action);
        write!(out, "{op},")?;
        put(out, self.space)?;
        match self.action {
            Action::Map { address, len_bytes, prot, flags, backing, offset_bytes, outcome } => {
                let file = backing_text(backing);
                write!(out, "{address:x},{len_bytes},{prot},{flags:x},{file},{offset_bytes:x},")?;
                put_outcome(out, outcome)
            }
            Action::Unmap { address, len_bytes, outcome } => {
                write!(out, "{address:x},{len_bytes},,,,,")?;
                put_outcome(out, outcome)
            }
            Action::Protect { address, len_bytes, prot: value, outcome }
            | Action::Advise { address, len_bytes, advice: value, outcome } => {
                write!(out, "{address:x},{len_bytes},{value},,,,")?;
                put_outcome(out, outcome)
            }
            Action::Remap { address, old_len_bytes, new_len_bytes, flags, new_address, outcome } => {
                write!(out, "{address:x},{old_len_bytes},{new_len_bytes},{flags:x},,")?;
                put(out, new_address.map(|address| format!("{address:x}")))?;
                put_outcome(out, outcome)
            }
            Action::Break { request, outcome } => {
                write!(out, "{request:x},,,,,,")?;
                put_outcome(out, outcome)
            }
            Action::GapSearch { low, high, len_bytes, align_mask, top_down, align_offset, outcome } => {
                let flags = u8::from(top_down);
                write!(out, "{low:x}-{high:x},{len_bytes},{align_mask:x},{flags},,{align_offset:x},")?;
                put_outcome(out, outcome)
            }
            Action::KernelMap(mapping) => put_mapping(out, mapping),
            Action::Exec { new_space } => write!(out, ",,,,,,{new_space}"),
            Action::Fork { child, flags, new_space } => write!(out, ",,{child},{flags:x},,,{new_space}"),
            Action::Thread { child, flags } => {
                let space = self.space.unwrap_or_default();
                write!(out, ",,{child},{flags:x},,,{space:x}")
            }
            Action::Exit { last } => write!(out, ",,,,,,{}", u8::from(last)),
            Action::Destroy => write!(out, ",,,,,,"),
        }
    }
}

fn op(action: &Action) -> char {
    match action {
        Action::Map { .. } => 'm',
        Action::Unmap { .. } => 'u',
        Action::Protect { .. } => 'p',
        Action::Remap { .. } => 'r',
        Action::Break { .. } => 'b',
        Action::Advise { .. } => 'a',
        Action::GapSearch { .. } => 'g',
        Action::KernelMap(_) => 'k',
        Action::Exec { .. } => 'x',
        Action::Fork { .. } => 'f',
        Action::Thread { .. } => 't',
        Action::Exit { .. } => 'e',
        Action::Destroy => 'z',
    }
}

fn backing_text(backing: Backing) -> String {
    match backing {
        Backing::Anonymous => "0".to_owned(),
        Backing::Unknown => "-1".to_owned(),
        Backing::File(file) => file.to_string(),
    }
}

fn put_outcome(out: &mut dyn Write, outcome: Outcome) -> io::Result<()> {
    match outcome {
        Ok(value) => write!(out, "{value:x}"),
        Err(errno) => write!(out, "-{}", errno.0),
    }
}

fn put_mapping(out: &mut dyn Write, mapping: Mapping) -> io::Result<()> {
    let Mapping { address, len_bytes, prot, source, shared, backing, offset_bytes } = mapping;
    let (source, shared) = (source.name(), if shared { "S" } else { "" });
    let file = backing_text(backing);
    write!(out, "{address:x},{len_bytes},{prot},{source}{shared},{file},{offset_bytes:x},{address:x}")
}
