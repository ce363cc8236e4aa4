//! The lines that ftrace, `perf script`, `trace-cmd report` and bpftrace rows share.
//!
//! ```text
//!   ftrace      bash-23365   [000] .....  2456.588706: alloc_vmap_area: va_start: 18446683600584790016 size=16384 ...
//!   perf        bash 23365 [000]  2456.588706:  vmalloc:alloc_vmap_area: va_start: 18446683600584790016 size=16384 ...
//!   trace-cmd   bash-23365 [000]  2456.588706: alloc_vmap_area:      va_start: 18446683600584790016 size=16384 ...
//!   bpftrace    bash-23365 [0] 2456588706123: alloc_vmap_area: addr=0xffffc90000e15000 size=16384 ...
//! ```
//! A row of bpftrace is printed by the user's program: the task's name and number, the CPU, nanoseconds, the event's name, and
//! each field by the name that the kernel's format file has, `key=value`.

use super::{Grammar, moment, perf_record};
use crate::decode::{Decoder, Values};
use crate::event::{Event, What};
use std::collections::VecDeque;
use std::rc::Rc;

/// Brackets up to that of the CPU at most: the kernel cuts names off after 15 bytes.
const MOST_BRACKETS: usize = 8;

/// The grammar.
#[derive(Default)]
pub(crate) struct Shared {
    /// The last moment, for lines that have none.
    now: u64,
}

/// What stands before the event's name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Head<'a> {
    pub(crate) comm: &'a str,
    pub(crate) tid: u32,
    pub(crate) cpu: u32,
    pub(crate) at: u64,
    /// The name of the event and what follows.
    pub(crate) rest: &'a str,
    /// Whether the time is whole nanoseconds right behind the CPU, as bpftrace rows have it.
    pub(crate) whole: bool,
}

/// Reads what stands before the event's name; nothing if the line is none of an event. A task's name may have brackets, too.
pub(crate) fn head(text: &str) -> Option<Head<'_>> {
    text.match_indices(" [").take(MOST_BRACKETS).find_map(|(at, _)| head_at(text, at))
}

/// The same, if the CPU's number is in the bracket at this place.
fn head_at(text: &str, open: usize) -> Option<Head<'_>> {
    let (cpu, after) = text[open + 2..].split_once(']')?;
    let cpu = cpu.parse::<u32>().ok()?;
    let mut task = text[..open].trim();
    if let Some((before, group)) = task.rsplit_once('(').filter(|(_, group)| group.ends_with(')')) {
        let is_group =
            group.trim_end_matches(')').trim().bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        task = if is_group { before.trim_end() } else { task };
    }
    let spaced = task.rsplit_once([' ', '\t']).and_then(|(comm, number)| {
        let tid = number.rsplit_once('/').map_or(number, |(_, tid)| tid);
        // perf has -1 for a task that is gone.
        Some((comm.trim_end(), if tid == "-1" { 0 } else { tid.parse().ok()? }))
    });
    let (comm, tid) = match spaced {
        Some(found) => found,
        None => task.rsplit_once('-').and_then(|(comm, tid)| Some((comm, tid.parse().ok()?)))?,
    };
    let (mut rest, mut flagged) = (after, false);
    loop {
        let (word, behind) = rest.trim_start().split_once(char::is_whitespace)?;
        rest = behind;
        if word.starts_with('[') {
            return None;
        }
        if let Some(time) = word.strip_suffix(':')
            && let Some(at) = moment(time)
        {
            return Some(Head {
                comm,
                tid,
                cpu,
                at,
                rest: rest.trim_start(),
                whole: !time.contains('.') && !flagged,
            });
        }
        flagged = true;
    }
}

impl Grammar for Shared {
    fn line(
        &mut self,
        text: &str,
        decoder: &mut Decoder,
        events: &mut VecDeque<Event>,
    ) -> Result<(), String> {
        let Some(head) = head(text) else {
            events.extend(self.other(text)?);
            return Ok(());
        };
        self.now = head.at;
        let mut tid = head.tid;
        let what = if head.rest.starts_with("PERF_RECORD_") {
            perf_record::parse(head.rest, &mut tid, decoder)?
        } else {
            event(&head, decoder)?
        };
        let comm = (!["<...>", ""].contains(&head.comm)).then(|| Rc::from(head.comm));
        events.extend(what.map(|what| Event { at: head.at, cpu: head.cpu, tid, comm, what }));
        Ok(())
    }
}

impl Shared {
    /// Lines that are no events: headers, gaps, and call chains, which `perf script` indents below their event and ftrace marks.
    fn other(&self, text: &str) -> Result<Option<Event>, String> {
        let line = text.trim();
        let is_chain = text.starts_with('\t') || line.starts_with("=>");
        if line.is_empty() || line.starts_with('#') || is_chain {
            return Ok(None);
        }
        if let Some(rest) = line.strip_prefix("CPU:") {
            let (cpu, rest) = rest.split_once(' ').ok_or("a gap without a CPU")?;
            let cpu = cpu.parse().map_err(|_| format!("the CPU is not a number: {cpu:?}"))?;
            let count = rest.split(|letter: char| !letter.is_ascii_digit()).find(|word| !word.is_empty());
            let what = What::Lost { count: count.and_then(|count| count.parse().ok()) };
            return Ok(Some(Event { at: self.now, cpu, tid: 0, comm: None, what }));
        }
        if ["cpus=", "version =", "CPU "].iter().any(|start| line.starts_with(start)) {
            return Ok(None);
        }
        if line.split(' ').nth(3) == Some("type:") {
            return Err("recorded with ftrace's option raw, which leaves the fields out".to_owned());
        }
        Err("neither an event, `comm-pid [cpu] time: event: key=value`, nor a comment".to_owned())
    }
}

