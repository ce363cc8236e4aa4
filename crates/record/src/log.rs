//! The file `events.log` of a ptrace recording: one event a line.
//!
//! ```text
//!   AT CPU TID call NAME ARG... = RET FILE             arguments in hexadecimal digits, RET signed decimal
//!   AT CPU TID map START END PROT p|s SOURCE FILE OFFSET   numbers in hexadecimal digits but PROT
//!   AT CPU TID exec|fork|thread|exit [CHILD FLAGS] [NAME]
//! ```
//! FILE is `-` (anonymous), `?` (unknown) or `DEV:INODE` in decimal. Cost: one line of memory.

use crate::Error;
use crate::event::{Call, Event, File, Mapping, Source, What};
use freehold_trace::Lines;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;

/// The name of the file.
pub const EVENTS_LOG: &str = "events.log";

const SOURCES: [(Source, &str); 6] = [
    (Source::Stack, "stack"),
    (Source::Vdso, "vdso"),
    (Source::Vvar, "vvar"),
    (Source::File, "file"),
    (Source::Heap, "heap"),
    (Source::Anon, "anon"),
];

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
            let source = SOURCES.iter().find(|(source, _)| *source == mapping.source);
            writeln!(
                out,
                "map {:x} {:x} {} {} {} {} {:x}",
                mapping.start,
                mapping.end,
                mapping.prot,
                if mapping.shared { 's' } else { 'p' },
                source.map_or("anon", |(_, name)| name),
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

/// The events of a file, in order. Nothing follows an error.
pub struct Log {
    lines: Lines,
    ended: bool,
}

impl Log {
    /// Opens the file.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(file: &Path) -> Result<Self, Error> {
        Ok(Self::new(Lines::open(file)?))
    }

    /// Reads these lines.
    #[must_use]
    pub fn new(lines: Lines) -> Self {
        Self { lines, ended: false }
    }

    fn read(&mut self) -> Result<Option<Event>, Error> {
        let Some(text) = self.lines.advance()? else { return Ok(None) };
        let parsed = parse(text);
        parsed.map(Some).map_err(|what| self.lines.error(what).into())
    }
}

impl Iterator for Log {
    type Item = Result<Event, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let event = self.read().transpose();
        self.ended = !matches!(event, Some(Ok(_)));
        event
    }
}

fn parse(text: &str) -> Result<Event, String> {
    let mut words = text.split(' ');
    let (at, cpu, tid) =
        (decimal(&mut words, "the time")?, decimal(&mut words, "the CPU")?, decimal(&mut words, "the task")?);
    let mut has_name = true;
    let what = match word(&mut words, "the event")? {
        "call" => {
            has_name = false;
            parse_call(&mut words)?
        }
        "map" => {
            has_name = false;
            parse_map(&mut words)?
        }
        "exec" => What::Exec,
        "exit" => What::Exit,
        "fork" => What::Fork { child: decimal(&mut words, "the child")?, flags: hex(&mut words, "flags")? },
        "thread" => {
            What::Thread { child: decimal(&mut words, "the child")?, flags: hex(&mut words, "flags")? }
        }
        other => return Err(format!("unknown event {other:?}")),
    };
    let rest: Vec<&str> = words.collect();
    if !has_name && !rest.is_empty() {
        return Err(format!("unexpected {:?} at the end", rest.join(" ")));
    }
    let comm = (!rest.is_empty()).then(|| Rc::from(rest.join(" ")));
    Ok(Event { at, cpu, tid, comm, what })
}

fn parse_call<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<What, String> {
    let name = word(words, "the call")?;
    let call = Call::named(name).ok_or_else(|| format!("unknown call {name:?}"))?;
    let mut args = [0; 6];
    for (arg, name) in args.iter_mut().zip(call.args()) {
        *arg = hex(words, name)?;
    }
    match word(words, "=")? {
        "=" => {}
        other => return Err(format!("\"=\" must stand where {other:?} does")),
    }
    Ok(What::Call { call, args, ret: decimal(words, "the result")?, file: parse_file(words)? })
}

fn parse_map<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<What, String> {
    let (start, end) = (hex(words, "the start")?, hex(words, "the end")?);
    if start >= end {
        return Err(format!("the mapping ends at {end:x}, not above its start {start:x}"));
    }
    let prot = decimal(words, "the protection")?;
    let shared = match word(words, "p or s")? {
        "p" => false,
        "s" => true,
        other => return Err(format!("a mapping is p or s, not {other:?}")),
    };
    let name = word(words, "the source")?;
    let source = SOURCES.iter().find(|(_, known)| *known == name).map(|(source, _)| *source);
    let source = source.ok_or_else(|| format!("unknown source {name:?}"))?;
    let file = parse_file(words)?;
    Ok(What::KernelMapping(Mapping {
        start,
        end,
        prot,
        shared,
        source,
        file,
        offset: hex(words, "the offset")?,
    }))
}

fn parse_file<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<File, String> {
    match word(words, "the file")? {
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

fn word<'a>(words: &mut impl Iterator<Item = &'a str>, what: &str) -> Result<&'a str, String> {
    words.next().ok_or_else(|| format!("{what} is missing"))
}

fn decimal<'a, T: std::str::FromStr>(
    words: &mut impl Iterator<Item = &'a str>,
    what: &str,
) -> Result<T, String> {
    let text = word(words, what)?;
    text.parse().map_err(|_| format!("{what} is not a number: {text:?}"))
}

fn hex<'a>(words: &mut impl Iterator<Item = &'a str>, what: &str) -> Result<u64, String> {
    let text = word(words, what)?;
    u64::from_str_radix(text, 16).map_err(|_| format!("{what} is not hexadecimal: {text:?}"))
}
