//! The file `events.log` of a ptrace recording: one event a line.
//!
//! ```text
//!   AT CPU TID call NAME ARG... = RET FILE             arguments in hexadecimal digits, RET signed decimal
//!   AT CPU TID map START END PROT p|s SOURCE FILE OFFSET   numbers in hexadecimal digits but PROT
//!   AT CPU TID exec|fork|thread|exit [CHILD FLAGS] [NAME]
//! ```
//! FILE is `-` (anonymous), `?` (unknown) or `DEV:INODE` in decimal. Cost: one line of memory.

use crate::Error;
use crate::event::{Call, Event, File, Mapping, Source as Origin, What};
use crate::source::{Events, Source};
use freehold_trace::{Fields, Lines};
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;

/// The name of the file.
pub const EVENTS_LOG: &str = "events.log";

/// Writes one event.
///
/// # Errors
/// Those of `out`; `InvalidInput` for an event that ptrace does not see.
pub fn write(out: &mut impl Write, event: &Event) -> io::Result<()> {
    write!(out, "{} {} {} ", event.at, event.cpu, event.tid)?;
    let comm = event.comm.as_deref().map(|name| format!(" {}", name.replace(['\n', '\r'], " ")));
    let comm = comm.unwrap_or_default();
    match &event.what {
        What::Call { call, args, ret, file } => {
            write!(out, "call {}", call.name())?;
            for arg in args.iter().take(call.args().len()) {
                write!(out, " {arg:x}")?;
            }
            writeln!(out, " = {ret} {}", file_word(*file))
        }
        What::KernelMapping(mapping) => {
            writeln!(
                out,
                "map {:x} {:x} {} {} {} {} {:x}",
                mapping.start,
                mapping.end,
                mapping.prot,
                if mapping.shared { 's' } else { 'p' },
                mapping.source.name(),
                file_word(mapping.file),
                mapping.offset
            )
        }
        What::Exec => writeln!(out, "exec{comm}"),
        What::Fork { child, flags } => writeln!(out, "fork {child} {flags:x}{comm}"),
        What::Thread { child, flags } => writeln!(out, "thread {child} {flags:x}{comm}"),
        What::Exit => writeln!(out, "exit{comm}"),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "ptrace sees no such event")),
    }
}

fn file_word(file: File) -> String {
    match file {
        File::Anonymous => "-".to_owned(),
        File::Unknown => "?".to_owned(),
        File::Known { dev, inode } => format!("{dev}:{inode}"),
    }
}

/// The events of these lines, in order. Nothing follows an error.
pub fn events(lines: Lines) -> impl Iterator<Item = Result<Event, Error>> {
    Events::new(Log(lines))
}

/// A file of such lines, as many as there are: a recording lasts as long as its command.
pub(crate) struct Log(Lines);

impl Log {
    /// Opens the file.
    ///
    /// # Errors
    /// It cannot be opened.
    pub(crate) fn open(file: &Path) -> Result<Self, Error> {
        Ok(Self(Lines::open(file)?.endless()))
    }
}

impl Source for Log {
    fn read(&mut self) -> Result<Option<Event>, Error> {
        let Some(text) = self.0.advance()? else { return Ok(None) };
        let parsed = parse(text);
        parsed.map(Some).map_err(|what| self.0.error(what).into())
    }

    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

fn parse(text: &str) -> Result<Event, String> {
    let mut fields = Fields::new(text, ' ');
    let (at, cpu, tid) = (fields.value("the time")?, fields.value("the CPU")?, fields.value("the task")?);
    let what = match fields.text("the event")? {
        "call" => parse_call(&mut fields)?,
        "map" => parse_map(&mut fields)?,
        "exec" => What::Exec,
        "exit" => What::Exit,
        "fork" => What::Fork { child: fields.value("the child")?, flags: fields.hex("flags")? },
        "thread" => What::Thread { child: fields.value("the child")?, flags: fields.hex("flags")? },
        other => return Err(format!("unknown event {other:?}")),
    };
    let comm = match what {
        What::Call { .. } | What::KernelMapping(_) => fields.end().map(|()| None)?,
        _ => fields.rest().map(Rc::from),
    };
    Ok(Event { at, cpu, tid, comm, what })
}

fn parse_call(fields: &mut Fields<'_>) -> Result<What, String> {
    let call = fields.choice("call", Call::named)?;
    let mut args = [0; 6];
    for (arg, name) in args.iter_mut().zip(call.args()) {
        *arg = fields.hex(name)?;
    }
    fields.word("=")?;
    Ok(What::Call { call, args, ret: fields.value("the result")?, file: parse_file(fields)? })
}

fn parse_map(fields: &mut Fields<'_>) -> Result<What, String> {
    let (start, end) = (fields.hex("the start")?, fields.hex("the end")?);
    if start >= end {
        return Err(format!("the mapping ends at {end:x}, not above its start {start:x}"));
    }
    let prot = fields.value("the protection")?;
    let shared = match fields.text("p or s")? {
        "p" => false,
        "s" => true,
        other => return Err(format!("a mapping is p or s, not {other:?}")),
    };
    let (source, file) = (fields.choice("source", Origin::named)?, parse_file(fields)?);
    let offset = fields.hex("the offset")?;
    Ok(What::KernelMapping(Mapping { start, end, prot, shared, source, file, offset }))
}

fn parse_file(fields: &mut Fields<'_>) -> Result<File, String> {
    match fields.text("the file")? {
        "-" => Ok(File::Anonymous),
        "?" => Ok(File::Unknown),
        text => {
            let numbers = text.split_once(':').and_then(|(dev, inode)| {
                Some(File::Known { dev: dev.parse().ok()?, inode: inode.parse().ok()? })
            });
            numbers.ok_or_else(|| format!("a file is -, ? or DEV:INODE, not {text:?}"))
        }
    }
}