/// What an event's name and fields say.
fn event(head: &Head<'_>, decoder: &mut Decoder) -> Result<Option<What>, String> {
    let (text, tid) = (head.rest, head.tid);
    // ftrace prints calls in their own way: `sys_brk(brk: 0)`, `sys_brk -> 0x55a0000`.
    if let Some(rest) = text.strip_prefix("sys_") {
        let word = rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
        let (call, rest) = rest.split_at(word.unwrap_or(rest.len()));
        if let Some(args) = rest.strip_prefix('(') {
            let args = args.trim_end().strip_suffix(')').ok_or("the arguments do not end")?;
            return decoder.decode(tid, &format!("sys_enter_{call}"), &pairs(args));
        }
        if let Some(ret) = rest.trim_start().strip_prefix("->") {
            return decoder.decode(tid, &format!("sys_exit_{call}"), &Pairs::one("ret", ret.trim()));
        }
    }
    let (name, body) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    if text.starts_with("<stack trace") || body.starts_with("<-") {
        // The function tracer's, or above a call chain.
        return Ok(None);
    }
    let name = name.strip_suffix(':').ok_or("the event's name must end with a colon")?;
    let name = name.rsplit_once(':').map_or(name, |(_, name)| name);
    let values = match name {
        "ma_op" | "ma_read" | "ma_write" if !body.contains('=') => tree(body),
        _ if name.starts_with("sys_exit_") && !body.contains('=') => Pairs::one("ret", body.trim()),
        _ => Pairs { decimal: head.whole, ..pairs(body) },
    };
    decoder.decode(tid, name, &values)
}

/// Fields of a line.
pub(super) struct Pairs<'a> {
    found: Vec<(&'a str, &'a str)>,
    /// Digits without `0x` are decimal, as bpftrace prints them, wherever other texts have hexadecimal ones.
    decimal: bool,
}

/// Reads `key=value` and `key: value,`; a word that is neither belongs to the value before.
pub(super) fn pairs(text: &str) -> Pairs<'_> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    let (mut rest, mut key, mut start) = (text, None, 0);
    let mut at = 0;
    while let Some(skip) = rest.find(|letter: char| !letter.is_whitespace()) {
        let word_at = at + skip;
        let word = &text[word_at..];
        let word = &word[..word.find(char::is_whitespace).unwrap_or(word.len())];
        at = word_at + word.len();
        rest = &text[at..];
        if let Some((name, value)) = word.split_once('=') {
            start = word_at + name.len() + 1;
            found.push((name, value));
            key = None;
        } else if let Some(name) = word.strip_suffix(':') {
            key = Some(name);
        } else if let Some(name) = key.take() {
            start = word_at;
            found.push((name, word.trim_end_matches(',')));
        } else if let Some((_, value)) = found.last_mut() {
            *value = &text[start..at];
        }
    }
    Pairs { found, decimal: false }
}

/// Reads `fn Node: P (MIN MAX) range: FIRST-LAST [piv (PIV) val VAL]`.
fn tree(text: &str) -> Pairs<'_> {
    let words = text.split([' ', '\t', '(', ')', ':', '-']).filter(|word| !word.is_empty());
    let names = ["fn", "Node", "node", "min", "max", "range", "index", "last", "piv", "piv", "val", "val"];
    let labels = [1, 5, 8, 10];
    let named = names.into_iter().zip(words).enumerate();
    let found = named.filter(|(at, _)| !labels.contains(at)).map(|(_, pair)| pair).collect();
    Pairs { found, decimal: false }
}

impl<'a> Pairs<'a> {
    fn one(name: &'a str, value: &'a str) -> Self {
        Self { found: vec![(name, value)], decimal: false }
    }

    fn find(&self, name: &str) -> Option<&str> {
        self.found.iter().find(|(own, _)| *own == name).map(|(_, value)| *value)
    }
}

impl Values for Pairs<'_> {
    fn number(&self, name: &str) -> Option<u64> {
        let text = self.find(name)?;
        if let Some(digits) = text.strip_prefix("0x") {
            return u64::from_str_radix(digits, 16).ok();
        }
        match text {
            "true" | "(true)" => Some(1),
            "false" | "(false)" => Some(0),
            _ if text.starts_with('-') => text.parse::<i64>().ok().map(i64::cast_unsigned),
            _ => text.parse().ok(),
        }
    }

    fn hex(&self, name: &str) -> Option<u64> {
        let decimal = if self.decimal { self.number(name) } else { None };
        decimal.or_else(|| match self.find(name)? {
            "(nil)" | "nil" | "NULL" => Some(0),
            text => u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok(),
        })
    }

    fn text(&self, name: &str) -> Option<Rc<str>> {
        // Of a function the place within it does not matter.
        self.find(name).map(|text| Rc::from(text.split('+').next().unwrap_or(text)))
    }

    fn accounted(&self, name: &str) -> Option<bool> {
        match self.number(name) {
            Some(bits) => Some(bits >> 22 & 1 != 0),
            None => self.find(name).map(|flags| flags.contains("ACCOUNT")),
        }
    }
}
